import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type net from 'node:net'
import { isIP } from 'node:net'
import tls from 'node:tls'
import { certificateError, connectToAddresses, isOwnName, isSpecialAddress, resolveHost } from '#server/platform/host.ts'
import { type Resolve, resolveName } from '#server/platform/resolve.ts'
import { texts } from './texts.ts'

/** The network that webhooks are sent over; tests pass their own. */
export interface WebhookNetwork {
  allowPrivateHosts: boolean
  resolve: Resolve
  /** Opens a TCP connection to one of these addresses and no other. */
  connect(addresses: string[], port: number): net.Socket
  /** Milliseconds from the DNS query to the end of the response, however often a byte arrives meanwhile. */
  deadline: number
  /** Certificates (PEM) trusted in addition to the well-known authorities. */
  trust: string | null
}

export function defaultNetwork(config: { allowPrivateWebhookHosts: boolean }): WebhookNetwork {
  return {
    allowPrivateHosts: config.allowPrivateWebhookHosts,
    resolve: resolveName,
    connect: connectToAddresses,
    deadline: 10_000,
    trust: null,
  }
}

interface WebhookRequest {
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  headers: Record<string, string>
  body: string
}

/** The response of a receiver: its status and the beginning of its body; null and a sentence where there was none. */
export interface WebhookResponse {
  status: number | null
  words: string
}

/** The most of a response that is read. */
const mostRead = 64 * 1024
const mostKept = 300

/** Whether a receiver accepted a delivery. Redirects are not followed, so they are failures. */
export function isAccepted({ status }: WebhookResponse): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Why a URL must never be called; null where nothing in it forbids that. Its name is resolved and checked at each call. */
export function refuseAddress(address: string, { allowPrivateHosts }: Pick<WebhookNetwork, 'allowPrivateHosts'>): string | null {
  const url = new URL(address)
  if (url.username !== '' || url.password !== '') return texts.receiver.credentials
  if (allowPrivateHosts) return null
  if (url.protocol !== 'https:') return texts.receiver.notHttps
  if (url.port !== '') return texts.receiver.port
  const host = hostOf(url)
  if (isIP(host) ? isSpecialAddress(host) : isOwnName(host)) return texts.receiver.notPublic(url.host)
  return null
}

/**
 * Calls a URL once, at the addresses that its name has at this moment. Every outcome is a response; nothing is thrown. Only public
 * addresses are called, unless the operator allows others; certificates are checked against the name. `cut` ends the call early.
 */
export async function callWebhook(call: WebhookRequest, network: WebhookNetwork, cut?: AbortSignal): Promise<WebhookResponse> {
  const refused = refuseAddress(call.url, network)
  if (refused !== null) return { status: null, words: refused }
  const heard: Heard = { status: null, encoded: false, body: [], size: 0 }
  const late = Promise.withResolvers<WebhookResponse>()
  const timer = setTimeout(
    () => late.resolve(heardSoFar(heard, texts.receiver.timeout(new URL(call.url).host, network.deadline / 1000))),
    network.deadline,
  )
  const over = new AbortController()
  // Removed with the call: a signal of the process would keep what was received as long as it lives.
  const cutShort = () => late.resolve(heardSoFar(heard, texts.receiver.late(new URL(call.url).host)))
  cut?.addEventListener('abort', cutShort, { signal: over.signal })
  try {
    return await Promise.race([converse(call, network, heard, over.signal), late.promise])
  } catch (error) {
    return heardSoFar(heard, whyNot(error, new URL(call.url).host))
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

/** The most of a file, and the most redirects to it. */
const mostDownloaded = 5 * 1024 * 1024
const mostRedirects = 3

/**
 * Downloads a file by the rules for webhooks; each redirect is vetted like the address itself. Every outcome is an answer; nothing is thrown:
 * the file, or why there is none. `cut` ends the download early.
 */
export async function download(
  address: string,
  network: WebhookNetwork,
  cut?: AbortSignal,
): Promise<{ bytes: Buffer } | { words: string }> {
  const over = new AbortController()
  const late = Promise.withResolvers<{ words: string }>()
  const { host } = new URL(address)
  if (cut?.aborted) return { words: texts.receiver.late(host) }
  const timer = setTimeout(() => late.resolve({ words: texts.receiver.timeout(host, network.deadline / 1000) }), network.deadline)
  // Removed with the download, as above: it would keep the file.
  cut?.addEventListener('abort', () => late.resolve({ words: texts.receiver.late(host) }), { signal: over.signal })
  try {
    return await Promise.race([fetchFile(address, network, over.signal, mostRedirects), late.promise])
  } catch (error) {
    return { words: whyNot(error, host) }
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

async function fetchFile(
  address: string,
  network: WebhookNetwork,
  over: AbortSignal,
  redirects: number,
): Promise<{ bytes: Buffer } | { words: string }> {
  const url = new URL(address)
  const refused = url.protocol === 'https:' || network.allowPrivateHosts ? refuseAddress(address, network) : texts.source.notHttps
  if (refused !== null) return { words: refused }
  const socket = await open(url, network, over)
  if ('words' in socket) return socket
  const answer = await exchange({ method: 'GET', url: address, headers: { accept: 'text/csv, */*;q=0.5' }, body: '' }, url, socket.socket)
  if (answer.status >= 300 && answer.status < 400 && answer.location !== undefined) {
    socket.socket.destroy()
    const next = URL.parse(answer.location, url)
    if (!next || !/^https?:$/.test(next.protocol)) return { words: texts.source.redirect(url.host) }
    return redirects === 0 ? { words: texts.source.redirects } : fetchFile(next.href, network, over, redirects - 1)
  }
  if (answer.status !== 200) return { words: texts.source.status(url.host, answer.status) }
  if (answer.encoded) return { words: texts.source.notCsv }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer.body) {
    size += chunk.length
    if (size > mostDownloaded) return { words: texts.source.tooLarge }
    chunks.push(chunk)
  }
  return { bytes: Buffer.concat(chunks) }
}

/** The received part of a response. */
interface Heard {
  status: number | null
  /** Compressed without being asked for, so not readable as text. */
  encoded: boolean
  body: Buffer[]
  size: number
}

/** Closes everything that it opened once it is `over`, when its response is no longer needed. */
async function converse(call: WebhookRequest, network: WebhookNetwork, heard: Heard, over: AbortSignal): Promise<WebhookResponse> {
  const url = new URL(call.url)
  const opened = await open(url, network, over)
  if ('words' in opened) return { status: null, words: opened.words }
  const { socket } = opened
  const { status, ...answer } = await exchange(call, url, socket)
  heard.status = status
  heard.encoded = answer.encoded
  if (status < 300 || status >= 400)
    for await (const chunk of answer.body) {
      heard.body.push(chunk)
      heard.size += chunk.length
      if (heard.size >= mostRead) break
    }
  return heardSoFar(heard, '')
}

/** A connection to a URL, at vetted addresses of its name only, closed once it is `over`; or why there is none. */
async function open(url: URL, network: WebhookNetwork, over: AbortSignal): Promise<{ socket: net.Socket } | { words: string }> {
  const host = await resolveHost(hostOf(url), network)
  if (host === 'unknown') return { words: texts.receiver.unknown(hostOf(url)) }
  if (host === 'special') return { words: texts.receiver.notPublic(url.host) }
  over.throwIfAborted()
  const secure = url.protocol === 'https:'
  const plain = network.connect(host.addresses, Number(url.port) || (secure ? 443 : 80))
  over.addEventListener('abort', () => plain.destroy())
  // Must stay: a connection that breaks later must not end the process.
  plain.on('error', () => undefined)
  await once(plain, 'connect')
  return { socket: secure ? await secured(plain, host.name, network) : plain }
}

async function secured(plain: net.Socket, name: string, { trust }: WebhookNetwork): Promise<tls.TLSSocket> {
  const socket = tls.connect({
    socket: plain,
    host: name,
    ...(isIP(name) ? {} : { servername: name }),
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    ...(trust === null ? {} : { ca: [...tls.rootCertificates, trust] }),
  })
  socket.on('error', () => undefined)
  await Promise.race([
    once(socket, 'secureConnect'),
    once(socket, 'close').then(() => {
      throw new BrokenOff()
    }),
  ])
  return socket
}

class BrokenOff extends Error {}

/** Sends the request and resolves with the head of the response. */
function exchange(
  { method, headers, body }: WebhookRequest,
  url: URL,
  socket: net.Socket,
): Promise<{ status: number; encoded: boolean; location: string | undefined; body: AsyncIterable<Buffer> }> {
  return new Promise((resolve, reject) => {
    const asking = request({
      method,
      path: url.pathname + url.search,
      // No agent: the connection is this call's alone, and closed after it.
      createConnection: () => socket,
      headers: {
        ...headers,
        host: url.host,
        'user-agent': 'Duely',
        'accept-encoding': 'identity',
        'content-length': Buffer.byteLength(body),
      },
    })
    asking.on('error', reject)
    asking.on('close', () => reject(new BrokenOff()))
    asking.on('response', (response: IncomingMessage) => {
      response.on('error', () => undefined)
      const encoding = response.headers['content-encoding'] ?? 'identity'
      const encoded = encoding.trim().toLowerCase() !== 'identity'
      resolve({ status: response.statusCode ?? 0, encoded, location: response.headers.location, body: response })
    })
    asking.end(body)
  })
}

/** A received status is used even if the rest of the response failed. */
function heardSoFar({ status, encoded, body }: Heard, otherwise: string): WebhookResponse {
  if (status === null) return { status, words: otherwise }
  if (status >= 300 && status < 400) return { status, words: texts.receiver.redirects }
  return { status, words: encoded ? '' : beginning(Buffer.concat(body)) }
}

/** As one line without control characters. */
function beginning(body: Buffer): string {
  const text = body
    .subarray(0, mostKept * 8)
    .toString('utf8')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
  const letters = [...text]
  return letters.length > mostKept ? `${letters.slice(0, mostKept).join('')}…` : text
}

/** The name or address of a URL, the latter without brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

function whyNot(error: unknown, host: string): string {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  switch (certificateError(code)) {
    case 'name':
      return texts.receiver.certificateName(host)
    case 'expired':
      return texts.receiver.certificateExpired(host)
    case 'untrusted':
      return texts.receiver.certificateUntrusted(host)
    case null:
      break
  }
  switch (code) {
    case 'ECONNREFUSED':
      return texts.receiver.refused(host)
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return texts.receiver.unreachable(host)
    case 'ETIMEDOUT':
      return texts.receiver.late(host)
    default:
      if (code.startsWith('HPE_')) return texts.receiver.notHttp(host)
      if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return texts.receiver.noTls(host)
      return texts.receiver.closed(host)
  }
}
