/** The same for several that stand together: `8 to 12 days late`, `due in 3 to 9 days`. */
export function latenessOf(days: number[]): string {
  const early = Math.min(...days)
  const late = Math.max(...days)
  if (early === late) return lateness(late)
  if (early > 0) return `${early} to ${late} days late`
  if (late < 0) return `due in ${-late} to ${-early} days`
  return `${lateness(late)} to ${lateness(early).replace('due ', '')}`
}

/** Days past the due date in words: `8 days late`, `due today`, `due in 3 days`. */
export function lateness(daysLate: number): string {
  if (daysLate === 0) return 'due today'
  const days = Math.abs(daysLate) === 1 ? '1 day' : `${Math.abs(daysLate)} days`
  return daysLate > 0 ? `${days} late` : `due in ${days}`
}
