// Also on PostgreSQL: the last seat, and one invitation, are asked for at the same time.
import { and, eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { businessCalls, teamCalls } from '#contract/business.ts'
import { businessHeader, type Call, type CallInput, reaches, roles } from '#contract/call.ts'
import { clientCalls } from '#contract/clients.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { newId } from '#server/platform/columns.ts'
import { aMailbox, anInvoice, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { privateCalls, requestWith } from '#test/filled.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { buyOnce, openShop } from '#test/shop.ts'
import { times } from '#test/thorough.ts'
import { emailOwner } from './notices.ts'
import { accounts, invitations, memberships } from './tables.ts'
import { giveBusiness, pruneInvitations } from './team.ts'

const password = 'correct horse'

const inBusiness = (id: string) => ({ [businessHeader]: id })

async function join(app: TestApp, owner: Person, person: Person, role: 'admin' | 'member' | 'viewer') {
  const by = await signedInAgain(app, owner)
  const { reply } = await ask(
    app,
    by,
    teamCalls.invite,
    { body: { email: person.email, role, currentPassword: password } },
    inBusiness(owner.id),
  )
  const token = reply.link.split('#token=')[1] ?? ''
  return { token, accepted: await ask(app, person, teamCalls.acceptInvitation, { body: { token } }) }
}

async function aTeam(app: TestApp) {
  const owner = await aPerson(app, { displayName: 'Asha Rao' })
  const [admin, member, viewer] = [await aPerson(app), await aPerson(app), await aPerson(app)]
  for (const [person, role] of [
    [admin, 'admin'],
    [member, 'member'],
    [viewer, 'viewer'],
  ] as const)
    expect((await join(app, owner, person, role)).accepted.status).toBe(200)
  return { owner, admin, member, viewer }
}

/** One of all orders. */
function inOrder<T>(items: T[], nth: number): T[] {
  const left = [...items]
  let rest = nth
  return items.flatMap(() => {
    const choices = left.length
    const taken = left.splice(rest % choices, 1)
    rest = Math.floor(rest / choices)
    return taken
  })
}

/** Whether a call is refused for the role of its person. */
async function isRefused(app: TestApp, call: Call, { token }: Person, business: string): Promise<boolean> {
  const { path, body: text } = requestWith(call, newId())
  // An address, so that no name server is asked for it.
  const body = text && 'host' in text ? { ...text, host: '127.0.0.1' } : text
  const url = path.slice(path.indexOf(' ') + 1)
  const headers = { authorization: `Bearer ${token}`, ...inBusiness(business) }
  const asked = app.app.inject({ method: call.method, url, headers, ...(body ? { payload: body } : {}) })
  const answered = await (call.path.startsWith('/reminder') || call.path === '/api/trigger-reminders' ? app.whileJobsRun(asked) : asked)
  return answered.statusCode === 403 && / can do this\. Ask Asha Rao\.$/.test(answered.json<{ message: string }>().message)
}

test('every call refuses each role below the one that it needs, and none from it on', async () => {
  await using app = await openTestApp({ now: '2026-03-02T04:30:00Z' })
  const team = await aTeam(app)
  const wrong: string[] = []
  for (const call of privateCalls.filter((one) => one.by !== 'self')) {
    // What an owner may do ends the business or its plan: of them it is enough that they are not refused elsewhere.
    for (const role of roles.filter((one) => one !== 'owner' || call.by !== 'owner')) {
      const refused = await isRefused(app, call, team[role], team.owner.id)
      const own = call === teamCalls.removeMember && !reaches(role, 'admin')
      if (call.by && refused !== (!reaches(role, call.by) || own))
        wrong.push(`${call.method} ${call.path} as ${role}: ${refused ? 'refused' : 'let in'}`)
    }
  }
  expect(wrong).toEqual([])
})

test('a member pauses a client, and an admin chooses how it is reminded', async () => {
  await using app = await openTestApp({ now: '2026-03-02T04:30:00Z' })
  const { owner, admin, member } = await aTeam(app)
  await anInvoice(app, { owner })
  const [client] = (await ask(app, owner, clientCalls.list)).reply
  const change = (person: Person, body: CallInput<typeof clientCalls.update>['body']) =>
    ask(app, person, clientCalls.update, { params: { id: client?._id ?? '' }, body }, inBusiness(owner.id))
  const pause = { until: '2026-03-20', note: '', promised: false }
  expect((await change(member, { pause })).reply.pause).toMatchObject({ until: '2026-03-20' })
  const changes = [{ sequence: 'never' }, { secondContact: 'boss@example.com' }, { country: 'DE' }, { language: 'de' }, { smart: false }]
  for (const body of [...changes, { pause: null, sequence: 'never' }])
    expect((await change(member, body)).problem).toMatchObject({
      code: 'not_allowed',
      message: 'Only an admin or the owner of Asha Rao can do this. Ask Asha Rao.',
    })
  for (const body of changes) expect((await change(admin, body)).status, JSON.stringify(body)).toBe(200)
})

test('strangers and removed members find no business', async () => {
  await using app = await openTestApp()
  const { owner, viewer } = await aTeam(app)
  await ask(app, owner, teamCalls.removeMember, { params: { personId: String(viewer.personId) }, body: {} }, inBusiness(owner.id))
  const wrong: string[] = []
  for (const person of [viewer, await aPerson(app)])
    for (const call of privateCalls) {
      const { path, body } = requestWith(call, newId())
      const headers = { authorization: `Bearer ${person.token}`, ...inBusiness(owner.id) }
      const url = path.slice(path.indexOf(' ') + 1)
      const { statusCode } = await app.app.inject({ method: call.method, url, headers, ...(body ? { payload: body } : {}) })
      if (statusCode !== 404) wrong.push(`${call.method} ${call.path}: ${statusCode}`)
    }
  expect(wrong).toEqual([])
})

test('zone, hour and currency in the profile are for admins; name and email are everyone’s own', async () => {
  await using app = await openTestApp()
  const { owner, admin, member } = await aTeam(app)
  const change = (person: Person, body: object) => ask(app, person, accountCalls.changeProfile, { body }, inBusiness(owner.id))
  expect((await change(member, { timezone: 'Europe/London' })).problem).toMatchObject({
    code: 'not_allowed',
    message: 'Only an admin or the owner of Asha Rao can do this. Ask Asha Rao.',
  })
  expect((await change(member, { displayName: 'Meera' })).reply).toMatchObject({ displayName: 'Meera', timezone: 'Asia/Kolkata' })
  expect((await change(admin, { timezone: 'Europe/London' })).reply.timezone).toBe('Europe/London')
  expect((await ask(app, owner, businessCalls.read, {}, inBusiness(owner.id))).reply.name).toBe('Asha Rao')
})

test('an invitation is for one email, once, for seven days, until it is revoked or replaced', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const owner = await aPerson(app)
  const [meera, other] = [await aPerson(app, { email: 'Meera@example.com' }), await aPerson(app)]
  const invite = async () => (await ask(app, owner, teamCalls.invite, { body: { email: 'meera@example.com', role: 'viewer' } })).reply
  const tokenOf = ({ link }: { link: string }) => link.split('#token=')[1] ?? ''
  const accept = (person: Person, token: string) => ask(app, person, teamCalls.acceptInvitation, { body: { token } })
  const first = await invite()
  const look = await ask(app, null, teamCalls.lookAtInvitation, { body: { token: tokenOf(first) } })
  expect(look.reply).toEqual({ business: 'Asha Rao', role: 'viewer', invitedBy: 'Asha Rao', email: 'meera@example.com' })
  expect((await accept(other, tokenOf(first))).problem).toMatchObject({
    code: 'not_allowed',
    message: `This invitation is for meera@example.com. You are signed in as ${other.email}.`,
  })
  const second = (await ask(app, owner, teamCalls.inviteAgain, { params: { id: first._id } })).reply
  const gone = { code: 'invitation_gone', message: 'This invitation is no longer good. Ask the business for a new one.' }
  expect((await accept(meera, tokenOf(first))).problem).toMatchObject(gone)
  app.clock.advance({ hours: 7 * 24 })
  expect((await accept(meera, tokenOf(second))).problem).toMatchObject({
    code: 'invitation_gone',
    message: 'This invitation is no longer good. Ask Asha Rao for a new one.',
  })
  const third = await invite()
  const raced = await Promise.all([accept(meera, tokenOf(third)), accept(meera, tokenOf(third))])
  expect(raced.map(({ status }) => status).toSorted()).toEqual([200, 400])
  expect((await ask(app, meera, businessCalls.list)).reply.map(({ name, role }) => [name, role])).toEqual([
    ['Asha Rao', 'owner'],
    ['Asha Rao', 'viewer'],
  ])
  const revoked = (await ask(app, owner, teamCalls.invite, { body: { email: other.email, role: 'member' } })).reply
  await ask(app, owner, teamCalls.revokeInvitation, { params: { id: revoked._id } })
  expect((await accept(other, tokenOf(revoked))).problem).toMatchObject(gone)
  const again = await signedInAgain(app, owner)
  expect((await ask(app, again, teamCalls.invite, { body: { email: meera.email, role: 'admin' } })).problem?.code).toBe('conflict')
})

test('an expired invitation names its business for 30 days more, and is erased then', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const owner = await aPerson(app)
  const invite = async (email: string) => (await ask(app, owner, teamCalls.invite, { body: { email, role: 'viewer' } })).reply.link
  const link = await invite('meera@example.com')
  app.clock.advance({ hours: 1 })
  await invite('ravi@example.com')
  const look = async () => {
    await pruneInvitations(app.db, app.clock.now())
    const [, token = ''] = link.split('#token=')
    return (await ask(app, null, teamCalls.lookAtInvitation, { body: { token } })).problem?.message
  }
  app.clock.advance({ hours: 37 * 24 - 2 })
  expect(await look()).toBe('This invitation is no longer good. Ask Asha Rao for a new one.')
  app.clock.advance({ hours: 1 })
  expect(await look()).toBe('This invitation is no longer good. Ask the business for a new one.')
  expect(await app.db.select({ email: invitations.email }).from(invitations)).toEqual([{ email: 'ravi@example.com' }])
})

test('a business sends 20 invitations a day', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const [owner, other] = [await aPerson(app), await aPerson(app)]
  const invite = (by: Person, nth: number) => ask(app, by, teamCalls.invite, { body: { email: `guest${nth}@example.com`, role: 'viewer' } })
  const statuses: number[] = []
  for (let nth = 0; nth < 21; nth += 1) statuses.push((await invite(owner, nth)).status)
  expect(statuses).toEqual([...Array<number>(20).fill(201), 429])
  expect((await invite(other, 0)).status).toBe(201)
  app.clock.advance({ hours: 24 })
  expect((await invite(owner, 21)).status).toBe(201)
})

test('an email that was never confirmed joins nothing where the server can confirm it', async () => {
  await using app = await openTestApp({ config: { systemSmtpUrl: 'smtp://127.0.0.1:1', systemMailFrom: 'hello@duely.example' } })
  const owner = await aPerson(app, { confirmed: true })
  const meera = await aPerson(app)
  expect((await join(app, owner, meera, 'viewer')).accepted.problem).toMatchObject({
    code: 'email_not_confirmed',
    message: `Open the link that we sent to ${meera.email} to confirm your email, then join.`,
  })
})

test('a removal and a demotion hold at the next call, also for keys; keys are revoked or taken over', async () => {
  await using app = await openTestApp()
  const { owner, admin } = await aTeam(app)
  const business = inBusiness(owner.id)
  const made = await ask(app, admin, integrationCalls.addKey, { body: { name: 'Robot', scopes: ['read', 'write'] } }, business)
  const key = { token: made.reply.key }
  const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2026-03-31' }
  const create = () => ask(app, key, invoiceCalls.create, { body: draft })
  expect((await create()).status).toBe(201)
  const params = { personId: String(admin.personId) }
  await ask(app, owner, teamCalls.changeMember, { params, body: { role: 'viewer' } }, business)
  expect((await create()).problem?.code).toBe('not_allowed')
  expect((await ask(app, key, invoiceCalls.list, { query: {} })).status).toBe(200)
  const remove = (body: { programs?: 'revoke' | 'take_over' }) => ask(app, owner, teamCalls.removeMember, { params, body }, business)
  expect(await remove({})).toMatchObject({ status: 400, problem: { errors: [{ path: 'programs' }] } })
  expect((await remove({ programs: 'take_over' })).status).toBe(204)
  // Who removed them takes it over with another secret: this one opens nothing any more.
  expect((await create()).status).toBe(401)
  expect((await ask(app, admin, invoiceCalls.list, { query: {} }, business)).status).toBe(404)
  expect((await join(app, owner, admin, 'admin')).accepted.status).toBe(200)
  const second = await ask(app, admin, integrationCalls.addKey, { body: { name: 'Second', scopes: ['read'] } }, business)
  expect((await ask(app, admin, teamCalls.removeMember, { params, body: { programs: 'revoke' } }, business)).status).toBe(204)
  expect((await ask(app, { token: second.reply.key }, invoiceCalls.list, { query: {} })).status).toBe(401)
  const owned = { personId: String(owner.personId) }
  expect((await ask(app, owner, teamCalls.removeMember, { params: owned, body: {} }, business)).problem).toMatchObject({
    code: 'owns_business',
    message: 'You own Asha Rao. Hand it over or delete it first.',
  })
  expect((await ask(app, owner, accountCalls.deleteMe)).problem?.code).toBe('owns_business')
})

test('keys and webhooks end with the account of the one who made them, and the log of the business names them', async () => {
  await using app = await openTestApp()
  const { owner, admin } = await aTeam(app)
  const business = inBusiness(owner.id)
  const made = await ask(app, admin, integrationCalls.addKey, { body: { name: 'Robot', scopes: ['read'] } }, business)
  const url = 'https://hooks.example.com/'
  expect((await ask(app, admin, integrationCalls.addWebhook, { body: { url, events: ['invoice.paid'] } }, business)).status).toBe(201)
  const kept = { url: 'https://kept.example.com/', events: ['invoice.paid' as const] }
  await ask(app, owner, integrationCalls.addWebhook, { body: kept }, business)
  expect((await ask(app, admin, accountCalls.deleteMe)).status).toBe(204)
  expect((await ask(app, { token: made.reply.key }, invoiceCalls.list, { query: {} })).status).toBe(401)
  expect((await ask(app, owner, integrationCalls.webhooks, {}, business)).reply.map((one) => one.url)).toEqual([kept.url])
  const log = (await ask(app, owner, businessCalls.audit, { query: {} }, business)).reply
  expect(log.slice(0, 2).map(({ by, text }) => `${by}: ${text}`)).toEqual([
    'a former member: Webhook to hooks.example.com removed.',
    expect.stringMatching(/^a former member: API key Robot \(….{4}\) revoked\.$/),
  ])
})

test('without a plan for teams there is one viewer, and others may only look until it is back', async () => {
  await using shop = await openShop()
  const { app } = shop
  const owner = await aPerson(app)
  const [meera, ravi, tara] = [await aPerson(app), await aPerson(app), await aPerson(app)]
  expect((await ask(app, owner, teamCalls.invite, { body: { email: meera.email, role: 'member' } })).problem?.code).toBe('plan_limit')
  // Both were invited while the seat of the viewer was free: one of them takes it.
  const links = []
  for (const { email } of [meera, ravi])
    links.push((await ask(app, owner, teamCalls.invite, { body: { email, role: 'viewer' } })).reply.link)
  const tokens = links.map((link) => link.split('#token=')[1] ?? '')
  const accept = (person: Person, token = '') => ask(app, person, teamCalls.acceptInvitation, { body: { token } })
  const raced = await Promise.all([accept(meera, tokens[0]), accept(ravi, tokens[1])])
  expect(raced.map(({ status }) => status).toSorted()).toEqual([200, 402])
  await buyOnce(shop, owner, 'enterprise')
  expect((await join(app, owner, tara, 'admin')).accepted.status).toBe(200)
  const start = () => app.whileJobsRun(ask(app, tara, reminderCalls.stop, {}, inBusiness(owner.id)))
  expect((await start()).status).toBe(200)
  await shop.pass({ hours: 24 * 40 })
  const later = await ask(app, await signedInAgain(app, tara), reminderCalls.stop, {}, inBusiness(owner.id))
  expect(later.problem).toMatchObject({ message: 'The plan of Asha Rao covers no team: you can look, Asha Rao can change things.' })
  const [kept] = await app.db
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.ownerId, owner.id), eq(memberships.personId, tara.personId)))
  expect(kept).toEqual({ role: 'admin' })
})

test('a session alone makes no admins: not by an invitation, and not by a role; the owner learns of each', async () => {
  await using app = await openTestApp()
  const owner = await aPerson(app, { displayName: 'Asha Rao', password })
  const [viewer, friend] = [await aPerson(app, { displayName: 'Meera' }), await aPerson(app, { displayName: 'Ravi' })]
  await join(app, owner, viewer, 'viewer')
  const business = inBusiness(owner.id)
  const invite = (given: object) => ask(app, owner, teamCalls.invite, { body: { email: friend.email, role: 'admin', ...given } }, business)
  const raise = (given: object) =>
    ask(app, owner, teamCalls.changeMember, { params: { personId: String(viewer.personId) }, body: { role: 'admin', ...given } }, business)
  const needed = 'Please enter your current password to make someone an admin.'
  for (const { problem } of [await invite({}), await raise({})]) expect(problem).toMatchObject({ code: 'wrong_password', message: needed })
  for (const { problem } of [await invite({ currentPassword: 'wrong' }), await raise({ currentPassword: 'wrong' })])
    expect(problem?.code).toBe('wrong_password')
  expect((await ask(app, owner, teamCalls.invitations, {}, business)).reply).toEqual([])
  expect((await ask(app, owner, noticeCalls.list, {}, business)).reply).toEqual([])

  await raise({ currentPassword: password })
  const { link } = (await invite({ currentPassword: password })).reply
  await ask(app, friend, teamCalls.acceptInvitation, { body: { token: link.split('#token=')[1] ?? '' } })
  const notices = (await ask(app, owner, noticeCalls.list, {}, business)).reply.map(({ title }) => title)
  expect(notices.toSorted()).toEqual(['Meera is an admin of your business now', 'Ravi is an admin of your business now'])
})

test('a business is handed over to an admin who accepts it, and has one owner in any order of offers, deletions and leaving', async () => {
  await using app = await openTestApp()
  const owner = await aPerson(app, { displayName: 'Asha Rao', password })
  const [admin, viewer] = [await aPerson(app, { displayName: 'Meera' }), await aPerson(app)]
  await join(app, owner, admin, 'admin')
  await join(app, owner, viewer, 'viewer')
  const business = inBusiness(owner.id)
  const offer = (to: Person, currentPassword = password) =>
    ask(app, owner, teamCalls.offerOwnership, { body: { personId: String(to.personId), currentPassword } }, business)
  const accept = (person: Person) => ask(app, person, teamCalls.acceptOwnership, {}, business)
  expect((await accept(admin)).problem?.code).toBe('conflict')
  expect((await offer(admin, 'wrong')).problem?.code).toBe('wrong_password')
  expect((await offer(admin, '')).problem?.message).toBe('Please enter your current password to hand over the business.')
  expect((await offer(viewer)).problem?.code).toBe('invalid')
  expect((await offer(admin)).status).toBe(204)
  await ask(app, owner, teamCalls.withdrawOwnership, {}, business)
  expect((await accept(admin)).problem?.code).toBe('conflict')
  // Someone who was no admin meanwhile is offered nothing any more.
  await offer(admin)
  const params = { personId: String(admin.personId) }
  for (const role of ['member', 'admin'] as const)
    await ask(app, owner, teamCalls.changeMember, { params, body: { role, currentPassword: password } }, business)
  expect((await accept(admin)).problem?.code).toBe('conflict')
  await offer(admin)
  app.clock.advance({ hours: 7 * 24 })
  expect((await accept(admin)).problem?.code).toBe('conflict')
  await offer(admin)
  expect((await accept(admin)).reply).toMatchObject({ role: 'owner', owner: 'Meera', name: 'Meera' })
  expect((await ask(app, owner, businessCalls.read, {}, business)).reply).toMatchObject({ role: 'admin', owner: 'Meera' })
  // By the command of the operator.
  expect(await giveBusiness(app.deps, owner.id, viewer.email, app.clock.now(), async () => undefined)).toBe('Asha Rao')

  const wrong: string[] = []
  for (let nth = 0; nth < times(5, 100); nth += 1) {
    const [one, two] = [await aPerson(app, { password }), await aPerson(app)]
    await join(app, one, two, 'admin')
    await ask(app, one, businessCalls.create, { body: { name: 'Second' } })
    const within = inBusiness(one.id)
    await ask(app, one, teamCalls.offerOwnership, { body: { personId: String(two.personId), currentPassword: password } }, within)
    const race: (() => Promise<{ status: number }>)[] = [
      () => ask(app, two, teamCalls.acceptOwnership, {}, within),
      () => ask(app, one, businessCalls.remove, { body: { name: one.displayName } }, within),
      () => ask(app, one, accountCalls.deleteMe),
      () => ask(app, two, teamCalls.removeMember, { params: { personId: String(two.personId) }, body: {} }, within),
    ]
    // All 24 orders in which they can be asked, and each of them at the same moment or one after the other.
    const asked: Promise<{ status: number }>[] = []
    for (const request of inOrder(race, nth)) {
      asked.push(request())
      if (nth % 48 >= 24) await asked.at(-1)
    }
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    const owners = await app.db.$count(memberships, and(eq(memberships.ownerId, one.id), eq(memberships.role, 'owner')))
    const kept = await app.db.$count(accounts, eq(accounts.id, one.id))
    if (owners !== kept || statuses.some((status) => status >= 500)) wrong.push(`${owners} of ${kept}: ${statuses.join()}`)
  }
  expect(wrong).toEqual([])
})

test('warnings are emailed to the owner and the admins who want them, with a link that names one of several businesses', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openTestApp({
    config: {
      systemSmtpUrl: `smtp://${smtp.host}:${smtp.port}`,
      systemMailFrom: 'hello@duely.example',
      publicUrl: 'http://localhost:3000',
    },
  })
  const owner = await aPerson(app, { displayName: 'Asha Rao', confirmed: true })
  const [admin, quiet, member] = [
    await aPerson(app, { confirmed: true }),
    await aPerson(app, { confirmed: true }),
    await aPerson(app, { confirmed: true }),
  ]
  for (const [person, role] of [
    [admin, 'admin'],
    [quiet, 'admin'],
    [member, 'member'],
  ] as const)
    expect((await join(app, owner, person, role)).accepted.status).toBe(200)
  const business = inBusiness(owner.id)
  await ask(app, owner, teamCalls.changeMember, { params: { personId: String(quiet.personId) }, body: { getsMails: false } }, business)
  // No admin silences the owner.
  const silenced = { params: { personId: String(owner.personId) }, body: { getsMails: false } }
  expect((await ask(app, admin, teamCalls.changeMember, silenced, business)).problem).toMatchObject({
    code: 'not_allowed',
    message: 'The owner always gets the warnings by email.',
  })
  await app.runJobs()
  smtp.mails.length = 0
  const about = { kind: 'restored', link: '/dashboard/reminders' } as const
  await app.db.transaction((tx) => emailOwner(tx, app.deps, { id: owner.id }, about, app.clock.now()))
  await app.runJobs()
  const sent = new Map(smtp.mails.map(({ envelope, raw }) => [envelope.to[0] ?? '', String(raw)]))
  expect([...sent.keys()].toSorted()).toEqual([admin.email, owner.email].toSorted())
  const decoded = (raw = '') => raw.replaceAll('=\r\n', '').replaceAll('=3D', '=')
  expect(decoded(sent.get(owner.email))).not.toContain('business=')
  expect(decoded(sent.get(admin.email))).toContain(`/dashboard/reminders?business=${owner.id}`)
  // So do other emails to an owner, once they have several.
  const { reply: second } = await ask(app, owner, businessCalls.create, { body: { name: 'Second' } })
  smtp.mails.length = 0
  const draft = { body: { name: 'Robot', scopes: ['read' as const] } }
  for (const { id } of [owner, { id: second._id }]) await ask(app, owner, integrationCalls.addKey, draft, inBusiness(id))
  await app.runJobs()
  const links = smtp.mails.map(({ raw }) => /\/dashboard\/connections\S*/.exec(decoded(String(raw)))?.[0])
  expect(links.toSorted()).toEqual([owner.id, second._id].map((id) => `/dashboard/connections?business=${id}`).toSorted())
})

test('a test email goes to the person who asks for it, not to the owner', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openTestApp()
  const { owner, admin } = await aTeam(app)
  await aMailbox(app, owner, smtp)
  const business = inBusiness(owner.id)
  expect((await ask(app, admin, mailCalls.test, {}, business)).reply.to).toBe(admin.email)
  const step = { params: { id: 'every_day' }, body: { offset: 1 } }
  expect((await ask(app, admin, sequenceCalls.test, step, business)).reply).toEqual({ to: admin.email })
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([[admin.email], [admin.email]])
})

test('an invitation ends with its sender: demoted, removed or deleted, an admin lets in no one', async () => {
  await using app = await openTestApp()
  const owner = await aPerson(app, { displayName: 'Asha Rao' })
  const business = inBusiness(owner.id)
  const ends: ((admin: Person) => Promise<{ status: number }>)[] = [
    (admin) =>
      ask(app, owner, teamCalls.changeMember, { params: { personId: String(admin.personId) }, body: { role: 'viewer' } }, business),
    (admin) => ask(app, owner, teamCalls.removeMember, { params: { personId: String(admin.personId) }, body: {} }, business),
    (admin) => ask(app, admin, accountCalls.deleteMe),
  ]
  for (const end of ends) {
    const [admin, friend] = [await aPerson(app), await aPerson(app)]
    await join(app, owner, admin, 'admin')
    const { reply } = await ask(
      app,
      await signedInAgain(app, admin),
      teamCalls.invite,
      { body: { email: friend.email, role: 'admin' } },
      business,
    )
    expect((await end(admin)).status).toBeLessThan(300)
    const token = reply.link.split('#token=')[1] ?? ''
    expect((await ask(app, friend, teamCalls.acceptInvitation, { body: { token } })).problem?.code).toBe('invitation_gone')
  }
  expect((await ask(app, owner, teamCalls.invitations, {}, business)).reply).toEqual([])
})
