import { type Money, sumByCurrency } from '#contract/money.ts'
import type { HoldReason, PreviewLine } from '#contract/reminders.ts'

type Lines = [PreviewLine, ...PreviewLine[]]

/** One email that is sent: about one invoice, or about all of a client's in one currency that are due. */
export interface ComingEmail {
  clientName: string
  clientEmail: string
  lines: Lines
  total: Money
}

export interface ComingRun {
  /** The instant at which it starts. */
  at: string
  emails: ComingEmail[]
}

/** Why an invoice is not in a coming run. `retrying`: its email is delayed and tried again. */
export type Unplanned = NonNullable<PreviewLine['reason']> | 'retrying' | 'no_date' | `held_${HoldReason}`

export interface Planned {
  /** The next one first. */
  runs: ComingRun[]
  /** The most invoices first. */
  others: { why: Unplanned; lines: Lines }[]
}

/** The runs of the coming days, and the invoices that are in none with the reason, from the preview's lines. */
export function planned(lines: PreviewLine[], grouped: boolean, now: Date): Planned {
  const byRun = new Map<string, Lines>()
  const byReason = new Map<Unplanned, Lines>()
  for (const line of lines) {
    const at = runOf(line)
    if (at === null) add(byReason, unplanned(line, now), line)
    else add(byRun, at, line)
  }
  return {
    runs: [...byRun]
      .toSorted(([one], [other]) => Date.parse(one) - Date.parse(other))
      .map(([at, of]) => ({ at, emails: emailsOf(of, grouped, true) })),
    others: [...byReason].toSorted(([, one], [, other]) => other.length - one.length).map(([why, of]) => ({ why, lines: of })),
  }
}

/** A pause with an end has a date for the day after it. */
function runOf({ nextAt, reason, heldFor }: PreviewLine): string | null {
  return heldFor === null && (reason === null || reason === 'paused') ? nextAt : null
}

function unplanned({ heldFor, reason, nextAt }: PreviewLine, now: Date): Unplanned {
  if (heldFor !== null) return `held_${heldFor}`
  if (reason === 'open_mail' && nextAt !== null && new Date(nextAt) > now) return 'retrying'
  return reason ?? 'no_date'
}

/**
 * The emails about these invoices: one each, or with `grouped` one per address and currency. Upper and lower case make no other address.
 * `byTone`: an email lists invoices of one tone, as in every run but Send Now.
 */
export function emailsOf(lines: PreviewLine[], grouped: boolean, byTone = false): ComingEmail[] {
  const byEmail = new Map<string, Lines>()
  for (const line of lines)
    add(byEmail, grouped ? `${line.clientEmail.toLowerCase()} ${line.currency} ${byTone ? toneOf(line) : ''}` : line.invoiceId, line)
  return [...byEmail.values()].map((of) => ({
    clientName: of[0].clientName,
    clientEmail: of[0].clientEmail,
    lines: of,
    total: sumByCurrency(of, '')[0] ?? of[0],
  }))
}

/** Not yet due is a tone of its own. */
function toneOf({ step }: PreviewLine): string {
  return step === null ? '' : step.offset <= 0 ? 'before' : step.tone
}

export function clientsOf(lines: PreviewLine[]): number {
  return new Set(lines.map(({ clientEmail }) => clientEmail.toLowerCase())).size
}

function add<K>(map: Map<K, Lines>, key: K, line: PreviewLine): void {
  const lines = map.get(key)
  if (lines) lines.push(line)
  else map.set(key, [line])
}
