import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type App, openApp } from './answer.ts'
import { openLog } from './log.ts'
import { openPages } from './pages.ts'

const page = (title: string) =>
  `<!doctype html><title>${title}</title><meta content="__DUELY_ADDRESS__ __DUELY_PAYMENTS__"><a href="__DUELY_SUPPORT__"></a><script nonce="__DUELY_NONCE__"></script><style nonce="__DUELY_NONCE__"></style>${'<p>Hello</p>'.repeat(100)}`

type Checkout = Parameters<typeof openPages>[2]['checkout']

/** A server with a built client of five pages. */
async function aClient(supportUrl: string | null = null, checkout: Checkout = null): Promise<AsyncDisposable & { app: App }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-pages-'))
  const files = {
    'pages.json': '["/", "/pricing", "/docs", "/evening", "/dashboard/edit-invoice/:id"]',
    'client/index.html': page('Landing'),
    'client/pricing/index.html': page('Pricing __DUELY_CHECKOUT__'),
    'client/docs/index.html': page('Reference'),
    'client/__spa-fallback.html': page('Fallback'),
    'client/theme.js': 'theme',
    'client/robots.txt': 'Sitemap: __DUELY_ADDRESS__/sitemap.xml',
    'client/assets/app-1a2b.js': 'plain',
    'client/assets/app-1a2b.js.br': 'packed',
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text)
  }
  const app = await openApp({
    log: openLog({ level: 'silent', terminal: false }),
    trustProxy: false,
    https: true,
    authenticate: () => Promise.reject(new Error('No call is authenticated here.')),
  })
  expect(await openPages(app, folder, { publicUrl: 'https://duely.example', supportUrl, termsUrl: null, payments: false, checkout })).toBe(
    true,
  )
  return {
    app,
    async [Symbol.asyncDispose]() {
      await app.close()
      rmSync(folder, { recursive: true })
    },
  }
}

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('each page is served at its URL, others from the fallback, each with its own nonce', async () => {
  await using client = await aClient()
  const nonces = new Set<string>()
  for (const [url, title] of [
    ['/', 'Landing'],
    ['/dashboard/edit-invoice/1', 'Fallback'],
    ['/dashboard/edit-invoice/1?from=list', 'Fallback'],
  ]) {
    const { statusCode, body, headers } = await client.app.inject({ url: url ?? '', headers: browser })
    expect(statusCode).toBe(200)
    expect(body).toContain(`<title>${title}</title>`)
    const nonce = /<script nonce="([^"]+)">/.exec(body)?.[1] ?? ''
    expect(body).toContain(`<style nonce="${nonce}">`)
    expect(headers['content-security-policy']).toContain(`script-src 'self' 'nonce-${nonce}'`)
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    nonces.add(nonce)
  }
  expect(nonces.size).toBe(3)
})

test('the API reference may add styles, and runs only the scripts of its page', async () => {
  await using client = await aClient()
  const { statusCode, body, headers } = await client.app.inject({ url: '/docs', headers: browser })
  expect(statusCode).toBe(200)
  const nonce = /<script nonce="([^"]+)">/.exec(body)?.[1] ?? ''
  const policy = String(headers['content-security-policy']).split('; ')
  expect(policy).toContain("style-src-elem 'self' 'unsafe-inline'")
  expect(policy).toContain(`script-src 'self' 'nonce-${nonce}'`)
  const elsewhere = await client.app.inject({ url: '/pricing', headers: browser })
  expect(elsewhere.headers['content-security-policy']).not.toContain("style-src-elem 'self' 'unsafe-inline'")
})

test('a checkout may be loaded on its own page and on no other', async () => {
  const sources = { 'script-src': ['https://pay.example'], 'frame-src': ['https://frame.example'] }
  await using client = await aClient(null, { path: '/pricing', sources })
  const open = async (url: string) => {
    const { body, headers } = await client.app.inject({ url, headers: browser })
    return { body, policy: String(headers['content-security-policy']).split('; ') }
  }
  const pricing = await open('/pricing')
  expect(pricing.body).toContain('<title>Pricing on</title>')
  expect(pricing.policy.find((line) => line.startsWith('script-src'))).toMatch(/^script-src 'self' 'nonce-\S+' https:\/\/pay\.example$/)
  expect(pricing.policy).toContain("frame-src 'self' https://frame.example")
  expect(pricing.policy).toContain("connect-src 'self'")
  for (const url of ['/', '/dashboard/edit-invoice/1', '/nothing']) expect((await open(url)).policy.join('; ')).not.toContain('.example')

  await using without = await aClient()
  const { body, headers } = await without.app.inject({ url: '/pricing', headers: browser })
  expect(body).toContain('<title>Pricing off</title>')
  expect(headers['content-security-policy']).not.toContain('.example')
})

test('a page that a link opens without a session is kept by no cache or search engine, and names itself to no other site', async () => {
  await using client = await aClient()
  const kept = async (url: string) => {
    const { headers } = await client.app.inject({ url, headers: browser })
    return [headers['cache-control'], headers['x-robots-tag'], headers['referrer-policy']]
  }
  expect(await kept('/evening')).toEqual(['no-store', 'noindex, nofollow', 'no-referrer'])
  expect(await kept('/pricing')).toEqual(['no-cache', undefined, 'same-origin'])
})

test('an unknown URL answers a browser with the not-found page', async () => {
  await using client = await aClient()
  for (const url of ['/nothing', '/dashboard/nothing', '/pages.json', '/__spa-fallback.html', '/assets/nothing.js', '/../pages.json']) {
    const { statusCode, body, headers } = await client.app.inject({ url, headers: browser })
    expect([url, statusCode, headers['content-type']]).toEqual([url, 404, 'text/html; charset=utf-8'])
    expect(body).toContain('<title>Fallback</title>')
  }
})

test('an unknown URL or a wrong method answers an API client with a problem', async () => {
  await using client = await aClient()
  for (const [method, accept] of [
    ['GET', 'application/json'],
    ['GET', '*/*'],
    ['POST', 'text/html'],
    ['DELETE', 'text/html'],
  ] as const) {
    const { statusCode, headers, json } = await client.app.inject({ method, url: '/nothing', headers: { accept } })
    expect(statusCode).toBe(404)
    expect(json()).toMatchObject({ code: 'not_found' })
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  }
})

test('pages and what is written for search engines name the server’s own address', async () => {
  await using client = await aClient()
  for (const url of ['/', '/dashboard/edit-invoice/1', '/nothing'])
    expect((await client.app.inject({ url, headers: browser })).body).toContain('<meta content="https://duely.example off"><a href="">')
  const robots = await client.app.inject('/robots.txt')
  expect([robots.statusCode, robots.body]).toEqual([200, 'Sitemap: https://duely.example/sitemap.xml'])
  expect(robots.headers['content-type']).toBe('text/plain; charset=utf-8')
})

test('a page links to the operator’s address, escaped', async () => {
  await using client = await aClient('https://help.example/?a=1&b="2"')
  expect((await client.app.inject({ url: '/', headers: browser })).body).toContain(
    '<a href="https://help.example/?a=1&amp;b=&quot;2&quot;">',
  )
})

test('an address that cannot be read is refused', async () => {
  await using client = await aClient()
  const { statusCode, json } = await client.app.inject({ url: '/%E0%A4%A', headers: browser })
  expect([statusCode, json<{ code: string }>().code]).toEqual([400, 'invalid'])
})

test('files with a hash in their name are cached for ever, others are revalidated', async () => {
  await using client = await aClient()
  const asset = await client.app.inject('/assets/app-1a2b.js')
  expect([asset.body, asset.headers['cache-control']]).toEqual(['plain', 'public, max-age=31536000, immutable'])
  expect((await client.app.inject('/theme.js')).headers['cache-control']).toBe('no-cache')
})

test('a script may load scripts of this server, because a worker has the policy of its own file', async () => {
  await using client = await aClient()
  for (const encoding of ['br', 'identity']) {
    const asset = await client.app.inject({ url: '/assets/app-1a2b.js', headers: { 'accept-encoding': encoding } })
    expect(asset.headers['content-security-policy']).toBe("default-src 'none'; script-src 'self'; frame-ancestors 'none'")
  }
})

test('responses are compressed where the client accepts it', async () => {
  await using client = await aClient()
  const ask = (url: string, encoding: string) => client.app.inject({ url, headers: { 'accept-encoding': encoding } })
  const asset = await ask('/assets/app-1a2b.js', 'gzip, br')
  expect([asset.body, asset.headers['content-encoding'], asset.headers.vary]).toEqual(['packed', 'br', 'accept-encoding'])
  const [brotli, gzip, refused] = [await ask('/', 'gzip, br'), await ask('/', 'gzip, br;q=0'), await ask('/', 'identity')]
  expect(brotliDecompressSync(brotli.rawPayload).toString()).toContain('Landing')
  expect(gunzipSync(gzip.rawPayload).toString()).toContain('Landing')
  expect([refused.body.includes('Landing'), refused.headers['content-encoding']]).toEqual([true, undefined])
})

test('every answer forbids guessing, framing and plain http', async () => {
  await using client = await aClient()
  for (const url of ['/', '/theme.js', '/nothing']) {
    const { headers } = await client.app.inject(url)
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=(), display-capture=(), geolocation=()'),
      'strict-transport-security': 'max-age=63072000; includeSubDomains',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    })
  }
})

test('without a built client only the API is served', async () => {
  const app = await openApp({
    log: openLog({ level: 'silent', terminal: false }),
    trustProxy: false,
    authenticate: () => Promise.reject(new Error('No call is authenticated here.')),
  })
  expect(await openPages(app, '/nowhere', { publicUrl: '', supportUrl: null, termsUrl: null, payments: false, checkout: null })).toBe(false)
  const { statusCode, headers, json } = await app.inject({ url: '/', headers: browser })
  expect([statusCode, json<{ code: string }>().code]).toEqual([404, 'not_found'])
  expect(headers['strict-transport-security']).toBeUndefined()
  await app.close()
})
