import { Button } from '@mantine/core'
import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconBan,
  IconCheck,
  IconCircleMinus,
  IconClock,
  IconClockPause,
  IconFilePlus,
  IconMail,
  IconMessage,
  IconMoon,
  IconPencil,
  IconPlayerPause,
  IconRefresh,
} from '@tabler/icons-react'
import { Fragment, type ReactNode, useState } from 'react'
import { deliveryProblem } from '#contract/delivery-problem.ts'
import type { Invoice, InvoiceChange } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import type { PayAnswer } from '#contract/pay-answers.ts'
import type { Payment } from '#contract/payments.ts'
import { type DayDecision, type HistoryChange, type HistoryMail, holdReasonOf, type InvoiceHistory } from '#contract/reminders.ts'
import { describeAnswer } from '#web/invoices/invoice-state.ts'
import { paymentTexts } from '#web/invoices/payments/texts.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { dateIn, daysBetween, showClock, showComing, showDate } from '#web/ui/dates.ts'
import { adviceFor } from '#web/ui/texts.ts'
import { EmailDialog } from './email-dialog.tsx'
import styles from './history.module.css'
import { texts } from './texts.ts'

/** How many lines are shown first, and how many more each time. */
const firstLines = 8
const moreLines = 50

interface HistoryTimelineProps {
  lines: TimelineLine[]
  zone: string | undefined
  now: Date
  /** The invoice is neither paid nor deleted. */
  owed: boolean
  invoice: Invoice
  /** Sets fields back to what they were; missing where the person may not change invoices. */
  onUndo: ((change: InvoiceChange) => void) | undefined
}

export function HistoryTimeline({ lines, zone, now, owed, invoice, onUndo }: HistoryTimelineProps): ReactNode {
  const [shown, setShown] = useState(firstLines)
  const [open, setOpen] = useState<HistoryMail | null>(null)
  const year = dateIn(zone, now).slice(0, 4)
  const undoing = undoable(
    lines.flatMap(({ entries }) => entries),
    invoice,
  )
  return (
    <>
      <ol className={styles.lines}>
        {lines.slice(0, shown).map(({ entries }, nth) => (
          <TimelineItem
            key={keyOf(entries[0])}
            entries={entries}
            zone={zone}
            now={now}
            year={year}
            advised={owed && nth === 0}
            onOpen={setOpen}
            undoing={undoing}
            onUndo={onUndo}
          />
        ))}
      </ol>
      {lines.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + moreLines)}>
          {texts.earlier}
        </Button>
      )}
      <EmailDialog mail={open} zone={zone} onClose={() => setOpen(null)} />
    </>
  )
}

function sameMonth(one: string, other: string): boolean {
  return one.slice(0, 7) === other.slice(0, 7)
}

function keyOf(entry: Entry): string {
  if (entry.kind === 'payment') return `${entry.outcome} ${entry.payment._id}`
  if (entry.kind === 'answer') return entry.answer._id
  if (entry.kind === 'change') return entry.changes[0]?._id ?? entry.at
  return entry.kind === 'mail' ? entry.mail._id : `${entry.outcome} ${entry.at}`
}

interface ItemProps {
  entries: TimelineLine['entries']
  zone: string | undefined
  now: Date
  /** Of today: dates of this year are shown without it. */
  year: string
  /** The latest line of an unpaid invoice: if it failed, advice is shown. */
  advised: boolean
  onOpen: (mail: HistoryMail) => void
  /** What undoes a change. */
  undoing: ReadonlyMap<Entry, InvoiceChange>
  onUndo: ((change: InvoiceChange) => void) | undefined
}

function TimelineItem({ entries, zone, now, year, advised, onOpen, undoing, onUndo }: ItemProps): ReactNode {
  const [unfolded, setUnfolded] = useState(false)
  const [last] = entries
  const first = entries.at(-1) ?? last
  const date = (of: string) => (of.startsWith(year) ? showDate(of).slice(0, 5) : showDate(of))
  if (unfolded)
    return entries.map((entry) => (
      <TimelineItem
        key={keyOf(entry)}
        entries={[entry]}
        zone={zone}
        now={now}
        year={year}
        advised={false}
        onOpen={onOpen}
        undoing={undoing}
        onUndo={onUndo}
      />
    ))
  const when =
    entries.length === 1
      ? `${date(last.date)}${last.kind === 'day' ? '' : `, ${showClock(zone, new Date(last.at))}`}`
      : texts.span(sameMonth(first.date, last.date) ? first.date.slice(8) : date(first.date), date(last.date))
  const mail = last.kind === 'mail' ? last.mail : null
  // The text is rendered at the first attempt; before that there is nothing to show.
  const email = entries.length === 1 && mail?.subject ? mail : null
  const undo = undoing.get(last)
  return (
    <li className={styles.item}>
      <OutcomeIcon outcome={last.outcome} />
      <span className={styles.date}>{when}</span>
      <div className={styles.what}>
        <p className={styles.event}>
          <strong data-tone={marks[last.outcome].tone}>{nameOf(last, entries.length)}</strong>
          {asides(last, entries.length, zone, now).map((aside) => (
            <Fragment key={aside}>
              {', '}
              <span className={styles.aside}>{aside}</span>
            </Fragment>
          ))}
        </p>
        {last.kind === 'day' && last.decision.words !== '' && <p className={styles.note}>{last.decision.words}</p>}
        {last.kind === 'answer' && <Words answer={last.answer} />}
        {last.kind === 'change' && <Changed changes={last.changes} currency={last.currency} />}
        {mail && <Explanation mail={mail} />}
        {advised && mail?.state === 'failed' && <p className={styles.note}>{adviceFor(mail.serverReply ?? '')}</p>}
      </div>
      {email && (
        <Button variant="subtle" className={styles.show ?? ''} aria-label={texts.open(email.subject ?? '')} onClick={() => onOpen(email)}>
          {texts.show}
        </Button>
      )}
      {undo && onUndo && (
        <Button variant="subtle" className={styles.show ?? ''} aria-label={texts.undoOf(nameOf(last, 1))} onClick={() => onUndo(undo)}>
          {texts.undo}
        </Button>
      )}
      {entries.length > 1 && (
        <Button variant="subtle" className={styles.show ?? ''} aria-expanded={false} onClick={() => setUnfolded(true)}>
          {texts.unfold(entries.length)}
        </Button>
      )}
    </li>
  )
}

/** A line for each field: what it was, and what it is. */
function Changed({ changes, currency }: { changes: HistoryChange[]; currency: string }): ReactNode {
  return changes.map(({ _id, field, before, after }) =>
    before === null || after === null ? null : (
      <p key={_id} className={styles.note}>
        {texts.changed.line(texts.changed.fields[field], shownValue(field, before, currency), shownValue(field, after, currency))}
      </p>
    ),
  )
}

function shownValue(field: HistoryChange['field'], value: string, currency: string): string {
  if (field === 'amount') return formatMoney(Number(value), currency)
  if (field === 'due_date' || field === 'issued_on') return showDate(value)
  return field === 'status' ? (Object.entries(invoiceTexts.status).find(([status]) => status === value)?.[1] ?? value) : value
}

/** The client's own words. */
function Words({ answer }: { answer: PayAnswer }): ReactNode {
  const { words } = describeAnswer(answer)
  return words !== '' && <p className={styles.note}>{words}</p>
}

/** `Reminder sent`, `3 reminders sent`, `Not delivered: mailbox full`. */
function nameOf(entry: Entry, times: number): string {
  if (entry.kind === 'invoice') return texts.created
  if (entry.kind === 'change') return texts.changed.by(entry.by, entry.changes[0]?.field ?? 'amount')
  if (entry.kind === 'payment') return paymentName(entry.payment, entry.outcome)
  if (entry.kind === 'answer') return describeAnswer(entry.answer).title
  if (entry.kind === 'day') return texts.outcomes[entry.decision.outcome]
  const { state, reason, serverReply } = entry.mail
  if (entry.outcome === 'bounced') return texts.cameBack
  if (state === 'sent') return texts.sent(times)
  if (state === 'failed') return texts.failedTimes(times, reason === 'refused' ? deliveryProblem(serverReply ?? '').words : null)
  return texts.mailStates[state]
}

function paymentName({ amount, currency, origin }: Payment, outcome: Outcome): string {
  const shown = formatMoney(amount, currency)
  if (outcome === 'taken_back') return origin === 'marked' ? texts.payments.unmarked : texts.payments.takenBack(shown)
  if (outcome === 'paid') return texts.payments.marked
  const { refunded, credited, received } = texts.payments
  return outcome === 'refunded' ? refunded(shown) : outcome === 'credited' ? credited(shown) : received(shown)
}

function asides(entry: Entry, times: number, zone: string | undefined, now: Date): string[] {
  if (entry.kind === 'day') return times > 1 ? [texts.days(times)] : []
  if (entry.kind === 'invoice') return entry.by === null ? [] : [texts.changed.creator(entry.by)]
  if (entry.kind === 'change') return []
  if (entry.kind === 'payment') return paymentAsides(entry.payment, entry.outcome)
  if (entry.kind === 'answer') return [invoiceTexts.answer.states[entry.answer.state]]
  const { kind, state, attempt, nextTryAt, invoices, step } = entry.mail
  return [
    ...(times === 1 && step !== null ? [texts.step(step)] : []),
    ...(kind === 'daily' ? (times > 1 ? [texts.eachDay] : []) : [texts.kinds[kind]]),
    ...(times === 1 && attempt > 1 ? [texts.attempts(attempt)] : []),
    ...(state !== 'sent' && nextTryAt !== null && new Date(nextTryAt) > now
      ? [texts.nextAttempt(showComing(zone, new Date(nextTryAt), now))]
      : []),
    ...(invoices > 1 ? [texts.several(invoices)] : []),
  ]
}

function paymentAsides({ method, reference, origin, amount, currency }: Payment, outcome: Outcome): string[] {
  if (origin === 'marked') return [formatMoney(amount, currency)]
  if (outcome === 'taken_back') return []
  return [method === null ? '' : paymentTexts.methods[method], reference].filter((part) => part !== '')
}

/** The reason of the state, and which copies were refused. The mail server's reply is shown here only for failures; the dialog of the email has it always. */
function Explanation({ mail }: { mail: HistoryMail }): ReactNode {
  const { state, reason, serverReply, copiesRefused } = mail
  const why = reasonOf(mail)
  const reply = state === 'failed' || state === 'retrying' ? serverReply : null
  // If Duely gave up on an email, this field holds our own sentence.
  const ours = state === 'failed' && reason !== 'refused'
  return (
    <>
      {why !== null && <p className={styles.note}>{why}</p>}
      {copiesRefused !== null && <p className={styles.note}>{copiesRefused}</p>}
      {reply !== null && reply !== '' && (
        <p className={styles.note}>
          {ours ? (
            reply
          ) : (
            <>
              {texts.serverReply} <q className={styles.serverReply}>{reply}</q>
            </>
          )}
        </p>
      )}
    </>
  )
}

function reasonOf({ state, reason }: HistoryMail): string | null {
  switch (state) {
    case 'retrying':
      return texts.notAccepted
    case 'held':
      return texts.heldWhy[holdReasonOf(reason)]
    case 'cancelled':
      return texts.stopped
    case 'superseded':
      return texts.notOwed
    case 'queued':
    case 'sending':
    case 'sent':
    case 'failed':
      return null
  }
}

const marks = {
  sent: { icon: IconMail, tone: 'plain' },
  failed: { icon: IconAlertTriangle, tone: 'bad' },
  bounced: { icon: IconAlertTriangle, tone: 'bad' },
  retrying: { icon: IconRefresh, tone: 'warn' },
  held: { icon: IconClockPause, tone: 'warn' },
  waiting: { icon: IconClock, tone: 'quiet' },
  cancelled: { icon: IconBan, tone: 'quiet' },
  superseded: { icon: IconCircleMinus, tone: 'quiet' },
  already_reminded: { icon: IconCircleMinus, tone: 'quiet' },
  paused: { icon: IconPlayerPause, tone: 'quiet' },
  address_held: { icon: IconClockPause, tone: 'warn' },
  left_out: { icon: IconCircleMinus, tone: 'quiet' },
  not_running: { icon: IconMoon, tone: 'warn' },
  added_later: { icon: IconCircleMinus, tone: 'quiet' },
  no_step: { icon: IconCircleMinus, tone: 'quiet' },
  gap: { icon: IconCircleMinus, tone: 'quiet' },
  quiet: { icon: IconCircleMinus, tone: 'quiet' },
  ended: { icon: IconCircleMinus, tone: 'quiet' },
  refused: { icon: IconClockPause, tone: 'warn' },
  never: { icon: IconCircleMinus, tone: 'quiet' },
  created: { icon: IconFilePlus, tone: 'quiet' },
  paid: { icon: IconCheck, tone: 'good' },
  received: { icon: IconCheck, tone: 'good' },
  refunded: { icon: IconArrowBackUp, tone: 'quiet' },
  credited: { icon: IconArrowBackUp, tone: 'quiet' },
  taken_back: { icon: IconArrowBackUp, tone: 'quiet' },
  answered: { icon: IconMessage, tone: 'warn' },
  changed: { icon: IconPencil, tone: 'quiet' },
} as const satisfies Record<Outcome, { icon: typeof IconCheck; tone: string }>

function OutcomeIcon({ outcome }: { outcome: Outcome }): ReactNode {
  const { icon: Icon, tone } = marks[outcome]
  return (
    <span className={styles.mark} data-tone={tone} aria-hidden>
      <Icon size={15} stroke={2} />
    </span>
  )
}

type Outcome =
  | DayDecision['outcome']
  | 'bounced'
  | 'created'
  | 'paid'
  | 'received'
  | 'refunded'
  | 'credited'
  | 'taken_back'
  | 'answered'
  | 'changed'

/** What happened once. `date`: in the account's time zone, `YYYY-MM-DD`. */
type Entry = { date: string; at: string; outcome: Outcome } & (
  | { kind: 'mail'; mail: HistoryMail }
  | { kind: 'day'; decision: DayDecision }
  | { kind: 'payment'; payment: Payment }
  | { kind: 'answer'; answer: PayAnswer }
  | { kind: 'change'; by: string; changes: HistoryChange[]; currency: string }
  /** `by`: null where its creator is not shown. */
  | { kind: 'invoice'; by: string | null }
)

/** One line of the timeline: an entry, or the same on consecutive days. */
interface TimelineLine {
  /** Newest first. */
  entries: [Entry, ...Entry[]]
}

/**
 * Emails, decisions, payments, answers, changes and the invoice's own dates, newest first. A decision that led to a listed email is not listed
 * itself. `alone`: the name of a person who works alone, whose own changes are not listed.
 */
export function timelineOf(
  { mails, days, payments, answers, changes }: InvoiceHistory,
  { createdAt, currency }: Pick<Invoice, 'createdAt' | 'currency'>,
  zone: string | undefined,
  alone: string | null,
): TimelineLine[] {
  const dateOf = (at: string) => dateIn(zone, new Date(at))
  const listed = new Set(mails.map(({ _id }) => _id))
  const entries: Entry[] = mails.map((mail) => {
    const at = mail.sentAt ?? mail.createdAt
    return { kind: 'mail', date: dateOf(at), at, outcome: mail.bouncedAt ? 'bounced' : outcomeOf(mail.state), mail }
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
    const outcome = kind === 'payment' ? (origin === 'marked' ? 'paid' : 'received') : kind === 'credit' ? 'credited' : 'refunded'
    entries.push({ kind: 'payment', date: dateOf(recordedAt), at: recordedAt, outcome, payment })
    if (voidedAt !== null) entries.push({ kind: 'payment', date: dateOf(voidedAt), at: voidedAt, outcome: 'taken_back', payment })
  }
  for (const answer of answers) entries.push({ kind: 'answer', date: dateOf(answer.at), at: answer.at, outcome: 'answered', answer })
  const byOthers = changes.filter(({ by }) => by !== alone)
  const creator = byOthers.find(({ field }) => field === 'created')?.by ?? null
  entries.push({ kind: 'invoice', date: dateOf(createdAt), at: createdAt, outcome: 'created', by: creator })
  // What one call changed is one line.
  const together = Map.groupBy(
    byOthers.filter(({ field }) => field !== 'created'),
    ({ at, by }) => `${at} ${by}`,
  )
  for (const its of together.values()) {
    const [{ at, by } = { at: createdAt, by: '' }] = its
    entries.push({ kind: 'change', date: dateOf(at), at, outcome: 'changed', by, changes: its, currency })
  }
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

const settable = {
  client_name: 'clientName',
  client_email: 'clientEmail',
  amount: 'amount',
  currency: 'currency',
  language: 'language',
  issued_on: 'issuedOn',
  due_date: 'dueDate',
  status: 'status',
  reference: 'reference',
} as const

/**
 * The changes that can be undone, and how: where none of their fields was changed later. What follows from a payment is undone by taking the
 * payment back, never from here.
 */
export function undoable(entries: Entry[], invoice: Invoice): Map<Entry, InvoiceChange> {
  const found = new Map<Entry, InvoiceChange>()
  const later = new Set<string>()
  for (const entry of entries) {
    if (entry.kind !== 'change') continue
    const back = entry.changes.map(({ field, before, after }): [string, string | number | null] | null => {
      if (field === 'created' || field === 'deleted' || field === 'restored' || before === null || later.has(field)) return null
      const byPayment = field === 'status' && (before === 'paid' || after === 'paid')
      const ofPaid = invoice.status === 'paid' && (field === 'amount' || field === 'currency' || field === 'status')
      const name = settable[field]
      if (byPayment || ofPaid || String(invoice[name] ?? '') !== after) return null
      return [name, field === 'amount' ? Number(before) : field === 'language' && before === '' ? null : before]
    })
    if (back.every((one) => one !== null)) found.set(entry, Object.fromEntries(back) as InvoiceChange)
    for (const { field } of entry.changes) later.add(field)
  }
  return found
}

/** Whether the day before had the same, and no more to show. */
function isSame(later: Entry, entry: Entry): boolean {
  if (daysBetween(entry.date, later.date) !== 1 || later.outcome !== entry.outcome) return false
  if (later.kind === 'day' && entry.kind === 'day') return later.decision.words === entry.decision.words
  if (later.kind !== 'mail' || entry.kind !== 'mail' || later.mail.kind !== entry.mail.kind) return false
  if (entry.outcome === 'sent') return later.mail.copiesRefused === entry.mail.copiesRefused
  return entry.outcome === 'failed' && later.mail.serverReply === entry.mail.serverReply
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
