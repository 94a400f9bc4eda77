import { expect, test } from 'vitest'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { aMailbox, anInvoice, anOffice, aPerson, signedInAgain } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask } from '#test/harness.ts'
import { openShop } from '#test/shop.ts'

const onHold = {
  isActive: true,
  state: 'on_hold',
  words: 'On hold: daily reminders need Pro',
  next: 'Daily reminders are on hold. They need Pro; Send Now still works.',
  nextRunAt: null,
  reason: 'plan',
}

test('after the trial daily reminders are on hold, with no next run anywhere', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-02T06:30:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  await aMailbox(app, asha, smtp)
  const { _id: id } = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  const { _id: promised } = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect((await ask(app, asha, reminderCalls.status)).reply).toMatchObject({
    isActive: true,
    state: 'active',
    words: 'Active',
    next: 'The next daily run is on 03/03/2026 at 09:00.',
    nextRunAt: '2026-03-03T03:30:00Z',
    reason: null,
  })

  // The trial ends at noon: the run of the next morning would be held, so it is not announced.
  app.clock.set('2026-03-16T03:30:00Z')
  await app.runJobs()
  const owner = await signedInAgain(app, asha)
  expect((await ask(app, owner, reminderCalls.status)).reply).toMatchObject(onHold)

  const body = { paused: true as const, until: '2026-03-17', promised: true }
  await ask(app, owner, invoiceCalls.pause, { params: { id: promised }, body })
  app.clock.set('2026-03-17T19:00:00Z')
  await app.runJobs()
  expect((await ask(app, owner, reminderCalls.status)).reply).toMatchObject(onHold)
  const { lines } = (await ask(app, owner, reminderCalls.preview, { query: {} })).reply
  expect(lines.map(({ nextAt }) => nextAt)).toEqual([null, null])
  expect((await ask(app, owner, reminderCalls.history, { params: { id } })).reply).toMatchObject({ nextAt: null })
  const notices = (await ask(app, owner, noticeCalls.list)).reply
  expect(notices.find(({ kind }) => kind === 'promise_broken')).toMatchObject({
    summary: 'Kaveri Foods broke a promise',
    text: expect.stringMatching(/has not paid\. Daily reminders are on hold\. They need Pro; Send Now still works\.$/),
    clients: [{ invoiceId: promised }],
  })
})

test('daily reminders are on hold without a mailbox, and off once they are stopped', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await ask(app, asha, mailCalls.remove)
  expect((await ask(app, asha, reminderCalls.status)).reply).toMatchObject({
    isActive: true,
    state: 'on_hold',
    words: 'On hold: no mailbox is connected',
    nextRunAt: null,
  })
  await ask(app, asha, reminderCalls.stop)
  expect((await ask(app, asha, reminderCalls.status)).reply).toMatchObject({
    isActive: false,
    state: 'off',
    words: 'Inactive',
    next: 'Daily reminders are off, so no reminders go out automatically.',
  })
})
