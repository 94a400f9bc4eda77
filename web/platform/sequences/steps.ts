import type { PreviewLine } from '#contract/reminders.ts'
import type { PlannedMail, Simulation, Tone } from '#contract/sequences.ts'

/** What decides when the emails of a sequence leave. */
export interface Rhythm {
  /** In any order. */
  steps: readonly { offset: number; tone: Tone }[]
  everyDays: number | null
  atMost: number | null
  atLeast: number
}

/** One email to a client who never pays. */
export interface Heard {
  /** Days from the due date. */
  day: number
  /** That of the step or its repetition: the email leaves later where another one left shortly before. */
  offset: number
  tone: Tone
  /** The text of the last step again. */
  repeated: boolean
}

/** Repetitions that are drawn where they have no end. */
const mostRepeats = 3
/** No email leaves later than this, in days. */
const furthest = 365 + 100 * 90

/** The emails about one invoice that is never paid. `endless`: its repetitions have no end, and only the first are in the list. */
export function heard({ steps, everyDays, atMost, atLeast }: Rhythm): { emails: Heard[]; endless: boolean } {
  const ascending = steps.toSorted((one, other) => one.offset - other.offset)
  const last = ascending.at(-1)
  if (!last) return { emails: [], endless: false }
  const every = everyDays !== null && everyDays > 0 && last.offset > 0 ? everyDays : null
  const endless = every !== null && atMost === null
  const most = Math.min(atMost ?? Number.POSITIVE_INFINITY, ascending.length + (every === null ? 0 : endless ? mostRepeats : 100))
  const emails: Heard[] = []
  let through = Number.NEGATIVE_INFINITY
  for (let day = ascending[0]?.offset ?? 0; day <= furthest && emails.length < most; day += 1) {
    const before = emails.at(-1)
    if (before && day - before.day < atLeast) continue
    const step = stepOn(ascending, every, day)
    if (!step || step.offset <= through || (step.offset <= 0 && day > 0)) {
      if (every === null && day > last.offset) break
      continue
    }
    emails.push({ day, ...step, repeated: step.offset > last.offset })
    through = day
  }
  return { emails, endless }
}

/** The latest step up to a day, or the latest repetition of the last. */
function stepOn(steps: { offset: number; tone: Tone }[], every: number | null, day: number): { offset: number; tone: Tone } | undefined {
  const step = steps.findLast(({ offset }) => offset <= day)
  if (!step) return undefined
  if (every === null || step !== steps.at(-1)) return { offset: step.offset, tone: step.tone }
  return { tone: step.tone, offset: step.offset + every * Math.floor((day - step.offset) / every) }
}

/**
 * The same for invoices that one email lists where emails are grouped: by address, currency and language. Upper and lower case make no other
 * address. `byTone`: an email lists invoices of one tone, as in every run but Send Now.
 */
export function emailKey(line: Pick<PreviewLine, 'clientEmail' | 'currency' | 'language' | 'step'>, byTone: boolean): string {
  return `${line.clientEmail.toLowerCase()} ${line.currency} ${line.language} ${byTone ? toneOf(line.step) : ''}`
}

/** Not yet due is a tone of its own. */
function toneOf(step: PreviewLine['step']): string {
  return step === null ? '' : step.offset <= 0 ? 'before' : step.tone
}

/** Emails by day, the first one first. */
export function byDay(mails: PlannedMail[]): { date: string; mails: PlannedMail[] }[] {
  return [...Map.groupBy(mails, ({ localDate }) => localDate)]
    .map(([date, of]) => ({ date, mails: of }))
    .toSorted((one, other) => (one.date < other.date ? -1 : 1))
}

export type Kind = 'kept' | 'added' | 'moved' | 'reworded'

/** A day of the strip: what leaves on it from the lowest dot on, and what no longer does. */
export interface StripDay {
  date: string
  leaves: Kind[]
  gone: ('removed' | 'from')[]
}

/** An email that moves, by the places of its days among those of the strip. */
export interface Move {
  from: number
  to: number
}

/** The days from `today` on with their emails, and the emails that move from one of them to another. */
export function stripOf(simulation: Simulation, today: string, days: number): { days: StripDay[]; moves: Move[] } {
  const places = new Map<string, StripDay>()
  for (let nth = 0; nth < days; nth += 1) {
    const date = addDays(today, nth)
    places.set(date, { date, leaves: [], gone: [] })
  }
  const { after, added, removed, moved, reworded } = simulation
  const kinds = new Map<string, Kind>()
  for (const mail of reworded) kinds.set(keyOf(mail), 'reworded')
  for (const mail of added) kinds.set(keyOf(mail), 'added')
  for (const mail of moved) kinds.set(keyOf(mail), 'moved')
  for (const mail of after) places.get(mail.localDate)?.leaves.push(kinds.get(keyOf(mail)) ?? 'kept')
  for (const mail of removed) places.get(mail.localDate)?.gone.push('removed')
  for (const { from } of moved) places.get(from)?.gone.push('from')
  const order: Kind[] = ['kept', 'reworded', 'moved', 'added']
  const all = [...places.values()]
  for (const { leaves } of all) leaves.sort((one, other) => order.indexOf(one) - order.indexOf(other))
  const at = new Map(all.map(({ date }, nth) => [date, nth]))
  const moves = moved.flatMap(({ from, localDate }) => {
    const [begin, end] = [at.get(from), at.get(localDate)]
    return begin === undefined || end === undefined ? [] : [{ from: begin, to: end }]
  })
  return { days: all, moves }
}

function keyOf({ localDate, invoiceIds, at }: PlannedMail): string {
  return `${localDate} ${at} ${invoiceIds.join(' ')}`
}

/** A calendar date so many days later; both `YYYY-MM-DD`. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}
