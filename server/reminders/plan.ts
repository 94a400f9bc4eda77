import type { Tone } from '#contract/sequences.ts'
import type { Instant } from '#server/platform/clock.ts'
import { everyDay, isOpen, isOver, isQuiet, longestQuiet, openedStep, stepOn } from './due-steps.ts'
import { atHour, lastHour, leavesAt } from './schedule.ts'
import { chooseDay, type Reason, type Smart } from './smart.ts'

/*
 * Which emails leave on a day, and why the others do not: the one definition for runs, previews and simulations. No clock, no database. The
 * statement of daily-runs.ts decides the same for accounts whose clients are all reminded every day; a test compares the two.
 */

/** A date as the number of days since 1970-01-01: a plan compares very many. */
export type DayNumber = number
export const dayNumber = (date: string): DayNumber => Date.parse(`${date}T00:00:00Z`) / 86_400_000
export const dateOfDay = (day: DayNumber): string => new Date(day * 86_400_000).toISOString().slice(0, 10)

export interface PlanSequence {
  /** Ascending by offset, at least one. */
  steps: { offset: number; tone: Tone }[]
  /** After the last step, if that is after the due date, its email is repeated every so many days. */
  everyDays: number | null
  /** The most emails of sequences about one invoice. */
  atMost: number | null
  /** Days between two emails, at least. */
  atLeast: number
}

/** Which days are quiet. */
export interface Calendar {
  /** Days of the week, 1 for Monday to 7 for Sunday. */
  weekend: ReadonlySet<number>
  closed: ReadonlySet<DayNumber>
  /** Open in spite of the other two. */
  open: ReadonlySet<DayNumber>
}

/** What is known about a client, where it is not as the account. */
export interface PlanClient {
  timezone: string | null
  /** Null: every day is open. */
  calendar: Calendar | null
}

/** An invoice that is not paid and not deleted. */
export interface PlanInvoice {
  id: string
  /** The client's address in lower case. */
  clientKey: string
  currency: string
  language: string
  due: DayNumber
  /** A key of `World.sequences`, or a built-in sequence. */
  sequence: string
  /** Every step up to this date is dealt with; null: no automatic email was ever accepted. */
  through: DayNumber | null
  /** When an email about it, of any kind, was last accepted; null: never. */
  lastOn: DayNumber | null
  /** How many emails of sequences about it were accepted. */
  sent: number
  /** The last day of a promise to pay that is over or still to come. */
  promisedUntil: DayNumber | null
  /** `until` null: until it is resumed. */
  pause: { until: DayNumber | null } | null
  addressHeld: boolean
  /** An email about it is pending or in flight. */
  openMail: boolean
  /** A mail server refused an email about it today; only the API trigger asks. */
  refusedToday: boolean
  /** A run that a person started is about others. */
  notChosen?: boolean
  /** Whether smart reminders may choose the days of its steps, where the account has them. */
  smart: boolean
  /** What they have chosen, by the date of the step. */
  chosen: readonly Choice[]
}

/** On which day a step leaves, and why. */
export interface Choice {
  step: DayNumber
  day: DayNumber
  /** The chance that the invoice is paid inside the window without an email. */
  p: number
  reason: Reason
}

export interface World {
  timezone: string
  /** The hour from which clients in other time zones may get email. */
  reminderHour: number
  /** How long the emails of a daily run wait for their owner to look at them. */
  holdMinutes?: number
  /** One email per client, currency and language instead of one per invoice. */
  grouped: boolean
  calendar: Calendar | null
  /** By their address in lower case; those without an entry are as the account. */
  clients: ReadonlyMap<string, PlanClient>
  sequences: ReadonlyMap<string, PlanSequence>
  /** When an email of a sequence to a client was last accepted, by `groupKey`; asked only where emails are grouped. */
  lastTo: ReadonlyMap<string, DayNumber>
  /** Clients, by their address in lower case, that get nothing by the daily run of a date. */
  leftOut?: ReadonlyMap<DayNumber, ReadonlySet<string>>
  /** Null: every step leaves on its day. */
  smart: Smart | null
  invoices: readonly PlanInvoice[]
}

export interface PlanDay {
  /** The local date of the account. */
  date: DayNumber
  /** Only the daily run knows hours and quiet days. */
  kind: 'daily' | 'start' | 'trigger'
  /** From when its emails may leave, and when the next run is. */
  at: Instant
  next: Instant
}

/** The step of an email. */
export interface StepDue {
  sequence: string
  /** Of the step whose text it has, or of its repetition. */
  offset: number
  tone: Tone
  /** What `through` must reach for it to be dealt with: its date without quiet days, or the day after a promise. */
  date: DayNumber
  /** Since when it is due, quiet days considered. */
  since: DayNumber
  /** Its number, repetitions counted; null: it is not one of the steps. */
  number: number | null
  /** Steps, by their number, that this one has overtaken. */
  overtaken: number[]
  /** What smart reminders have chosen for it. */
  choice: Choice | null
}

/** So far ahead the next email about an invoice is searched, in days. */
const furthest = 800

/**
 * Finds the first day from one on when an email about an invoice leaves by the daily run, as far as the invoice alone decides; null: none. `at`: where the
 * client's own clock says when.
 */
type FindNext = (invoice: PlanInvoice, from: DayNumber) => { date: DayNumber; step: StepDue; at: Instant | null } | null

/** The daily runs of a world are worked out once for all its invoices. */
export function openNext(world: World): FindNext {
  const runs = new Map<DayNumber, { day: PlanDay; open: ReturnType<typeof openings> }>()
  const runOn = (date: DayNumber) => {
    const known = runs.get(date)
    if (known) return known
    const day = dayOfRun(world, date)
    const run = { day, open: openings(world, day) }
    runs.set(date, run)
    return run
  }
  return (invoice, from) => {
    const sequence = world.sequences.get(invoice.sequence)
    if (invoice.sequence === 'never' || invoice.addressHeld || (invoice.pause && invoice.pause.until === null)) return null
    if (sequence?.atMost != null && invoice.sent >= sequence.atMost) return null
    const { calendar, timezone } = world.clients.get(invoice.clientKey) ?? { ...world, timezone: null }
    // A step up to the due date may leave earlier where that is quiet.
    const earliest = Math.min(1, sequence?.steps[0]?.offset ?? 1) - (sequence && calendar ? longestQuiet : 0)
    const apart = invoice.lastOn === null ? from : lastMail(world, invoice) + (sequence?.atLeast ?? 1)
    // Its own date may be two days ahead of the run.
    const begins = Math.max(apart, invoice.due + earliest, (invoice.pause?.until ?? from - 1) + 1) - (timezone === null ? 0 : 2)
    const choose = choosing(world)
    const alone = { ...invoice, openMail: false, refusedToday: false }
    const first = Math.max(from, begins)
    for (let date = first; date < first + furthest; date += 1) {
      const { day, open } = runOn(date)
      const found = decideOne(world, day, alone, open(invoice.clientKey), choose)
      if (found !== null && typeof found === 'object') return { date, step: found.step, at: found.opening.until && found.opening.at }
      if (found === 'ended') return null
    }
    return null
  }
}

/** A day whose run is on time. */
function dayOfRun({ timezone, reminderHour, holdMinutes = 0 }: World, date: DayNumber): PlanDay {
  const at = (day: DayNumber) => atHour(Temporal.PlainDate.from(dateOfDay(day)), reminderHour, timezone).toInstant()
  const made = at(date)
  return { date, kind: 'daily', at: leavesAt({ holdMinutes, timezone }, made) ?? made, next: at(date + 1) }
}

/** Why no email about an invoice leaves. Null: it is not past due, so nothing is recorded. */
export type Rule = 'already' | 'paused' | 'address_held' | 'no_step' | 'gap' | 'quiet' | 'left_out' | 'ended' | 'refused' | 'never' | null

export interface PlanMail {
  invoices: { invoice: PlanInvoice; step: StepDue }[]
  /** Whose text it has: the one with the largest offset. */
  step: StepDue
  /** It is tried from `at` until `until`; null: until the deadline of its run. */
  at: Instant
  until: Instant | null
  /** The date by which its steps were chosen, and the one on which the client gets it: not that of the run for clients in other time zones. */
  date: DayNumber
  there: DayNumber
}

export interface Planned {
  /** In the order of the world. */
  mails: PlanMail[]
  /** Why not, for the other invoices. */
  rules: Map<PlanInvoice, Rule>
  /** What smart reminders chose on this day: it is kept. */
  chosen: Map<PlanInvoice, Choice>
  /** The world when every email was accepted. */
  next: World
}

/** What one grouped email is for. */
export function groupKey({ clientKey, currency, language }: Pick<PlanInvoice, 'clientKey' | 'currency' | 'language'>): string {
  return `${clientKey} ${currency} ${language}`
}

export function plan(world: World, day: PlanDay): Planned {
  const rules: Planned['rules'] = new Map()
  const due: Due[] = []
  const open = openings(world, day)
  const choose = choosing(world)
  for (const invoice of world.invoices) {
    const found = decideOne(world, day, invoice, open(invoice.clientKey), choose)
    if (found !== null && typeof found === 'object') due.push(found)
    else rules.set(invoice, found)
  }
  const mails = world.grouped ? grouped(due, day, rules) : due.map((one) => mailOf([one]))
  const { chosen } = choose
  return { mails, rules, chosen, next: { ...accepted(world, mails, chosen), smart: choose.after() } }
}

interface Due {
  invoice: PlanInvoice
  step: StepDue
  opening: Opening
}

/** What leaves when the client may first hear of something; else why nothing does when it may last. */
function decideOne(world: World, day: PlanDay, invoice: PlanInvoice, client: Client, choose: Choosing): Due | Rule {
  let rule: Rule = null
  for (const opening of client.openings) {
    const found = decideAt(world, day, invoice, { ...client, opening }, choose)
    if (found !== null && typeof found === 'object') return found
    rule = found
  }
  return invoice.due < day.date ? rule : null
}

function decideAt(
  world: World,
  { date: runDate, kind }: PlanDay,
  invoice: PlanInvoice,
  { calendar, opening }: { calendar: Calendar | null; opening: Opening },
  choose: Choosing,
): Due | Rule {
  const { date, there } = opening
  if (invoice.sequence === 'never') return 'never'
  if (invoice.pause && (invoice.pause.until === null || invoice.pause.until >= date)) return 'paused'
  const sequence = world.sequences.get(invoice.sequence)
  if (invoice.addressHeld) return sequence ? 'refused' : 'address_held'
  if (invoice.openMail || (kind === 'trigger' && invoice.refusedToday)) return 'already'
  if (sequence?.atMost != null && invoice.sent >= sequence.atMost) return 'ended'
  // Another date than that of the run: not past due at the client yet.
  if (!sequence && invoice.due >= date) return 'quiet'
  if (!sequence && invoice.lastOn !== null && invoice.lastOn >= there) return 'already'
  const known = choose(invoice, sequence, date)
  const step = sequence ? stepOn(known, sequence, date, calendar) : everyDay(invoice, date)
  if (!step) return sequence && isOver(invoice, sequence) ? 'ended' : isQuiet(known, sequence, date, calendar) ? 'quiet' : 'no_step'
  if (kind === 'daily' && isLeftOut(world, runDate, invoice)) return 'left_out'
  if (!opening.isOpen) return 'quiet'
  if (sequence && there < lastMail(world, invoice) + sequence.atLeast) return 'gap'
  if (invoice.notChosen) return 'left_out'
  return { invoice, step, opening }
}

export function isLeftOut({ leftOut }: World, date: DayNumber, { clientKey }: PlanInvoice): boolean {
  return leftOut?.get(date)?.has(clientKey) ?? false
}

interface Choosing {
  /** The invoice with what is chosen for it, where the window of a step opens. */
  (invoice: PlanInvoice, sequence: PlanSequence | undefined, date: DayNumber): PlanInvoice
  chosen: Map<PlanInvoice, Choice>
  /** What is known afterwards. */
  after(): Smart | null
}

/** Chooses the days of steps, one invoice after the other: what is saved on one is spent on the next. */
function choosing(world: World): Choosing {
  const { smart } = world
  const chosen: Choosing['chosen'] = new Map()
  let credit = smart?.credit ?? 0
  const choose = (invoice: PlanInvoice, sequence: PlanSequence | undefined, date: DayNumber): PlanInvoice => {
    if (!smart || !sequence || !invoice.smart) return invoice
    const before = chosen.get(invoice)
    if (before) return { ...invoice, chosen: [...invoice.chosen, before] }
    const opened = openedStep(invoice, sequence, { date, days: smart.days, notBefore: lastMail(world, invoice) + sequence.atLeast })
    if (!opened) return invoice
    const { id, clientKey, due } = invoice
    const found = chooseDay({ hazard: smart.hazard, credit }, { ...opened, invoiceId: id, client: clientKey })
    const choice = { step: due + opened.planned, day: due + found.day, p: found.p, reason: found.reason }
    credit += found.credit
    chosen.set(invoice, choice)
    return { ...invoice, chosen: [...invoice.chosen, choice] }
  }
  return Object.assign(choose, { chosen, after: () => smart && { ...smart, credit } })
}

function lastMail({ grouped, lastTo }: World, invoice: PlanInvoice): number {
  const ofClient = grouped ? lastTo.get(groupKey(invoice)) : undefined
  return Math.max(invoice.lastOn ?? Number.NEGATIVE_INFINITY, ofClient ?? Number.NEGATIVE_INFINITY)
}

/** From when until when emails may leave, by which date their steps are chosen, and which date it is at the client. */
interface Opening {
  date: DayNumber
  there: DayNumber
  at: Instant
  until: Instant | null
  isOpen: boolean
}

interface Client {
  /** Null: every day is open. */
  calendar: Calendar | null
  /** In the order of time, at least one. */
  openings: Opening[]
}

/** When emails may leave by a run, by the client's address. */
function openings(world: World, day: PlanDay): (clientKey: string) => Client {
  const { date, at, kind } = day
  const byRun = (calendar: Calendar | null, there = date): Client => ({
    calendar,
    openings: [{ date, there, at, until: null, isOpen: isOpen(date, calendar) }],
  })
  const asAccount = byRun(kind === 'daily' ? world.calendar : null)
  const known = new Map<PlanClient, Client>()
  return (clientKey) => {
    const client = world.clients.get(clientKey)
    if (!client) return asAccount
    const { timezone, calendar } = client
    const zone = timezone ?? world.timezone
    const made = () => {
      // A run by hand knows neither hours nor quiet days.
      if (kind !== 'daily') return byRun(null, dayNumber(at.toZonedDateTimeISO(zone).toPlainDate().toString()))
      return zone === world.timezone ? byRun(calendar) : { calendar, openings: openingsIn(zone, world.reminderHour, calendar, day) }
    }
    const found = known.get(client) ?? made()
    known.set(client, found)
    return found
  }
}

/** By the client's own clock: from the reminder hour to 18:00 there, before the next run. */
function openingsIn(zone: string, reminderHour: number, calendar: Calendar | null, { at, next, date: runDate }: PlanDay): Opening[] {
  const first = at.toZonedDateTimeISO(zone).toPlainDate()
  const found = [0, 1, 2].flatMap((days) => {
    const there = first.add({ days })
    const from = laterInstant(atHour(there, reminderHour, zone).toInstant(), at)
    const until = earlierInstant(atHour(there, lastHour, zone).toInstant(), next)
    const date = dayNumber(there.toString())
    return Temporal.Instant.compare(from, until) < 0 ? [{ date, there: date, at: from, until, isOpen: isOpen(date, calendar) }] : []
  })
  // A day of 23 hours may have none.
  return found.length > 0 ? found : [{ date: runDate, there: runDate, at, until: next, isOpen: false }]
}

export function laterInstant(one: Instant, other: Instant): Instant {
  return Temporal.Instant.compare(one, other) > 0 ? one : other
}

function earlierInstant(one: Instant, other: Instant): Instant {
  return Temporal.Instant.compare(one, other) < 0 ? one : other
}

/** One email per client, currency and language, of one date and one tone: the others wait for the days between two emails. */
function grouped(due: Due[], { date: runDate }: PlanDay, rules: Planned['rules']): PlanMail[] {
  return [...Map.groupBy(due, ({ invoice }) => groupKey(invoice)).values()].map((group) => {
    const date = Math.min(...group.map(({ opening }) => opening.date))
    const onDate = group.filter(({ opening }) => opening.date === date)
    const tones = [...Map.groupBy(onDate, toneOf)]
    const [[, first] = ['', group]] = tones.toSorted(
      ([one, ofOne], [other, ofOther]) => waitingSince(ofOne) - waitingSince(ofOther) || firmness.indexOf(other) - firmness.indexOf(one),
    )
    for (const one of group) if (!first.includes(one)) rules.set(one.invoice, one.invoice.due < runDate ? 'gap' : null)
    return mailOf(first)
  })
}

/** An email about what is not yet due says so of all of them. */
const firmness = ['before', 'friendly', 'firm', 'final']

function toneOf({ invoice, step, opening }: Due): string {
  return invoice.due >= opening.date ? 'before' : step.tone
}

function waitingSince(group: Due[]): DayNumber {
  return Math.min(...group.map(({ step }) => step.since))
}

function mailOf(group: Due[]): PlanMail {
  const invoices = group.map(({ invoice, step }) => ({ invoice, step }))
  const [first] = group
  if (!first) throw new Error('An email must have an invoice.')
  const largest = group.reduce((one, other) => (other.step.offset > one.step.offset ? other : one))
  const { at, until, date, there } = first.opening
  return { invoices, step: largest.step, at, until, date, there }
}

/** The world after these emails were accepted. */
function accepted(world: World, mails: PlanMail[], choices: Planned['chosen']): World {
  const steps = new Map(mails.flatMap((mail) => mail.invoices.map(({ invoice, step }) => [invoice, { ...mail, step }] as const)))
  const lastTo = new Map(world.lastTo)
  const invoices = world.invoices.map((invoice) => {
    const mail = steps.get(invoice)
    const choice = choices.get(invoice)
    const chosen = choice ? [...invoice.chosen, choice] : invoice.chosen
    if (!mail) return choice ? { ...invoice, chosen } : invoice
    const { step, date, there } = mail
    const isStep = step.sequence !== 'every_day'
    if (isStep) lastTo.set(groupKey(invoice), there)
    const through = Math.max(date, step.date, invoice.through ?? Number.NEGATIVE_INFINITY)
    return { ...invoice, chosen, through, lastOn: there, sent: invoice.sent + (isStep ? 1 : 0) }
  })
  return { ...world, invoices, lastTo }
}
