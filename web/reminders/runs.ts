import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import { type Money, sumByCurrency } from '#contract/money.ts'
import { type HoldReason, type PreviewLine, type Run, reminderCalls } from '#contract/reminders.ts'
import type { PlannedMail } from '#contract/sequences.ts'
import { invalidate, queryKey, useApiQuery } from '#web/platform/query.ts'
import { emailKey } from '#web/platform/sequences/steps.ts'
import { dateIn } from '#web/ui/dates.ts'

/** Whether emails are being sent or prepared right now. A run that only waits for a retry, or is on hold, is not in progress. */
export function isInProgress(run: Run): boolean {
  if (run.open > run.retrying + run.held) return true
  return run.open === 0 && run.finishedAt === null && run.cancelledAt === null
}

/** Skipped invoices get no email. */
export function emailCount(run: Run): number {
  return run.sent + run.failed + run.open
}

/** How many emails were done at a time in milliseconds. */
export interface Sample {
  at: number
  done: number
}

/** Milliseconds. Older samples are ignored, because a run starts slowly and may be throttled later. */
const rateWindow = 20_000
/** Milliseconds before a rate is shown. */
const minimumSpan = 2_000

/** Emails per second over the last 20 seconds; null while it is unknown or nothing is sent. */
export function sendRate(samples: Sample[], now: number): number | null {
  const last = samples.at(-1)
  const first = samples.findLast(({ at }) => at <= now - rateWindow) ?? samples[0]
  if (!last || !first) return null
  const span = now - first.at
  const done = last.done - first.done
  return span < minimumSpan || done <= 0 ? null : done / (span / 1000)
}

/** Adds a sample and drops those that `sendRate` would ignore. */
export function withSample(samples: Sample[], sample: Sample): Sample[] {
  const oldest = samples.findLastIndex(({ at }) => at <= sample.at - rateWindow)
  return [...samples.slice(Math.max(0, oldest)), sample]
}

export type Failure = Run['failures'][number]

/**
 * The failures of runs that are still to be dealt with, by run, each invoice in the newest run that names it. One is settled once an email
 * is accepted, the address is corrected, or the invoice is paid or deleted.
 */
export function openFailures(runs: Run[], lines: PreviewLine[]): Map<string, Failure[]> {
  const undelivered = new Set(lines.filter(({ notDelivered }) => notDelivered !== null).map(({ invoiceId }) => invoiceId))
  const seen = new Set<string>()
  const open = new Map<string, Failure[]>()
  for (const { _id, failures } of runs) {
    const found = failures.filter(({ invoiceId }) => undelivered.has(invoiceId) && !seen.has(invoiceId))
    for (const { invoiceId } of failures) seen.add(invoiceId)
    if (found.length > 0) open.set(_id, found)
  }
  return open
}

/** Whether a retry may send anything: also where not all that failed is listed. */
export function canRetry({ failed, failures }: Run): boolean {
  return failures.some((one) => one.canRetry) || (failures.length > 0 && failed > failures.length)
}

/** Runs listed at first. */
const initialRuns = 6

/** The latest runs, and every earlier one whose failures are still open: what failed must never be folded away. */
export function listedFirst(runs: Run[], open: ReadonlyMap<string, unknown>, asked: string | null): Run[] {
  return runs.filter(({ _id }, nth) => nth < initialRuns || _id === asked || open.has(_id))
}

/** One address that rejected one or more emails with the same reply. */
export type FailedAddress = Pick<Failure, 'clientEmail' | 'clientName' | 'message' | 'words'> & { failures: [Failure, ...Failure[]] }

export function byAddress(failures: Failure[]): FailedAddress[] {
  const found = new Map<string, FailedAddress>()
  for (const failure of failures) {
    const { clientEmail, clientName, message, words } = failure
    const key = `${clientEmail.toLowerCase()} ${message}`
    const address = found.get(key)
    if (address) address.failures.push(failure)
    else found.set(key, { clientEmail, clientName, message, words, failures: [failure] })
  }
  return [...found.values()]
}

/** Milliseconds between two polls. */
const whileInProgress = 700
const whileWaiting = 5_000

export interface FollowedRun {
  /** The run in progress, or the last one that was shown. */
  run: Run | null
  inProgress: boolean
  /** Shows a run; `onEnd` is called once, when the run is no longer in progress. */
  follow: (id: string, onEnd?: (run: Run) => void) => void
  dismiss: () => void
}

/** Shows the run in progress until the user closes it, also one that started before the page was loaded. */
export function useFollowedRun(openRunId: string | null): FollowedRun {
  const queries = useQueryClient()
  const [shown, setShown] = useState<string | null>(null)
  const [closed, setClosed] = useState<string | null>(null)
  const [waiting, setWaiting] = useState<{ id: string; onEnd: (run: Run) => void } | null>(null)
  const progressed = useRef<string | null>(null)
  if (openRunId !== null && openRunId !== shown && openRunId !== closed) setShown(openRunId)

  const input = { params: { id: shown ?? '' } }
  const query = useApiQuery(reminderCalls.run, input, {
    enabled: shown !== null,
    staleTime: 0,
    refetchInterval: pollInterval(queries, input),
  })
  const run = shown === null ? null : (query.data ?? null)
  const inProgress = run !== null && isInProgress(run)

  useEffect(() => {
    if (run === null) return
    if (inProgress) {
      progressed.current = run._id
      return
    }
    if (progressed.current === run._id) {
      progressed.current = null
      void invalidate(queries, [reminderCalls.status, reminderCalls.preview, reminderCalls.runs, invoiceCalls.list])
    }
    if (waiting?.id === run._id) {
      setWaiting(null)
      waiting.onEnd(run)
    }
  }, [run, inProgress, waiting, queries])

  return {
    run,
    inProgress,
    follow: (id, onEnd) => {
      setWaiting(onEnd ? { id, onEnd } : null)
      setShown(id)
      void invalidate(queries, [reminderCalls.run], { params: { id } })
    },
    dismiss: () => {
      setClosed(shown)
      setShown(null)
    },
  }
}

function pollInterval(queries: QueryClient, input: object): number | false {
  const known = queries.getQueryState<Run>(queryKey(reminderCalls.run, input))
  if (!known?.data) return known?.status === 'error' ? whileWaiting : whileInProgress
  if (isInProgress(known.data)) return whileInProgress
  return known.data.open > 0 ? whileWaiting : false
}

type Lines = [PreviewLine, ...PreviewLine[]]

/** One email that is sent: about one invoice, or about all of a client's in one currency that are due. */
export interface ComingEmail {
  clientName: string
  clientEmail: string
  lines: Lines
  total: Money
}

export interface ComingRun {
  /** The instant at which it starts. */
  at: string
  emails: ComingEmail[]
}

/** Why an invoice is not in a coming run. `retrying`: its email is delayed and tried again; `waiting`: it is, or waits with the emails of a run. */
export type Unplanned = NonNullable<PreviewLine['reason']> | 'retrying' | 'waiting' | 'no_date' | `held_${HoldReason}`

export interface Planned {
  /** The next one first. */
  runs: ComingRun[]
  /** The most invoices first. */
  others: { why: Unplanned; lines: Lines }[]
}

/** The runs of the coming days, and the invoices that are in none with the reason, from the preview's lines. `isLeaving`: the emails of a run wait. */
export function planned(lines: PreviewLine[], grouped: boolean, now: Date, isLeaving = false): Planned {
  const byRun = new Map<string, Lines>()
  const byReason = new Map<Unplanned, Lines>()
  for (const line of lines) {
    const at = runOf(line)
    if (at === null) add(byReason, unplanned(line, now, isLeaving), line)
    else add(byRun, at, line)
  }
  return {
    runs: [...byRun]
      .toSorted(([one], [other]) => Date.parse(one) - Date.parse(other))
      .map(([at, of]) => ({ at, emails: emailsOf(of, grouped, true) })),
    others: [...byReason].toSorted(([, one], [, other]) => other.length - one.length).map(([why, of]) => ({ why, lines: of })),
  }
}

/** A pause with an end has a date for the day after it. */
function runOf({ nextAt, reason, heldFor }: PreviewLine): string | null {
  return heldFor === null && (reason === null || reason === 'paused') ? nextAt : null
}

function unplanned({ heldFor, reason, nextAt }: PreviewLine, now: Date, isLeaving: boolean): Unplanned {
  if (heldFor !== null) return `held_${heldFor}`
  if (reason === 'open_mail' && nextAt !== null && new Date(nextAt) > now) return isLeaving ? 'waiting' : 'retrying'
  return reason ?? 'no_date'
}

/** The emails about these invoices: one each, or with `grouped` those of one `emailKey` together. */
export function emailsOf(lines: PreviewLine[], grouped: boolean, byTone = false): ComingEmail[] {
  const byEmail = new Map<string, Lines>()
  for (const line of lines) add(byEmail, grouped ? emailKey(line, byTone) : line.invoiceId, line)
  return [...byEmail.values()].map((of) => ({
    clientName: of[0].clientName,
    clientEmail: of[0].clientEmail,
    lines: of,
    total: sumByCurrency(of, '')[0] ?? of[0],
  }))
}

/**
 * The emails of a plan after a run whose emails are `shown`. Those to clients in other time zones may leave later on its date. `shown` null: none of that
 * date, which would leave with it.
 */
export function laterThan(at: string, mails: PlannedMail[], shown: readonly ComingEmail[] | null, zone: string): PlannedMail[] {
  const date = dateIn(zone, new Date(at))
  const inRun = new Set(shown?.flatMap(({ lines }) => lines.map(({ invoiceId }) => invoiceId)))
  return mails.filter((mail) => {
    const its = dateIn(zone, new Date(mail.at))
    return its > date || (its === date && shown !== null && !mail.invoiceIds.some((id) => inRun.has(id)))
  })
}

export function clientsOf(lines: PreviewLine[]): number {
  return new Set(lines.map(({ clientEmail }) => clientEmail.toLowerCase())).size
}

function add<K>(map: Map<K, Lines>, key: K, line: PreviewLine): void {
  const lines = map.get(key)
  if (lines) lines.push(line)
  else map.set(key, [line])
}
