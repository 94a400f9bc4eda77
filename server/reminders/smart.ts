import type { Hazard } from './hazard.ts'

/*
 * On which day of its window a step leaves. Only the day moves: what is saved on clients who pay without an email is spent on others, so that
 * there are in expectation no more emails than the sequence has. The same knowledge always makes the same choice.
 */

/** What smart reminders of an account know. */
export interface Smart {
  hazard: Hazard
  /** So many days a step may move. */
  days: number
  /** Emails that were saved and not spent, in expectation. */
  credit: number
}

export type Reason =
  /** The client paid `count` of `of` invoices by that day. */
  | { kind: 'waits'; by: number; count: number; of: number }
  | { kind: 'earlier'; inTen: number; days: number }
  | { kind: 'learning'; paid: number; needed: number }
  | { kind: 'compared' }
  | { kind: 'nothing' }

interface DayChoice {
  /** In days after the due date. */
  day: number
  /** The chance that the invoice is paid inside the window without an email. */
  p: number
  reason: Reason
  /** What it adds to the credit. */
  credit: number
}

/** Paid invoices of the account and of the client that are needed to learn from. */
export const neededPaid = { account: 20, client: 4 }
/** From this chance on a step waits, up to that one it may leave earlier. */
const waits = 0.5
const leaves = 0.6
/** From this credit on no more is saved. */
const mostCredit = 3

/** A step of an invoice whose window opens. Days are counted from the due date. */
export interface Opened {
  invoiceId: string
  client: string
  today: number
  /** The planned day of the step, today or later. */
  planned: number
  /** The last day on which it may leave; not before `planned`. */
  latest: number
}

export function chooseDay({ hazard, credit }: Pick<Smart, 'hazard' | 'credit'>, opened: Opened): DayChoice {
  const { invoiceId, client, today, planned, latest } = opened
  const at = unpaidAt(hazard, opened)
  const p = 1 - at(latest + 1)
  const asPlanned = (reason: Reason): DayChoice => ({ day: planned, p, reason, credit: 0 })
  const paid = { account: hazard.paid(), client: hazard.paid(client) }
  for (const whose of ['client', 'account'] as const)
    if (paid[whose] < neededPaid[whose]) return asPlanned({ kind: 'learning', paid: paid[whose], needed: neededPaid[whose] })
  if (isCompared(invoiceId)) return asPlanned({ kind: 'compared' })
  if (p >= waits && credit < mostCredit && latest > planned) {
    const { count, last } = hazard.paidBy(client, latest - 1)
    return { day: latest, p, reason: { kind: 'waits', by: Math.max(1, last), count, of: paid.client }, credit: at(planned) - at(latest) }
  }
  const added = 1 - at(planned)
  if (p <= leaves && today < planned && credit >= added)
    return { day: today, p, reason: { kind: 'earlier', inTen: Math.round(10 * p), days: planned - today }, credit: -added }
  return asPlanned({ kind: 'nothing' })
}

/** The chance that an invoice which is unpaid today is unpaid when a day of the window begins. */
function unpaidAt(hazard: Hazard, { client, today, latest }: Opened): (day: number) => number {
  const chances = [1]
  for (let day = today; day <= latest; day += 1) chances.push((chances.at(-1) ?? 1) * (1 - hazard.at(client, day)))
  return (day) => chances[day - today] ?? 1
}

/** Every fifth invoice keeps the plan, so that the others can be compared with it (FNV-1a). */
export function isCompared(invoiceId: string): boolean {
  let hash = 0x811c9dc5
  for (let at = 0; at < invoiceId.length; at += 1) hash = Math.imul(hash ^ invoiceId.charCodeAt(at), 0x01000193)
  return (hash >>> 0) % 5 === 0
}
