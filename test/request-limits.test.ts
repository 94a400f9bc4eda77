import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { on } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { everyCall } from '#contract/index.ts'
import { readConfig } from '#server/config.ts'
import { mostPartsOf, refuseManyValues, shortenLists } from '#server/platform/body.ts'
import { newId } from '#server/platform/columns.ts'
import { openTestApp, type TestApp } from './harness.ts'

/** With every route that a server can have. */
const config = readConfig({
  PORT: '0',
  SECRET_KEY: 'a secret key for tests, 32 characters',
  RATE_LIMIT: 'off',
  PAY_LINKS: 'on',
  PUBLIC_URL: 'https://duely.example',
  RAZORPAY_KEY_ID: 'rzp_test_FakeFakeFake01',
  RAZORPAY_KEY_SECRET: 'a-secret-of-the-provider',
  RAZORPAY_WEBHOOK_SECRET: 'a-secret-of-its-webhooks',
  ZAPIER_CLIENT_ID: 'duely-for-zapier',
  ZAPIER_CLIENT_SECRET: 'a-secret-of-zapier-alone',
  ZAPIER_REDIRECT_URIS: 'https://zapier.com/dashboard/auth/oauth/return/App1CLIAPI/',
})

/** Registering every route takes longer than these tests. */
let shared: ReturnType<typeof openWithRoutes> | undefined
const withRoutes = () => (shared ??= openWithRoutes())
afterAll(async () => (await shared)?.app[Symbol.asyncDispose]())

/** A program, and every route that it registered, those of no call too. */
async function openWithRoutes(): Promise<{ app: TestApp; routes: RouteOptions[] }> {
  const routes: RouteOptions[] = []
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', (route) => void routes.push(route))
  }
  subscribe('fastify.initialization', watch)
  const app = await openTestApp({ config })
  await app.app.ready()
  unsubscribe('fastify.initialization', watch)
  return { app, routes }
}

const callOf = ({ method, url }: RouteOptions) => everyCall.find((call) => call.method === method && call.path === url)
const takesBody = ({ method }: RouteOptions) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(String(method))

const [json, form, multipart] = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']

async function send(
  app: TestApp,
  route: RouteOptions,
  about: { type?: string; body?: string; headers?: Record<string, string>; query?: string },
) {
  const { statusCode, body } = await app.app.inject({
    method: [route.method].flat()[0] as 'POST',
    url: route.url.replace(/:\w+|\*/g, newId()) + (about.query ?? ''),
    headers: { ...(about.type === undefined ? {} : { 'content-type': about.type }), ...about.headers },
    ...(about.body === undefined ? {} : { payload: about.body }),
  })
  return { status: statusCode, text: body }
}

/** Neither JSON nor a form that could be read: who refuses it for its size has not tried. */
const broken = (bytes: number) => '{"'.padEnd(bytes, '%')
/** Of a refusal: a page is longer than a sentence. */
const longest = (text: string) => (text.includes('<html') ? 10_000 : 300)
const sizeOf = (bytes: number) => (bytes < 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / 1024 / 1024} MB`)

test('without a session a body of more than 16 KB, or what its call says, is refused before it is read', async () => {
  const { app, routes } = await withRoutes()
  const open = routes.filter((route) => takesBody(route) && (callOf(route)?.open ?? true))
  // Those of the contract, tokens, webhooks of the provider, pay pages and the operator's page.
  expect(open.length).toBeGreaterThan(20)
  expect(open.filter((route) => !callOf(route)).length).toBeGreaterThan(8)
  const wrong: string[] = []
  for (const route of open) {
    const most = route.bodyLimit ?? 16 * 1024
    const more: Record<string, number> = { '/subscription/webhook': 256, '/payment-hooks/razorpay/:hookId': 256, '/operator': 1 }
    if (most !== (callOf(route)?.bodyLimit ?? (more[route.url] ?? 16) * 1024)) wrong.push(`${route.url} takes ${most}`)
    const answers = await Promise.all([json, form, multipart].map((type) => send(app, route, { type, body: broken(most + 1) })))
    const named = answers.filter(({ status, text }) => status === 413 && text.includes(`This is more than ${sizeOf(most)}.`))
    // Of another type than a route has, nothing is read.
    const others = answers.filter((one) => !named.includes(one) && !(one.status === 400 && one.text.length < longest(one.text)))
    if (named.length === 0 || others.length > 0)
      wrong.push(`${route.url}: ${answers.map(({ status, text }) => `${status} ${text.slice(0, 90)}`)}`)
  }
  expect(wrong).toEqual([])
})

test.each([
  ['100 parameters', form, `${'a=1&'.repeat(100)}a=1`, /more than 100 parameters/],
  [
    '100 fields',
    json,
    `{${Array.from({ length: 101 }, (_none, nth) => `"k${nth}":1`).join()},`,
    /more than (?:\d+ values|100 different fields)/,
  ],
  ['its values, of one field', json, `{${'"k":1,'.repeat(2_000)}`, /more than \d+ values/],
  ['its values, in a list', json, `[${'1,'.repeat(2_000)}`, /more than \d+ values/],
  ['20 lists in one another', json, '['.repeat(5_000), /more than 20 lists or objects in one another/],
])('without a session a body with more than %s is refused before it is read', async (_what, type, body, sentence) => {
  const { app, routes } = await withRoutes()
  const wrong: string[] = []
  let counted = 0
  for (const route of routes.filter((one) => takesBody(one) && (callOf(one)?.open ?? true))) {
    // A page that may name ten thousand clients has room for these.
    if (route.url.startsWith('/evening/') && route.url !== '/evening/look') continue
    const { status, text } = await send(app, route, { type, body })
    if (status === 413 && sentence.test(text)) counted += 1
    else if (status < 400 || text.length > longest(text)) wrong.push(`${route.url}: ${status} ${text.slice(0, 100)}`)
  }
  expect(wrong).toEqual([])
  expect(counted).toBeGreaterThan(type === form ? 5 : 12)
})

test('a client that is still sending reads the refusal of its body, and its connection stays', async () => {
  const { app } = await withRoutes()
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  const answered = async (status: number) => {
    for await (const [bytes] of on(socket, 'data')) {
      answer += String(bytes)
      if (answer.startsWith(`HTTP/1.1 ${status}`)) return
    }
  }
  socket.write(`POST /oauth/token HTTP/1.1\r\nhost: a\r\ncontent-type: ${form}\r\ncontent-length: 4000000\r\n\r\n`)
  await answered(413)
  socket.write(Buffer.alloc(4_000_000))
  answer = ''
  socket.write('GET /health/nothing HTTP/1.1\r\nhost: a\r\n\r\n')
  await answered(404)
  socket.destroy()
})

test('every address has at most 100 parameters, 200 headers and 200 cookies', async () => {
  const { app, routes } = await withRoutes()
  const most = {
    parameters: { query: `?${'a&'.repeat(100)}` },
    cookies: { headers: { cookie: 'a=1; '.repeat(201) } },
    headers: { headers: Object.fromEntries(Array.from({ length: 201 }, (_none, nth) => [`x-${nth}`, '1'])) },
  }
  const wrong: string[] = []
  for (const route of routes)
    for (const [what, about] of Object.entries(most)) {
      const { status, text } = await send(app, route, about)
      const isNamed = status === 413 && (route.method === 'HEAD' || text.includes(what))
      if (!isNamed) wrong.push(`${route.url} with ${what}: ${status} ${text.slice(0, 100)}`)
    }
  expect(wrong).toEqual([])
})

test('every private call has the limits of its contract', async () => {
  const { routes } = await withRoutes()
  const wrong = everyCall
    .filter(({ open }) => !open)
    .flatMap((call) => {
      const route = routes.find((one) => callOf(one) === call)
      const its = [route?.bodyLimit, (route?.config as { mostParts?: number } | undefined)?.mostParts]
      return its[0] === call.bodyLimit && its[1] === mostPartsOf(call.body) && call.bodyLimit <= (call.body ? 1 : 3) * 1024 * 1024
        ? []
        : [`${call.method} ${call.path}: ${its.join(', ')}`]
    })
  expect(wrong).toEqual([])
})

test('what is counted of JSON are its parts, however it is written', () => {
  const count = (text: string) => {
    for (let most = 0; most < 100; most += 1)
      try {
        refuseManyValues(text, most)
        return most
      } catch {}
    return null
  }
  expect(['1', '"a,b"', '[]', '{}', '[1,2]', '{"a":1,"b":[{}]}', '{"a\\"":"}],{[","b":"\\\\"}'].map(count)).toEqual([0, 0, 1, 1, 2, 4, 2])
  const many = Array.from({ length: 101 }, (_none, nth) => `{"k${nth}" : 1}`)
  expect(() => refuseManyValues(`[${many}]`, 1_000)).toThrow('This has more than 100 different fields.')
  expect(() => refuseManyValues(`[${many.slice(1)}]`, 1_000)).not.toThrow()
  expect(() => refuseManyValues('['.repeat(21), 1_000)).toThrow('This has more than 20 lists or objects in one another.')
})

test('a schema says how many parts its bodies can have', () => {
  const list = z.strictObject({ lines: z.array(z.strictObject({ a: z.string(), b: z.array(z.int()).max(3).optional() })).max(10) })
  const longest = { lines: Array.from({ length: 10 }, () => ({ a: '', b: [1, 2, 3] })) }
  expect(() => refuseManyValues(JSON.stringify(longest), mostPartsOf(list))).not.toThrow()
  expect(mostPartsOf(list)).toBeLessThan(250)
  expect(() => mostPartsOf(z.strictObject({ lines: z.array(z.int()) }))).toThrow('A list in a body has no most.')
  // Only a bank file of 2,000 lines, each for a hundred invoices, has more parts than are read of any body.
  expect(everyCall.filter(({ body }) => mostPartsOf(body) >= 50_000).map(({ path }) => path)).toEqual(['/payments/import'])
})

test('of a list that is refused anyway, only so much is read that it is', async () => {
  const body = z.strictObject({ lines: z.array(z.strictObject({ a: z.int(), b: z.array(z.int()).max(3).default([]) })).max(2_000) })
  const read = async (lines: unknown[]) => {
    const given = { lines }
    await shortenLists(body, given)
    const { error } = body.safeParse(given)
    return [given.lines.length, error?.issues.at(-1)?.code, error?.issues.at(-1)?.path.join('.')]
  }
  const right = (length: number) => Array.from({ length }, (_none, a): unknown => ({ a }))
  expect(await read(right(2_000))).toEqual([2_000, undefined, undefined])
  expect(await read(right(90_000))).toEqual([2_001, 'too_big', 'lines'])
  expect(await read([...right(500), ...Array.from({ length: 1_000 }, () => ({}))])).toEqual([600, 'invalid_type', 'lines.599.a'])
  expect(await read([{ a: 1, b: Array.from({ length: 50_000 }, () => null) }])).toEqual([1, 'too_big', 'lines.0.b'])
})

test('an answer names at most ten unknown fields, and of a long one the beginning', async () => {
  const { app } = await withRoutes()
  const unknown = Array.from({ length: 50 }, (_none, nth) => `"${nth}${'x'.repeat(200)}":1`)
  const { status, text } = await send(app, { method: 'POST', url: '/auth' } as RouteOptions, { type: json, body: `{${unknown.join()}}` })
  const { errors } = JSON.parse(text) as { errors: { path: string; message: string }[] }
  expect([status, errors.filter(({ message }) => message.startsWith('There is no field called')).length]).toEqual([400, 10])
  expect(text.length).toBeLessThan(4_000)
})
