import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { z } from 'zod'

/** An answer that is sent while it is made, so that it is never in memory as a whole. */
export class Streamed<T> extends Readable {
  declare readonly answers?: T
}

/** The given parts, one after the other. Other work gets its turn in between. */
export function streamed<T>(parts: AsyncIterable<string | Uint8Array>): Streamed<T> {
  const source = parts[Symbol.asyncIterator]()
  // A reader asks from the context of its socket; the parts are made on behalf of the caller all the same.
  const next = AsyncLocalStorage.bind(() => source.next())
  return new Streamed<T>({
    read() {
      next().then(
        ({ done, value }) => setImmediate(() => this.push(done ? null : value)),
        (error: Error) => this.destroy(error),
      )
    },
    destroy(error, callback) {
      // An iteration that waits for the database ends on its own; the caller does not wait for it.
      Promise.resolve(source.return?.()).catch(() => undefined)
      callback(error)
    },
  })
}

/** A JSON array of the items, page by page. */
export async function* jsonList<T>(item: z.ZodType<T>, pages: AsyncIterable<T[]>): AsyncGenerator<string> {
  yield '['
  yield* jsonItems(item, pages)
  yield ']'
}

/** Items as the inside of a JSON array, page by page, each checked against the contract as any answer is. */
export async function* jsonItems<T>(item: z.ZodType<T>, pages: AsyncIterable<T[]>): AsyncGenerator<string> {
  const list = z.array(item)
  let first = true
  for await (const page of pages) {
    if (page.length === 0) continue
    yield (first ? '' : ',') + JSON.stringify(list.parse(page)).slice(1, -1)
    first = false
  }
}
