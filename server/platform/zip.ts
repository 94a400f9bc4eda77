import { setImmediate as nextTurn } from 'node:timers/promises'
import { Zip, ZipDeflate } from 'fflate'

export interface ZipFile {
  name: string
  parts: AsyncIterable<string | Uint8Array>
}

/** Bytes compressed at a time; in between, other calls get their turn. */
const slice = 64 * 1024

/** A ZIP file of these files, made while it is read: each is asked for when its turn comes. */
export async function* zipped(files: AsyncIterable<ZipFile>): AsyncGenerator<Buffer> {
  let written: Buffer[] = []
  const zip = new Zip((error, chunk) => {
    if (error) throw error
    written.push(Buffer.from(chunk))
  })
  const flush = function* () {
    const ready = written
    written = []
    yield* ready
  }
  for await (const { name, parts } of files) {
    const entry = new ZipDeflate(name)
    zip.add(entry)
    for await (const part of parts) {
      const bytes = Buffer.from(part)
      for (let from = 0; from < bytes.length; from += slice) {
        entry.push(bytes.subarray(from, from + slice))
        yield* flush()
        await nextTurn()
      }
    }
    entry.push(new Uint8Array(0), true)
    yield* flush()
  }
  zip.end()
  yield* flush()
}
