import { expect, test } from 'vitest'
import { newId } from './columns.ts'

test('IDs made within one millisecond keep their order and are unique', () => {
  const ids = Array.from({ length: 20_000 }, () => newId())
  expect(ids).toEqual([...new Set(ids)].sort())
  expect(ids.every((id) => /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id))).toBe(true)
})
