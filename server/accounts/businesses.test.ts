// Also on PostgreSQL: two deletions of a person's businesses wait for each other.
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { billingCalls } from '#contract/billing.ts'
import { businessCalls } from '#contract/business.ts'
import { businessHeader } from '#contract/call.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { newId } from '#server/platform/columns.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { aKey } from '#test/programs.ts'
import { buyOnce, openShop } from '#test/shop.ts'
import { accounts, people } from './tables.ts'
import { giveBusiness } from './team.ts'

const within = (id: string) => ({ [businessHeader]: id })
const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2026-03-31' }

async function addBusiness(app: TestApp, person: Person, name = 'Banyan Press'): Promise<string> {
  const { status, reply } = await ask(app, person, businessCalls.create, { body: { name } })
  expect(status).toBe(201)
  return reply._id
}

test('someone alone has one business with their name, until it gets one of its own', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const alone = { _id: asha.id, name: 'Asha Rao', role: 'owner', owner: 'Asha Rao' }
  expect((await ask(app, asha, businessCalls.list)).reply).toEqual([alone])
  expect((await ask(app, asha, businessCalls.read)).reply).toMatchObject({ ...alone, named: false })
  await ask(app, asha, accountCalls.changeProfile, { body: { displayName: 'Asha R.' } })
  expect((await ask(app, asha, businessCalls.read)).reply).toMatchObject({ name: 'Asha R.', named: false })
  const named = await ask(app, asha, businessCalls.change, { body: { name: 'Banyan Studio' } })
  expect(named.reply).toMatchObject({ name: 'Banyan Studio', owner: 'Asha R.', named: true })
  await ask(app, asha, accountCalls.changeProfile, { body: { displayName: 'Asha Rao' } })
  expect((await ask(app, asha, integrationCalls.me)).reply).toMatchObject({ businessName: 'Banyan Studio', displayName: 'Asha Rao' })
  expect((await ask(app, asha, accountCalls.audit, { query: {} })).reply[0]).toMatchObject({ text: 'Business named Banyan Studio.' })
})

test('no person and no business share an id, however they came to be', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await addBusiness(app, asha)
  const draft = { displayName: 'Meera', email: 'meera@example.com', password: 'correct horse' }
  expect((await ask(app, null, accountCalls.signUp, { body: draft })).status).toBe(201)
  const businesses = (await app.db.select({ id: accounts.id }).from(accounts)).map(({ id }) => id)
  const persons = (await app.db.select({ id: people.id }).from(people)).map(({ id }) => String(id))
  expect([businesses.length, persons.length, new Set([...businesses, ...persons]).size]).toEqual([3, 2, 5])
})

test('each tab works in the business that it names, and others follow the one that was named last', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const second = await addBusiness(app, asha)
  const create = (id: string) => ask(app, asha, invoiceCalls.create, { body: draft }, within(id))
  const references = async (id: string) =>
    (await ask(app, asha, invoiceCalls.list, { query: {} }, within(id))).reply.map(({ reference }) => reference)
  await Promise.all([create(asha.id), create(second)])
  await create(asha.id)
  expect(await references(asha.id)).toEqual(['INV-0002', 'INV-0001'])
  expect(await references(second)).toEqual(['INV-0001'])
  const last = await ask(app, asha, invoiceCalls.list, { query: {} })
  expect(last.reply).toHaveLength(1)
  expect(last.headers).toMatchObject({ [businessHeader.toLowerCase()]: second, vary: `Authorization, ${businessHeader}` })
  const elsewhere = await ask(app, asha, invoiceCalls.list, { query: {} }, within(asha.id))
  expect(elsewhere.headers.etag).not.toBe(last.headers.etag)
  const again = await ask(app, asha, invoiceCalls.list, { query: {} }, { ...within(asha.id), 'if-none-match': String(last.headers.etag) })
  expect(again.status).toBe(200)
})

test('a business of others is not found, and a key belongs to one business', async () => {
  await using app = await openTestApp()
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  const key = await aKey(app, asha)
  const second = await addBusiness(app, asha)
  await anInvoice(app, { owner: meera })
  for (const id of [meera.id, newId(), 'x'])
    expect(await ask(app, asha, invoiceCalls.list, { query: {} }, within(id))).toMatchObject({
      status: 404,
      problem: { code: 'not_found' },
    })
  // A tab tells by this header that its business is still there although something in it is not.
  const missing = await ask(app, asha, invoiceCalls.read, { params: { id: newId() } }, within(second))
  expect([missing.status, missing.headers[businessHeader.toLowerCase()]]).toEqual([404, second])
  const gone = await ask(app, asha, invoiceCalls.list, { query: {} }, within(meera.id))
  expect([gone.status, gone.headers[businessHeader.toLowerCase()]]).toEqual([404, undefined])
  expect((await ask(app, { token: 'x' }, invoiceCalls.list, { query: {} }, within(meera.id))).status).toBe(401)
  expect((await ask(app, key, integrationCalls.me, {}, within(asha.id))).reply.businessId).toBe(asha.id)
  expect(await ask(app, key, integrationCalls.me, {}, within(second))).toMatchObject({ status: 403, problem: { code: 'not_allowed' } })
  // A key that is made in the second business works there only, without naming it.
  const made = await ask(app, asha, integrationCalls.addKey, { body: { name: 'Second', scopes: ['read'] } }, within(second))
  expect((await ask(app, { token: made.reply.key }, integrationCalls.me)).reply.businessId).toBe(second)
})

test('a plan is that of one business: only the first has a trial, and one of an owner may be unpaid', async () => {
  await using shop = await openShop()
  const { app } = shop
  const asha = await aPerson(app)
  const add = () => ask(app, asha, businessCalls.create, { body: { name: 'Banyan Press' } })
  expect(await add()).toMatchObject({ status: 402, problem: { code: 'plan_limit' } })
  await buyOnce(shop, asha, 'pro')
  const { reply: second } = await add()
  const planIn = async (id: string) => (await ask(app, asha, billingCalls.subscription, {}, within(id))).reply
  expect((await planIn(asha.id)).plan).toBe('pro')
  expect(await planIn(second._id)).toMatchObject({ plan: 'free' })
  expect((await add()).status).toBe(402)
})

test('an owner deletes a business by typing its name, but not the only one', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { confirmed: true })
  const remove = (name: string, id: string) => ask(app, asha, businessCalls.remove, { body: { name } }, within(id))
  expect(await remove('Asha Rao', asha.id)).toMatchObject({ status: 409, problem: { code: 'conflict' } })
  const second = await addBusiness(app, asha)
  const third = await addBusiness(app, asha, 'Third')
  await ask(app, asha, invoiceCalls.create, { body: draft }, within(second))
  expect(await remove('Asha Rao', second)).toMatchObject({ status: 400, problem: { errors: [{ path: 'name' }] } })
  app.clock.advance({ minutes: 20 })
  expect((await remove('Banyan Press', second)).problem?.code).toBe('recent_sign_in_needed')
  app.clock.advance({ minutes: -20 })
  expect((await remove('Banyan Press', second)).status).toBe(204)
  expect((await ask(app, asha, businessCalls.read, {}, within(second))).status).toBe(404)
  // The one that the session chose last is gone: the oldest is there again.
  expect((await ask(app, asha, businessCalls.read)).reply._id).toBe(asha.id)
  const both = await Promise.all([remove('Asha Rao', asha.id), remove('Third', third)])
  expect(both.map(({ status }) => status).toSorted()).toEqual([204, 409])
  expect(await app.db.select().from(accounts)).toHaveLength(1)
  expect((await ask(app, asha, accountCalls.profile)).reply.email).toBe(asha.email)
  expect(await app.db.select().from(accounts).where(eq(accounts.id, second))).toEqual([])
})

test('someone whose last business another owner deletes gets an empty one; no business but the first has a trial', async () => {
  await using shop = await openShop()
  const { app } = shop
  const [asha, meera, ravi] = [await aPerson(app), await aPerson(app, { displayName: 'Meera', confirmed: true }), await aPerson(app)]
  for (const { id } of [asha, ravi]) await giveBusiness(app.deps, id, meera.email, app.clock.now(), async () => undefined)
  // Ravi owns none any more, and Asha only works in the one that is deleted.
  const { status, reply } = await ask(app, ravi, businessCalls.create, { body: { name: 'Another' } })
  expect(status).toBe(201)
  const trialOf = async (person: Person, id: string) => {
    const { plan, entitlements, notices } = (await ask(app, person, billingCalls.subscription, {}, within(id))).reply
    return [plan, entitlements.by, notices]
  }
  expect(await trialOf(ravi, reply._id)).toEqual(['free', 'plan', []])
  expect(await ask(app, meera, businessCalls.remove, { body: { name: 'Meera' } }, within(asha.id))).toMatchObject({ status: 204 })
  const [left, ...others] = (await ask(app, asha, businessCalls.list)).reply
  expect([left?.role, left?.name, others]).toEqual(['owner', 'Asha Rao', []])
  expect(await trialOf(asha, left?._id ?? '')).toEqual(['free', 'plan', []])
  expect((await ask(app, asha, invoiceCalls.list, { query: {} })).reply).toEqual([])
})

test('one person adds at most twenty businesses a day: each has limits of its own', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const owner = await aPerson(app)
  const add = async (nth: number) => (await ask(app, owner, businessCalls.create, { body: { name: `Business ${nth}` } })).status
  for (let nth = 0; nth < 20; nth += 1) expect(await add(nth)).toBe(201)
  expect(await add(20)).toBe(429)
  app.clock.advance({ hours: 25 })
  expect(await add(21)).toBe(201)
})
