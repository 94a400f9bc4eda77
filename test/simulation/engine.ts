import { messages, PGlite, parse, protocol, type Results, type Transaction } from '@electric-sql/pglite'

const { serialize } = protocol

/** A statement that the engine has parsed, by its text. */
interface Prepared {
  name: string
  types: number[]
  fields: Results['fields']
}

type Messages = Parameters<typeof parse.parseResults>[0]
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
    return super.transaction((tx) =>
      work(
        new Proxy(tx, {
          get: (target, name) => (name === 'query' ? this.#run.bind(this) : (Reflect.get(target, name, target) as unknown)),
        }),
      ),
    )
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
      const said = await this.#say(serialize.bind({ statement: name, values: bound }), serialize.execute())
      return this.#read<T>(fields, said, options)
    })
  }

  /** As PGlite does, which copies all parsers for each answer. */
  #read<T>(fields: Results['fields'], said: Messages, { rowMode, parsers }: Options = {}): Results<T> {
    const readers = fields.map(({ dataTypeID }) => parsers?.[dataTypeID] ?? this.parsers[dataTypeID])
    const rows: unknown[] = []
    let affectedRows = 0
    for (const message of said) {
      if (message instanceof messages.DataRowMessage) {
        const values = message.fields.map((text, at) => {
          const reader = readers[at]
          return text === null || !reader ? text : (reader(text, fields[at]?.dataTypeID) as unknown)
        })
        rows.push(rowMode === 'array' ? values : Object.fromEntries(fields.map(({ name }, at) => [name, values[at]])))
      } else if (message instanceof messages.CommandCompleteMessage && !message.text.startsWith('SELECT'))
        affectedRows += Number(/\d+$/.exec(message.text)?.[0] ?? 0)
    }
    return { rows: rows as T[], fields, affectedRows }
  }

  async #prepare(text: string): Promise<Prepared> {
    const name = `s${this.#prepared.size}`
    const said = await this.#say(serialize.parse({ name, text }), serialize.describe({ type: 'S', name }))
    const fields = said.flatMap((one) => (one instanceof messages.RowDescriptionMessage ? one.fields : []))
    const prepared = { name, types: parse.parseDescribeStatementResults(said), fields }
    this.#prepared.set(text, prepared)
    return prepared
  }

  #say(...messages: Uint8Array[]) {
    return this.execProtocolStream(Buffer.concat([...messages, serialize.sync()]), { syncToFs: false })
  }
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
