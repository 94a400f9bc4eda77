import { expect, test } from 'vitest'
import { newId } from './columns.ts'

test('IDs made within one millisecond keep their order and are unique, also in their first 24 characters', () => {
  const ids = Array.from({ length: 20_000 }, () => newId())
  expect(ids).toEqual([...new Set(ids)].sort())
  expect(new Set(ids.map((id) => id.slice(0, 24))).size).toBe(ids.length)
  expect(ids.every((id) => /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id))).toBe(true)
})
