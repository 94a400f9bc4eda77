import { expect, test } from 'vitest'
import { changedFields, withTyped } from './changes.ts'

const before = { timezone: 'Asia/Kolkata', reminderHour: 9, address: ['1 Neem Road', 'Pune'], colour: null as string | null }

test('only the fields that differ are sent, and lists by what they contain', () => {
  expect(changedFields(before, { ...before, address: [...before.address] })).toEqual({})
  expect(changedFields(before, { ...before, reminderHour: 10, address: ['1 Neem Road'] })).toEqual({
    reminderHour: 10,
    address: ['1 Neem Road'],
  })
  expect(changedFields({ ...before, colour: '#112233' }, before)).toEqual({ colour: null })
})

test('a form takes over what someone else changed, and keeps what was typed', () => {
  const newest = { ...before, reminderHour: 8, address: ['2 Neem Road'] }
  const typed = { ...before, address: ['3 Neem Road'] }
  expect(withTyped(newest, before, typed)).toEqual({ ...newest, address: ['3 Neem Road'] })
  expect(changedFields(newest, withTyped(newest, before, typed))).toEqual({ address: ['3 Neem Road'] })
})
