import { expect, test } from 'vitest'
import { tooShort } from './holiday-reach.ts'

test('the checks fail once the table of holidays reaches less than 36 months ahead', () => {
  expect(tooShort('2032-12-31', '2029-12-31')).toBeNull()
  expect(tooShort('2032-12-31', '2030-01-01')).toContain('must reach 2033-01-01')
})
