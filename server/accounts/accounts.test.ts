// Also on PostgreSQL: deleting an account meets its locks, and emails are compared by the locale.

import { eq, or, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { openApp } from '#server/platform/answer.ts'
import { anInvoice, aPerson } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { type AccountRow, createAccount } from './accounts.ts'
import { selectAccounts } from './lock.ts'
import { accountRoutes } from './routes.ts'
import { authenticate } from './sessions.ts'
import { accounts, people, sessions } from './tables.ts'

const password = 'correct horse'
const asha = { displayName: 'Asha Rao', email: 'Asha.Rao@Example.com', password }

async function stored(app: TestApp, id: string): Promise<AccountRow> {
  const [row] = await selectAccounts(app.db).where(or(eq(accounts.id, id), sql`${people.id} = ${id}::uuid`))
  if (!row) throw new Error('There is no such account.')
  return row
}

/** The accounts slice alone, with what is handed to it from above. */
async function withHanded(app: TestApp, handed: Partial<Parameters<typeof accountRoutes>[2]>): Promise<TestApp> {
  const alone = await openApp({ log: app.deps.log, trustProxy: false, authenticate: (request) => authenticate(app.deps, request) })
  accountRoutes(alone, app.deps, {
    stats: async () => ({
      totalInvoices: 0,
      totalRevenue: 0,
      revenueByCurrency: [],
      receivedThisMonth: 0,
      receivedByCurrency: [],
      hasMailConfig: false,
    }),
    onScheduleChange: async () => {},
    refuseChangedSchedule: async () => {},
    onAccountCreated: async () => {},
    onAddressLeft: async () => {},
    onEmailConfirmed: async () => {},
    onAccountTakeover: [],
    revokeAccess: async () => undefined,
    onLeft: async () => undefined,
    onOwnerChange: async () => undefined,
    holdsRecords: async () => false,
    onAccountDeleted: [],
    onPersonDeleted: async () => undefined,
    endKeysOf: async () => undefined,
    deleteHistory: async () => {},
    ...handed,
  })
  return { ...app, app: alone }
}

// Signing up

test('a person signs up and signs in immediately', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const { status, reply } = await ask(app, null, accountCalls.signUp, { body: { ...asha, timezone: 'Europe/London' } })
  expect(status).toBe(201)
  expect(reply).toEqual({
    _id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    displayName: 'Asha Rao',
    email: 'Asha.Rao@Example.com',
    createdAt: '2026-03-02T09:00:00Z',
  })
  const signedIn = await ask(app, null, accountCalls.signIn, { body: { email: asha.email, password } })
  const { reply: profile } = await ask(app, { token: signedIn.reply.accessToken }, accountCalls.profile)
  expect(profile).toEqual({
    ...reply,
    currency: 'INR',
    timezone: 'Europe/London',
    reminderHour: 9,
    emailVerified: false,
    accessToReview: false,
    pendingEmail: null,
    twoFactor: null,
    apiKeys: 0,
    business: { name: 'Asha Rao', owner: 'Asha Rao', role: 'owner', kept: null, members: 1, businesses: 1 },
  })
})

test('an email is unique regardless of case, also in concurrent sign-ups', async () => {
  await using app = await openTestApp()
  const emails = ['asha@example.com', 'ASHA@example.com', 'asha@EXAMPLE.com', 'Asha@Example.Com']
  const answers = await Promise.all(emails.map((email) => ask(app, null, accountCalls.signUp, { body: { ...asha, email } })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  expect(answers.find(({ status }) => status === 409)?.problem).toEqual({
    code: 'email_taken',
    message: 'An account with this email already exists. Please sign in instead.',
    errors: [{ path: 'email', message: 'An account with this email already exists. Please sign in instead.' }],
  })
  expect(await app.db.select().from(accounts)).toHaveLength(1)
})

test.each([undefined, 'IST', 'Etc/Unknown', 'Mars/Olympus', '+05:30', ''])(
  'a browser in the time zone %s gets the default one',
  async (timezone) => {
    await using app = await openTestApp({ config: { defaultTimezone: 'Asia/Kathmandu' } })
    const { reply } = await ask(app, null, accountCalls.signUp, { body: { ...asha, ...(timezone === undefined ? {} : { timezone }) } })
    expect((await stored(app, reply._id)).timezone).toBe('Asia/Kathmandu')
  },
)

test('a password shorter than the minimum is refused', async () => {
  await using app = await openTestApp()
  const short = await ask(app, null, accountCalls.signUp, { body: { ...asha, password: '12345' } })
  expect(short.status).toBe(400)
  expect(short.problem).toEqual({
    code: 'invalid',
    message: 'Password must be at least 6 characters long',
    errors: [{ path: 'password', message: 'Password must be at least 6 characters long' }],
  })
  expect((await ask(app, null, accountCalls.signUp, { body: { ...asha, password: '123456' } })).status).toBe(201)
})

test('PASSWORD_MIN_LENGTH raises the minimum', async () => {
  await using app = await openTestApp({ config: { passwordMinLength: 12 } })
  const short = await ask(app, null, accountCalls.signUp, { body: { ...asha, password: 'elevenchars' } })
  expect(short.problem?.message).toBe('Password must be at least 12 characters long')
  expect((await ask(app, null, accountCalls.server)).reply.passwordMinLength).toBe(12)
})

test('the first midnight of a new account is the next one where the person lives', async () => {
  await using app = await openTestApp({ now: '2026-03-02T20:00:00Z' })
  const row = await stored(app, (await aPerson(app, { timezone: 'Asia/Kolkata' })).id)
  expect(row.nextMidnightAt.toString()).toBe('2026-03-03T18:30:00Z')
})

// Broken input

const email = 'Please enter an email address like name@example.com.'
const brokenSignUps: [what: string, change: object, path: string, message?: string][] = [
  ['no name', { displayName: undefined }, 'displayName', 'Please enter your name.'],
  ['a blank name', { displayName: ' \t ' }, 'displayName', 'Please enter your name.'],
  ['a name of two lines', { displayName: 'Asha\nRao' }, 'displayName', 'Please enter a name on one line.'],
  ['a name with NUL', { displayName: 'Asha\0' }, 'displayName', 'Please enter a name on one line.'],
  ['a name that is too long', { displayName: 'x'.repeat(201) }, 'displayName'],
  ['no email', { email: undefined }, 'email', email],
  ['a bad email', { email: 'asha' }, 'email', email],
  ['an email with a header in it', { email: 'asha@example.com\r\nBcc: victim@example.com' }, 'email', email],
  ['two emails', { email: 'asha@example.com,rao@example.com' }, 'email', 'Please enter one email address.'],
  ['an email that is too long', { email: `${'a'.repeat(250)}@example.com` }, 'email'],
  ['no password', { password: '' }, 'password', 'Please enter a password.'],
  ['a password of a megabyte', { password: 'x'.repeat(1025) }, 'password'],
  ['an unknown key', { isAdmin: true }, 'isAdmin'],
  ['an id of one’s own', { _id: '01890000-0000-7000-8000-000000000000' }, '_id'],
]
test.each(brokenSignUps)('a sign-up with %s is refused by field', async (_what, change, path, message) => {
  await using app = await openTestApp()
  const { status, problem } = await ask(app, null, accountCalls.signUp, { body: { ...asha, ...change } })
  expect(status).toBe(400)
  expect(problem?.code).toBe('invalid')
  expect(problem?.errors?.[0]?.path).toBe(path)
  if (message) expect(problem?.message).toBe(message)
  expect(await app.db.select().from(accounts)).toEqual([])
})

test('anything but text where text belongs is refused by field', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app, { password })
  const bodies = [
    [accountCalls.signUp, asha],
    [accountCalls.signIn, { email: asha.email, password }],
    [accountCalls.changeProfile, { displayName: 'Asha', email: 'asha@example.com', timezone: 'Asia/Kolkata', currentPassword: password }],
    [accountCalls.changePassword, { currentPassword: password, newPassword: 'battery staple' }],
  ] as const
  const wrong: string[] = []
  for (const [{ method, path }, body] of bodies) {
    for (const field of Object.keys(body)) {
      for (const value of [{}, { $ne: '' }, ['x'], [], 7, true, null]) {
        const answered = await app.app.inject({
          method,
          url: path,
          headers: { authorization: `Bearer ${person.token}` },
          payload: { ...body, [field]: value },
        })
        const named = answered.json<{ errors?: { path: string }[] }>().errors?.[0]?.path
        if (answered.statusCode !== 400 || named !== field) wrong.push(`${method} ${path} ${field}: ${JSON.stringify(value)}`)
      }
    }
  }
  expect(wrong).toEqual([])
})

test('broken JSON, another kind of body and more than 1 MB are each refused in a sentence', async () => {
  await using app = await openTestApp()
  const send = async (payload: string, type: string) => {
    const answered = await app.app.inject({ method: 'POST', url: '/user', headers: { 'content-type': type }, payload })
    const { code, message } = answered.json<{ code: string; message: string }>()
    return [answered.statusCode, code, message]
  }
  expect(await send('{"email":', 'application/json')).toEqual([400, 'invalid', 'This is not valid JSON.'])
  expect(await send('email=asha@example.com', 'application/x-www-form-urlencoded')).toEqual([
    400,
    'invalid',
    'Please send JSON with the header Content-Type: application/json.',
  ])
  expect((await send('hello', 'text/plain')).slice(0, 2)).toEqual([400, 'invalid'])
  expect((await send('[]', 'application/json')).slice(0, 2)).toEqual([400, 'invalid'])
  const large = JSON.stringify({ ...asha, displayName: 'x'.repeat(1024 * 1024) })
  expect((await send(large, 'application/json')).slice(0, 2)).toEqual([413, 'too_large'])
})

// The profile

test('a person changes their name, time zone and hour', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app)
  const body = { displayName: '  Asha K. Rao ', timezone: 'Europe/London', reminderHour: 17 }
  const { status, reply } = await ask(app, person, accountCalls.changeProfile, { body })
  expect(status).toBe(200)
  expect(reply).toMatchObject({ ...body, displayName: 'Asha K. Rao', email: person.email })
  expect((await ask(app, person, accountCalls.profile)).reply).toEqual(reply)
})

test('an empty change changes nothing', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app)
  const before = (await ask(app, person, accountCalls.profile)).reply
  expect((await ask(app, person, accountCalls.changeProfile, { body: {} })).reply).toEqual(before)
})

test.each<[what: string, body: object, path: string]>([
  ['hour', { reminderHour: 5 }, 'reminderHour'],
  ['hour', { reminderHour: 18 }, 'reminderHour'],
  ['hour', { reminderHour: 9.5 }, 'reminderHour'],
  ['zone', { timezone: 'Mars/Olympus' }, 'timezone'],
  ['zone', { timezone: '+05:30' }, 'timezone'],
  ['zone', { timezone: 'IST' }, 'timezone'],
  ['name', { displayName: '' }, 'displayName'],
  ['email', { email: 'asha' }, 'email'],
  ['key', { googleSub: '1' }, 'googleSub'],
  ['key', { passwordHash: 'x' }, 'passwordHash'],
])('a profile with a wrong %s (%j) is refused', async (_what, body, path) => {
  await using app = await openTestApp()
  const { status, problem } = await ask(app, await aPerson(app), accountCalls.changeProfile, { body })
  expect(status).toBe(400)
  expect(problem?.errors?.[0]?.path).toBe(path)
})

test('a new email needs the current password and takes effect immediately', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app, { password })
  const change = (body: object) => ask(app, person, accountCalls.changeProfile, { body: { email: 'New@example.com', ...body } })
  const without = await change({ displayName: 'Somebody Else' })
  expect(without.status).toBe(400)
  expect(without.problem).toMatchObject({ code: 'wrong_password', errors: [{ path: 'currentPassword' }] })
  const wrong = await change({ currentPassword: 'wrong horse' })
  expect(wrong.problem).toMatchObject({ code: 'wrong_password', message: 'Invalid current password' })
  expect(await stored(app, person.id)).toMatchObject({ email: person.email, displayName: 'Asha Rao' })

  expect((await change({ currentPassword: password })).reply.email).toBe('New@example.com')
  expect((await ask(app, null, accountCalls.signIn, { body: { email: 'new@example.com', password } })).status).toBe(200)
  expect((await ask(app, null, accountCalls.signIn, { body: { email: person.email, password } })).status).toBe(401)
})

test('a form that sends the email it was given asks for no password', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app, { password })
  const { reply } = await ask(app, person, accountCalls.changeProfile, { body: { displayName: 'Asha K. Rao', email: person.email } })
  expect(reply.displayName).toBe('Asha K. Rao')
})

test('an owner can change the case of their email, but not use another account’s', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app, { email: 'asha@example.com', password })
  await aPerson(app, { email: 'taken@example.com' })
  const change = (to: string) => ask(app, person, accountCalls.changeProfile, { body: { email: to, currentPassword: password } })
  expect((await change('Asha@Example.com')).reply.email).toBe('Asha@Example.com')
  const taken = await change('Taken@example.com')
  expect(taken.status).toBe(409)
  expect(taken.problem).toMatchObject({ code: 'email_taken', errors: [{ path: 'email' }] })
  expect((await stored(app, person.id)).email).toBe('Asha@Example.com')
})

test('an account with Google sign-in changes its name, but neither email nor password', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app, { password, googleId: '1076915' })
  const newEmail = await ask(app, person, accountCalls.changeProfile, { body: { email: 'new@example.com', currentPassword: password } })
  expect(newEmail.status).toBe(403)
  expect(newEmail.problem?.code).toBe('not_allowed')
  const newPassword = await ask(app, person, accountCalls.changePassword, {
    body: { currentPassword: password, newPassword: 'battery staple' },
  })
  expect(newPassword.status).toBe(403)
  expect(newPassword.problem?.code).toBe('not_allowed')
  const { reply } = await ask(app, person, accountCalls.changeProfile, { body: { displayName: 'Asha', email: person.email } })
  expect(reply).toMatchObject({ displayName: 'Asha', googleId: '1076915' })
})

// Moving to another zone

test.each([
  [
    'a move east over midnight counts the day as over',
    'Europe/London',
    '2026-03-02T20:00:00Z',
    'Pacific/Kiritimati',
    '2026-03-03T10:00:00Z',
  ],
  [
    'a move east within the same day brings the next midnight nearer',
    'Europe/London',
    '2026-03-02T09:00:00Z',
    'Asia/Kolkata',
    '2026-03-02T18:30:00Z',
  ],
  ['a move west puts the next midnight off', 'Pacific/Kiritimati', '2026-03-02T12:00:00Z', 'Pacific/Honolulu', '2026-03-03T10:00:00Z'],
])('%s', async (_what, from, now, to, midnight) => {
  await using app = await openTestApp({ now })
  const person = await aPerson(app, { timezone: from })
  await ask(app, person, accountCalls.changeProfile, { body: { timezone: to } })
  await app.runJobs()
  const row = await stored(app, person.id)
  expect(row.nextMidnightAt.toString()).toBe(midnight)
})

test('a new zone or hour moves the daily run in the same transaction; other changes do not', async () => {
  await using opened = await openTestApp()
  const told: string[] = []
  const app = await withHanded(opened, {
    onScheduleChange: async (tx, _before, account, now) => {
      const [inside] = await tx.select().from(accounts).where(eq(accounts.id, account.id))
      told.push(`${inside?.timezone} ${account.reminderHour} ${now}`)
      if (account.reminderHour === 6) throw new Error('The run could not be moved.')
    },
  })
  const person = await aPerson(app)
  const change = (body: object) => ask(app, person, accountCalls.changeProfile, { body })
  await change({ displayName: 'Asha' })
  await change({ timezone: 'Asia/Kolkata', reminderHour: 9 })
  expect(told).toEqual([])
  await change({ timezone: 'Europe/London' })
  await change({ reminderHour: 10 })
  expect(told).toEqual(['Europe/London 9 2026-03-02T09:00:00Z', 'Europe/London 10 2026-03-02T09:00:00Z'])

  const failed = await change({ reminderHour: 6, displayName: 'Somebody Else' })
  expect(failed.problem?.code).toBe('fault')
  expect(opened.errorsLogged.splice(0)).toHaveLength(1)
  expect(await stored(app, person.id)).toMatchObject({ reminderHour: 10, displayName: 'Asha' })
})

// The password

test('a new password takes effect immediately and ends every other session', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app, { password })
  const elsewhere = await ask(app, null, accountCalls.signIn, { body: { email: person.email, password } })
  const stranger = await aPerson(app)
  const changed = await ask(app, person, accountCalls.changePassword, {
    body: { currentPassword: password, newPassword: 'battery staple' },
  })
  expect(changed.status).toBe(200)
  expect(changed.reply).toEqual({ message: 'Password changed successfully!' })

  expect((await ask(app, person, accountCalls.profile)).status).toBe(200)
  expect((await ask(app, stranger, accountCalls.profile)).status).toBe(200)
  expect((await ask(app, { token: elsewhere.reply.accessToken }, accountCalls.profile)).problem?.code).toBe('not_signed_in')
  const cookie = String(elsewhere.headers['set-cookie']).split(';')[0] ?? ''
  expect((await ask(app, null, accountCalls.refresh, undefined, { cookie })).problem?.code).toBe('not_signed_in')
  expect((await ask(app, null, accountCalls.signIn, { body: { email: person.email, password } })).status).toBe(401)
  expect((await ask(app, null, accountCalls.signIn, { body: { email: person.email, password: 'battery staple' } })).status).toBe(200)
})

test('a wrong current password and a short new one change nothing', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app, { password })
  const before = await stored(app, person.id)
  const wrong = await ask(app, person, accountCalls.changePassword, {
    body: { currentPassword: 'wrong horse', newPassword: 'battery staple' },
  })
  expect(wrong.status).toBe(400)
  expect(wrong.problem).toMatchObject({ code: 'wrong_password', message: 'Invalid current password' })
  const short = await ask(app, person, accountCalls.changePassword, { body: { currentPassword: password, newPassword: '12345' } })
  expect(short.status).toBe(400)
  expect(short.problem).toMatchObject({ message: 'Password must be at least 6 characters long', errors: [{ path: 'newPassword' }] })
  expect(await stored(app, person.id)).toEqual(before)
})

test('of two concurrent password changes one succeeds', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app, { password })
  const answers = await Promise.all(
    ['battery staple', 'paper clip'].map((newPassword) =>
      ask(app, person, accountCalls.changePassword, { body: { currentPassword: password, newPassword } }),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
})

// Figures, deletion, the server

test('the profile counts what is not deleted and adds up what was paid by currency', async () => {
  await using app = await openTestApp()
  const owner = await aPerson(app)
  await anInvoice(app, { owner, amount: 19.99, status: 'paid' })
  await anInvoice(app, { owner, amount: 0.1, status: 'paid' })
  await anInvoice(app, { owner, amount: 5000 })
  await anInvoice(app, { amount: 700, status: 'paid' })
  const { reply } = await ask(app, owner, accountCalls.stats)
  const revenue = [{ currency: 'INR', amount: 20.09 }]
  expect(reply).toEqual({
    totalInvoices: 3,
    totalRevenue: 20.09,
    revenueByCurrency: revenue,
    receivedThisMonth: 20.09,
    receivedByCurrency: revenue,
    hasMailConfig: false,
  })
})

test('the figures are those of the account that asks', async () => {
  await using opened = await openTestApp()
  const person = await aPerson(opened)
  const app = await withHanded(opened, {
    stats: async (_db, { id }) => ({
      totalInvoices: id === person.id ? 7 : 0,
      totalRevenue: 0,
      revenueByCurrency: [],
      receivedThisMonth: 42.5,
      receivedByCurrency: [],
      hasMailConfig: true,
    }),
  })
  expect((await ask(app, person, accountCalls.stats)).reply).toMatchObject({
    totalInvoices: 7,
    receivedThisMonth: 42.5,
    hasMailConfig: true,
  })
})

test('deleting an account deletes all its data and ends its sessions', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app, { email: 'asha@example.com', password })
  const elsewhere = await ask(app, null, accountCalls.signIn, { body: { email: person.email, password } })
  await anInvoice(app, { owner: person })
  const other = await anInvoice(app)
  const answered = await ask(app, person, accountCalls.deleteMe)
  expect(answered.status).toBe(204)
  expect(String(answered.headers['set-cookie'])).toContain('refreshToken=;')
  for (const token of [person.token, elsewhere.reply.accessToken])
    expect((await ask(app, { token }, accountCalls.profile)).problem?.code).toBe('not_signed_in')
  expect((await app.db.select().from(accounts)).map(({ id }) => id)).toEqual([other.owner.id])
  expect((await app.db.select().from(sessions)).map(({ personId }) => personId)).toEqual([other.owner.personId])
  expect((await ask(app, other.owner, accountCalls.stats)).reply.totalInvoices).toBe(1)
  expect((await ask(app, null, accountCalls.signIn, { body: { email: person.email, password } })).status).toBe(401)
  expect((await ask(app, null, accountCalls.signUp, { body: { ...asha, email: 'asha@example.com' } })).status).toBe(201)
})

test('deleting by ID works for one’s own account only', async () => {
  await using app = await openTestApp()
  const [person, other] = [await aPerson(app), await aPerson(app)]
  for (const id of [other.id, 'me', "' OR 1=1 --", '01890000-0000-7000-8000-000000000000']) {
    const refused = await ask(app, person, accountCalls.deleteById, { params: { id } })
    expect(refused.status).toBe(404)
    expect(refused.problem?.code).toBe('not_found')
  }
  expect((await ask(app, other, accountCalls.profile)).status).toBe(200)
  expect((await ask(app, person, accountCalls.deleteById, { params: { id: String(person.personId) } })).status).toBe(204)
  expect((await ask(app, person, accountCalls.profile)).status).toBe(401)
  expect((await ask(app, other, accountCalls.profile)).status).toBe(200)
})

test('a person who deletes their account twice at once gets no error', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app)
  const answers = await Promise.all([ask(app, person, accountCalls.deleteMe), ask(app, person, accountCalls.deleteMe)])
  expect(answers.map(({ status }) => status).filter((status) => status !== 204 && status !== 401)).toEqual([])
})

test('the server’s abilities are public', async () => {
  await using app = await openTestApp({ config: { supportUrl: 'https://example.com/help' } })
  expect((await ask(app, null, accountCalls.server)).reply).toEqual({
    google: false,
    microsoft: false,
    payments: false,
    payLinks: false,
    systemMail: false,
    supportUrl: 'https://example.com/help',
    demoMail: null,
    passwordMinLength: 6,
  })
})

test('the database refuses two accounts with one email', async () => {
  await using app = await openTestApp()
  const draft = { displayName: 'Asha Rao', email: 'asha@example.com', passwordHash: null, timezone: 'Asia/Kolkata' }
  await createAccount(app.db, draft, app.clock.now())
  await expect(createAccount(app.db, { ...draft, email: 'ASHA@example.com' }, app.clock.now())).rejects.toMatchObject({
    code: 'email_taken',
  })
})

test('an account is deleted only within 15 minutes of signing in, or of proving who it is', async () => {
  await using app = await openTestApp()
  const person = await aPerson(app, { password: 'correct horse' })
  const late = () => ask(app, person, accountCalls.deleteMe)
  const prove = (currentPassword: string) => ask(app, person, accountCalls.reauthenticate, { body: { currentPassword } })
  app.clock.advance({ minutes: 15 })
  const refused = await late()
  expect([refused.status, refused.problem?.code]).toEqual([401, 'recent_sign_in_needed'])
  expect((await ask(app, person, accountCalls.deleteById, { params: { id: String(person.personId) } })).problem?.code).toBe(
    'recent_sign_in_needed',
  )
  expect((await prove('wrong horse')).problem?.code).toBe('wrong_password')
  expect((await late()).status).toBe(401)
  expect((await prove('correct horse')).status).toBe(204)
  app.clock.advance({ minutes: 15 })
  expect((await late()).status).toBe(401)
  await prove('correct horse')
  app.clock.advance({ minutes: 14 })
  expect((await late()).status).toBe(204)
})

test('a person and a business never share an id, also not those of tests', async () => {
  await using app = await openTestApp()
  const made = await aPerson(app)
  await ask(app, null, accountCalls.signUp, { body: asha })
  expect(String(made.personId)).not.toBe(made.id)
  const all = [...(await app.db.select({ id: people.id }).from(people)), ...(await app.db.select({ id: accounts.id }).from(accounts))]
  expect(new Set(all.map(({ id }) => String(id))).size).toBe(4)
})
