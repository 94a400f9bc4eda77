import { messages, PGlite, parse, protocol, type Results, type Transaction, TransactionAbortedError } from '@electric-sql/pglite'

const { serialize } = protocol

/** A statement that the engine has parsed, by its text. */
interface Prepared {
  name: string
  types: number[]
  fields: Results['fields']
}

type Options = Parameters<PGlite['query']>[2]

/** What Emscripten's file system in memory has of a file, folder or device. */
interface FileNode {
  name: string
  parent: FileNode
  /** The next one of the same hash. */
  name_next: FileNode | undefined
  contents: Int8Array | Record<string, FileNode> | undefined
  usedBytes: number
  mtime: number
}

interface FileSystem {
  nextInode: number
  nameTable: (FileNode | undefined)[]
  streams: ({ fd: number; position: number } | null | undefined)[]
}

/** Memory is compared by pages of so many bytes, and only those that differ are brought back. */
const pageSize = 65_536

/**
 * The embedded database with two abilities more. A statement is parsed and planned once, because that is most of what it costs. And all that
 * the engine has in memory can be kept and brought back, so that a simulation begins on the same database as any other, to the byte.
 */
export class Engine extends PGlite {
  #prepared = new Map<string, Prepared>()

  override async query<T>(text: string, values: unknown[] = [], options?: Options): Promise<Results<T>> {
    return this._runExclusiveTransaction(() => this.#run<T>(text, values, options))
  }

  override async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this._runExclusiveTransaction(async () => {
      await this.#run('BEGIN')
      let closed = false
      const query: Transaction['query'] = (...args) => {
        if (closed) throw new Error('The transaction has ended.')
        return this.#run(...args)
      }
      const result = await work({ query } as Transaction)
        .finally(() => {
          closed = true
        })
        .catch(async (error: unknown) => {
          await this.#run('ROLLBACK')
          throw error
        })
      const { command } = await this.#run('COMMIT')
      if (command !== 'COMMIT') throw new TransactionAbortedError()
      return result
    })
  }

  /** Answers how to bring back all that is in memory now, also files. */
  keep(): () => Promise<void> {
    const files = this.Module.FS as unknown as FileSystem
    const memory = Buffer.from(this.Module.HEAPU8)
    const prepared = new Map(this.#prepared)
    const [table, inode] = [[...files.nameTable], files.nextInode]
    const streams = files.streams.map((stream) => stream && { stream, fd: stream.fd, position: stream.position })
    const nodes = table.flatMap((first) => {
      const chain: (() => void)[] = []
      for (let node = first; node; node = node.name_next) chain.push(keepNode(node))
      return chain
    })
    const restore = () => {
      this.#prepared = new Map(prepared)
      const heap = this.Module.HEAPU8
      const now = Buffer.from(heap.buffer, heap.byteOffset, heap.byteLength)
      for (let at = 0; at < memory.length; at += pageSize) {
        const end = Math.min(at + pageSize, memory.length)
        if (memory.compare(now, at, end, at, end) !== 0) memory.copy(now, at, at, end)
      }
      now.fill(0, memory.length)
      for (const bringBack of nodes) bringBack()
      Object.assign(files, { nextInode: inode, nameTable: [...table] })
      files.streams = streams.map((kept) => kept && Object.assign(kept.stream, { fd: kept.fd, position: kept.position }))
    }
    return () => this._runExclusiveTransaction(() => this._runExclusiveQuery(async () => restore()))
  }

  async #run<T>(text: string, values: unknown[] = [], options?: Options): Promise<Results<T>> {
    return this._runExclusiveQuery(async () => {
      const { name, types, fields } = this.#prepared.get(text) ?? (await this.#prepare(text))
      const bound = values.map((value, at) => {
        if (value === null || value === undefined) return null
        const serializer = this.serializers[types[at] ?? 0]
        return serializer ? serializer(value) : String(value)
      })
      return this.#read<T>(fields, this.execProtocolRawSync(bindAndExecute(name, bound)), options)
    })
  }

  /** Reads rows from the engine's answer: as objects, or as arrays. PGlite's own way copies each byte several times. */
  #read<T>(fields: Results['fields'], answer: Uint8Array, { rowMode, parsers }: Options = {}): Results<T> {
    const readers = fields.map(({ dataTypeID }) => parsers?.[dataTypeID] ?? this.parsers[dataTypeID])
    const said = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength)
    const rows: unknown[] = []
    let command = ''
    for (let at = 0, next = 0; at < said.length; at = next) {
      const kind = said[at]
      next = at + 1 + said.readInt32BE(at + 1)
      if (kind === code('E')) throw errorOf(answer)
      if (kind === code('D')) {
        let from = at + 7
        const values = fields.map(({ dataTypeID }, nth) => {
          const size = said.readInt32BE(from)
          from += 4 + Math.max(0, size)
          if (size < 0) return null
          const text = said.toString('utf8', from - size, from)
          return readers[nth] ? (readers[nth](text, dataTypeID) as unknown) : text
        })
        rows.push(rowMode === 'array' ? values : Object.fromEntries(fields.map(({ name }, nth) => [name, values[nth]])))
      }
      if (kind === code('C')) command = said.toString('latin1', at + 5, next - 1)
    }
    const affectedRows = command.startsWith('SELECT') ? 0 : Number(/\d+$/.exec(command)?.[0] ?? 0)
    return { rows: rows as T[], fields, affectedRows, command }
  }

  async #prepare(text: string): Promise<Prepared> {
    const name = `s${this.#prepared.size}`
    const asked = [serialize.parse({ name, text }), serialize.describe({ type: 'S', name }), serialize.sync()]
    const said = await this.execProtocolStream(Buffer.concat(asked), { syncToFs: false })
    const fields = said.flatMap((one) => (one instanceof messages.RowDescriptionMessage ? one.fields : []))
    const prepared = { name, types: parse.parseDescribeStatementResults(said), fields }
    this.#prepared.set(text, prepared)
    return prepared
  }
}

const code = (letter: string) => letter.charCodeAt(0)

/** Bind, Execute and Sync, with all values as text. */
function bindAndExecute(name: string, values: (string | null)[]): Buffer {
  const sizes = values.map((value) => (value === null ? -1 : Buffer.byteLength(value)))
  const size = 12 + name.length + sizes.reduce((sum, one) => sum + 4 + Math.max(0, one), 0)
  const message = Buffer.alloc(1 + size + 10 + 5)
  let at = message.write('B')
  at = message.writeInt32BE(size, at) + 1
  at += message.write(name, at) + 1
  at = message.writeUInt16BE(values.length, at + 2)
  for (const [nth, value] of values.entries()) {
    at = message.writeInt32BE(sizes[nth] ?? -1, at)
    if (value !== null) at += message.write(value, at)
  }
  at += 2 + message.write('E', at + 2)
  at = message.writeInt32BE(9, at) + 5
  at += message.write('S', at)
  message.writeInt32BE(4, at)
  return message
}

function errorOf(answer: Uint8Array): unknown {
  let error: unknown
  new protocol.Parser().parse(Buffer.from(answer), (message) => {
    if (message instanceof messages.DatabaseError) error ??= message
  })
  return error
}

function keepNode(node: FileNode): () => void {
  const { name, parent, name_next, contents, usedBytes } = node
  const place = { name, parent, name_next }
  if (!ArrayBuffer.isView(contents)) {
    const entries = contents && { ...contents }
    return () => Object.assign(node, place, { contents: entries && { ...entries } })
  }
  const bytes = contents.slice(0, usedBytes)
  // What is written later has another time.
  node.mtime = 0
  return () => {
    Object.assign(node, place)
    if (node.mtime === 0 && node.contents === contents && node.usedBytes === usedBytes) return
    contents.set(bytes)
    contents.fill(0, usedBytes)
    Object.assign(node, { contents, usedBytes, mtime: 0 })
  }
}
