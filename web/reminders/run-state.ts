import type { Run } from '#contract/reminders.ts'

/** Whether mails of a run are leaving, or being written down, at this moment; one that only waits for a retry or is held does not move. */
export function isMoving(run: Run): boolean {
  if (run.open > run.retrying + run.held) return true
  return run.open === 0 && run.finishedAt === null && run.cancelledAt === null
}

/** How many mails a run is about: invoices that were left out are none. */
export function mailsOf(run: Run): number {
  return run.sent + run.failed + run.open
}
