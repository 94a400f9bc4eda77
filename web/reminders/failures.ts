import type { PreviewLine, Run } from '#contract/reminders.ts'

export type Failure = Run['failures'][number]

/**
 * The failures of runs that are still to be dealt with, by run, each invoice in the newest run that names it. One is settled once an email
 * is accepted, the address is corrected, or the invoice is paid or deleted.
 */
export function openFailures(runs: Run[], lines: PreviewLine[]): Map<string, Failure[]> {
  const undelivered = new Set(lines.filter(({ notDelivered }) => notDelivered !== null).map(({ invoiceId }) => invoiceId))
  const seen = new Set<string>()
  const open = new Map<string, Failure[]>()
  for (const { _id, failures } of runs) {
    const found = failures.filter(({ invoiceId }) => undelivered.has(invoiceId) && !seen.has(invoiceId))
    for (const { invoiceId } of failures) seen.add(invoiceId)
    if (found.length > 0) open.set(_id, found)
  }
  return open
}

/** One address that rejected one or more emails with the same reply. */
export type FailedAddress = Pick<Failure, 'clientEmail' | 'clientName' | 'message' | 'words'> & { failures: [Failure, ...Failure[]] }

export function byAddress(failures: Failure[]): FailedAddress[] {
  const found = new Map<string, FailedAddress>()
  for (const failure of failures) {
    const { clientEmail, clientName, message, words } = failure
    const key = `${clientEmail.toLowerCase()} ${message}`
    const address = found.get(key)
    if (address) address.failures.push(failure)
    else found.set(key, { clientEmail, clientName, message, words, failures: [failure] })
  }
  return [...found.values()]
}
