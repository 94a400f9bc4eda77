import { expect, test } from 'vitest'
import type { z } from 'zod'
import { everyCall } from '#contract/index.ts'
import { readTypedAmount } from '#contract/money.ts'
import { filled, shapeOf } from './filled.ts'

/** A rule of a field sees also a text that is too long for it. One that tries every division of such a text takes seconds. */
const length = 32_000
const allowedMs = 200
const units = [' ', '.', 'a.', ':', '/', '{{', '<', '0', ',000', '-', '&a']
const long = (unit: string) => unit.repeat(length / unit.length)
const texts = units.flatMap((unit) => [`1${long(unit)}@`, `https://a${long(unit)}#{`])

function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** What a field of several kinds can be: no call has one of more. */
const kinds = [0, 1, 2, 3, 4, 5, 6, 7]

test('a long text in any field of any call is read in a time that grows with its length alone', () => {
  const slow = everyCall.flatMap(({ method, path, ...call }) =>
    [call.body, call.query].flatMap((schema: z.ZodType | undefined) => {
      if (!schema) return []
      const bodies = new Map(kinds.map((nth) => [JSON.stringify(filled(shapeOf(schema), '', nth)), nth]))
      return [...bodies.values()].flatMap((nth) =>
        texts.flatMap((text) => {
          const body = filled(shapeOf(schema), text, nth)
          const ms = cpuMs(() => schema.safeParse(body))
          return ms > allowedMs ? [`${method} ${path} with ${JSON.stringify(text.slice(0, 20))}…: ${Math.round(ms)} ms`] : []
        }),
      )
    }),
  )
  expect(slow).toEqual([])
})

test('a long text is no amount, and known as none at once', () => {
  for (const text of texts) {
    expect(cpuMs(() => expect(readTypedAmount(text, 'INR')).toBeNull())).toBeLessThan(allowedMs)
    expect(cpuMs(() => readTypedAmount(text, 'EUR'))).toBeLessThan(allowedMs)
  }
})
