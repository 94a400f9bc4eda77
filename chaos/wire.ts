import { once } from 'node:events'
import net from 'node:net'
import type { Chaos } from './scenario.ts'

/** A cable between a program and a server that can be listened to, or cut so that neither end notices. */
export interface Wire {
  host: string
  port: number
  /** From now on what is on these connections is swallowed, both ways, and nobody is told; connections made later are sound. */
  cutQuietly(): number
  /** Every byte that the program sent, so far. */
  sent(): Buffer
}

/** Forwards connections to `target`. `host`: where it listens. */
export async function openWire({ stack }: Chaos, target: { host: string; port: number }, host = '127.0.0.1'): Promise<Wire> {
  const pairs = new Set<{ near: net.Socket; far: net.Socket; cut: boolean }>()
  const heard: Buffer[] = []
  const server = net.createServer({ noDelay: true }, (near) => {
    const far = net.connect({ ...target, noDelay: true })
    const pair = { near, far, cut: false }
    pairs.add(pair)
    near.on('data', (chunk: Buffer) => {
      heard.push(chunk)
      if (!pair.cut) far.write(chunk)
    })
    far.on('data', (chunk: Buffer) => {
      if (!pair.cut) near.write(chunk)
    })
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
    cutQuietly() {
      for (const pair of pairs) pair.cut = true
      return pairs.size
    },
    sent: () => Buffer.concat(heard),
  }
}
