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
