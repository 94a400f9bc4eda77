import { Learner } from '#server/reminders/hazard.ts'
import { causedFor } from '#server/reminders/learned.ts'
import { dayNumber, type PlanInvoice, type PlanSequence, plan, type World } from '#server/reminders/plan.ts'
import { isCompared } from '#server/reminders/smart.ts'

/*
 * Invented clients who pay by habits, and an account that reminds them by `plan`. Chance decides by seed, invoice and day alone, so that a world with
 * smart reminders and one without differ by nothing but the days of their emails.
 */

/** No one pays earlier, in days after the due date. */
const earliest = -5

/** What is known of a day: days after the due date, the date, and the day around which a slow client pays. */
interface Day {
  late: number
  date: number
  usual: number
}

/** How a client pays, as the chance on a day without an email. */
const habits = {
  punctual: ({ late }: Day) => (late < -2 ? 0.02 : 0.35),
  friday: ({ date }: Day) => (date % 7 === 1 ? 0.5 : 0.01),
  slow: ({ late, usual }: Day) => (late < usual - 2 ? 0.01 : 0.35),
  forgetful: () => 0.02,
  /** Late without a day of its own: no history shows when. */
  late: ({ late }: Day) => (late < 10 ? 0.01 : 0.05),
}
export type Habit = keyof typeof habits

/** What an email does to that chance on its day and the three days after, those that smart reminders do not learn from. */
const effects = {
  multiply: (chance: number) => 3 * chance,
  add: (chance: number) => chance + 0.1,
  none: (chance: number) => chance,
}
export type Effect = keyof typeof effects

/** The sequences that are made ready. */
export const madeReady = {
  friendlyToFinal: { steps: stepsOf([-3, 1, 7, 14, 30]), everyDays: null, atMost: 8, atLeast: 3 },
  gentle: { steps: stepsOf([3, 10, 21]), everyDays: 14, atMost: 6, atLeast: 5 },
} satisfies Record<string, PlanSequence>

function stepsOf(offsets: number[]): PlanSequence['steps'] {
  return offsets.map((offset) => ({ offset, tone: 'friendly' }))
}

export interface Years {
  seed: number
  /** Client by client, in turn. */
  mix: Habit[]
  effect: Effect
  /** How many days a step may move; null: without smart reminders. */
  smart: number | null
  sequence: PlanSequence
}

export interface PaidInvoice {
  client: string
  issued: number
  due: number
  paid: number
  amount: number
  emails: number
}

const begin = dayNumber('2025-01-01')
const years = 2 * 365
const clients = 60

/** The invoices of two years, each until it is paid. */
export function payFor({ seed, mix, effect, smart, sequence }: Years): PaidInvoice[] {
  const waiting = invoicesOf(seed, mix)
  const facts = new Map(waiting.map((one) => [one.id, one]))
  const done: PaidInvoice[] = []
  const learner = new Learner()
  let world: World = {
    timezone: 'UTC',
    reminderHour: 9,
    grouped: false,
    calendar: null,
    clients: new Map(),
    sequences: new Map([['steps', sequence]]),
    lastTo: new Map(),
    smart: smart === null ? null : { hazard: learner, days: smart, credit: 0 },
    invoices: [],
  }
  const noon = Temporal.Instant.fromEpochMilliseconds(0)
  for (let date = begin; waiting.length > 0 || world.invoices.length > 0; date += 1) {
    const fresh = waiting.splice(0, waiting.findIndex(({ issued }) => issued > date) + 1 || waiting.length)
    const last = fresh.at(-1)
    if (last && last.issued > date) waiting.unshift(...fresh.splice(-1))
    world = { ...world, invoices: [...world.invoices, ...fresh.map(toPlanned)] }
    world = plan(world, { date, kind: 'daily', at: noon, next: noon }).next
    const open: PlanInvoice[] = []

    for (const invoice of world.invoices) {
      const one = facts.get(invoice.id)
      if (!one) continue
      const late = date - invoice.due
      const since = invoice.lastOn === null ? Number.POSITIVE_INFINITY : date - invoice.lastOn
      const chance = late < earliest ? 0 : habits[one.habit]({ late, date, usual: one.usual })
      const counts = since > causedFor
      const isPaid = drawn(seed, one.number, date) < (counts ? chance : effects[effect](chance))
      if (isPaid) {
        done.push({ client: one.client, issued: one.issued, due: one.due, paid: date, amount: one.amount, emails: invoice.sent })
        learner.add({ client: one.client, from: late, to: late, paid: true, without: counts ? [] : [late] })
        continue
      }
      if (counts) learner.watch(one.client, late)
      open.push(invoice)
    }
    world = { ...world, invoices: open }
  }
  return done
}

interface Made {
  id: string
  number: number
  client: string
  habit: Habit
  usual: number
  issued: number
  due: number
  amount: number
}

function invoicesOf(seed: number, mix: Habit[]): Made[] {
  const made: Made[] = []
  let number = 0
  for (let nth = 0; nth < clients; nth += 1) {
    const habit = mix[nth % mix.length] ?? 'punctual'
    const of = (what: number, below: number) => Math.floor(drawn(seed, -1 - nth, what) * below)
    const rhythm = 14 + of(0, 17)
    const usual = 8 + of(-1, 18)
    for (let issued = begin + of(1, rhythm), at = 2; issued < begin + years; issued += rhythm + of(at, 5), at += 3) {
      number += 1
      let id = `${seed} ${number}`
      // None keeps the plan for comparison: what is compared here is the whole world.
      while (isCompared(id)) id += '+'
      made.push({
        id,
        number,
        client: `client ${nth}`,
        habit,
        usual,
        issued,
        due: issued + 14 + of(at + 1, 17),
        amount: 1_000 + of(at + 2, 20_000),
      })
    }
  }
  return made.toSorted((one, other) => one.issued - other.issued)
}

/** Of an invoice that nothing has happened to. */
export const noHistory = {
  through: null,
  lastOn: null,
  sent: 0,
  promisedUntil: null,
  pause: null,
  addressHeld: false,
  openMail: false,
  refusedToday: false,
  chosen: [],
} satisfies Partial<PlanInvoice>

function toPlanned({ id, client, due }: Made): PlanInvoice {
  return {
    id,
    clientKey: client,
    currency: 'INR',
    language: 'en',
    due,
    sequence: 'steps',
    ...noHistory,
    smart: true,
  }
}

/** From 0 to below 1, by these three numbers. */
function drawn(seed: number, invoice: number, date: number): number {
  let mixed = Math.imul(seed, 0x9e3779b1) ^ Math.imul(invoice, 0x85ebca77) ^ Math.imul(date, 0xc2b2ae3d)
  for (const by of [0x7feb352d, 0x846ca68b]) mixed = Math.imul(mixed ^ (mixed >>> 15), by)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
}

export interface Compared {
  invoices: number
  /** The mean of days late, payments before the due date as negative ones, and emails for each invoice. */
  daysLate: [without: number, with_: number]
  emails: [without: number, with_: number]
}

/** The same worlds without smart reminders and with them. */
export function compareSmart(about: Omit<Years, 'smart' | 'seed'> & { seeds: number[]; days?: number }): Compared {
  const totals = { invoices: 0, late: [0, 0], emails: [0, 0] }
  for (const seed of about.seeds)
    for (const [nth, smart] of [null, about.days ?? 5].entries()) {
      const paid = payFor({ ...about, seed, smart })
      if (nth === 0) totals.invoices += paid.length
      for (const { due, paid: on, emails } of paid) {
        totals.late[nth] = (totals.late[nth] ?? 0) + on - due
        totals.emails[nth] = (totals.emails[nth] ?? 0) + emails
      }
    }
  const mean = ([one = 0, other = 0]: number[]): [number, number] => [one / totals.invoices, other / totals.invoices]
  return { invoices: totals.invoices, daysLate: mean(totals.late), emails: mean(totals.emails) }
}
