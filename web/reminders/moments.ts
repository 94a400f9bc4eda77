import { dateIn, daysBetween, showDate, showTime } from '#web/ui/dates.ts'

/** `20/11/2026, 09:00` in a zone, for an ISO instant. */
export function dayAndTime(zone: string, at: string): string {
  const instant = new Date(at)
  return `${showDate(dateIn(zone, instant))}, ${clock(zone, instant)}`
}

/** `Today, 09:00`, `Tomorrow, 09:00` or `20/11/2026, 09:00` in a zone, as seen from `now`. */
export function comingMoment(zone: string, at: string, now: Date): string {
  const instant = new Date(at)
  const ahead = daysBetween(dateIn(zone, now), dateIn(zone, instant))
  const day = ahead === 0 ? 'Today' : ahead === 1 ? 'Tomorrow' : showDate(dateIn(zone, instant))
  return `${day}, ${clock(zone, instant)}`
}

/** The same within a sentence: `tomorrow, 09:00`. */
export function inSentence(moment: string): string {
  return moment.charAt(0).toLowerCase() + moment.slice(1)
}

/** 9 as `9 AM`, 14 as `2 PM`. */
export function hourInWords(hour: number): string {
  return `${hour % 12 === 0 ? 12 : hour % 12} ${hour < 12 ? 'AM' : 'PM'}`
}

function clock(zone: string, instant: Date): string {
  return showTime(zone, instant).padStart(5, '0')
}
