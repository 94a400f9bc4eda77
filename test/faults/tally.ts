import type { FakeSmtp, ReceivedMail } from '#test/fakes/smtp-server.ts'
import type { Account } from './environment.ts'

/** How the emails that arrived compare with those that should have. */
export interface Tally {
  expected: number
  /** Recipients without an email. */
  lost: number
  /** Emails beyond the first one to a recipient. */
  repeated: number
  /** Repeated emails that differ from the first in a byte or in their Message-ID. */
  different: number
  /** Emails to a recipient who should have got none. */
  unexpected: number
}

/** Counts emails by recipient: each client of these accounts should have one. */
export function tally(emails: FakeSmtp['mails'], accounts: Account[]): Tally {
  const byRecipient: Map<string, ReceivedMail[]> = Map.groupBy(emails, ({ envelope }) => envelope.to[0] ?? '')
  const expected = new Set(accounts.flatMap((account) => account.invoices.map(({ clientEmail }) => clientEmail)))
  let [repeated, different, unexpected] = [0, 0, 0]
  for (const [to, [first, ...others]] of byRecipient) {
    if (!expected.has(to)) unexpected += 1 + others.length
    repeated += others.length
    different += others.filter(({ messageId, raw }) => messageId !== first?.messageId || !raw.equals(first.raw)).length
  }
  return { expected: expected.size, lost: [...expected].filter((to) => !byRecipient.has(to)).length, repeated, different, unexpected }
}

export function summarize({ expected, lost, repeated, different, unexpected }: Tally): string {
  return `${expected} emails: lost ${lost}, repeated ${repeated}${different > 0 ? ` (${different} with other bytes)` : ''}${unexpected > 0 ? `, to other recipients ${unexpected}` : ''}`
}

/** None lost, none to other recipients, and at most so many repeated, each byte for byte. */
export function isDelivered({ lost, repeated, different, unexpected }: Tally, mostRepeated = 0): boolean {
  return lost === 0 && unexpected === 0 && different === 0 && repeated <= mostRepeated
}
