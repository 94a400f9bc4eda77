import { texts } from './texts.ts'

/** The same for several that stand together: `8 to 12 days late`, `due in 3 to 9 days`, `due in 3 days to 8 days late`. */
export function latenessOf(days: number[]): string {
  const early = Math.min(...days)
  const late = Math.max(...days)
  if (early === late) return lateness(late)
  if (early > 0) return texts.late.lateBetween(early, late)
  if (late < 0) return texts.late.aheadBetween(-late, -early)
  return texts.late.across(-early, late)
}

/** Days past the due date in words: `8 days late`, `due today`, `due in 3 days`. */
export function lateness(daysLate: number): string {
  if (daysLate === 0) return texts.late.today
  return daysLate > 0 ? texts.late.late(daysLate) : texts.late.ahead(-daysLate)
}
