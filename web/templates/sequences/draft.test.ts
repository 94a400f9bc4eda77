import { expect, test } from 'vitest'
import { stepTexts } from '#contract/ready-sequences.ts'
import { addStep, changeStep, faultsOf, removeStep, startOf, toBody } from './draft.ts'

test('a new sequence begins with a ready one, or with one friendly step', () => {
  const days = (from: string | null) => startOf(from).steps.map(({ offset }) => offset)
  expect(days('friendly-to-final')).toEqual([-3, 1, 7, 14, 30])
  expect(days('gentle')).toEqual([3, 10, 21])
  expect(days(null)).toEqual([1])
})

test('texts that were not rewritten follow the day and tone of their step; others stay', () => {
  const draft = startOf(null)
  const early = changeStep(draft, 0, { offset: -3 })
  expect(early.steps[0]).toMatchObject(stepTexts.before)
  const final = changeStep(early, 0, { offset: 20, tone: 'final' })
  expect(final.steps[0]).toMatchObject(stepTexts.final)
  const mine = changeStep(changeStep(final, 0, { subject: 'Mine' }), 0, { tone: 'firm' })
  expect(mine.steps[0]).toMatchObject({ ...stepTexts.firm, subject: 'Mine' })
})

test('a step is added a week after the last, or on the next free day before the last possible one', () => {
  const { draft, key } = addStep(startOf('gentle'))
  expect(draft.steps.at(-1)).toMatchObject({ key, offset: 28, tone: 'firm', was: null })
  const late = changeStep(draft, key, { offset: 365 })
  expect(addStep(late).draft.steps.map(({ offset }) => offset)).toEqual([3, 10, 21, 364, 365])
})

test('a step that passes another one keeps its key, and faults are at its fields', () => {
  const moved = changeStep(startOf('gentle'), 0, { offset: 15 })
  expect(moved.steps.map(({ key, was }) => [key, was])).toEqual([
    [1, 10],
    [0, 3],
    [2, 21],
  ])
  const twice = faultsOf(changeStep(moved, 0, { offset: 21 }))
  expect(twice.first).toBe('Two steps leave on the same day.')
  expect([...twice.steps.values()]).toEqual([{ offset: 'Two steps leave on the same day.' }])
  const early = faultsOf(changeStep(changeStep(moved, 0, { content: 'Mine, {{daysOverdue}} days' }), 0, { offset: -75 }))
  expect(early.steps.get(0)).toEqual({
    offset: 'Please enter −60 to 365 days.',
    content: 'This step leaves before the invoice is overdue: please take out {{daysOverdue}}.',
  })
  const none = faultsOf({ ...[0, 1, 2].reduce(removeStep, moved), name: ' ', atMost: 0 })
  expect(none.fields).toEqual({
    name: 'Please enter a name.',
    steps: 'Please keep at least one step.',
    atMost: 'Please enter 1 to 100 emails.',
  })
  expect(toBody(moved).steps[0]).not.toHaveProperty('key')
})
