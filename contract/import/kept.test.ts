import { expect, test } from 'vitest'
import { answersToKeep, isSameAnswers, keptAnswers } from './kept.ts'

test('answers about the rows of one file are not kept for the next one', () => {
  const answers = {
    'order/date': 'dmy',
    'order/value date': 'leave',
    'direction/type/inw': 'leave',
    'direction/unmarked': 'in',
    'direction/rows': 'in',
    'column/amount': 'sum',
    [`state/status/${'x'.repeat(200)}`]: 'booked',
  }
  const kept = answersToKeep(answers)
  expect(keptAnswers(kept)).toEqual({
    'order/date': 'dmy',
    'direction/type/inw': 'leave',
    'direction/unmarked': 'in',
    'column/amount': 'sum',
  })
  expect([isSameAnswers(kept, kept.toReversed()), isSameAnswers(kept, kept.slice(1))]).toEqual([true, false])
})
