import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import files from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { escapeHtml } from '#contract/templates.ts'
import type { App } from './answer.ts'
import { pagePolicy, type Sources, scriptPolicy } from './headers.ts'

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** What the build wrote wherever a nonce belongs. */
const placeholder = '__DUELY_NONCE__'
/** Files at the root that name the server's own address. */
const addressed = { 'robots.txt': 'text/plain; charset=utf-8', 'sitemap.xml': 'application/xml; charset=utf-8' }
/** The reference of the API is not of our making, and makes styles while it runs that carry no nonce. Scripts it gets none but its own. */
const reference = { path: '/docs', sources: { 'style-src-elem': ["'unsafe-inline'"] } }
/** Pages that the link of an email opens without a session: no cache, search engine or other site may keep them or their address. */
const byLink = {
  paths: ['/evening', '/summary/unsubscribe'],
  headers: { 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow', 'referrer-policy': 'no-referrer' },
}
/** From this length on a smaller answer is worth the work. */
const worthPacking = 1_000

/** What the build leaves open in a page and only the server knows. */
interface PageFacts {
  /** Without a slash at its end. */
  publicUrl: string
  /** null: links for help are hidden. */
  supportUrl: string | null
  /** null: the link to the terms is hidden. */
  termsUrl: string | null
  /** Whether anything can be paid for here. */
  payments: boolean
  /** The one page on which a payment provider's checkout opens, and what it loads there; null where nothing is sold. */
  checkout: { path: string; sources: Sources } | null
}

/**
 * Serves the built client: its files, its pages (`pages.json` beside it has their addresses), and the page for all other
 * addresses. False where nothing has been built.
 */
export async function openPages(app: App, folder: string, facts: PageFacts): Promise<boolean> {
  const client = path.join(folder, 'client')
  const patterns = readPatterns(path.join(folder, 'pages.json'))
  if (!patterns) return false
  const fallback = fillIn(readFileSync(path.join(client, '__spa-fallback.html'), 'utf8'), facts)

  await app.register(files, {
    root: client,
    wildcard: false,
    index: false,
    globIgnore: ['**/*.html', '**/*.br', '**/*.gz', ...Object.keys(addressed)],
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, file) => {
      // A name with a hash in it always means the same bytes.
      const hashed = path.relative(client, file).startsWith(`assets${path.sep}`)
      reply.header('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      if (/\.js(?:\.(?:br|gz))?$/.test(file)) reply.header('content-security-policy', scriptPolicy)
    },
  })
  for (const pattern of patterns) {
    const written = readPage(path.join(client, pattern, 'index.html'))
    const { sources } = [facts.checkout, reference].find((one) => one?.path === pattern) ?? { sources: null }
    const page = written === null ? fallback : fillIn(written, facts, pattern === facts.checkout?.path ? 'on' : 'off')
    const headers = byLink.paths.includes(pattern) ? byLink.headers : {}
    app.get(pattern, { schema: { hide: true } }, (request, reply) => show(page, request, reply, { sources: sources ?? {}, headers }))
  }
  for (const [name, type] of Object.entries(addressed)) {
    const text = readPage(path.join(client, name))
    if (text === null) continue
    const filled = fillIn(text, facts)
    app.get(`/${name}`, { schema: { hide: true } }, (_request, reply) =>
      reply.headers({ 'content-type': type, 'cache-control': 'no-cache' }).send(filled),
    )
  }
  app.notFoundPage.answer = (request, reply) => show(fallback, request, reply.status(404))
  return true
}

/** The facts in the place of what the build wrote for them. `checkout`: whether this page lets the provider's checkout in. */
function fillIn(text: string, { publicUrl, supportUrl, termsUrl, payments }: PageFacts, checkout: 'on' | 'off' = 'off'): string {
  return text
    .replaceAll('__DUELY_ADDRESS__', escapeHtml(publicUrl))
    .replaceAll('__DUELY_SUPPORT__', escapeHtml(supportUrl ?? ''))
    .replaceAll('__DUELY_TERMS__', escapeHtml(termsUrl ?? ''))
    .replaceAll('__DUELY_PAYMENTS__', payments ? 'on' : 'off')
    .replaceAll('__DUELY_CHECKOUT__', checkout)
}

async function show(
  page: string,
  request: FastifyRequest,
  reply: FastifyReply,
  { sources = {}, headers = {} }: { sources?: Sources; headers?: Record<string, string> } = {},
): Promise<FastifyReply> {
  const nonce = randomBytes(16).toString('base64')
  const { encoding, body } = await pack(page.replaceAll(placeholder, nonce), request.headers['accept-encoding'] ?? '')
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy(nonce, sources),
      // Popups: the payment provider's window must be able to reach its opener.
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'cache-control': 'no-cache',
      vary: 'accept-encoding',
      ...(encoding ? { 'content-encoding': encoding } : {}),
      ...headers,
    })
    .send(body)
}

async function pack(text: string, accepted: string): Promise<{ encoding: string | null; body: string | Buffer }> {
  if (text.length < worthPacking) return { encoding: null, body: text }
  if (accepts(accepted, 'br')) return { encoding: 'br', body: await brotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) }
  if (accepts(accepted, 'gzip')) return { encoding: 'gzip', body: await gzipped(text) }
  return { encoding: null, body: text }
}

function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((one) => {
    const [name, weight] = one.split(';').map((part) => part.trim())
    return name === encoding && weight !== 'q=0'
  })
}

function readPatterns(file: string): string[] | null {
  const text = readPage(file)
  return text === null ? null : z.array(z.string().startsWith('/')).parse(JSON.parse(text))
}

function readPage(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
