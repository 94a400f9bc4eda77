import type { Tone } from '#contract/sequences.ts'
import type { Calendar, Choice, DayNumber, PlanInvoice, PlanSequence, StepDue } from './plan.ts'
import type { Opened } from './smart.ts'

/* Which step of an invoice is due on a day, and which days are open. */

/** Every day after the due date, in the words of the template. */
export function everyDay({ due }: PlanInvoice, date: DayNumber): StepDue {
  return { sequence: 'every_day', offset: date - due, tone: 'friendly', date, since: date, number: null, overtaken: [], choice: null }
}

type Candidate = Omit<StepDue, 'sequence' | 'overtaken'> & { number: number }

/** The step that is due on a date: the largest one that is not dealt with. */
export function stepOn(invoice: PlanInvoice, sequence: PlanSequence, date: DayNumber, calendar: Calendar | null): StepDue | null {
  const due = candidates(invoice, sequence, date, calendar)
  const neverReminded = invoice.through === null && invoice.lastOn === null
  const mild = neverReminded
    ? (due.findLast((one) => one.tone === 'friendly') ?? due.find(({ offset }) => offset > 0) ?? due.at(-1))
    : due.at(-1)
  if (mild) {
    const overtaken = due.flatMap((one) => (one.date < mild.date ? one.number : []))
    return { ...mild, sequence: invoice.sequence, overtaken }
  }
  return brokenPromise(invoice, sequence, date, calendar)
}

/** The steps that are due and not dealt with, ascending. */
function candidates(invoice: PlanInvoice, { steps, everyDays }: PlanSequence, date: DayNumber, calendar: Calendar | null): Candidate[] {
  const { due, through } = invoice
  const found: Candidate[] = []
  const add = (offset: number, tone: Tone, number: number): boolean => {
    const since = movedDate(invoice, offset, calendar)
    if (since > date) return false
    found.push({ offset, tone, date: due + offset, since, number, choice: choiceOf(invoice, due + offset) })
    return true
  }
  for (const [nth, { offset, tone }] of steps.entries())
    if (due + offset > (through ?? Number.NEGATIVE_INFINITY) && (offset > 0 || date <= due)) add(offset, tone, nth + 1)
  const last = steps.at(-1)
  if (!last || everyDays === null || last.offset <= 0) return found
  // One that leaves earlier than planned may be due already.
  const latest = date + Math.max(0, ...invoice.chosen.map(({ step, day }) => step - day))
  for (let times = Math.floor((latest - due - last.offset) / everyDays); times > 0; times -= 1) {
    const offset = last.offset + times * everyDays
    if (due + offset <= (through ?? Number.NEGATIVE_INFINITY) || add(offset, last.tone, steps.length + times)) break
  }
  return found
}

/** The day after a promise counts as a step, in the words of the step reached. */
function brokenPromise(invoice: PlanInvoice, sequence: PlanSequence, date: DayNumber, calendar: Calendar | null): StepDue | null {
  const promised = promiseDay(invoice)
  if (promised === null) return null
  const since = openFrom(promised, calendar)
  const reached = stepReached(invoice, sequence, date)
  if (since > date || !reached) return null
  return { ...reached, sequence: invoice.sequence, date: promised, since, number: null, overtaken: [], choice: null }
}

function promiseDay({ promisedUntil, due, through }: PlanInvoice): DayNumber | null {
  const after = promisedUntil === null ? null : promisedUntil + 1
  return after !== null && after > due && (through === null || after > through) ? after : null
}

/** The last step of an invoice past due whose date has come, sent or not; before that the first step after the due date. */
export function stepReached(
  { due }: Pick<PlanInvoice, 'due'>,
  { steps, everyDays }: PlanSequence,
  date: DayNumber,
): { offset: number; tone: Tone } | null {
  const after = steps.filter(({ offset }) => offset > 0)
  const reached = after.findLast(({ offset }) => due + offset <= date) ?? after[0]
  if (!reached || reached !== after.at(-1) || everyDays === null || due + reached.offset > date) return reached ?? null
  const times = Math.floor((date - due - reached.offset) / everyDays)
  return { offset: reached.offset + times * everyDays, tone: reached.tone }
}

/** Whether no step of an invoice past due is left to come. */
export function isOver(invoice: PlanInvoice, { steps, everyDays }: PlanSequence): boolean {
  const last = steps.at(-1)
  if (!last || last.offset <= 0) return true
  if (everyDays !== null || promiseDay(invoice) !== null) return false
  return invoice.through !== null && invoice.due + last.offset <= invoice.through
}

/** Whether a quiet day is why a step is not due. */
export function isQuiet(invoice: PlanInvoice, sequence: PlanSequence | undefined, date: DayNumber, calendar: Calendar | null): boolean {
  return calendar !== null && sequence !== undefined && !isOpen(date, calendar) && stepOn(invoice, sequence, date, null) !== null
}

/** The first open day from the date of a step on; for a step up to the due date the last one before it. */
function movedDate(invoice: PlanInvoice, offset: number, calendar: Calendar | null): DayNumber {
  const date = invoice.due + offset
  return offset > 0 ? openFrom(choiceOf(invoice, date)?.day ?? date, calendar) : openUpTo(date, calendar)
}

function choiceOf({ chosen }: PlanInvoice, step: DayNumber): Choice | null {
  return chosen.find((one) => one.step === step) ?? null
}

/**
 * The step whose window opens on a date: the next one of an invoice past due, up to its planned day, with the days between two emails kept on both
 * sides. An earlier step that did not leave yet leaves first. `days`: how many a step may move.
 */
export function openedStep(
  invoice: PlanInvoice,
  sequence: PlanSequence,
  { date, days, notBefore }: { date: DayNumber; days: number; notBefore: DayNumber },
): Omit<Opened, 'invoiceId' | 'client'> | null {
  const today = date - invoice.due
  if (today < 1 || date < notBefore) return null
  const [planned, following] = nextAfterDue(invoice, sequence)
  if (planned === null || today < planned - days || today > planned || choiceOf(invoice, invoice.due + planned)) return null
  const latest = Math.min(planned + days, following === null ? Number.POSITIVE_INFINITY : following - sequence.atLeast)
  return { today, planned, latest: Math.max(planned, latest) }
}

/** The next step after the due date that is not dealt with, and the one after it. */
function nextAfterDue({ due, through }: PlanInvoice, { steps, everyDays }: PlanSequence): [number | null, number | null] {
  const passed = through === null ? 0 : Math.max(0, through - due)
  const left = steps.flatMap(({ offset }) => (offset > passed ? offset : [])).slice(0, 2)
  const last = steps.at(-1)?.offset ?? 0
  if (everyDays !== null && last > 0)
    for (let times = Math.max(1, Math.floor((passed - last) / everyDays) + 1); left.length < 2; times += 1)
      left.push(last + times * everyDays)
  return [left[0] ?? null, left[1] ?? null]
}

/** So far an open day is searched. */
export const longestQuiet = 366

function openFrom(date: DayNumber, calendar: Calendar | null): DayNumber {
  for (let day = date; day <= date + longestQuiet; day += 1) if (isOpen(day, calendar)) return day
  return Number.POSITIVE_INFINITY
}

function openUpTo(date: DayNumber, calendar: Calendar | null): DayNumber {
  for (let day = date; day >= date - longestQuiet; day -= 1) if (isOpen(day, calendar)) return day
  return Number.POSITIVE_INFINITY
}

export function isOpen(date: DayNumber, calendar: Calendar | null): boolean {
  if (calendar === null || calendar.open.has(date)) return true
  // 1 January 1970 was a Thursday.
  return !(calendar.closed.has(date) || calendar.weekend.has(((((date + 3) % 7) + 7) % 7) + 1))
}
