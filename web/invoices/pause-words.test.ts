import { expect, test } from 'vitest'
import { isPaused, pauseWords } from './pause-words.ts'

const promise = { until: '2026-12-05', note: 'Call Mr Rao on Monday', promised: true, scope: 'client' as const }
const clientEmail = 'billing@kaveri.example'

test('a paused invoice says whom the pause is about, what was promised and the note', () => {
  expect(pauseWords({ clientEmail, pause: promise })).toEqual([
    'No invoice of billing@kaveri.example is reminded.',
    'They promised to pay by 05/12/2026.',
    'Call Mr Rao on Monday',
  ])
  expect(pauseWords({ clientEmail, pause: { until: null, note: '', promised: false, scope: 'invoice' } })).toEqual([
    'This invoice is not reminded.',
  ])
})

test('a paid invoice is not called paused', () => {
  expect(isPaused({ pause: promise, status: 'overdue' })).toBe(true)
  expect(isPaused({ pause: promise, status: 'paid' })).toBe(false)
  expect(isPaused({ pause: null, status: 'overdue' })).toBe(false)
})
