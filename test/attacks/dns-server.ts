import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { inject } from 'vitest'
import type { Trial } from '#test/faults/row.ts'

/** What a name resolves to at the nth query, counted from 1 per name and family. */
type Answers = (name: string, nth: number) => { v4?: string[]; v6?: string[] } | undefined

/** A DNS server on port 53 of this machine; answers false where programs would not ask it. */
export async function openDnsServer({ stack }: Trial, answers: Answers): Promise<boolean> {
  if (!inject('publicAddress')) return false
  const asked = new Map<string, number>()
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query)
    const key = `${name} ${type}`
    const nth = (asked.get(key) ?? 0) + 1
    asked.set(key, nth)
    const found = answers(name, nth)
    const records = type === 1 ? (found?.v4 ?? []).map(inV4) : type === 28 ? (found?.v6 ?? []).map(inV6) : []
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(found ? 0x8180 : 0x8183, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(records.length, 6)
    head.writeUInt32BE(0, 8)
    const lines = records.map((data) => {
      const line = Buffer.alloc(12)
      line.writeUInt16BE(0xc00c, 0)
      line.writeUInt16BE(type, 2)
      line.writeUInt16BE(1, 4)
      // A time to live of zero: the answer must not be cached.
      line.writeUInt32BE(0, 6)
      line.writeUInt16BE(data.length, 10)
      return Buffer.concat([line, data])
    })
    socket.send(Buffer.concat([head, query.subarray(12, end), ...lines]), from.port, from.address)
  })
  stack.defer(() => void socket.close())
  socket.bind(53, '127.0.0.1')
  return Promise.race([once(socket, 'listening').then(() => true), once(socket, 'error').then(() => false)])
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function inV4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

/** Eight groups, or one `::` for those that are zero. */
function inV6(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [before, after] = [groups(head), groups(tail)]
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]))
}
