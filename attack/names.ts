import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Chaos } from '#chaos/scenario.ts'

/** Addresses that this machine answers at in the network of its own: whoever is let connect there connects to us. */
const addresses = [
  '10.0.0.1/32',
  '100.64.0.1/32',
  '169.254.169.254/32',
  '172.16.0.1/32',
  '192.168.0.1/32',
  '198.18.0.1/32',
  'fd00::1/128',
  'fe80::99/128',
]

/** In a network and a view of the files of its own: asks for names are answered by us, and special addresses are there. */
export function furnish(): void {
  for (const address of addresses) spawnSync('ip', ['addr', 'add', address, 'dev', 'lo'], { stdio: 'ignore' })
  const own = path.join(mkdtempSync(path.join(tmpdir(), 'duely-attack-')), 'resolv.conf')
  writeFileSync(own, 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n')
  spawnSync('mount', ['--bind', own, '/etc/resolv.conf'], { stdio: 'ignore' })
}

/** What a name leads to when it is asked for the nth time, counted from 1 per name and family. */
type Answers = (name: string, nth: number) => { v4?: string[]; v6?: string[] } | undefined

/** A name server on port 53 of this machine; null where that cannot be had, or programs would not ask it. */
export async function openNames({ stack, publicAddress }: Chaos, answers: Answers): Promise<{ asked: Map<string, number> } | null> {
  if (!publicAddress) return null
  const asked = new Map<string, number>()
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query)
    const key = `${name} ${type}`
    asked.set(key, (asked.get(key) ?? 0) + 1)
    const found = answers(name, asked.get(key) ?? 1)
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
      // No time to live: nobody may keep the answer.
      line.writeUInt32BE(0, 6)
      line.writeUInt16BE(data.length, 10)
      return Buffer.concat([line, data])
    })
    socket.send(Buffer.concat([head, query.subarray(12, end), ...lines]), from.port, from.address)
  })
  try {
    socket.bind(53, '127.0.0.1')
    await Promise.race([once(socket, 'listening'), once(socket, 'error').then(([error]) => Promise.reject(error as Error))])
  } catch {
    return null
  }
  stack.defer(() => void socket.close())
  return { asked }
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

/** Written out in eight groups, or with one `::`. */
function inV6(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [before, after] = [groups(head), groups(tail)]
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]))
}
