import { lookup } from 'node:dns/promises'
import { createServer, type IncomingMessage, maxHeaderSize, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { problemStatus } from '#contract/problem.ts'
import { StartError } from './start-error.ts'
import { texts } from './texts.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** The port opens before the program is ready and closes last; it answers 503 before and after serving. */
export interface Listener {
  port: number
  /** From here on requests are handled. */
  serve(handle: Handle): void
  /** Turns new requests away and resolves once those under way are answered, or after `patience` milliseconds. */
  drain(patience: number): Promise<void>
  /** Closes the port and every connection. */
  close(): Promise<void>
}

/** A request must have arrived within so many milliseconds, and an idle connection outlives that of the usual proxy (60 s). */
const times = { requestTimeout: 30_000, headersTimeout: 20_000, keepAliveTimeout: 72_000 }

/** Opens the port on every address of the host: browsers try both that `localhost` has. Refuses with a StartError. */
export async function openListener(about: { host: string; port: number }): Promise<Listener> {
  let state: 'starting' | 'serving' | 'stopping' = 'starting'
  let handle: Handle = () => undefined
  let underWay = 0
  let drained: () => void = () => undefined
  const servers: Server[] = []
  const listener: Handle = (request, response) => {
    if (state !== 'serving') return turnAway(state, request, response)
    underWay += 1
    response.once('close', () => {
      underWay -= 1
      if (underWay === 0) drained()
    })
    handle(request, response)
  }

  const found = await lookup(about.host, { all: true }).catch((error: unknown) => {
    throw new StartError(`HOST ${about.host} is not an address of this machine. Use for example localhost or 0.0.0.0.`, { cause: error })
  })
  let { port } = about
  for (const address of new Set(found.map((one) => one.address))) {
    const server = createServer(times, listener).on('clientError', refuseUnread)
    const trouble = await listen(server, port, address)
    if (trouble === null) {
      servers.push(server)
      port = (server.address() as AddressInfo).port
    } else if (refuses(trouble) || found.length === 1) {
      for (const one of servers) one.close()
      throw new StartError(whyNot(trouble, about))
    }
  }
  if (servers.length === 0) throw new StartError(whyNot('EADDRNOTAVAIL', about))

  return {
    port,
    serve(next) {
      handle = next
      state = 'serving'
    },
    drain(patience) {
      state = 'stopping'
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, patience)
        drained = () => {
          clearTimeout(timer)
          resolve()
        }
        if (underWay === 0) drained()
      })
    },
    async close() {
      const closed = Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
      for (const server of servers) server.closeAllConnections()
      await closed
    },
  }
}

/** An address that this machine lacks is skipped if the host has others; one that is in use is an error. */
function refuses(code: string): boolean {
  return code === 'EADDRINUSE' || code === 'EACCES'
}

/** Resolves to null, or to an error code. */
function listen(server: Server, port: number, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const refuse = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message)
    server.once('error', refuse)
    server.listen({ port, host }, () => {
      server.off('error', refuse)
      resolve(null)
    })
  })
}

function whyNot(code: string, { host, port }: { host: string; port: number }): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use by another program. Stop that program, or set PORT to another number.`
    case 'EACCES':
      return `Port ${port} may not be opened by this user. Set PORT to a number above 1023.`
    default:
      return `HOST ${host} is not an address of this machine (${code}). Use for example localhost or 0.0.0.0.`
  }
}

/** Answers what is no request: other bytes than HTTP, headers without end, or a body whose length is given in two ways (request smuggling). */
function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  // In the middle of an answer it would be read as a part of that.
  const { _httpMessage: answering } = socket as Duplex & { _httpMessage?: ServerResponse | null }
  if (error.code === 'ECONNRESET' || !socket.writable || answering?.headersSent) return void socket.destroy()
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', texts.headersTooLarge(maxHeaderSize)]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', texts.cutOff]
        : ['400 Bad Request', texts.malformedRequest]
  const body = JSON.stringify({ message, code: 'invalid' })
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\ncache-control: no-store\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

function turnAway(status: 'starting' | 'stopping', request: IncomingMessage, response: ServerResponse): void {
  const [path] = (request.url ?? '').split('?')
  const message = `Duely is ${status}. Please try again in a moment.`
  const [type, body] =
    path === '/health'
      ? ['application/json; charset=utf-8', JSON.stringify({ status })]
      : (request.headers.accept ?? '').includes('text/html')
        ? ['text/html; charset=utf-8', `<!doctype html><meta http-equiv="refresh" content="1"><title>Duely</title><p>${message}</p>`]
        : ['application/json; charset=utf-8', JSON.stringify({ message, code: 'not_ready' })]
  response.writeHead(problemStatus.not_ready, {
    'content-type': type,
    'cache-control': 'no-store',
    'retry-after': '1',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(body)
}
