import type net from 'node:net'
import { Duplex } from 'node:stream'
import { z } from 'zod'
import type { WebhookNetwork } from '#server/integrations/http-client.ts'
import type { Chance } from './chance.ts'
import type { Machine } from './machine.ts'
import type { SimulatedProcess } from './process.ts'

/** A call that a receiver has accepted. */
export interface AcceptedCall {
  path: string
  eventId: string
  type: string
  elapsed: number
  answered: boolean
}

export interface Receivers {
  accepted: AcceptedCall[]
  mood: 'well' | 'down' | 'failing' | 'silent'
  network(of: SimulatedProcess): WebhookNetwork
}

const event = z.object({ id: z.string(), type: z.string(), data: z.object({ challenge: z.string().optional() }).loose() })

/** The receivers of all webhooks, each at a path of one host. They speak HTTP over connections within this process. */
export function openReceivers({ machine, chance, trace }: { machine: Machine; chance: Chance; trace(line: string): void }): Receivers {
  const receivers: Receivers = { accepted: [], mood: 'well', network }

  async function answer(process: SimulatedProcess, asked: string): Promise<string> {
    const [head = '', body = ''] = asked.split('\r\n\r\n')
    const path = head.split(' ', 2)[1] ?? ''
    await process.clock.pause(chance.int(1, 400))
    await process.point()
    if (receivers.mood === 'failing') return 'HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'
    const { id, type, data } = event.parse(JSON.parse(body))
    const call: AcceptedCall = { path, eventId: id, type, elapsed: machine.elapsed, answered: false }
    receivers.accepted.push(call)
    trace(`${path} accepts ${type} from process ${process.nth}`)
    // Beyond the deadline of a call.
    if (receivers.mood === 'silent') await process.clock.pause(60_000)
    else {
      await process.clock.pause(chance.int(1, 100))
      await process.point()
      call.answered = true
    }
    const said = data.challenge ?? ''
    return `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${said.length}\r\n\r\n${said}`
  }

  function network(process: SimulatedProcess): WebhookNetwork {
    const connect = () => {
      let asked = ''
      const socket = new Duplex({
        read: () => undefined,
        write(chunk: Buffer, _encoding, done) {
          asked += chunk.toString('utf8')
          const length = Number(/content-length: (\d+)/i.exec(asked)?.[1] ?? Number.POSITIVE_INFINITY)
          if (Buffer.byteLength(asked.slice(asked.indexOf('\r\n\r\n') + 4)) >= length) {
            const whole = asked
            asked = ''
            void answer(process, whole).then((said) => {
              if (socket.destroyed) return
              socket.push(said)
              socket.push(null)
              machine.note()
            })
          }
          done()
        },
      })
      process.clock.after(chance.int(1, 50), () => {
        if (receivers.mood === 'down') socket.destroy(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
        else socket.emit('connect')
        machine.note()
      })
      return socket as unknown as net.Socket
    }
    return { allowPrivateHosts: true, resolve: async () => ['192.0.2.7'], connect, deadline: 10_000, trust: null }
  }

  return receivers
}
