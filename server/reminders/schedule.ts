import type { Instant } from '#server/platform/clock.ts'

/** After this hour, local time, the daily run sends nothing more. */
export const lastHour = 18
/** The hour of the evening list. */
const eveningHour = 17
/** The hour of the weekly summary. */
const summaryHour = 8
/** After a change of zone or hour, automatic runs are at least this far apart. */
const leastHoursApart = 12
/** Minutes until the next try after a temporary failure; the last one repeats until the deadline. */
const retryMinutes = [5, 15, 30, 60, 120] as const
/** How long a manual email is tried, in hours. */
const immediateHours = 4

/** The local date of an account, YYYY-MM-DD. */
export function localDate(now: Instant, timezone: string): string {
  return now.toZonedDateTimeISO(timezone).toPlainDate().toString()
}

/** The instant at which a local date begins. */
export function startOfDay(date: string, timezone: string): Instant {
  return Temporal.PlainDate.from(date).toZonedDateTime(timezone).toInstant()
}

/** 18:00 local on that date, the deadline of the daily run. */
export function dailyDeadline(date: string, timezone: string): Instant {
  return atHour(Temporal.PlainDate.from(date), lastHour, timezone).toInstant()
}

/** No email waits longer than this to leave: the rest of the day is for retries. */
const latestLeave = { hour: 17, minute: 30 }

/** When the emails of a daily run made at this instant leave, if they wait for so many minutes; null: immediately. */
export function leavesAt({ holdMinutes, timezone }: { holdMinutes: number; timezone: string }, made: Instant): Instant | null {
  if (holdMinutes === 0) return null
  const held = made.add({ minutes: holdMinutes })
  const latest = Temporal.PlainDate.from(localDate(made, timezone))
    .toZonedDateTime({ timeZone: timezone, plainTime: latestLeave })
    .toInstant()
  const at = Temporal.Instant.compare(held, latest) < 0 ? held : latest
  return Temporal.Instant.compare(at, made) > 0 ? at : null
}

export function immediateDeadline(now: Instant): Instant {
  return now.add({ hours: immediateHours })
}

/** Whole days from the due date to a date; 1 on the day after, 0 or less before that. */
export function daysOverdue(dueDate: string, today: string): number {
  return Temporal.PlainDate.from(dueDate).until(today, { largestUnit: 'days' }).days
}

export interface Schedule {
  timezone: string
  reminderHour: number
}

export interface Occurrence {
  at: Instant
  /** The key of the run: the local date of its instant, not the one it was computed from. */
  date: string
}

/**
 * The automatic run from which the next one must be apart: the last one, where zone or hour changed since. Otherwise the dates keep them
 * apart; counting hours would take a day away where summer time begins after a run that was caught up late.
 */
export function apartFrom(account: { lastDailyRunAt: Instant | null; scheduleChangedAt: Instant | null }): Instant | null {
  const { lastDailyRunAt, scheduleChangedAt } = account
  return lastDailyRunAt && scheduleChangedAt && Temporal.Instant.compare(scheduleChangedAt, lastDailyRunAt) > 0 ? lastDailyRunAt : null
}

/**
 * The first daily run on or after the local date `notBefore` that can still take place: before 18:00 of its day, and 12 hours after
 * `lastRunAt`. It may be earlier on the same day: then it is caught up on now.
 */
export function nextRun(schedule: Schedule, about: { now: Instant; notBefore: string; lastRunAt: Instant | null }): Occurrence {
  const today = localDate(about.now, schedule.timezone)
  let date = Temporal.PlainDate.from(laterDate(about.notBefore, today))
  for (;;) {
    const at = atHour(date, schedule.reminderHour, schedule.timezone)
    const resolved = at.toPlainDate().toString()
    const instant = at.toInstant()
    const open = Temporal.Instant.compare(about.now, dailyDeadline(resolved, schedule.timezone)) < 0
    const apart = !about.lastRunAt || Temporal.Instant.compare(instant, about.lastRunAt.add({ hours: leastHoursApart })) >= 0
    if (open && apart) return { at: instant, date: resolved }
    date = date.add({ days: 1 })
  }
}

/**
 * The date from which the next daily run is searched: a change of zone may have moved it beyond the date that is due, and a change back
 * brings that date back.
 */
export function owedFrom({
  nextRunAt,
  nextRunFrom,
  timezone,
}: {
  nextRunAt: Instant
  nextRunFrom: string | null
  timezone: string
}): string {
  const planned = localDate(nextRunAt, timezone)
  return nextRunFrom !== null && nextRunFrom < planned ? nextRunFrom : planned
}

/** The date from which Start searches the next daily run: today while its hour is still to come, else tomorrow. */
export function firstDateAfterStart(schedule: Schedule, now: Instant): string {
  const today = Temporal.PlainDate.from(localDate(now, schedule.timezone))
  const at = atHour(today, schedule.reminderHour, schedule.timezone).toInstant()
  return (Temporal.Instant.compare(now, at) < 0 ? today : today.add({ days: 1 })).toString()
}

export function laterDate(one: string, other: string): string {
  return Temporal.PlainDate.compare(one, other) > 0 ? one : other
}

export function dayAfter(date: string): string {
  return Temporal.PlainDate.from(date).add({ days: 1 }).toString()
}

export function dayBeforeOf(date: string): string {
  return Temporal.PlainDate.from(date).subtract({ days: 1 }).toString()
}

/**
 * When the daily run next reminds of an unpaid invoice: the first run on a date after `quietUntil` (its due date, or the last day of its
 * pause), but not twice on one day.
 */
export function nextReminder(
  schedule: Schedule,
  about: { next: Occurrence; quietUntil: string; today: string; remindedToday: boolean; now: Instant },
): Instant {
  const floor = about.remindedToday && about.next.date === about.today ? dayAfter(about.today) : about.next.date
  const date = about.quietUntil >= floor ? dayAfter(about.quietUntil) : floor
  if (date === about.next.date) return about.next.at
  return nextRun(schedule, { now: about.now, notBefore: date, lastRunAt: null }).at
}

/** The first 17:00 at the account after an instant. */
export function nextEvening(timezone: string, after: Instant): Instant {
  const today = after.toZonedDateTimeISO(timezone).toPlainDate()
  const at = atHour(today, eveningHour, timezone).toInstant()
  return Temporal.Instant.compare(at, after) > 0 ? at : atHour(today.add({ days: 1 }), eveningHour, timezone).toInstant()
}

/** The first Monday, 8:00 at the account, after an instant. */
export function nextSummary(timezone: string, after: Instant): Instant {
  const today = after.toZonedDateTimeISO(timezone).toPlainDate()
  const monday = today.add({ days: (8 - today.dayOfWeek) % 7 })
  const at = atHour(monday, summaryHour, timezone).toInstant()
  return Temporal.Instant.compare(at, after) > 0 ? at : atHour(monday.add({ days: 7 }), summaryHour, timezone).toInstant()
}

/** The same Monday in another time zone. */
export function movedSummary(planned: Instant, timezone: string): Instant {
  return nextSummary(timezone, planned.subtract({ hours: 48 }))
}

/** Seconds to wait after the `attempt`th try (1 is the first) failed temporarily. `random` in [0, 1) spreads it by ±20 %. */
export function retrySeconds(attempt: number, random: number): number {
  const minutes = retryMinutes[Math.min(attempt, retryMinutes.length) - 1] ?? retryMinutes[0]
  return Math.round(minutes * 60 * (0.8 + 0.4 * random))
}

export function atHour(date: Temporal.PlainDate, hour: number, timezone: string): Temporal.ZonedDateTime {
  return date.toZonedDateTime({ timeZone: timezone, plainTime: Temporal.PlainTime.from({ hour }) })
}
