import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** Records of one name, by type: addresses, texts (split as they are published), mail servers as `10 mx.example.com`, or an alias. */
export interface DnsRecords {
  A?: string[]
  AAAA?: string[]
  TXT?: (string | string[])[]
  MX?: string[]
  CNAME?: string
}

/** What a name is answered at its nth query of a type, counted from 1; undefined: it does not exist; `silent`: never; `failure`: SERVFAIL. */
export type DnsAnswers = (name: string, nth: number) => DnsRecords | 'silent' | 'failure' | undefined

export interface FakeDns extends AsyncDisposable {
  port: number
  /** Each question so far, as `TXT example.com`. */
  asked: string[]
}

const types = { 1: 'A', 5: 'CNAME', 15: 'MX', 16: 'TXT', 28: 'AAAA' } as const

/** A DNS server on loopback, over UDP, with answers of up to 4,096 bytes. Rejects where the port is taken or not allowed. */
export async function openFakeDns(answers: DnsAnswers, port = 0): Promise<FakeDns> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query)
    const kind = types[type as keyof typeof types]
    const question = `${kind ?? type} ${name}`
    asked.push(question)
    const found = answers(name, asked.filter((one) => one === question).length)
    if (found === 'silent') return
    const lines: Buffer[] = []
    const add = (at: string, lineType: number, data: Buffer) => {
      const line = Buffer.alloc(10)
      line.writeUInt16BE(lineType, 0)
      line.writeUInt16BE(1, 2)
      // A time to live of zero: the answer must not be cached.
      line.writeUInt32BE(0, 4)
      line.writeUInt16BE(data.length, 8)
      lines.push(Buffer.concat([nameOf(at), line, data]))
    }
    let at = name
    let here: ReturnType<DnsAnswers> = found
    while (typeof here === 'object' && here.CNAME !== undefined) {
      add(at, 5, nameOf(here.CNAME))
      at = here.CNAME
      here = answers(at, 1)
    }
    if (typeof here === 'object' && kind !== undefined && kind !== 'CNAME')
      for (const one of here[kind] ?? []) add(at, type, dataOf[kind](one))
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(found === undefined ? 0x8183 : found === 'failure' ? 0x8182 : 0x8180, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(lines.length, 6)
    head.writeUInt32BE(0, 8)
    socket.send(Buffer.concat([head, query.subarray(12, end), ...lines]), from.port, from.address)
  })
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  return {
    port: socket.address().port,
    asked,
    async [Symbol.asyncDispose]() {
      socket.close()
    },
  }
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

function nameOf(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '')
  return Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ])
}

const dataOf = {
  A: (address: unknown) => Buffer.from(String(address).split('.').map(Number)),
  AAAA: (address: unknown) => inV6(String(address)),
  TXT: (text: unknown) =>
    Buffer.concat([text].flat().flatMap((part) => [Buffer.from([String(part).length]), Buffer.from(String(part), 'latin1')])),
  MX: (line: unknown) => {
    const [priority = '0', exchange = '.'] = String(line).split(' ')
    const head = Buffer.alloc(2)
    head.writeUInt16BE(Number(priority))
    return Buffer.concat([head, nameOf(exchange)])
  },
}

/** Eight groups, or one `::` for those that are zero. */
function inV6(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [before, after] = [groups(head), groups(tail)]
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]))
}
