import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type net from 'node:net'
import { type Certificate, makeCertificate } from './certificate.ts'

export interface HeardCall {
  method: string
  /** With its query. */
  path: string
  headers: IncomingHttpHeaders
  /** Unparsed. */
  body: string
}

/**
 * The response, after a time if asked for. `silence`: none; `reset`: resets the connection; `raw`: these bytes instead of HTTP, at once, or one by one for as long as the
 * client reads.
 */
export type Answer =
  | { status: number; body?: string; headers?: Record<string, string>; afterMs?: number }
  | 'silence'
  | 'reset'
  | { raw: string; everyMs?: number }

export interface FakeReceiver extends AsyncDisposable {
  url: string
  port: number
  /** All requests, oldest first. */
  calls: HeardCall[]
  /** Challenges of webhooks. They are answered as they should be, unless this is set. */
  challenges: HeardCall[]
  ignoresChallenges: boolean
  /** Number of connections, with or without a request. */
  connections: number
  /** The certificate that clients must trust; '' without TLS. */
  certificate: string
  /** Sets the response from now on. Numbers count from 1 and restart with each `answer`. */
  answer(what: Answer | ((call: HeardCall, nth: number) => Answer | Promise<Answer>)): void
  /** Ends every connection, so that calls without a response end too. */
  hangUp(): void
}

/**
 * A third-party server that receives webhooks and OAuth redirects. It answers 200 by default. With a `certificate`, or one generated for
 * example.com, it speaks TLS.
 */
export async function openFakeReceiver(options: { certificate?: Certificate | 'example.com' } = {}): Promise<FakeReceiver> {
  const certificate = options.certificate === 'example.com' ? makeCertificate(['example.com']) : options.certificate
  const sockets = new Set<net.Socket>()
  let decide: (call: HeardCall, nth: number) => Answer | Promise<Answer> = () => ({ status: 200 })
  let nth = 0

  const hear = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request
    const call = { method, path: url, headers, body: Buffer.concat(await request.toArray()).toString() }
    const challenge = fake.ignoresChallenges ? undefined : challengeIn(call)
    if (challenge !== undefined) {
      fake.challenges.push(call)
      return say({ status: 200, body: challenge }, response)
    }
    fake.calls.push(call)
    nth += 1
    say(await decide(call, nth), response)
  }
  const listener = (request: IncomingMessage, response: ServerResponse) => void hear(request, response).catch(() => undefined)
  const server = certificate ? createSecureServer(certificate, listener) : createServer(listener)
  server.on('connection', (socket: net.Socket) => {
    fake.connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo

  const fake: FakeReceiver = {
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    calls: [],
    challenges: [],
    ignoresChallenges: false,
    connections: 0,
    certificate: certificate?.cert ?? '',
    answer(what) {
      decide = typeof what === 'function' ? what : () => what
      nth = 0
    },
    hangUp() {
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      fake.hangUp()
      await closed
    },
  }
  return fake
}

/** The value that a webhook's challenge asks for; undefined for any other call. */
function challengeIn({ body }: HeardCall): string | undefined {
  return /^\{"id":"[^"]+","type":"challenge",.*"challenge":"([^"]+)"\}\}$/.exec(body)?.[1]
}

function say(answer: Answer, response: ServerResponse): void {
  if (answer === 'silence') return
  if (answer === 'reset') response.socket?.resetAndDestroy()
  else if ('raw' in answer) pour(answer, response.socket)
  else setTimeout(() => response.writeHead(answer.status, answer.headers).end(answer.body ?? ''), answer.afterMs ?? 0).unref()
}

function pour({ raw, everyMs }: { raw: string; everyMs?: number }, socket: net.Socket | null): void {
  if (everyMs === undefined) {
    socket?.write(raw)
    return
  }
  let at = 0
  const timer = setInterval(() => {
    if (!socket || socket.destroyed) clearInterval(timer)
    else socket.write(raw[at++ % raw.length] ?? '')
  }, everyMs)
}
