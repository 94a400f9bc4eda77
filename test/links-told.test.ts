import { expect, test } from 'vitest'
import type { z } from 'zod'
import { reaches } from '#contract/call.ts'
import { everyCall } from '#contract/index.ts'
import { type Shape, shapeOf } from './filled.ts'

/** Names of fields that may hold a secret, or a link that opens something for everyone who has it. */
const suspect = /url|link|secret|token|key|code|pass|redirect|href/i

/** What is answered to people below an admin, and why it is no secret of the business. */
const harmless: Record<string, string> = {
  'GET /server supportUrl': 'a page of the operator',
  'POST /auth accessToken': 'of the person who signs in',
  'POST /auth/google/exchange accessToken': 'of the person who signs in',
  'POST /auth/refresh accessToken': 'of the session that asks',
  'POST /auth/google/link/start url': 'Google’s page, for this browser only',
  'POST /auth/google/unlink/start url': 'Google’s page, for this browser only',
  'POST /user/two-factor/start secret': 'of the person who sets it up, after the password',
  'POST /user/two-factor recoveryCodes[]': 'of the person who sets it up',
  'POST /user/two-factor/recovery-codes recoveryCodes[]': 'of the person who asks, after password and code',
  'GET /mail-config/microsoft/approval url': 'Microsoft’s page for administrators, the same for everyone',
  'POST /evening/look clients[].key': 'names a client to who has the link of the list',
  'POST /evening/leave-out clients[].key': 'names a client to who has the link of the list',
  'POST /evening/take-back clients[].key': 'names a client to who has the link of the list',
  'GET /reminder/holidays countries[].code': 'ISO 3166',
  'GET /reminder/holidays countries[].regions[].code': 'ISO 3166',
  'GET /user/notices [].link': 'a screen of Duely',
  'GET /subscription checkout.scriptUrl': 'the checkout of the operator’s Razorpay',
  'GET /subscription checkout.keyId': 'public: the checkout page has it',
  'GET /payment-settings ownLink.url': 'on every pay page',
  'GET /payment-settings razorpay.keyId': 'public: its secret is never answered',
  'GET /payment-settings razorpay.webhookUrl': 'takes only what Razorpay signed',
  'POST /invoice/:id/pay-link url': 'for members to send to the client',
  'POST /clients/:id/pay-link url': 'for members to send to the client',
  'GET /oauth/consent refuseUrl': 'where the browser came from',
  'POST /oauth/login/callback redirect': 'has a code of the person who allows an app, valid once with the secret of the app',
  'GET /sources [].url': 'null below an admin: see sources.test.ts',
}

function* textsIn(shape: Shape, path: string): Generator<string> {
  for (const one of [...(shape.anyOf ?? []), ...(shape.oneOf ?? [])]) yield* textsIn(one, path)
  if (shape.items) yield* textsIn(shape.items, `${path}[]`)
  for (const [name, one] of Object.entries(shape.properties ?? {})) yield* textsIn(one, path === '' ? name : `${path}.${name}`)
  // Of a nullable text the type is a list.
  if (String(shape.type).includes('string') && !shape.enum && shape.const === undefined) yield path
}

test('no call tells a secret, or a link that is one, to someone below an admin', () => {
  const told = everyCall
    .filter(({ by }) => by === null || by === 'self' || !reaches(by, 'admin'))
    .flatMap(({ method, path, reply }) =>
      [...new Set(reply ? textsIn(shapeOf(reply as z.ZodType), '') : [])]
        .filter((field) => suspect.test(field.split('.').at(-1) ?? ''))
        .map((field) => `${method} ${path} ${field}`),
    )
  expect(told.toSorted()).toEqual(Object.keys(harmless).toSorted())
})
