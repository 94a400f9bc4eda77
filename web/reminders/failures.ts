import type { PreviewLine, Run } from '#contract/reminders.ts'

/** An email of a run that was not delivered, and what is known of its invoice now. */
export interface Failure {
  invoiceId: string
  clientEmail: string
  /** The mail server’s reply. */
  message: string
  /** Null where the invoice is paid or deleted. */
  line: PreviewLine | null
}

/** The failures of runs that are still to be dealt with, by run: each address once, in the newest run that names it. */
export function openFailures(runs: Run[], lines: PreviewLine[]): Map<string, Failure[]> {
  const byInvoice = new Map(lines.map((line) => [line.invoiceId, line]))
  const seen = new Set<string>()
  const open = new Map<string, Failure[]>()
  for (const run of runs) {
    const found: Failure[] = []
    for (const failure of failuresOf(run, byInvoice)) {
      const { line, clientEmail } = failure
      const corrected = line !== null && line.clientEmail.toLowerCase() !== clientEmail.toLowerCase()
      if (line === null || corrected || line.remindedToday > 0 || seen.has(failure.invoiceId)) continue
      found.push(failure)
    }
    for (const { invoiceId } of run.failures) seen.add(invoiceId)
    if (found.length > 0) open.set(run._id, found)
  }
  return open
}

export function failuresOf(run: Run, lines: Map<string, PreviewLine>): Failure[] {
  return run.failures.map((failure) => ({ ...failure, line: lines.get(failure.invoiceId) ?? null }))
}

/** One address that rejected one or more emails with the same reply. */
export interface FailedAddress {
  clientEmail: string
  message: string
  failures: [Failure, ...Failure[]]
}

export function byAddress(failures: Failure[]): FailedAddress[] {
  const found = new Map<string, FailedAddress>()
  for (const failure of failures) {
    const { clientEmail, message } = failure
    const key = `${clientEmail.toLowerCase()} ${message}`
    const address = found.get(key)
    if (address) address.failures.push(failure)
    else found.set(key, { clientEmail, message, failures: [failure] })
  }
  return [...found.values()]
}
