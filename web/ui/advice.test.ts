import { expect, test } from 'vitest'
import { adviceFor } from './advice.ts'

test('what to do about a failed mail follows from the codes of the answer, never from its words', () => {
  expect(adviceFor('550 5.1.1 No such user here')).toBe('Check the client’s email address on the invoice.')
  expect(adviceFor('552 5.2.2 Mailbox full')).toMatch(/^The client’s mailbox takes no mail/)
  expect(adviceFor('554 5.7.1 Message rejected as spam')).toMatch(/^The mail server did not want this email/)
  expect(adviceFor('550 mailbox full, spam, no such user')).toMatch(/^Check the client’s email address on the invoice, or ask/)
  expect(adviceFor('450 4.3.0 Try again later')).toMatch(/^Nothing is wrong with the invoice/)
  expect(adviceFor('Not sent in time.')).toMatch(/^Nothing is wrong with the invoice/)
})
