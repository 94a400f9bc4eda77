import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { type LeavingMail, leavingCalls } from '#contract/leaving.ts'
import { formatMoney } from '#contract/money.ts'
import { type Run, reminderCalls } from '#contract/reminders.ts'
import styles from '#web/platform/platform.module.css'
import { errorMessage } from '#web/platform/problem.ts'
import { invalidate, useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { dateIn, daysBetween, latenessOf, showClock } from '#web/ui/dates.ts'
import { FormError } from '#web/ui/notice.tsx'
import { texts } from './texts.ts'

const affected = [reminderCalls.status, reminderCalls.preview, reminderCalls.runs, reminderCalls.run, leavingCalls.mails]
/** Milliseconds between two polls: an invoice may be paid meanwhile. */
const pollEvery = 10_000
/** Clients shown at first. */
const initialClients = 6

interface LeavingBannerProps {
  id: string
  zone: string
  /** Why the person may only look. */
  refused: string | undefined
}

export function LeavingBanner({ id, zone, refused }: LeavingBannerProps): ReactNode {
  const [reviewing, setReviewing] = useState(false)
  const params = { id }
  const run = useApiQuery(reminderCalls.run, { params }, { refetchInterval: pollEvery }).data
  const left = useApiQuery(leavingCalls.mails, { params }, { refetchInterval: pollEvery, enabled: run?.open === 0 }).data
  const acting = useActing(id, refused)
  // Where none waits, some may be left out; after payments and pauses there may be none to take back either.
  if (run?.open === 0 && (left ? left.length === 0 : !reviewing)) return null
  if (!run || run.leavesAt === null || run.cancelledAt !== null) return null
  return (
    <section className={styles.banner} aria-label={texts.label}>
      <div className={styles.head}>
        <Countdown run={run} leavesAt={run.leavesAt} zone={zone} />
        <div className={styles.actions}>
          <Button variant="default" aria-expanded={reviewing} onClick={() => setReviewing(!reviewing)}>
            {texts.review}
          </Button>
          {run.open > 0 && (
            <>
              <Button variant="default" {...acting.button} onClick={acting.sendNow}>
                {texts.sendNow}
              </Button>
              <Button
                variant="subtle"
                {...acting.button}
                onClick={() => {
                  setReviewing(true)
                  acting.leaveOut()
                }}
              >
                {texts.leaveAllOut}
              </Button>
            </>
          )}
        </div>
      </div>
      <Line run={run} leavesAt={run.leavesAt} zone={zone} />
      {refused !== undefined && <p className={styles.detail}>{refused}</p>}
      <FormError message={acting.trouble} />
      {reviewing && <Review id={id} zone={zone} acting={acting} />}
    </section>
  )
}

interface Acting {
  /** For each button: one that was pressed keeps the focus until the server answers, and nothing is done twice. */
  button: { disabled: boolean; title: string | undefined; 'aria-disabled': true | undefined }
  /** The error of the last action. */
  trouble: string | null
  /** Without emails all of the run. */
  leaveOut: (mails?: LeavingMail[]) => void
  takeBack: (mails: LeavingMail[]) => void
  sendNow: () => void
}

function useActing(id: string, refused: string | undefined): Acting {
  const [trouble, setTrouble] = useState<string | null>(null)
  const effects = { invalidates: affected, onSuccess: () => setTrouble(null), onError: (error: Error) => setTrouble(errorMessage(error)) }
  const leaveOut = useApiMutation(leavingCalls.leaveOut, effects)
  const takeBack = useApiMutation(leavingCalls.takeBack, effects)
  const sendNow = useApiMutation(leavingCalls.sendNow, effects)
  const params = { id }
  const isPending = leaveOut.isPending || takeBack.isPending || sendNow.isPending
  const once = (act: () => void) => {
    if (!isPending) act()
  }
  const idsOf = (mails: LeavingMail[]) => ({ invoiceIds: mails.flatMap(({ invoices }) => invoices.map(({ invoiceId }) => invoiceId)) })
  return {
    button: { disabled: refused !== undefined, title: refused, 'aria-disabled': isPending || undefined },
    trouble,
    leaveOut: (mails) => once(() => leaveOut.mutate({ params, body: mails ? idsOf(mails) : {} })),
    takeBack: (mails) => once(() => takeBack.mutate({ params, body: idsOf(mails) })),
    sendNow: () => once(() => sendNow.mutate({ params })),
  }
}

/** The time, every second. */
function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

interface OfRun {
  run: Run
  leavesAt: string
  zone: string
}

function Countdown({ run, leavesAt, zone }: OfRun): ReactNode {
  const queries = useQueryClient()
  const left = Math.max(0, Math.ceil((Date.parse(leavesAt) - useNow()) / 1_000))
  const at = showClock(zone, new Date(leavesAt))
  // Asked until the server agrees that the time is over.
  useEffect(() => {
    if (left > 0) return
    const ask = () => void invalidate(queries, [reminderCalls.status, reminderCalls.run])
    ask()
    const timer = setInterval(ask, 2_000)
    return () => clearInterval(timer)
  }, [left, queries])
  return (
    <div>
      <h2 className={styles.title}>{run.open === 0 ? texts.none : texts.leave(run.open, left)}</h2>
      <p className={styles.until}>{run.open === 0 ? texts.takeBackUntil : texts.until(at)}</p>
    </div>
  )
}

/** The due line in minutes. */
function Line({ run, leavesAt, zone }: OfRun): ReactNode {
  const now = useNow()
  const [from, to] = [Date.parse(run.startedAt), Date.parse(leavesAt)]
  const share = Math.min(1, Math.max(0, (now - from) / (to - from)))
  return (
    <div className={styles.line} aria-hidden>
      <span>{showClock(zone, new Date(from))}</span>
      <span className={styles.track}>
        <i style={{ width: `${share * 100}%` }} />
      </span>
      <strong>{showClock(zone, new Date(to))}</strong>
    </div>
  )
}

function Review({ id, zone, acting }: { id: string; zone: string; acting: Acting }): ReactNode {
  const mails = useApiQuery(leavingCalls.mails, { params: { id } }, { refetchInterval: pollEvery })
  return (
    <QueryView query={mails} loading={texts.loading} error={texts.failed} empty={null}>
      {(found) => <Clients found={found} zone={zone} acting={acting} />}
    </QueryView>
  )
}

function Clients({ found, zone, acting }: { found: LeavingMail[]; zone: string; acting: Acting }): ReactNode {
  const [all, setAll] = useState(false)
  const list = useId()
  const byClient = [...Map.groupBy(found, ({ clientEmail }) => clientEmail.toLowerCase()).values()]
  const shown = all ? byClient : byClient.slice(0, initialClients)
  return (
    <>
      <ul className={styles.mails} aria-label={texts.list} id={list}>
        {shown.map((its) => (
          <Client key={its[0]?.clientEmail} mails={its} zone={zone} acting={acting} />
        ))}
      </ul>
      {byClient.length > shown.length && (
        <Button variant="subtle" aria-controls={list} onClick={() => setAll(true)}>
          {texts.showAll(found.length)}
        </Button>
      )}
    </>
  )
}

/** The emails to a client: one, or several that can be left out together too. */
function Client({ mails, zone, acting }: { mails: LeavingMail[]; zone: string; acting: Acting }): ReactNode {
  const [first] = mails
  if (!first) return null
  if (mails.length === 1) return <Mail mail={first} who={first.clientName} zone={zone} acting={acting} />
  const { clientName } = first
  const leftOut = mails.every((one) => one.leftOut)
  return (
    <li>
      <div className={styles.mail} data-left-out={leftOut || undefined}>
        <div className={styles.who}>
          <p className={styles.client}>{clientName}</p>
          <p className={styles.detail} role="status">
            {leftOut ? texts.leftOut(clientName) : texts.emails(mails.length)}
          </p>
        </div>
        <Toggle who={clientName} leftOut={leftOut} mails={leftOut ? mails : mails.filter((one) => !one.leftOut)} acting={acting} />
      </div>
      <ul className={styles.ofClient} aria-label={texts.listOf(clientName)}>
        {mails.map((mail) => {
          const who = mail.invoices.map(({ reference }) => reference).join(', ')
          return <Mail key={who} mail={mail} who={who} zone={zone} acting={acting} />
        })}
      </ul>
    </li>
  )
}

interface ToggleProps {
  /** What the button says that it is about. */
  who: string
  leftOut: boolean
  mails: LeavingMail[]
  acting: Acting
}

function Toggle({ who, leftOut, mails, acting }: ToggleProps): ReactNode {
  return (
    <Button
      variant="default"
      {...acting.button}
      aria-label={leftOut ? texts.takeBackFor(who) : texts.leaveOutFor(who)}
      onClick={() => (leftOut ? acting.takeBack(mails) : acting.leaveOut(mails))}
    >
      {leftOut ? texts.takeBack : texts.leaveOut}
    </Button>
  )
}

/** `who`: the client, or the invoices where the client is named above. */
function Mail({ mail, who, zone, acting }: { mail: LeavingMail; who: string; zone: string; acting: Acting }): ReactNode {
  const { leftOut, invoices } = mail
  const today = dateIn(zone, new Date())
  const [first] = invoices
  const amount = invoices.reduce((sum, one) => sum + one.amount, 0)
  return (
    <li className={styles.mail} data-left-out={leftOut || undefined}>
      <div className={styles.who}>
        <p className={styles.client}>{who}</p>
        <p className={styles.detail} role="status">
          {leftOut || !first
            ? texts.leftOut(who)
            : texts.about(
                who === mail.clientName ? invoices.map(({ reference }) => reference) : [],
                formatMoney(amount, first.currency),
                latenessOf(invoices.map(({ dueDate }) => daysBetween(dueDate, today))),
              )}
        </p>
      </div>
      <Toggle who={who} leftOut={leftOut} mails={[mail]} acting={acting} />
    </li>
  )
}
