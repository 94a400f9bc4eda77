import { expect, test } from 'vitest'
import { adviceFor } from './advice.ts'

test('advice on a failed email depends on the codes of the answer, never on its text', () => {
  expect(adviceFor('550 5.1.1 No such user here')).toBe('Check the client’s email address on the invoice.')
  expect(adviceFor('552 5.2.2 Mailbox full')).toMatch(/^The client’s mailbox isn’t accepting mail/)
  expect(adviceFor('554 5.7.1 Message rejected as spam')).toMatch(/^The mail server rejected this email/)
  expect(adviceFor('550 mailbox full, spam, no such user')).toMatch(/^Check the client’s email address on the invoice, or ask/)
  expect(adviceFor('450 4.3.0 Try again later')).toMatch(/^The invoice is fine/)
  expect(adviceFor('Not sent in time.')).toMatch(/^The invoice is fine/)
})
