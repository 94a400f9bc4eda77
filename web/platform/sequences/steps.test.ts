import { expect, test } from 'vitest'
import { readySequences } from '#contract/ready-sequences.ts'
import type { PlannedMail, Simulation } from '#contract/sequences.ts'
import { heard, stripOf } from './steps.ts'

const days = (rhythm: Parameters<typeof heard>[0]) => heard(rhythm).emails.map(({ day }) => day)
const at = (...offsets: number[]) => offsets.map((offset) => ({ offset, tone: 'friendly' as const }))
const rhythm = { steps: at(-3, 1, 7, 14, 30), everyDays: null, atMost: 8, atLeast: 3 }

test('a client who never pays hears each step, then its repetitions up to the limit', () => {
  expect(readySequences.map((ready) => days(ready))).toEqual([
    [-3, 1, 7, 14, 30],
    [3, 10, 21, 35, 49, 63],
  ])
  expect(days({ ...rhythm, everyDays: 14 })).toEqual([-3, 1, 7, 14, 30, 44, 58, 72])
  expect(days({ ...rhythm, atMost: 2 })).toEqual([-3, 1])
})

test('repetitions without a limit have no end: the first three are named', () => {
  expect(heard({ ...rhythm, everyDays: 1, atMost: null, atLeast: 1 }).endless).toBe(true)
  expect(days({ steps: at(1), everyDays: 1, atMost: null, atLeast: 1 })).toEqual([1, 2, 3, 4])
})

test('a step that comes too soon waits; one before the due date does not leave after it', () => {
  expect(days({ steps: at(1, 2, 9), everyDays: null, atMost: null, atLeast: 5 })).toEqual([1, 6, 11])
  expect(days({ steps: at(-3, -1, 9), everyDays: null, atMost: null, atLeast: 5 })).toEqual([-3, 9])
  // Up to the due date there is nothing to repeat.
  expect(days({ steps: at(-3), everyDays: 7, atMost: null, atLeast: 1 })).toEqual([-3])
})

test('the strip has every day, with what leaves and what no longer does', () => {
  const mail = (localDate: string, invoiceId: string): PlannedMail => ({
    at: `${localDate}T03:30:00Z`,
    localDate,
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    invoiceIds: [invoiceId],
    sequence: 's',
    offset: 1,
    tone: 'friendly',
    subject: '',
    why: null,
    movedFrom: null,
  })
  const simulation: Simulation = {
    before: [mail('2026-03-02', 'a'), mail('2026-03-03', 'b'), mail('2026-03-04', 'c')],
    after: [mail('2026-03-02', 'a'), mail('2026-03-02', 'b'), mail('2026-03-05', 'd')],
    added: [mail('2026-03-05', 'd')],
    removed: [mail('2026-03-04', 'c')],
    moved: [{ ...mail('2026-03-02', 'b'), from: '2026-03-03' }],
    reworded: [],
    counts: { before: 3, after: 3, added: 1, removed: 1, moved: 1, reworded: 0 },
    most: null,
    fingerprint: 'f',
  }
  expect(stripOf(simulation, '2026-03-02', 4)).toEqual({
    days: [
      { date: '2026-03-02', leaves: ['kept', 'moved'], gone: [] },
      { date: '2026-03-03', leaves: [], gone: ['from'] },
      { date: '2026-03-04', leaves: [], gone: ['removed'] },
      { date: '2026-03-05', leaves: ['added'], gone: [] },
    ],
    moves: [{ from: 1, to: 0 }],
  })
})
