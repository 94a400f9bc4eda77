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
  IconPlayerPause,
  IconRefresh,
} from '@tabler/icons-react'
import { Fragment, type ReactNode, useState } from 'react'
import { deliveryProblem } from '#contract/delivery-problem.ts'
import { formatMoney } from '#contract/money.ts'
import type { PayAnswer } from '#contract/pay-answers.ts'
import type { Payment } from '#contract/payments.ts'
import { type HistoryMail, holdReasonOf } from '#contract/reminders.ts'
import { describeAnswer } from '#web/invoices/invoice-state.ts'
import { paymentTexts } from '#web/invoices/payments/texts.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { dateIn, showClock, showComing, showDate } from '#web/ui/dates.ts'
import { adviceFor } from '#web/ui/texts.ts'
import { EmailDialog } from './email-dialog.tsx'
import styles from './history.module.css'
import { texts } from './texts.ts'
import type { Entry, Outcome, TimelineLine } from './timeline.ts'

/** How many lines are shown first, and how many more each time. */
const firstLines = 8
const moreLines = 50

interface HistoryTimelineProps {
  lines: TimelineLine[]
  zone: string | undefined
  now: Date
  /** The invoice is neither paid nor deleted. */
  owed: boolean
}

export function HistoryTimeline({ lines, zone, now, owed }: HistoryTimelineProps): ReactNode {
  const [shown, setShown] = useState(firstLines)
  const [open, setOpen] = useState<HistoryMail | null>(null)
  const year = dateIn(zone, now).slice(0, 4)
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
}

function TimelineItem({ entries, zone, now, year, advised, onOpen }: ItemProps): ReactNode {
  const [unfolded, setUnfolded] = useState(false)
  const [last] = entries
  const first = entries.at(-1) ?? last
  const date = (of: string) => (of.startsWith(year) ? showDate(of).slice(0, 5) : showDate(of))
  if (unfolded)
    return entries.map((entry) => (
      <TimelineItem key={keyOf(entry)} entries={[entry]} zone={zone} now={now} year={year} advised={false} onOpen={onOpen} />
    ))
  const when =
    entries.length === 1
      ? `${date(last.date)}${last.kind === 'day' ? '' : `, ${showClock(zone, new Date(last.at))}`}`
      : texts.span(sameMonth(first.date, last.date) ? first.date.slice(8) : date(first.date), date(last.date))
  const mail = last.kind === 'mail' ? last.mail : null
  // The text is rendered at the first attempt; before that there is nothing to show.
  const email = entries.length === 1 && mail?.subject ? mail : null
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
        {mail && <Explanation mail={mail} />}
        {advised && mail?.state === 'failed' && <p className={styles.note}>{adviceFor(mail.serverReply ?? '')}</p>}
      </div>
      {email && (
        <Button variant="subtle" className={styles.show ?? ''} aria-label={texts.open(email.subject ?? '')} onClick={() => onOpen(email)}>
          {texts.show}
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

/** The client's own words. */
function Words({ answer }: { answer: PayAnswer }): ReactNode {
  const { words } = describeAnswer(answer)
  return words !== '' && <p className={styles.note}>{words}</p>
}

/** `Reminder sent`, `3 reminders sent`, `Not delivered: mailbox full`. */
function nameOf(entry: Entry, times: number): string {
  if (entry.kind === 'invoice') return texts.created
  if (entry.kind === 'payment') return paymentName(entry.payment, entry.outcome)
  if (entry.kind === 'answer') return describeAnswer(entry.answer).title
  if (entry.kind === 'day') return texts.outcomes[entry.decision.outcome]
  const { state, reason, serverReply } = entry.mail
  if (state === 'sent') return texts.sent(times)
  if (state === 'failed') return texts.failedTimes(times, reason === 'refused' ? deliveryProblem(serverReply ?? '').words : null)
  return texts.mailStates[state]
}

function paymentName({ amount, currency, origin }: Payment, outcome: Outcome): string {
  const shown = formatMoney(amount, currency)
  if (outcome === 'taken_back') return origin === 'marked' ? texts.payments.unmarked : texts.payments.takenBack(shown)
  if (outcome === 'paid') return texts.payments.marked
  return outcome === 'refunded' ? texts.payments.refunded(shown) : texts.payments.received(shown)
}

function asides(entry: Entry, times: number, zone: string | undefined, now: Date): string[] {
  if (entry.kind === 'day') return times > 1 ? [texts.days(times)] : []
  if (entry.kind === 'invoice') return []
  if (entry.kind === 'payment') return paymentAsides(entry.payment, entry.outcome)
  if (entry.kind === 'answer') return [invoiceTexts.answer.states[entry.answer.state]]
  const { kind, state, attempt, nextTryAt, invoices } = entry.mail
  return [
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

/** The reason of the state. The mail server's reply is shown here only for failures; the dialog of the email has it always. */
function Explanation({ mail }: { mail: HistoryMail }): ReactNode {
  const { state, reason, serverReply } = mail
  const why = reasonOf(mail)
  const reply = state === 'failed' || state === 'retrying' ? serverReply : null
  // If Duely gave up on an email, this field holds our own sentence.
  const ours = state === 'failed' && reason !== 'refused'
  return (
    <>
      {why !== null && <p className={styles.note}>{why}</p>}
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
  taken_back: { icon: IconArrowBackUp, tone: 'quiet' },
  answered: { icon: IconMessage, tone: 'warn' },
} as const satisfies Record<Outcome, { icon: typeof IconCheck; tone: string }>

function OutcomeIcon({ outcome }: { outcome: Outcome }): ReactNode {
  const { icon: Icon, tone } = marks[outcome]
  return (
    <span className={styles.mark} data-tone={tone} aria-hidden>
      <Icon size={15} stroke={2} />
    </span>
  )
}
