import type { ReadLine } from '#contract/import/bank.ts'

/** The most bytes of one call: the server takes 1 MiB. */
const mostBytes = 900 * 1024
/** For what each line pays. */
const besides = 150

/** Lines in the parts that one call takes: of a size, and at most so many. */
export function inCalls(lines: Iterable<ReadLine>, mostLines: number): ReadLine[][] {
  const parts: ReadLine[][] = []
  const encoder = new TextEncoder()
  let bytes = 0
  for (const one of lines) {
    const size = encoder.encode(JSON.stringify(one.line)).length + besides
    const last = parts.at(-1)
    bytes = last && last.length < mostLines && bytes + size <= mostBytes ? bytes + size : size
    if (last && bytes > size) last.push(one)
    else parts.push([one])
  }
  return parts
}
