/** Days past the due date in words: `8 days late`, `due today`, `due in 3 days`. */
export function lateness(daysLate: number): string {
  if (daysLate === 0) return 'due today'
  const days = Math.abs(daysLate) === 1 ? '1 day' : `${Math.abs(daysLate)} days`
  return daysLate > 0 ? `${days} late` : `due in ${days}`
}
