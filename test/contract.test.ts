import { SignJWT } from 'jose'
import { expect, expectTypeOf, test } from 'vitest'
import { type Call, type call, reaches, roles } from '#contract/call.ts'
import { everyCall } from '#contract/index.ts'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { newId } from '#server/platform/columns.ts'
import { deriveKey } from '#server/platform/secrets.ts'
import { aPerson } from './factories.ts'
import { openTestApp, type TestApp } from './harness.ts'

const privateCalls = everyCall.filter((call) => !call.open)

test('every call of the contract has a route', async () => {
  await using app = await openTestApp()
  expect(everyCall.length).toBeGreaterThan(20)
  const unanswered = everyCall.filter(({ method, path }) => !app.app.hasRoute({ method, url: path }))
  expect(unanswered.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})

test('a private call without the role that it needs does not compile', () => {
  type Draft = Parameters<typeof call>[0]
  interface Named {
    method: 'GET'
    path: string
    summary: string
  }
  // The check of types refuses this file where one of these does not hold.
  expectTypeOf<Named>().not.toExtend<Draft>()
  expectTypeOf<Named & { open: false }>().not.toExtend<Draft>()
  expectTypeOf<Named & { by: 'viewer' }>().toExtend<Draft>()
  expectTypeOf<Named & { open: true }>().toExtend<Draft>()
  expectTypeOf<Named & { open: true; by: 'viewer' }>().not.toExtend<Draft>()
  expect(everyCall.filter(({ open, by }) => open !== (by === null))).toEqual([])
  expect(roles.map((role) => roles.filter((needed) => reaches(role, needed)).length)).toEqual([1, 2, 3, 4])
})

test('every call that is not open refuses requests without a valid token', async () => {
  await using app = await openTestApp()
  const letIn: string[] = []
  for (const [nth, [who, authorization]] of (await strangers(app)).entries()) {
    for (const call of privateCalls) {
      // A body is never read before the token: shown by one of them.
      for (const payload of nth === 0 ? [undefined, '{}', '{"unknown":true}', '{broken'] : [call.body ? '{}' : undefined]) {
        const answered = await inject(app, call, authorization, payload)
        const refused = answered.statusCode === 401 && answered.json<{ code: string }>().code === 'not_signed_in'
        if (!refused) letIn.push(`${call.method} ${call.path} to ${who} with ${payload}: ${answered.statusCode}`)
      }
    }
  }
  expect(letIn).toEqual([])
})

test('every call recognises a signed-in account', async () => {
  await using app = await openTestApp()
  const refused: string[] = []
  let { token } = await aPerson(app)
  for (const call of privateCalls) {
    // One of their own may end the session.
    if (call.by === 'self' || call.by === 'owner') token = (await aPerson(app)).token
    const { statusCode } = await inject(app, call, `Bearer ${token}`, call.body ? '{}' : undefined)
    if (statusCode === 401) refused.push(`${call.method} ${call.path}`)
  }
  expect(refused).toEqual([])
})

function inject(app: TestApp, { method, path }: Call, authorization: string | undefined, payload: string | undefined) {
  return app.app.inject({
    method,
    url: path.replace(/:\w+/g, newId()),
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(payload === undefined ? {} : { payload }),
  })
}

/** Invalid Authorization headers. */
async function strangers(app: TestApp): Promise<[who: string, authorization: string | undefined][]> {
  const { secretKey } = app.deps.config
  const now = app.clock.now()
  const { token } = await aPerson(app)
  const [header = '', payload = '', signature = ''] = token.split('.')
  const sessionId = (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string }).sub
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url')
  const signedFor = (audience: string, typ: string) =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', typ })
      .setSubject(sessionId)
      .setAudience(audience)
      .setExpirationTime(Math.floor(now.epochMilliseconds / 1000) + 600)
      .sign(deriveKey(secretKey, 'access-token'))
  return [
    ['nobody', undefined],
    ['an empty token', 'Bearer '],
    ['a garbage token', 'Bearer garbage'],
    ['another scheme', `Basic ${token}`],
    ['an expired token', `Bearer ${await signAccessToken(secretKey, sessionId, now.subtract({ minutes: 15 }))}`],
    ['another key', `Bearer ${await signAccessToken('another secret key of 32 characters', sessionId, now)}`],
    ['alg none', `Bearer ${unsigned}.${payload}.`],
    ['alg none with a signature', `Bearer ${unsigned}.${payload}.${signature}`],
    ['a cut signature', `Bearer ${header}.${payload}.`],
    ['a token for another audience', `Bearer ${await signedFor('zapier', 'at+jwt')}`],
    ['a token of another type', `Bearer ${await signedFor('web', 'JWT')}`],
    ['a session that never was', `Bearer ${await signAccessToken(secretKey, newId(), now)}`],
  ]
}
