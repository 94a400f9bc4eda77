import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HeardCall {
  method: string
  /** With its query. */
  path: string
  headers: IncomingHttpHeaders
  /** As it came. */
  body: string
}

/** What is answered; `silence`: nothing, for ever; `reset`: the connection is torn down. */
export type Answer = { status: number; body?: string; headers?: Record<string, string> } | 'silence' | 'reset'

export interface FakeReceiver extends AsyncDisposable {
  url: string
  /** Everything that was heard, oldest first. */
  calls: HeardCall[]
  /** From now on. Numbers count from 1 and start again with each `answer`. */
  answer(what: Answer | ((call: HeardCall, nth: number) => Answer)): void
}

/** Somebody else's program that listens: it hears of what happens, and browsers are sent back to it. It answers 200 unless told otherwise. */
export async function openFakeReceiver(): Promise<FakeReceiver> {
  const calls: HeardCall[] = []
  let decide: (call: HeardCall, nth: number) => Answer = () => ({ status: 200 })
  let nth = 0
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { method = '', url = '', headers } = request
    const call = { method, path: url, headers, body: Buffer.concat(parts).toString() }
    calls.push(call)
    nth += 1
    const answer = decide(call, nth)
    if (answer === 'reset') request.socket.resetAndDestroy()
    else if (answer !== 'silence') response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    answer(what) {
      decide = typeof what === 'function' ? what : () => what
      nth = 0
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
