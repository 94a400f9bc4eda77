import { type PGlite, parse, protocol, type QueryOptions, type Results } from '@electric-sql/pglite'

const { serialize } = protocol

export type Statements = <T>(text: string, values?: unknown[], options?: QueryOptions) => Promise<Results<T>>

/**
 * Sends statements that the embedded engine plans once, as a server does with named ones for each connection: its own `query` plans each
 * again, which costs more than most of them.
 */
export function openStatements(engine: PGlite): Statements {
  const known = new Map<string, { name: string; types: number[] }>()
  const send = (...messages: Uint8Array[]) => engine.execProtocolStream(Buffer.concat(messages), { syncToFs: false })

  const prepare = async (text: string) => {
    const name = `s${known.size}`
    const described = await send(serialize.parse({ name, text }), serialize.describe({ type: 'S', name }), serialize.sync())
    const one = { name, types: parse.parseDescribeStatementResults(described) }
    known.set(text, one)
    return one
  }
  return <T>(text: string, values: unknown[] = [], options: QueryOptions = {}) => {
    if (engine.closed) throw new Error('The database is closed.')
    return engine._runExclusiveTransaction(() =>
      engine.runExclusive(async () => {
        const { name, types } = known.get(text) ?? (await prepare(text))
        const written = values.map((one, nth) => {
          if (one === null || one === undefined) return null
          const serializer = engine.serializers[types[nth] ?? 0]
          return serializer ? serializer(one) : String(one)
        })
        const answered = await send(
          serialize.bind({ statement: name, values: written }),
          serialize.describe({ type: 'P' }),
          serialize.execute({}),
          serialize.sync(),
        )
        await engine.syncToFs()
        const [result] = parse.parseResults(answered, engine.parsers, options) as Results<T>[]
        if (!result) throw new Error('The database gave no answer.')
        return result
      }),
    )
  }
}
