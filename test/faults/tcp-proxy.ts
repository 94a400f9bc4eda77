import { once } from 'node:events'
import net from 'node:net'
import type { Trial } from './row.ts'

/** A TCP proxy between a program and a server that records, and that can drop everything without closing a connection. */
export interface TcpProxy {
  host: string
  port: number
  /** Drops every byte on the present connections, both ways; later connections work. Answers how many there are. */
  blackhole(): number
  /** Every byte that the program has sent. */
  sent(): Buffer
}

/** Forwards connections on `host` to `target`, each way `delayMs` later. */
export async function openTcpProxy(
  { stack }: Trial,
  target: { host: string; port: number },
  { host = '127.0.0.1', delayMs = 0 } = {},
): Promise<TcpProxy> {
  const pairs = new Set<{ near: net.Socket; far: net.Socket; cut: boolean }>()
  const recorded: Buffer[] = []
  const pass = (pair: { cut: boolean }, to: net.Socket, chunk: Buffer) => {
    const write = () => !pair.cut && to.writable && to.write(chunk)
    if (delayMs === 0) write()
    else setTimeout(write, delayMs)
  }
  const server = net.createServer({ noDelay: true }, (near) => {
    const far = net.connect({ host: target.host, port: target.port, noDelay: true })
    const pair = { near, far, cut: false }
    pairs.add(pair)
    near.on('data', (chunk: Buffer) => {
      recorded.push(chunk)
      pass(pair, far, chunk)
    })
    far.on('data', (chunk: Buffer) => pass(pair, near, chunk))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => undefined)
      one.on('close', () => {
        if (pair.cut) return
        other.destroy()
        pairs.delete(pair)
      })
    }
  })
  server.listen(0, host)
  await once(server, 'listening')
  stack.defer(() => {
    for (const { near, far } of pairs) {
      near.destroy()
      far.destroy()
    }
    server.close()
  })
  return {
    host,
    port: (server.address() as net.AddressInfo).port,
    blackhole() {
      for (const pair of pairs) pair.cut = true
      return pairs.size
    },
    sent: () => Buffer.concat(recorded),
  }
}
