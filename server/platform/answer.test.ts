import { expect, test } from 'vitest'
import { z } from 'zod'
import { call } from '#contract/call.ts'
import { answerOpen, openApp } from './answer.ts'
import { openLog } from './log.ts'
import { ProblemError } from './problem-error.ts'

const note = call({
  method: 'POST',
  path: '/note/:id',
  summary: 'Writes a note.',
  params: z.object({ id: z.string() }),
  query: z.strictObject({ page: z.coerce.number().optional() }),
  body: z.strictObject({
    text: z.string('Please write something.').min(1, 'Please write something.'),
    by: z.object({ email: z.email('Please enter an email.') }),
  }),
  reply: z.object({ text: z.string() }),
  open: true,
})

/** A server with one call, and what it logs. */
async function aServer(handle: () => Promise<{ text: string }> = async () => ({ text: 'done' })) {
  const lines: Record<string, unknown>[] = []
  const log = openLog({ level: 'info', terminal: false, destination: { write: (line: string) => void lines.push(JSON.parse(line)) } })
  const app = await openApp({ log, trustProxy: false, authenticate: () => Promise.reject(new Error('No call is authenticated here.')) })
  answerOpen(app, note, handle)
  const post = (payload: string | object, headers: Record<string, string> = { 'content-type': 'application/json' }, url = '/note/1') =>
    app.inject({ method: 'POST', url, payload, headers })
  return { app, lines, post }
}

const good = { text: 'Hello', by: { email: 'asha@example.com' } }

test('invalid input is reported by field', async () => {
  const { post } = await aServer()
  const { statusCode, json } = await post({ text: '', by: { email: 'asha' } })
  expect(statusCode).toBe(400)
  expect(json()).toEqual({
    message: 'Please write something.',
    code: 'invalid',
    errors: [
      { path: 'text', message: 'Please write something.' },
      { path: 'by.email', message: 'Please enter an email.' },
    ],
  })
})

test.each([
  ['an unknown key', JSON.stringify({ ...good, admin: true })],
  ['a key that would change every object', '{"__proto__":{"admin":true},"text":"Hello","by":{"email":"asha@example.com"}}'],
  ['no object', '[1]'],
  ['nothing', ''],
  ['half of it', '{"text":"Hel'],
])('%s is refused as invalid', async (_what, payload) => {
  const { post } = await aServer()
  const { statusCode, json } = await post(payload)
  expect([statusCode, json<{ code: string }>().code]).toEqual([400, 'invalid'])
})

test('content other than JSON answers 400', async () => {
  const { post } = await aServer()
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const { statusCode, json } = await post('text=Hello', { 'content-type': type })
    expect([type, statusCode, json<{ code: string }>().code]).toEqual([type, 400, 'invalid'])
  }
})

test('a body above 1 MB answers 413', async () => {
  const { post } = await aServer()
  const { statusCode, json } = await post({ ...good, text: 'x'.repeat(1024 * 1024) })
  expect([statusCode, json<{ code: string }>().code]).toEqual([413, 'too_large'])
})

test('a problem error is sent with its message and Retry-After', async () => {
  const { post, lines } = await aServer(async () => {
    throw new ProblemError('too_many', 'Please wait a minute.', { retryAfter: 60 })
  })
  const { statusCode, headers, json } = await post(good)
  expect(statusCode).toBe(429)
  expect(headers['retry-after']).toBe('60')
  expect(json()).toEqual({ message: 'Please wait a minute.', code: 'too_many' })
  expect(lines.map(({ level }) => level)).toEqual([30])
})

test('an internal error is logged with its stack and shown without details', async () => {
  const { post, lines } = await aServer(async () => {
    throw new Error('relation "notes" does not exist')
  })
  const { statusCode, headers, body, json } = await post(good)
  expect(statusCode).toBe(500)
  expect(json()).toMatchObject({ code: 'fault' })
  expect(body).not.toContain('relation')
  expect(lines[0]).toMatchObject({ level: 50, reqId: headers['x-request-id'], err: { message: 'relation "notes" does not exist' } })
})

test('a reply that breaks the contract is an internal error', async () => {
  const { post } = await aServer(async () => ({}) as { text: string })
  expect((await post(good)).statusCode).toBe(500)
})

test('each request logs one line, without values', async () => {
  const { post, lines } = await aServer()
  const { headers } = await post(good, { 'content-type': 'application/json', authorization: 'Bearer hunter2' }, '/note/hunter2?page=2')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ level: 30, method: 'POST', path: '/note/:id', status: 200, reqId: headers['x-request-id'] })
  expect(JSON.stringify(lines)).not.toMatch(/hunter2|page=2|asha/)
})

test.each([
  ['an answer to a call', '/note/1', 200],
  ['the answer where nothing is', '/nowhere', 404],
  ['the answer to an address that is written wrongly', '/%zz', 400],
])('%s is neither cached nor sniffed', async (_what, address, status) => {
  const { post } = await aServer()
  const { statusCode, headers } = await post(good, { 'content-type': 'application/json' }, address)
  expect(statusCode).toBe(status)
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-type': 'application/json; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  })
})
