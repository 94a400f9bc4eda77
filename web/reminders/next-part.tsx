import { IconChevronDown } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import { formatMoney, formatSums, sumByCurrency } from '#contract/money.ts'
import { type PreviewLine, reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { isBuiltIn } from '#contract/sequence-choice.ts'
import type { ReminderPlan } from '#contract/sequences.ts'
import { LinkButton, useCurrency } from '#web/platform/account.tsx'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { byDay } from '#web/platform/sequences/steps.ts'
import { capitalized, dateIn, daysBetween, lateness, showComing, showDate, showDay } from '#web/ui/dates.ts'
import { NoWrap } from '#web/ui/plain.tsx'
import { Ahead, describePlan, usePlan } from './ahead.tsx'
import { Part } from './part.tsx'
import styles from './reminders.module.css'
import { type ComingEmail, type ComingRun, clientsOf, emailsOf, type Planned, planned } from './runs.ts'
import { texts } from './texts.ts'

type Status = CallReply<typeof reminderCalls.status>
type Preview = CallReply<typeof reminderCalls.preview>

/** Rows shown at first, and added by each click. */
const initialRows = 6
const moreRows = 500
/** Folded days shown at first. */
const initialDays = 4
const t = texts.next

interface NextPartProps {
  preview: UseQueryResult<Preview>
  status: Status
}

/** Who gets an email, and when. Only the next run is open. */
export function NextPart({ preview, status }: NextPartProps): ReactNode {
  const { reason } = status
  const settings = useApiQuery(reminderCalls.settings)
  const grouped = settings.data?.groupByClient ?? false
  const lines = preview.data?.lines
  const follows = lines?.some(({ sequence }) => !isBuiltIn(sequence)) === true
  const plan = usePlan(lines?.length, { enabled: reason === null || (reason in t.once && follows), runs: reason === null })
  return (
    <Part id="next" title={t.title} aside={plan && reason === null && <p className={styles.none}>{describePlan(plan)}</p>}>
      <QueryView query={preview} loading={t.loading} error={t.failed} empty={<Nothing />} isEmpty={({ lines }) => lines.length === 0}>
        {({ lines }) => <Planning lines={lines} status={status} grouped={grouped} plan={plan} />}
      </QueryView>
    </Part>
  )
}

function Nothing(): ReactNode {
  return (
    <div className={styles.nothing}>
      <p>{t.none}</p>
      <LinkButton by="member" to={screens.newInvoice} variant="default">
        {t.create}
      </LinkButton>
    </div>
  )
}

/** What the emails of the next days wait for; null where runs are coming. */
function onceOf(reason: Status['reason']): string | null {
  return reason !== null && reason in t.once ? t.once[reason as keyof typeof t.once] : null
}

interface PlanningProps {
  lines: PreviewLine[]
  status: Status
  grouped: boolean
  /** Undefined until it is loaded, or where it is not read. */
  plan: ReminderPlan | undefined
}

function Planning({ lines, status, grouped, plan }: PlanningProps): ReactNode {
  const now = new Date()
  const { runs, others } = planned(lines, grouped, now, status.leavingRunId !== null)
  const [next, ...later] = runs
  return (
    <>
      {status.reason === null ? (
        <NextRun run={next ?? null} plan={plan} status={status} now={now} />
      ) : (
        <Unscheduled lines={lines} status={status} reason={status.reason} grouped={grouped} now={now} />
      )}
      {plan ? (
        <Ahead
          plan={plan}
          once={onceOf(status.reason)}
          after={status.reason === null ? (next?.at ?? null) : now.toISOString()}
          shown={status.reason === null ? (next?.emails ?? []) : null}
          zone={status.timezone}
          now={now}
        />
      ) : (
        <Days runs={later} zone={status.timezone} now={now} />
      )}
      <Others others={others.filter(({ why }) => why !== status.reason)} zone={status.timezone} now={now} />
    </>
  )
}

interface NextRunProps extends Pick<PlanningProps, 'plan' | 'status'> {
  run: ComingRun | null
  now: Date
}

function NextRun({ run, plan, status, now }: NextRunProps): ReactNode {
  const { timezone: zone, nextRunAt } = status
  const currency = useCurrency()
  // While the emails of today wait, only the plan knows those that follow.
  const [first] = run === null && plan ? byDay(plan.mails) : []
  const [mail] = first?.mails ?? []
  if (first && mail)
    return (
      <Headline when={capitalized(showComing(zone, new Date(mail.at), now))}>
        {t.emails(first.mails.length, new Set(first.mails.map(({ clientEmail }) => clientEmail.toLowerCase())).size)}
      </Headline>
    )
  if (run === null)
    return (
      <Headline when={t.nothingPlanned}>
        {nextRunAt !== null && t.runsAnyway(capitalized(showComing(zone, new Date(nextRunAt), now)))}
      </Headline>
    )
  const lines = run.emails.flatMap((email) => email.lines)
  return (
    <>
      <Headline when={capitalized(showComing(zone, new Date(run.at), now))}>
        {t.emails(run.emails.length, clientsOf(lines))}, <strong>{formatSums(sumByCurrency(lines, currency), currency)}</strong>
      </Headline>
      <Emails emails={run.emails} label={t.list} zone={zone} now={now} />
    </>
  )
}

interface UnscheduledProps {
  lines: PreviewLine[]
  status: Status
  reason: NonNullable<Status['reason']>
  grouped: boolean
  now: Date
}

/** No run is coming: whom Start Reminders or Send Now would write to, since only a person sends now. */
function Unscheduled({ lines, status, reason, grouped, now }: UnscheduledProps): ReactNode {
  const { timezone: zone, pause, nextRunAt } = status
  const currency = useCurrency()
  const ready = reason === 'operator' ? [] : lines.filter(({ dueNow, sendNowLeft }) => (reason === 'plan' ? sendNowLeft > 0 : dueNow))
  const later = lines.filter((line) => line.reason === reason && !ready.includes(line))
  const emails = emailsOf(ready, grouped)
  const until = pause?.until ?? null
  const resumes = until !== null && nextRunAt !== null && Date.parse(nextRunAt) > Date.parse(until) ? nextRunAt : until
  const when =
    reason === 'sending_paused' && resumes !== null ? capitalized(showComing(zone, new Date(resumes), now)) : t.unscheduled[reason].when
  return (
    <>
      <Headline when={when} quiet>
        {t.unscheduled[reason].text(emails.length)}
        {emails.length > 0 && (
          <>
            {' '}
            {t.emails(emails.length, clientsOf(ready))}, <strong>{formatSums(sumByCurrency(ready, currency), currency)}</strong>
          </>
        )}
      </Headline>
      <Emails emails={emails} label={t.readyList} zone={zone} now={now} />
      {later.length > 0 && (
        <Folded label={t.notNow} detail={t.invoices(later.length)}>
          <Emails emails={emailsOf(later, false)} label={t.notNow} zone={zone} now={now} />
        </Folded>
      )}
    </>
  )
}

/** `quiet`: nothing is scheduled. */
function Headline({ when, quiet = false, children }: { when: string; quiet?: boolean; children: ReactNode }): ReactNode {
  return (
    <div className={styles.headline}>
      <p className={styles.when} data-quiet={quiet || undefined}>
        {when}
      </p>
      <p className={styles.what}>{children}</p>
    </div>
  )
}

function Emails({ emails, label, zone, now }: { emails: ComingEmail[]; label: string; zone: string; now: Date }): ReactNode {
  const [shown, setShown] = useState(initialRows)
  const more = Math.min(emails.length - shown, moreRows)
  if (emails.length === 0) return null
  return (
    <>
      <ul className={styles.emails} aria-label={label}>
        {emails.slice(0, shown).map((email) => (
          <Email key={email.lines[0].invoiceId} email={email} zone={zone} now={now} />
        ))}
      </ul>
      {more > 0 && (
        <button type="button" className={styles.more} onClick={() => setShown(shown + moreRows)}>
          {shown + more === emails.length ? t.showAll(emails.length) : t.showMore(more)}
        </button>
      )}
    </>
  )
}

/** References named before the rest is counted. */
const named = 3

function Email({ email, zone, now }: { email: ComingEmail; zone: string; now: Date }): ReactNode {
  const { clientName, clientEmail, lines, total } = email
  const [first] = lines
  const late = Math.max(...lines.map((line) => daysOverdue(line, zone, now)))
  const reminded = Math.max(...lines.map(({ remindedToday }) => remindedToday))
  const undelivered = lines.find(({ notDelivered }) => notDelivered !== null)?.notDelivered ?? null
  return (
    <li className={styles.email}>
      {lines.length === 1 ? (
        <Link to={screens.invoice(first.invoiceId)} className={styles.name}>
          {clientName}
        </Link>
      ) : (
        <span className={styles.name}>{clientName}</span>
      )}
      <strong className={styles.owed}>{formatMoney(total.amount, total.currency)}</strong>
      <span className={styles.detail}>
        {lines.length === 1 ? (
          <NoWrap text={first.reference} />
        ) : (
          lines.slice(0, named).map(({ invoiceId, reference }) => (
            <Link key={invoiceId} to={screens.invoice(invoiceId)} className={styles.reference}>
              {reference}
            </Link>
          ))
        )}
        {lines.length > named && t.andMore(lines.length - named)}
        <span className={styles.to}>{clientEmail}</span>
      </span>
      <span className={styles.late} data-late={late > 0 || undefined}>
        {lateness(late)}
        {reminded > 0 && <span className={styles.reminded}>{t.remindedToday(reminded)}</span>}
      </span>
      <Steps lines={lines} />
      {undelivered && (
        <span className={styles.undelivered}>
          {t.notDelivered(daysBetween(dateIn(zone, new Date(undelivered.since)), dateIn(zone, now)), undelivered.words)}
        </span>
      )}
    </li>
  )
}

/** The step of each invoice, and why it leaves on that day; nothing where it is reminded every day. */
function Steps({ lines }: { lines: PreviewLine[] }): ReactNode {
  const said = new Map(
    lines.flatMap(({ step, movedFrom, why }) =>
      step ? [[`${step.number} ${step.of} ${movedFrom} ${why}`, { step, movedFrom, why }]] : [],
    ),
  )
  return [...said].map(([key, { step, movedFrom, why }]) => (
    <span key={key} className={styles.steps}>
      <em data-tone={step.tone}>{texts.step(step)}</em>
      {texts.ahead.moved(movedFrom === null ? null : showDate(movedFrom), why)}
    </span>
  ))
}

/** Negative before the due date; the server’s own count stops at 0. */
function daysOverdue({ dueDate }: PreviewLine, zone: string, now: Date): number {
  return daysBetween(dueDate, dateIn(zone, now))
}

/** The days after the next run, folded. */
function Days({ runs, zone, now }: { runs: ComingRun[]; zone: string; now: Date }): ReactNode {
  const [all, setAll] = useState(false)
  if (runs.length === 0) return null
  return (
    <>
      {(all ? runs : runs.slice(0, initialDays)).map((run) => (
        <Folded
          key={run.at}
          label={showDay(zone, run.at, now)}
          dots={run.emails.length}
          detail={t.firstReminders(run.emails.length, clientsOf(run.emails.flatMap(({ lines }) => lines)))}
        >
          <Emails emails={run.emails} label={showDay(zone, run.at, now)} zone={zone} now={now} />
        </Folded>
      ))}
      {!all && runs.length > initialDays && (
        <button type="button" className={styles.more} onClick={() => setAll(true)}>
          {t.allDays(runs.length)}
        </button>
      )}
    </>
  )
}

/** Invoices that no coming run reminds of, by reason. */
function Others({ others, zone, now }: { others: Planned['others']; zone: string; now: Date }): ReactNode {
  return others.map(({ why, lines }) => (
    <Folded
      key={why}
      label={t.reasons[why]}
      detail={t.invoices(lines.length)}
      tone={why.startsWith('held') || why === 'address_held' ? 'warn' : undefined}
    >
      <Emails emails={emailsOf(lines, false)} label={t.reasons[why]} zone={zone} now={now} />
    </Folded>
  ))
}

/** Dots drawn for a day before they would need the space of its words. */
const mostDots = 6

interface FoldedProps {
  label: string
  /** How many emails, as dots. */
  dots?: number
  detail: string
  tone?: 'warn' | undefined
  children: ReactNode
}

/** A row that opens; what is inside is rendered on first use. */
function Folded({ label, dots = 0, detail, tone, children }: FoldedProps): ReactNode {
  const [opened, setOpened] = useState(false)
  return (
    <details className={styles.folded} onToggle={({ currentTarget }) => setOpened((before) => before || currentTarget.open)}>
      <summary className={styles.fold}>
        <span className={styles.foldLabel} data-tone={tone} data-long={dots === 0 || undefined}>
          {label}
        </span>
        <span className={styles.foldDetail}>
          {dots > 0 && (
            <span className={styles.dots} aria-hidden>
              {Array.from({ length: Math.min(dots, mostDots) }, (_, nth) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the dots are all alike.
                <i key={nth} />
              ))}
            </span>
          )}
          {detail}
        </span>
        <IconChevronDown size={20} className={styles.chevron} aria-hidden />
      </summary>
      {opened && children}
    </details>
  )
}
