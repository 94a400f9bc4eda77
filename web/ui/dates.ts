import { texts } from './texts.ts'

const day = 86_400_000

/** The calendar date, `YYYY-MM-DD`, at an instant in a zone; in the browser's own zone where the browser does not know the zone. */
export function dateIn(zone: string | undefined, instant: Date): string {
  const parts = partsIn(zone, instant)
  return `${parts.year}-${parts.month}-${parts.day}`
}

/** Whole days from one calendar date to another: 1 from today to tomorrow. Both `YYYY-MM-DD`. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / day)
}

/** `2026-03-02` as `02/03/2026`. */
export function showDate(date: string): string {
  return date.slice(0, 10).split('-').reverse().join('/')
}

/** `2026-03-05` as `5 Mar 2026`: where day and month must not be mistaken for each other. */
export function showSpoken(date: string): string {
  const [year, month, day] = date.split('-')
  return `${Number(day)} ${shortMonths[Number(month) - 1] ?? ''} ${year}`
}

const shortMonths = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** The clock time at an instant in a zone, in two digits each: `09:00`. */
export function showClock(zone: string | undefined, instant: Date): string {
  const parts = partsIn(zone, instant)
  return `${parts.hour}:${parts.minute}`
}

/** `today, 09:00`, `yesterday, 09:00` or `02/03/2026, 09:00`, as seen from `now`. */
export function showMoment(zone: string | undefined, instant: Date, now: Date): string {
  const date = dateIn(zone, instant)
  const ago = daysBetween(date, dateIn(zone, now))
  const when = ago === 0 ? texts.dates.today : ago === 1 ? texts.dates.yesterday : showDate(date)
  return `${when}, ${showClock(zone, instant)}`
}

/** `today, 09:00`, `tomorrow, 09:00` or `20/11/2026, 09:00`: a moment in the future, as seen from `now`. */
export function showComing(zone: string | undefined, instant: Date, now: Date): string {
  const date = dateIn(zone, instant)
  const ahead = daysBetween(dateIn(zone, now), date)
  const when = ahead === 0 ? texts.dates.today : ahead === 1 ? texts.dates.tomorrow : showDate(date)
  return `${when}, ${showClock(zone, instant)}`
}

/** `20/11/2026, 09:00` */
export function dayAndTime(zone: string, at: string): string {
  const instant = new Date(at)
  return `${showDate(dateIn(zone, instant))}, ${showClock(zone, instant)}`
}

/** `9 AM`, `2 PM` */
export function showHour(hour: number): string {
  return `${hour % 12 === 0 ? 12 : hour % 12} ${hour < 12 ? 'AM' : 'PM'}`
}

/** `Sat 21/11`, and with the year where it is another one than now. */
export function showDay(zone: string, at: string, now: Date): string {
  const date = dateIn(zone, new Date(at))
  const weekday = new Date(`${date}T00:00:00Z`).toLocaleDateString('en-GB', { weekday: 'short', timeZone: 'UTC' })
  const shown = showDate(date)
  return `${weekday} ${date.slice(0, 4) === dateIn(zone, now).slice(0, 4) ? shown.slice(0, 5) : shown}`
}

/** `Sat 21/11, 09:00` */
export function showDayAndTime(zone: string, at: string, now: Date): string {
  return `${showDay(zone, at, now)}, ${showClock(zone, new Date(at))}`
}

/** For the start of a sentence: `Tomorrow, 09:00`. */
export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function partsIn(zone: string | undefined, instant: Date): Record<string, string> {
  const parts = formatter(zone).formatToParts(instant)
  return Object.fromEntries(parts.map(({ type, value }) => [type, value]))
}

/** Zones that browsers report by a former name. */
const renamed: Record<string, string> = {
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Europe/Kiev': 'Europe/Kyiv',
}

/** The current name of a time zone: `Asia/Calcutta` as `Asia/Kolkata`, `America/New_York` as `America/New York`. */
export function zoneName(zone: string): string {
  return (renamed[zone] ?? zone).replaceAll('_', ' ')
}

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatter(zone: string | undefined): Intl.DateTimeFormat {
  const known = formatters.get(zone ?? '')
  if (known) return known
  const made = makeFormatter(zone)
  formatters.set(zone ?? '', made)
  return made
}

function makeFormatter(zone: string | undefined): Intl.DateTimeFormat {
  const shape: Intl.DateTimeFormatOptions = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }
  try {
    return new Intl.DateTimeFormat('en-GB', zone === undefined ? shape : { ...shape, timeZone: zone })
  } catch {
    return new Intl.DateTimeFormat('en-GB', shape)
  }
}

/** The range of a group: `8 to 12 days late`, `due in 3 to 9 days`, `due in 3 days to 8 days late`. */
export function latenessOf(days: number[]): string {
  const early = Math.min(...days)
  const late = Math.max(...days)
  if (early === late) return lateness(late)
  if (early > 0) return texts.late.lateBetween(early, late)
  if (late < 0) return texts.late.aheadBetween(-late, -early)
  return texts.late.across(-early, late)
}

/** `8 days late`, `due today`, `due in 3 days`. */
export function lateness(daysLate: number): string {
  if (daysLate === 0) return texts.late.today
  return daysLate > 0 ? texts.late.late(daysLate) : texts.late.ahead(-daysLate)
}
