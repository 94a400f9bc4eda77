import { Button, VisuallyHidden } from '@mantine/core'
import { IconAlertCircle, IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { type Run, reminderCalls } from '#contract/reminders.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { ConfirmEmailNotice, LinkButton, useRefusal } from '#web/platform/account.tsx'
import { type FirstStep, type FirstSteps, firstSteps, useFirstSteps } from '#web/platform/first-steps.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { showClock, showComing } from '#web/ui/dates.ts'
import { Notice } from '#web/ui/notice.tsx'
import { adviceFor } from '#web/ui/texts.ts'
import styles from './checklist.module.css'
import { texts } from './texts.ts'

/** `waiting`: shown until the steps are known. */
export function OpenChecklist({ waiting }: { waiting: ReactNode }): ReactNode {
  const steps = useFirstSteps()
  if (steps === undefined) return waiting
  return steps === 'accepted' ? <Accepted /> : <Steps steps={steps} />
}

function Accepted(): ReactNode {
  const status = useApiQuery(reminderCalls.status).data
  const invoices = useApiQuery(invoiceCalls.list).data ?? []
  const at = status?.lastReminderSent ?? null
  if (at === null) return null
  const about = invoices.find(({ lastReminderAt }) => lastReminderAt !== null)
  return (
    <Notice tone="good" title={texts.accepted(showClock(status?.timezone, new Date(at)))}>
      {about && `${about.clientName}, ${about.reference}. `}
      {texts.closes}
    </Notice>
  )
}

function Steps({ steps }: { steps: FirstSteps }): ReactNode {
  const { next, done } = steps
  const runs = useApiQuery(reminderCalls.runs, {}, { enabled: next === null }).data ?? []
  const ending = next === null ? endingOf(steps, runs) : null
  return (
    <section className={styles.checklist} aria-labelledby="checklist" data-tone={ending?.tone}>
      <p className={styles.intro}>{texts.intro}</p>
      <h2 id="checklist" className={styles.title}>
        {next === null ? ending?.title : texts.next[next](steps.daily)}
      </h2>
      {ending && <p className={styles.ending}>{ending.text}</p>}
      {(next === 'preview' || next === 'start') && (
        <div className={styles.confirm}>
          <ConfirmEmailNotice />
        </div>
      )}
      <Line done={done} next={next} tone={ending?.tone ?? null} />
      {ending ? (
        <Button component={Link} to={ending.to} className={styles.action ?? ''}>
          {ending.action}
        </Button>
      ) : (
        <ol className={styles.list}>
          {firstSteps.map((step, nth) => (
            <li key={step} className={styles.step} data-state={done[step] ? 'done' : step === next ? 'next' : 'later'}>
              <span className={styles.mark} aria-hidden>
                {done[step] ? <IconCheck size={16} stroke={2.6} /> : nth + 1}
              </span>
              <div>
                <h3 className={styles.name}>
                  {texts.steps[step].name(steps.daily)}
                  {done[step] && <VisuallyHidden> {texts.done}</VisuallyHidden>}
                </h3>
                <p className={styles.detail}>{detailOf(step, steps)}</p>
                {step === next && <NextActions step={step} steps={steps} />}
              </div>
              {step === 'invoice' && done.invoice && (
                <Link to={screens.newInvoice} className={styles.more}>
                  {texts.addMore}
                </Link>
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

/** The four stops on the way to the first accepted email, on a line like that of the dashboard. */
function Line({ done, next, tone }: Pick<FirstSteps, 'done' | 'next'> & { tone: Ending['tone'] | null }): ReactNode {
  return (
    <div className={styles.line} aria-hidden data-tone={tone ?? undefined}>
      {firstSteps.map((step) => (
        <span key={step} className={styles.stop} data-state={done[step] ? 'done' : step === next ? 'next' : 'later'}>
          <i>{done[step] && <IconCheck size={14} stroke={3} />}</i>
          <span>{texts.steps[step].short}</span>
        </span>
      ))}
      <span className={styles.goal}>
        <i>{tone === 'bad' && <IconAlertCircle size={22} stroke={2.2} />}</i>
        <span>{texts.goal}</span>
      </span>
    </div>
  )
}

/** Who may do a step. */
const doneBy = { invoice: 'member', mailbox: 'admin', preview: 'viewer', start: 'admin' } as const

function NextActions({ step, steps }: { step: FirstStep; steps: FirstSteps }): ReactNode {
  const refused = useRefusal(doneBy[step])
  return (
    <div className={styles.actions}>
      {step === 'mailbox' && (
        <div className={styles.providers}>
          {texts.providers.list.map(({ name, provider }) => (
            <LinkButton key={provider} by="admin" to={withQuery(screens.mailSettings, { connect: provider })} variant="default">
              {name}
            </LinkButton>
          ))}
        </div>
      )}
      <LinkButton by={doneBy[step]} to={steps.to[step]} className={styles.action ?? ''}>
        {texts.steps[step].action(steps.daily)}
      </LinkButton>
      {step === 'invoice' && (
        <Button component={Link} to="?import" variant="default" className={styles.action ?? ''}>
          {texts.import}
        </Button>
      )}
      {refused !== undefined && <p className={styles.refused}>{refused}</p>}
    </div>
  )
}

function detailOf(step: FirstStep, { lines, done, mailbox, status, daily }: FirstSteps): string {
  const t = texts.steps
  const [first] = lines
  if (step === 'invoice')
    return first ? t.invoice.added(lines.length, `${first.clientName}, ${formatMoney(first.amount, first.currency)}`) : t.invoice.detail
  if (step === 'mailbox') return done.mailbox && mailbox !== null ? t.mailbox.connected(mailbox) : t.mailbox.detail
  if (step === 'preview') {
    const due = lines.filter(({ dueNow }) => dueNow).length
    return done.invoice && due > 0 ? t.preview.ready(due) : t.preview.detail
  }
  return daily ? t.start.detail(`${String(status.reminderHour).padStart(2, '0')}:00`) : t.start.byHand
}

interface Ending {
  tone: 'waits' | 'bad'
  title: string
  text: string
  action: string
  to: string
}

/** Everything is set up, and no mail server has accepted an email yet: why, and what to do. */
function endingOf({ status, lines }: FirstSteps, runs: Run[]): Ending {
  const { timezone: zone, pause } = status
  const control = { action: texts.control, to: screens.reminderControl }
  if (pause !== null) return { tone: 'bad', title: texts.paused, text: pause.message, action: texts.settings, to: screens.mailSettings }
  const failure = runs.find(({ failed }) => failed > 0)?.failures[0]
  const about = lines.find(({ invoiceId }) => invoiceId === failure?.invoiceId)
  if (failure && about?.clientEmail === failure.clientEmail)
    return {
      tone: 'bad',
      title: texts.rejected(about.clientName),
      text: `${failure.clientEmail}. ${adviceFor(failure.message)}`,
      action: texts.open(about.reference),
      to: screens.invoice(failure.invoiceId),
    }
  const next = soonest(lines)
  if (next === null) {
    const quiet = lines.some(({ daysOverdue }) => daysOverdue > 0) ? texts.allQuiet : texts.nothingDue
    return { tone: 'waits', title: texts.waits, text: status.state === 'on_hold' ? status.next : quiet, ...control }
  }
  return {
    tone: 'waits',
    title: texts.firstAt(showComing(zone, new Date(next.nextAt), new Date())),
    text: `${next.clientName}, ${next.reference}.`,
    ...control,
  }
}

type Line = CallReply<typeof reminderCalls.preview>['lines'][number]

function soonest(lines: Line[]): (Line & { nextAt: string }) | null {
  const planned = lines.filter((line): line is Line & { nextAt: string } => line.nextAt !== null)
  return planned.toSorted((one, other) => Date.parse(one.nextAt) - Date.parse(other.nextAt))[0] ?? null
}
