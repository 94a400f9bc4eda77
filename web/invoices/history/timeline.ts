import type { DayDecision, HistoryMail, InvoiceHistory } from '#contract/reminders.ts'
import { dateIn, daysBetween } from '#web/ui/dates.ts'

/** How a day or a mail came out; a mail that is queued or just leaving waits. */
export type Outcome = DayDecision['outcome']

/** What happened once: a mail, or a day on which it was decided that none goes out. */
export type Entry = { kind: 'mail'; at: string; outcome: Outcome; mail: HistoryMail } | { kind: 'day'; at: string; decision: DayDecision }

/** One day of the account's calendar with what happened on it, the last first; or several in a row on which the same was decided. */
export interface TimelineDay {
  /** `YYYY-MM-DD`; of several the last. */
  date: string
  /** The first of several; the same as `date` where it is one. */
  since: string
  entries: Entry[]
}

/** Mails and decisions of an invoice day by day, the newest first. A decision that became a mail is told by that mail alone. */
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
    // The decision about a mail that was no longer needed lets go of it.
    const told = byDate.get(decision.date)?.some((entry) => entry.kind === 'mail' && entry.outcome === decision.outcome) ?? false
    if (decision.mailId !== null || !told) add(decision.date, { kind: 'day', at: decision.decidedAt, decision })
  }
  const newestFirst = (one: Entry, other: Entry) => Date.parse(other.at) - Date.parse(one.at)
  const all = [...byDate]
    .sort(([one], [other]) => (one < other ? 1 : -1))
    .map(([date, entries]) => ({ date, since: date, entries: entries.sort(newestFirst) }))
  return all.reduce<TimelineDay[]>((shorter, day) => {
    const later = shorter.at(-1)
    if (later && sameAgain(later, day)) later.since = day.date
    else shorter.push(day)
    return shorter
  }, [])
}

/** Whether nothing but the same was decided on the day before. */
function sameAgain(later: TimelineDay, day: TimelineDay): boolean {
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

/** Milliseconds until it is worth looking again: soon while a mail is about to leave, less so while one waits for its next try. */
export function lookAgainIn({ reason, nextAt, mails }: InvoiceHistory, now: Date): number {
  const leaving = mails.some(({ state }) => state === 'queued' || state === 'sending')
  if (reason !== 'open_mail' && !leaving) return 60_000
  return !leaving && nextAt !== null && Date.parse(nextAt) > now.getTime() ? 10_000 : 2_000
}
