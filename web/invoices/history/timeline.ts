import type { Invoice } from '#contract/invoices.ts'
import type { PayAnswer } from '#contract/pay-answers.ts'
import type { Payment } from '#contract/payments.ts'
import type { DayDecision, HistoryMail, InvoiceHistory } from '#contract/reminders.ts'
import { dateIn, daysBetween } from '#web/ui/dates.ts'

export type Outcome = DayDecision['outcome'] | 'created' | 'paid' | 'received' | 'refunded' | 'taken_back' | 'answered'

/** What happened once. `date`: in the account's time zone, `YYYY-MM-DD`. */
export type Entry = { date: string; at: string; outcome: Outcome } & (
  | { kind: 'mail'; mail: HistoryMail }
  | { kind: 'day'; decision: DayDecision }
  | { kind: 'payment'; payment: Payment }
  | { kind: 'answer'; answer: PayAnswer }
  | { kind: 'invoice' }
)

/** One line of the timeline: an entry, or the same on consecutive days. */
export interface TimelineLine {
  /** Newest first. */
  entries: [Entry, ...Entry[]]
}

/** Emails, decisions, payments, answers and the invoice's own dates, newest first. A decision that led to a listed email is not listed itself. */
export function timelineOf(
  { mails, days, payments, answers }: InvoiceHistory,
  { createdAt }: Pick<Invoice, 'createdAt'>,
  zone: string | undefined,
): TimelineLine[] {
  const dateOf = (at: string) => dateIn(zone, new Date(at))
  const listed = new Set(mails.map(({ _id }) => _id))
  const entries: Entry[] = mails.map((mail) => {
    const at = mail.sentAt ?? mail.createdAt
    return { kind: 'mail', date: dateOf(at), at, outcome: outcomeOf(mail.state), mail }
  })
  const seen = new Set(entries.map(({ date, outcome }) => `${date} ${outcome}`))
  for (const decision of days) {
    const { date, outcome, mailId, decidedAt } = decision
    // The decision about a superseded email no longer refers to it.
    if (mailId === null ? seen.has(`${date} ${outcome}`) : listed.has(mailId)) continue
    entries.push({ kind: 'day', date, at: decidedAt, outcome, decision })
  }
  for (const payment of payments) {
    const { kind, origin, recordedAt, voidedAt } = payment
    const outcome = kind === 'refund' ? 'refunded' : origin === 'marked' ? 'paid' : 'received'
    entries.push({ kind: 'payment', date: dateOf(recordedAt), at: recordedAt, outcome, payment })
    if (voidedAt !== null) entries.push({ kind: 'payment', date: dateOf(voidedAt), at: voidedAt, outcome: 'taken_back', payment })
  }
  for (const answer of answers) entries.push({ kind: 'answer', date: dateOf(answer.at), at: answer.at, outcome: 'answered', answer })
  entries.push({ kind: 'invoice', date: dateOf(createdAt), at: createdAt, outcome: 'created' })
  const newestFirst = entries.toSorted((one, other) =>
    one.date === other.date ? Date.parse(other.at) - Date.parse(one.at) : one.date < other.date ? 1 : -1,
  )
  const perDay = new Map<string, number>()
  for (const { date } of newestFirst) perDay.set(date, (perDay.get(date) ?? 0) + 1)
  return newestFirst.reduce<TimelineLine[]>((lines, entry) => {
    const later = lines.at(-1)
    const [before] = later?.entries.slice(-1) ?? []
    const alone = perDay.get(entry.date) === 1
    if (later && before && alone && perDay.get(before.date) === 1 && isSame(before, entry)) later.entries.push(entry)
    else lines.push({ entries: [entry] })
    return lines
  }, [])
}

/** Whether the day before had the same, and no more to show. */
function isSame(later: Entry, entry: Entry): boolean {
  if (daysBetween(entry.date, later.date) !== 1 || later.outcome !== entry.outcome) return false
  if (later.kind === 'day' && entry.kind === 'day') return later.decision.words === entry.decision.words
  if (later.kind !== 'mail' || entry.kind !== 'mail' || later.mail.kind !== entry.mail.kind) return false
  return entry.outcome === 'sent' || (entry.outcome === 'failed' && later.mail.serverReply === entry.mail.serverReply)
}

function outcomeOf(state: HistoryMail['state']): Outcome {
  return state === 'queued' || state === 'sending' ? 'waiting' : state
}

/** Milliseconds until the next poll: short while an email is being sent, longer while one waits for its next attempt. */
export function refetchDelay({ reason, nextAt, mails }: InvoiceHistory, now: Date): number {
  const sending = mails.some(({ state }) => state === 'queued' || state === 'sending')
  if (reason !== 'open_mail' && !sending) return 60_000
  return !sending && nextAt !== null && Date.parse(nextAt) > now.getTime() ? 10_000 : 2_000
}
