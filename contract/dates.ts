const dayLength = 86_400_000

/** 15/01/2025 for `2025-01-15`: how every date of the calendar is shown. */
export function formatDate(date: string): string {
  const [year = '', month = '', day = ''] = date.split('-')
  return `${day}/${month}/${year}`
}

/** Whole days from one date of the calendar (`YYYY-MM-DD`) to another; negative where the second comes first. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayLength)
}

/** `31/3/2026`, `31.03.2026`, `31-03-26` or `2026-03-31` as `2026-03-31`; null where the calendar has no such day. */
export function readDate(text: string): string | null {
  const iso = /^\s*(\d{4})-(\d{1,2})-(\d{1,2})\s*$/.exec(text)
  const spoken = /^\s*(\d{1,2})[/.\- ](\d{1,2})[/.\- ](\d{4}|\d{2})\s*$/.exec(text)
  const [year, month, day] = iso ? [iso[1], iso[2], iso[3]] : spoken ? [spoken[3], spoken[2], spoken[1]] : []
  if (!year || !month || !day) return null
  const date = `${year.length === 2 ? `20${year}` : year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const instant = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(date) ? date : null
}
