import type { DayDecision, HistoryMail, InvoiceHistory } from '#contract/reminders.ts'
import { dateIn, daysBetween } from '#web/ui/dates.ts'

export type Outcome = DayDecision['outcome']

/** An email, or a daily decision that none is sent. */
export type Entry = { kind: 'mail'; at: string; outcome: Outcome; mail: HistoryMail } | { kind: 'day'; at: string; decision: DayDecision }

/** A day in the account's time zone with its entries, newest first; or consecutive days with the same decision. */
export interface TimelineDay {
  /** `YYYY-MM-DD`; the last of several days. */
  date: string
  /** The first of several days; for one day the same as `date`. */
  since: string
  entries: Entry[]
}

/** Emails and decisions by day, newest first. A decision that led to a listed email is not listed itself. */
export function timelineOf({ mails, days }: InvoiceHistory, zone: string | undefined): TimelineDay[] {
  const byDate = new Map<string, Entry[]>()
  const add = (date: string, entry: Entry) => byDate.set(date, [...(byDate.get(date) ?? []), entry])
  const shown = new Set(mails.map(({ _id }) => _id))
  for (const mail of mails) {
    const at = mail.sentAt ?? mail.createdAt
    add(dateIn(zone, new Date(at)), { kind: 'mail', at, outcome: outcomeOf(mail.state), mail })
  }
  for (const decision of days) {
    if (decision.mailId !== null && shown.has(decision.mailId)) continue
    // The decision about a superseded email no longer refers to it.
    const listed = byDate.get(decision.date)?.some((entry) => entry.kind === 'mail' && entry.outcome === decision.outcome) ?? false
    if (decision.mailId !== null || !listed) add(decision.date, { kind: 'day', at: decision.decidedAt, decision })
  }
  const newestFirst = (one: Entry, other: Entry) => Date.parse(other.at) - Date.parse(one.at)
  const all = [...byDate]
    .sort(([one], [other]) => (one < other ? 1 : -1))
    .map(([date, entries]) => ({ date, since: date, entries: entries.sort(newestFirst) }))
  return all.reduce<TimelineDay[]>((merged, day) => {
    const later = merged.at(-1)
    if (later && continues(later, day)) later.since = day.date
    else merged.push(day)
    return merged
  }, [])
}

/** Whether the day before `later` holds the same decision and nothing else. */
function continues(later: TimelineDay, day: TimelineDay): boolean {
  const [one, other] = [onlyDecision(later), onlyDecision(day)]
  if (!one || !other || daysBetween(day.date, later.since) !== 1) return false
  return one.outcome === other.outcome && one.words === other.words
}

function onlyDecision({ entries }: TimelineDay): DayDecision | null {
  const [entry] = entries
  return entries.length === 1 && entry?.kind === 'day' ? entry.decision : null
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
