import { eq } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { billingCalls } from '#contract/billing.ts'
import { accounts } from '#server/accounts/tables.ts'
import { aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { buyOnce, openShop, type Shop, subscribe } from '#test/shop.ts'
import { notifyPlanEnds } from './plan-notifications.ts'

const systemMail = (smtp: FakeSmtp) => ({ systemSmtpUrl: `smtp://127.0.0.1:${smtp.port}`, systemMailFrom: 'Duely <hello@duely.example>' })

/** What was written on the way to a moment, hour by hour as the background does it. */
async function mailsUntil(shop: Shop, smtp: FakeSmtp, now: string): Promise<string[]> {
  const { app } = shop
  const before = smtp.mails.length
  const end = Temporal.Instant.from(now)
  while (Temporal.Instant.compare(app.clock.now(), end) < 0) {
    app.clock.advance({ hours: 6 })
    await notifyPlanEnds(app.deps)
  }
  await app.runJobs()
  return Promise.all(
    smtp.mails.slice(before).map(async ({ raw, envelope }) => `${envelope.to}: ${(await PostalMime.parse(raw)).text?.split('\n')[0]}`),
  )
}

async function withReminders(shop: Shop, person: Person): Promise<Person> {
  await shop.app.db.update(accounts).set({ remindersActive: true }).where(eq(accounts.id, person.id))
  return person
}

test('a one-time plan’s end is notified seven days and one day before, once each', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z', config: systemMail(smtp) })
  const asha = await aPerson(shop.app, { confirmed: true })
  await buyOnce(shop, asha, 'pro')
  expect(await mailsUntil(shop, smtp, '2026-03-25T03:00:00Z')).toEqual([])
  expect(await mailsUntil(shop, smtp, '2026-03-25T09:00:00Z')).toEqual([
    `${asha.email}: Pro ends on 01/04/2026, in 7 days. Buy it again to continue from that day; otherwise you move to Free: your data stays, and daily reminders are put on hold.`,
  ])
  expect(await mailsUntil(shop, smtp, '2026-03-31T03:00:00Z')).toEqual([])
  expect(await mailsUntil(shop, smtp, '2026-03-31T09:00:00Z')).toEqual([
    `${asha.email}: Pro ends on 01/04/2026, within a day. Buy it again to continue from that day; otherwise you move to Free: your data stays, and daily reminders are put on hold.`,
  ])
  expect(await mailsUntil(shop, smtp, '2026-04-10T09:00:00Z')).toEqual([])
})

test('an owner who cannot be notified of the end of a plan delays none of the others', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z', config: systemMail(smtp) })
  const { app } = shop
  const asha = await aPerson(app, { confirmed: true })
  const others = [await aPerson(app, { confirmed: true }), await aPerson(app, { confirmed: true })]
  for (const one of [asha, ...others]) await buyOnce(shop, one, 'pro')
  const liveIn = (timezone: string) => app.db.update(accounts).set({ timezone }).where(eq(accounts.id, asha.id))
  app.clock.set('2026-03-25T09:00:00Z')
  await liveIn('Nowhere/Land')
  await expect(notifyPlanEnds(app.deps)).rejects.toThrow('Some owners could not be notified')
  await liveIn('Asia/Kolkata')
  await app.runJobs()
  const sent = smtp.mails.map(({ envelope }) => envelope.to[0]).filter((to) => others.some(({ email }) => email === to))
  expect(sent.toSorted()).toEqual(others.map(({ email }) => email).toSorted())
})

test('a one-time plan that was cancelled keeps what is paid for, and its end is not announced', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z', config: systemMail(smtp) })
  const { app } = shop
  const asha = await aPerson(app, { confirmed: true })
  await buyOnce(shop, asha, 'pro')
  const { reply } = await ask(app, asha, billingCalls.cancel)
  const kept = { plan: 'pro', state: 'Pro until 01/04/2026', currentPeriodEnd: '2026-04-01T09:00:00Z', cancelAtPeriodEnd: true }
  expect(reply).toMatchObject(kept)
  expect((await ask(app, asha, billingCalls.cancel)).reply).toMatchObject(kept)
  expect(await mailsUntil(shop, smtp, '2026-04-10T09:00:00Z')).toEqual([])
})

test('the trial’s end is notified to accounts with daily reminders, three days before and on the day', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z', config: systemMail(smtp) })
  const asha = await withReminders(shop, await aPerson(shop.app, { confirmed: true }))
  await aPerson(shop.app, { confirmed: true })
  await subscribe(shop, await withReminders(shop, await aPerson(shop.app, { confirmed: true })), 'pro')
  expect(await mailsUntil(shop, smtp, '2026-03-13T09:00:00Z')).toEqual([
    `${asha.email}: Your free trial of Pro ends on 16/03/2026, in 3 days. Choose Pro to keep daily reminders.`,
  ])
  expect(await mailsUntil(shop, smtp, '2026-03-16T03:00:00Z')).toEqual([])
  expect(await mailsUntil(shop, smtp, '2026-03-16T09:00:00Z')).toEqual([
    `${asha.email}: Your free trial of Pro ended on 16/03/2026. Your data stays, and daily reminders are on hold until you choose Pro.`,
  ])
  expect(await mailsUntil(shop, smtp, '2026-03-25T09:00:00Z')).toEqual([])
})

test('the end of a trial that began before the account, with a former one of its email, is notified', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z', config: systemMail(smtp) })
  const asha = await withReminders(shop, await aPerson(shop.app, { confirmed: true }))
  const trialStartedAt = Temporal.Instant.from('2026-02-24T09:00:00Z')
  await shop.app.db.update(accounts).set({ trialStartedAt }).where(eq(accounts.id, asha.id))
  expect(await mailsUntil(shop, smtp, '2026-03-07T09:00:00Z')).toEqual([
    `${asha.email}: Your free trial of Pro ends on 10/03/2026, in 3 days. Choose Pro to keep daily reminders.`,
  ])
  expect(await mailsUntil(shop, smtp, '2026-03-10T09:00:00Z')).toEqual([
    `${asha.email}: Your free trial of Pro ended on 10/03/2026. Your data stays, and daily reminders are on hold until you choose Pro.`,
  ])
})

test('the end of a subscription is notified to accounts with daily reminders, unless they cancelled it themselves', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z', config: systemMail(smtp) })
  const { app, razorpay } = shop
  const confirmed = true
  const [asha, ravi, mira] = [await aPerson(app, { confirmed }), await aPerson(app, { confirmed }), await aPerson(app, { confirmed })]
  app.clock.set('2026-03-20T09:00:00Z')
  const me = (person: Person) => signedInAgain(app, person)
  const { subscriptionId } = await subscribe(shop, await me(await withReminders(shop, asha)), 'pro')
  await subscribe(shop, await me(ravi), 'pro')
  await subscribe(shop, await me(await withReminders(shop, mira)), 'pro')
  for (const person of [ravi, mira]) await ask(app, await me(person), billingCalls.cancel)
  await shop.settle()
  const keeps = 'your data stays, and daily reminders are put on hold.'
  expect(await mailsUntil(shop, smtp, '2026-04-13T09:00:00Z')).toEqual([
    `${mira.email}: Pro ends on 20/04/2026, in 7 days. You then move to Free: ${keeps}`,
  ])
  await ask(app, await me(mira), billingCalls.activateFree)
  razorpay.provider.setCard(subscriptionId, 'bad')
  expect(await mailsUntil(shop, smtp, '2026-04-20T09:00:00Z')).toEqual([])
  for (let days = 0; days < 4; days += 1) {
    await shop.settle()
    app.clock.advance({ hours: 24 })
  }
  await shop.settle()
  expect(await mailsUntil(shop, smtp, '2026-04-25T03:00:00Z')).toEqual([
    `${asha.email}: Pro ended on 20/04/2026. You are now on Free: your data stays, and daily reminders are on hold until you choose a plan.`,
  ])
  expect(await mailsUntil(shop, smtp, '2026-05-02T09:00:00Z')).toEqual([])
})

test('a server without payments or system email sends nothing', async () => {
  await using smtp = await openFakeSmtp()
  {
    await using app = await openTestApp({ now: '2026-03-16T09:00:00Z', config: systemMail(smtp) })
    const asha = await aPerson(app, { confirmed: true })
    await app.db
      .update(accounts)
      .set({ remindersActive: true, createdAt: app.clock.now().subtract({ hours: 14 * 24 }) })
      .where(eq(accounts.id, asha.id))
    await notifyPlanEnds(app.deps)
    await app.runJobs()
  }
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  await buyOnce(shop, await aPerson(shop.app, { confirmed: true }), 'pro')
  await mailsUntil(shop, smtp, '2026-04-02T09:00:00Z')
  expect(smtp.mails).toEqual([])
})
