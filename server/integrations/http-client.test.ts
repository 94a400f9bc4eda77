import net from 'node:net'
import { expect, test } from 'vitest'
import { resolveName } from '#server/platform/resolve.ts'
import { makeCertificate } from '#test/fakes/certificate.ts'
import { type Answer, type FakeReceiver, openFakeReceiver } from '#test/fakes/receiver.ts'
import { callWebhook, defaultNetwork, download, isAccepted, refuseAddress, type WebhookNetwork } from './http-client.ts'

const publicAddress = '93.184.215.14'

/** The default, where nothing private is called. */
const strict = defaultNetwork({ allowPrivateWebhookHosts: false })
/** Where the operator allows receivers on this machine. */
const lax = { ...defaultNetwork({ allowPrivateWebhookHosts: true }), deadline: 60_000 }

/** A public internet for tests: every name has one public address, which connects to this receiver. */
function internet(receiver: FakeReceiver, about: Partial<WebhookNetwork> = {}): WebhookNetwork {
  return {
    ...strict,
    deadline: 60_000,
    resolve: async () => [publicAddress],
    connect: () => net.connect(receiver.port, '127.0.0.1'),
    trust: receiver.certificate,
    ...about,
  }
}

function post(url: string, network: WebhookNetwork, body = '{"type":"test"}') {
  return callWebhook({ method: 'POST', url, headers: { 'content-type': 'application/json', 'webhook-id': 'an id' }, body }, network)
}

test('a receiver gets the exact bytes, as JSON, from Duely, and the beginning of its response is kept', async () => {
  await using receiver = await openFakeReceiver()
  receiver.answer({ status: 202, body: ' Thank\tyou,\r\n\u0000Asha \n' })
  const body = '{"client":"Kaveri Foods ₹"}'
  expect(await post(`${receiver.url}/hooks?for=duely#part`, lax, body)).toEqual({ status: 202, words: 'Thank you, Asha' })
  const [call] = receiver.calls
  expect(call).toMatchObject({ method: 'POST', path: '/hooks?for=duely', body })
  expect(call?.headers).toMatchObject({
    host: `127.0.0.1:${receiver.port}`,
    'user-agent': 'Duely',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'webhook-id': 'an id',
  })
})

test.each([200, 201, 204, 299])('%i is a success', async (status) => {
  await using receiver = await openFakeReceiver()
  receiver.answer({ status })
  const answer = await post(receiver.url, lax)
  expect([answer.status, isAccepted(answer)]).toEqual([status, true])
})

test.each([400, 401, 404, 410, 429, 500, 503])('%i is none', async (status) => {
  await using receiver = await openFakeReceiver()
  receiver.answer({ status, body: 'The till is closed.' })
  const answer = await post(receiver.url, lax)
  expect([answer, isAccepted(answer)]).toEqual([{ status, words: 'The till is closed.' }, false])
})

test.each([301, 302, 303, 307, 308])('a redirection by %i is not followed, and is no success', async (status) => {
  await using canary = await openFakeReceiver()
  await using receiver = await openFakeReceiver()
  receiver.answer({ status, headers: { location: `${canary.url}/inside` } })
  const answer = await post(receiver.url, lax)
  expect([answer.status, isAccepted(answer)]).toEqual([status, false])
  expect(answer.words).toContain('does not follow')
  expect([receiver.calls.length, canary.connections]).toEqual([1, 0])
})

/** Responses that never end, and the outcome. */
const endless: [what: string, answer: Answer, status: number | null, words: RegExp][] = [
  ['silence', 'silence', null, /^127\.0\.0\.1:\d+ did not answer within 0\.4 seconds\.$/],
  ['a head of one letter now and then', { raw: 'HTTP/1.1 200 OK\r\nx-drip: ', everyMs: 40 }, null, /did not answer within/],
]
test.each(endless)('%s is cut off at the deadline', async (_what, how, status, words) => {
  await using receiver = await openFakeReceiver()
  receiver.answer(how)
  const answer = await post(receiver.url, { ...lax, deadline: 400 })
  expect(answer.status).toBe(status)
  expect(answer.words).toMatch(words)
})

test('a received status is kept although the body never ends', async () => {
  await using receiver = await openFakeReceiver()
  receiver.answer({ raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nThank you' })
  expect(await post(receiver.url, { ...lax, deadline: 400 })).toEqual({ status: 200, words: 'Thank you' })
})

test('a receiver has ten seconds, from the DNS query to the end of its response', () => {
  for (const allowPrivateWebhookHosts of [true, false]) expect(defaultNetwork({ allowPrivateWebhookHosts }).deadline).toBe(10_000)
})

test('a name that never resolves is given up at the deadline, and not connected to afterwards', async () => {
  const { promise, resolve } = Promise.withResolvers<string[]>()
  const dialled: string[][] = []
  const connect = (addresses: string[]) => {
    dialled.push(addresses)
    return new net.Socket()
  }
  const network = { ...strict, deadline: 200, resolve: () => promise, connect }
  expect((await post('https://example.com/', network)).words).toBe('example.com did not answer within 0.2 seconds.')
  resolve([publicAddress])
  await new Promise((done) => setImmediate(done))
  expect(dialled).toEqual([])
})

test('of an endless response only the needed part is read and the beginning kept', async () => {
  await using receiver = await openFakeReceiver()
  receiver.answer({ raw: `HTTP/1.1 500 No\r\n\r\n${'नमस्ते '.repeat(20_000)}` })
  const { words } = await post(receiver.url, lax)
  expect([...words].length).toBe(301)
  expect(words).toMatch(/^नमस्ते नमस्ते .*…$/)
})

test('a compressed response that was not asked for is not read as text', async () => {
  await using receiver = await openFakeReceiver()
  receiver.answer({ status: 200, body: '\u001f\u008b zipped', headers: { 'content-encoding': 'gzip' } })
  expect(await post(receiver.url, lax)).toEqual({ status: 200, words: '' })
})

const wrongs: [what: string, answer: Answer, words: RegExp][] = [
  ['a connection that is torn down', 'reset', / closed the connection\.$/],
  ['something else than HTTP', { raw: '220 smtp.example.com ESMTP\r\n' }, / answered, but not in HTTP\.$/],
  [
    'another protocol',
    { raw: 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n' },
    / closed the connection\.$/,
  ],
  ['a head without end', { raw: `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}` }, / answered, but not in HTTP\.$/],
]
test.each(wrongs)('%s is said in a sentence', async (_what, how, words) => {
  await using receiver = await openFakeReceiver()
  receiver.answer(how)
  const answer = await post(receiver.url, lax)
  expect(answer.status).toBeNull()
  expect(answer.words).toMatch(words)
})

test('an unreachable receiver is reported in a sentence', async () => {
  expect((await post('http://127.0.0.1:1/', lax)).words).toBe('127.0.0.1:1 refuses connections.')
})

test('over TLS the certificate must match the name, be valid, and be trusted', async () => {
  await using receiver = await openFakeReceiver({ certificate: 'example.com' })
  await using expired = await openFakeReceiver({ certificate: makeCertificate(['example.com'], -1) })
  await using plain = await openFakeReceiver()
  const network = internet(receiver)
  expect(await post('https://example.com/duely', network)).toEqual({ status: 200, words: '' })
  expect(receiver.calls[0]?.headers.host).toBe('example.com')
  const words = async (url: string, about: WebhookNetwork) => (await post(url, about)).words
  expect(await words('https://another.example/', network)).toContain('is for another name')
  expect(await words('https://example.com/', { ...network, trust: null })).toContain('not signed by a trusted authority')
  expect(await words('https://example.com/', internet(expired))).toContain('has expired')
  expect(await words('https://example.com/', internet(plain, { trust: null }))).toBe('No TLS connection to example.com could be made.')
  expect([receiver.calls.length, expired.calls.length, plain.calls.length]).toEqual([1, 0, 0])
})

/** Notations of this machine, its neighbours and a cloud's metadata address. */
const written = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.0.0.1.', '0', '0.0.0.0', '0x0', '2130706433', '0x7f000001', '0X7F000001', '017700000001'],
  ...['0x7f.0x0.0x0.0x1', '0x7f.1', '0177.0.0.1', '0177.0.0.01', '127.000.000.001', '127.0.0.2', '127.255.255.254', '127%2e0.0.1'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:0:127.0.0.1]', '[::127.0.0.1]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[fe80::99]', '[fd00::1]', '[ff02::1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'me.localhost', '１２７.0.0.1', '127。0。0。1', '①②⑦.⓪.⓪.①', 'ⓛocalhost'],
  ...['10.0.0.1', '169.254.169.254', '0xa9fea9fe', '2852039166', '172.16.0.1', '192.168.0.1', '0xc0.0xa8.0.1', '100.64.0.1', '198.18.0.1'],
]

test.each(written)('https://%s/ is refused as it is written, and nothing is dialled', async (host) => {
  await using canary = await openFakeReceiver()
  const url = `https://${host}/latest/meta-data`
  expect(refuseAddress(url, strict)).toContain('is not on the public internet')
  // A URL stored before the check existed is not called either.
  const answer = await post(url, internet(canary, { resolve: resolveName }))
  expect(answer).toMatchObject({ status: null, words: expect.stringContaining('is not on the public internet') })
  expect(canary.connections).toBe(0)
})

const places: Record<string, string[]> = {
  'loopback.example': ['127.0.0.1'],
  'v6.example': ['::1'],
  'mapped.example': ['::ffff:7f00:1'],
  'both.example': [publicAddress, '127.0.0.1'],
  'private.example': ['10.0.0.1'],
  'metadata.example': ['169.254.169.254'],
}
test.each(Object.entries(places))('%s, which leads to %s, is not called', async (name, addresses) => {
  await using canary = await openFakeReceiver({ certificate: 'example.com' })
  const answer = await post(`https://${name}/`, internet(canary, { resolve: async () => addresses }))
  expect(answer).toEqual({ status: null, words: `There is no public server called ${name}. Check the spelling.` })
  expect(canary.connections).toBe(0)
})

test('a name is resolved once per call, so a later answer is not used', async () => {
  await using receiver = await openFakeReceiver({ certificate: 'example.com' })
  let asked = 0
  const dialled: string[][] = []
  const network = internet(receiver, {
    resolve: async () => [[publicAddress], ['127.0.0.1']][asked++] ?? [],
    connect(addresses, port) {
      dialled.push([...addresses, String(port)])
      return net.connect(receiver.port, '127.0.0.1')
    },
  })
  expect((await post('https://example.com/', network)).status).toBe(200)
  expect([asked, dialled]).toEqual([1, [[publicAddress, '443']]])
  expect((await post('https://example.com/', network)).words).toBe('There is no public server called example.com. Check the spelling.')
  expect([asked, dialled.length, receiver.connections]).toEqual([2, 1, 1])
})

test('a name without an address is reported as not found', async () => {
  const network = { ...strict, resolve: () => Promise.reject(new Error('ENOTFOUND')) }
  expect((await post('https://exmaple.com/', network)).words).toBe('There is no public server called exmaple.com. Check the spelling.')
})

const kept: [url: string, words: RegExp][] = [
  ['http://example.com/', /begins with https/],
  ['https://example.com:8443/', /443/],
  ['https://example.com:22/', /443/],
  ['https://asha:secret@example.com/', /user name and password/],
]
test.each(kept)('%s is not called', async (url, words) => {
  await using canary = await openFakeReceiver()
  expect(refuseAddress(url, strict)).toMatch(words)
  expect((await post(url, internet(canary))).words).toMatch(words)
  expect(canary.connections).toBe(0)
})

test('an operator may allow http, any port and private hosts, but no credentials in URLs', () => {
  const allowed = { allowPrivateHosts: true }
  for (const url of ['http://127.0.0.1:8787/', 'https://receiver.internal:8443/', 'http://localhost/'])
    expect(refuseAddress(url, allowed)).toBeNull()
  expect(refuseAddress('https://asha:secret@example.com/', allowed)).not.toBeNull()
  expect(refuseAddress('https://example.com:443/duely?x=1', strict)).toBeNull()
})

test('a download follows three redirects, each vetted like the address itself', async () => {
  await using receiver = await openFakeReceiver({ certificate: 'example.com' })
  const hops = (count: number) =>
    receiver.answer(({ path }) => {
      const at = Number(path.slice(1)) || 0
      return at < count ? { status: 302, headers: { location: `/${at + 1}` } } : { status: 200, body: 'a,b' }
    })
  const asked: string[] = []
  const network = internet(receiver, {
    resolve: async (name) => {
      asked.push(name)
      return [name === 'inside.example.com' ? '10.0.0.7' : publicAddress]
    },
  })
  const get = (address = 'https://example.com/') => download(address, network)
  hops(3)
  expect(await get()).toEqual({ bytes: Buffer.from('a,b') })
  expect(asked).toEqual(Array(4).fill('example.com'))
  hops(4)
  expect(await get()).toEqual({ words: 'This address redirects more than three times. Enter the final address.' })
  const before = receiver.connections
  const inside = [
    'https://inside.example.com/x',
    'https://10.0.0.7/',
    'https://169.254.169.254/latest',
    'https://[::1]/',
    'https://localhost/',
  ]
  for (const location of [
    ...inside,
    'http://example.com/',
    'https://example.com:8443/',
    'https://a:b@example.com/',
    'file:///etc/passwd',
  ]) {
    receiver.answer({ status: 301, headers: { location } })
    expect(Object.keys(await get())).toEqual(['words'])
  }
  expect(receiver.connections - before).toBe(inside.length + 4)
  receiver.answer({ status: 200, body: 'x'.repeat(5 * 1024 * 1024 + 1) })
  expect(await get()).toEqual({ words: 'The file is larger than 5 MB.' })
  receiver.answer({ raw: 'HTTP/1.1 200 OK\r\n\r\nx', everyMs: 40 })
  expect(await download('https://example.com/', { ...network, deadline: 400 })).toEqual({
    words: 'example.com did not answer within 0.4 seconds.',
  })
})
