import { capitalized, dateIn, showClock, showComing, showDate } from '#web/ui/dates.ts'

/** `20/11/2026, 09:00` */
export function dayAndTime(zone: string, at: string): string {
  const instant = new Date(at)
  return `${showDate(dateIn(zone, instant))}, ${showClock(zone, instant)}`
}

/** `Today, 09:00`, `Tomorrow, 09:00` or `20/11/2026, 09:00` */
export function relativeDate(zone: string, at: string, now: Date): string {
  return capitalized(showComing(zone, new Date(at), now))
}

/** The same within a sentence: `tomorrow, 09:00` */
export function relativeDateInline(zone: string, at: string, now: Date): string {
  return showComing(zone, new Date(at), now)
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
