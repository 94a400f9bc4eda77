import { expect, test } from 'vitest'
import { changeDays, type OwnDay } from './quiet-days.ts'

const day = (date: string, name = 'Closed', open = false): OwnDay => ({ date: `2026-${date}`, name, open })
const [first, second, third] = [day('04-01'), day('04-02'), day('04-03')]

test('changes of own days are made to those that are stored, and what others changed meanwhile stays', () => {
  expect(changeDays([first, second], [first, second], [third, first])).toEqual([first, third])
  // One was added and one renamed by someone else.
  const stored = [day('04-01', 'Stocktaking'), second, day('05-01')]
  expect(changeDays(stored, [first, second], [first, third])).toEqual([day('04-01', 'Stocktaking'), third, day('05-01')])
  expect(changeDays(stored, [first, second], [])).toEqual([day('05-01')])
})

test('an own day that two people change is as the last one saves it', () => {
  expect(changeDays([second], [first, second], [day('04-01', '', true), second])).toEqual([day('04-01', '', true), second])
  expect(changeDays([day('04-01', 'Theirs')], [first], [day('04-01', 'Mine')])).toEqual([day('04-01', 'Mine')])
})
