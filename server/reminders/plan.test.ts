import { expect, test } from 'vitest'
import type { Tone } from '#contract/sequences.ts'
import { noHistory } from '#test/paying-clients.ts'
import { seeded } from '#test/seeded.ts'
import { times } from '#test/thorough.ts'
import type { Hazard } from './hazard.ts'
import {
  type Calendar,
  type Choice,
  type DayNumber,
  dateOfDay,
  dayNumber,
  groupKey,
  openNext,
  type PlanClient,
  type PlanDay,
  type PlanInvoice,
  type Planned,
  type PlanSequence,
  plan,
  type World,
} from './plan.ts'
import type { Reason } from './smart.ts'

/*
 * The oracle: it keeps every email that was ever accepted, and on each day goes through all offsets of an invoice and asks the history which of
 * them were dealt with. It knows no `through`, and looks for open days and for the hours of clients by trying one after the other.
 */

interface Sent {
  invoice: string
  group: string
  /** By which date its step was chosen, and the date at the client. */
  on: string
  there: string
  /** Null: by hand, so it deals with no step. */
  step: string | null
  ofSequence: boolean
}

/** What smart reminders chose, and what was saved by it. */
interface Chosen {
  invoice: string
  step: string
  day: string
  why: string
  saved: number
}

/** What a day brings, without the objects of `plan`. */
interface Outcome {
  mails: { invoices: string[]; sequence: string; offset: number; tone: Tone; at: string; on: string; there: string }[]
  rules: Record<string, string | null>
  choices: Omit<Chosen, 'saved'>[]
}

const plus = (date: string, days: number) => new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)
const text = (day: DayNumber | null) => (day === null ? null : dateOfDay(day))

function openOn(date: string, calendar: Calendar | null): boolean {
  if (!calendar || calendar.open.has(dayNumber(date))) return true
  const dayOfWeek = new Date(`${date}T00:00:00Z`).getUTCDay() || 7
  return !calendar.closed.has(dayNumber(date)) && !calendar.weekend.has(dayOfWeek)
}

function firstOpen(date: string, calendar: Calendar | null, direction: 1 | -1): string | null {
  for (let tried = 0; tried <= 366; tried += 1) {
    const day = plus(date, direction * tried)
    if (openOn(day, calendar)) return day
  }
  return null
}

const knownArrivals = new Map<string, ReturnType<typeof arrivals>>()

/** The first half of an hour of each date at a client, from the run to the next one, in which an email may arrive there. */
function arrivals(world: World, day: PlanDay, client: PlanClient): { at: string; date: string; there: string }[] {
  const zone = client.timezone ?? world.timezone
  const there = day.at.toZonedDateTimeISO(zone).toPlainDate().toString()
  if (day.kind !== 'daily' || zone === world.timezone) return [{ at: day.at.toString(), date: dateOfDay(day.date), there }]
  const key = `${day.at.toString()} ${day.next.toString()} ${zone} ${world.reminderHour}`
  const known = knownArrivals.get(key)
  if (known) return known
  const found = new Map<string, string>()
  for (let [at, minutes] = [day.at, 30]; Temporal.Instant.compare(at, day.next) < 0; at = at.add({ minutes })) {
    const local = at.toZonedDateTimeISO(zone)
    const isFirst = local.hour >= world.reminderHour && local.hour < 18 && !found.has(local.toPlainDate().toString())
    if (isFirst) found.set(local.toPlainDate().toString(), at.toString())
    // The next date is further away.
    minutes = isFirst ? 8 * 60 : 30
  }
  const all = [...found].map(([date, at]) => ({ date, at, there: date }))
  knownArrivals.set(key, all)
  return all
}

interface Found {
  invoice: PlanInvoice
  sequence: string
  offset: number
  tone: Tone
  date: string
  since: string
  at: string
  on: string
  there: string
}

/** The same from the rules in words: each chance for itself, and the credit from everything that was ever chosen. */
function chooseAgain(
  { hazard, days }: NonNullable<World['smart']>,
  about: { invoice: string; client: string; due: string; today: string; step: string; following: string | null; atLeast: number },
  history: Chosen[],
): Chosen {
  const { invoice, client, due, today, step, following, atLeast } = about
  const unpaidOn = (date: string) => {
    let chance = 1
    for (let day = today; day < date; day = plus(day, 1)) chance *= 1 - hazard.at(client, daysFrom(due, day))
    return chance
  }
  const credit = 1 + history.reduce((sum, { saved }) => sum + saved, 0)
  const [least = step] = [plus(step, days), ...(following === null ? [] : [plus(following, -atLeast)])].toSorted()
  const [, end = step] = [step, least].toSorted()
  const paid = 1 - unpaidOn(plus(end, 1))
  const chosen = (day: string, why: string, saved = 0) => ({ invoice, step, day, why, saved })
  if (hazard.paid(client) < 4) return chosen(step, 'learning 4')
  if (hazard.paid() < 20) return chosen(step, 'learning 20')
  let hash = 0x811c9dc5n
  for (const one of invoice) hash = ((hash ^ BigInt(one.charCodeAt(0))) * 0x01000193n) % 0x100000000n
  if (hash % 5n === 0n) return chosen(step, 'compared')
  if (paid >= 0.5 && credit < 3 && end > step) return chosen(end, 'waits', unpaidOn(step) - unpaidOn(end))
  const added = unpaidOn(today) - unpaidOn(step)
  if (paid <= 0.6 && credit >= added && today < step) return chosen(today, 'earlier', -added)
  return chosen(step, 'nothing')
}

const wordOf = (reason: Reason) => (reason.kind === 'learning' ? `learning ${reason.needed}` : reason.kind)

function oracle(world: World, day: PlanDay, history: Sent[], choices: Chosen[]): Outcome & { steps: Map<string, string>; made: Chosen[] } {
  const made: Chosen[] = []
  const runDate = dateOfDay(day.date)
  const rules: Outcome['rules'] = {}
  const found: Found[] = []
  for (const invoice of world.invoices) {
    const due = dateOfDay(invoice.due)
    const sequence = world.sequences.get(invoice.sequence)
    const mine = history.filter((one) => one.invoice === invoice.id)
    const client = world.clients.get(invoice.clientKey) ?? { timezone: null, calendar: world.calendar }
    const calendar = day.kind === 'daily' ? client.calendar : null
    const lastDay = text(invoice.pause?.until ?? null)
    const isOut = day.kind === 'daily' && world.leftOut?.get(day.date)?.has(invoice.clientKey)
    const isWaiting = invoice.openMail || (day.kind === 'trigger' && invoice.refusedToday)
    /** What leaves on a date of the client, or why nothing does. */
    const decideOn = ({ date: today, at, there }: ReturnType<typeof arrivals>[number]): Found | string => {
      if (invoice.sequence === 'never') return 'never'
      if (invoice.pause && (lastDay === null || today <= lastDay)) return 'paused'
      if (invoice.addressHeld) return sequence ? 'refused' : 'address_held'
      const isClosed = !openOn(today, calendar)
      if (!sequence) {
        if (isWaiting) return 'already'
        if (due >= today) return 'quiet'
        if (mine.some((one) => one.there >= there)) return 'already'
        if (isOut) return 'left_out'
        const everyDay = { sequence: 'every_day', offset: daysFrom(due, today), tone: 'friendly' as const, date: today, since: today }
        return isClosed ? 'quiet' : { invoice, ...everyDay, at, on: today, there }
      }
      const offsets: { offset: number; tone: Tone }[] = [...sequence.steps]
      const last = sequence.steps.at(-1)
      if (last && sequence.everyDays !== null && last.offset > 0)
        for (let offset = last.offset + sequence.everyDays; plus(due, offset) <= plus(today, 100); offset += sequence.everyDays)
          offsets.push({ offset, tone: last.tone })
      const automatic = mine.filter(({ step }) => step !== null)
      const dealtWith = (date: string) => automatic.some(({ on, step }) => date <= on || date <= (step ?? ''))
      const ofClient = world.grouped ? history.filter(({ group, ofSequence }) => group === groupKey(invoice) && ofSequence) : []
      const lastMail = [...mine, ...ofClient]
        .map(({ there }) => there)
        .toSorted()
        .at(-1)
      const isEnded = sequence.atMost !== null && automatic.filter(({ ofSequence }) => ofSequence).length >= sequence.atMost
      const [step, following = null] = offsets.flatMap(({ offset }) =>
        offset > 0 && !dealtWith(plus(due, offset)) ? plus(due, offset) : [],
      )
      const keptApart = lastMail === undefined || plus(lastMail, sequence.atLeast) <= today
      const isKnown = (one: Chosen) => one.invoice === invoice.id && one.step === step
      if (world.smart && invoice.smart && !isEnded && !isWaiting && step && keptApart && ![...choices, ...made].some(isKnown))
        if (due < today && today <= step && today >= plus(step, -world.smart.days)) {
          const about = { invoice: invoice.id, client: invoice.clientKey, due, today, step, following, atLeast: sequence.atLeast }
          made.push(chooseAgain(world.smart, about, [...choices, ...made]))
        }
      const moved = (offset: number, of: Calendar | null) => {
        const date = plus(due, offset)
        if (offset <= 0) return firstOpen(date, of, -1)
        return firstOpen([...choices, ...made].find((one) => one.invoice === invoice.id && one.step === date)?.day ?? date, of, 1)
      }
      const dueBy = (of: Calendar | null) =>
        offsets.flatMap(({ offset, tone }) => {
          const [date, since] = [plus(due, offset), moved(offset, of)]
          const stillTrue = offset > 0 || today <= due
          return dealtWith(date) || since === null || since > today || !stillTrue ? [] : [{ offset, tone, date, since }]
        })
      const promise = invoice.promisedUntil === null ? null : plus(dateOfDay(invoice.promisedUntil), 1)
      const promised = promise !== null && promise > due && !dealtWith(promise) ? promise : null
      const after = offsets.filter(({ offset }) => offset > 0)
      const reached = after.findLast(({ offset }) => plus(due, offset) <= today) ?? after[0]
      const pick = (of: Calendar | null) => {
        const all = dueBy(of)
        const first = mine.length === 0
        const friendly = all.filter(({ tone }) => tone === 'friendly')
        const chosen = first ? (friendly.at(-1) ?? all.find(({ offset }) => offset > 0) ?? all.at(-1)) : all.at(-1)
        if (chosen) return chosen
        const since = promised === null ? null : firstOpen(promised, of, 1)
        return promised !== null && since !== null && since <= today && reached ? { ...reached, date: promised, since } : null
      }
      const chosen = pick(calendar)
      const over = after.every(({ offset }) => dealtWith(plus(due, offset))) && (promised === null || after.length === 0)
      if (isWaiting) return 'already'
      if (isEnded) return 'ended'
      if (!chosen && over && (sequence.everyDays === null || after.length === 0)) return 'ended'
      if (!chosen) return isClosed && pick(null) ? 'quiet' : 'no_step'
      if (isOut) return 'left_out'
      if (isClosed) return 'quiet'
      if (lastMail !== undefined && there < plus(lastMail, sequence.atLeast)) return 'gap'
      return { invoice, sequence: invoice.sequence, ...chosen, at, on: today, there }
    }
    let last: Found | string = 'quiet'
    for (const arrival of arrivals(world, day, client)) {
      last = decideOn(arrival)
      if (typeof last !== 'string') break
    }
    if (typeof last !== 'string') found.push(last)
    else rules[invoice.id] = due < runDate ? last : null
  }
  const groups = world.grouped ? [...Map.groupBy(found, ({ invoice }) => groupKey(invoice)).values()] : found.map((one) => [one])
  const mails = groups.map((group) => {
    const toneOf = ({ invoice, tone, on }: Found) => (dateOfDay(invoice.due) >= on ? 'before' : tone)
    const [on] = group.map((one) => one.on).toSorted()
    const first = group.filter((one) => one.on === on)
    const order = ['final', 'firm', 'friendly', 'before']
    const [best] = first.toSorted(
      (one, other) =>
        (one.since < other.since ? -1 : one.since > other.since ? 1 : 0) || order.indexOf(toneOf(one)) - order.indexOf(toneOf(other)),
    )
    const same = first.filter((one) => best && toneOf(one) === toneOf(best))
    for (const { invoice } of group.filter((one) => !same.includes(one)))
      rules[invoice.id] = dateOfDay(invoice.due) < runDate ? 'gap' : null
    const largest = Math.max(...same.map(({ offset }) => offset))
    const textOf = same.find(({ offset }) => offset === largest)
    return {
      invoices: same.map(({ invoice }) => invoice.id),
      sequence: textOf?.sequence ?? '',
      offset: largest,
      tone: textOf?.tone ?? 'friendly',
      at: textOf?.at ?? '',
      on: textOf?.on ?? '',
      there: textOf?.there ?? '',
    }
  })
  const choicesMade = made.map(({ saved: _saved, ...one }) => one)
  return { mails, rules, choices: choicesMade, made, steps: new Map(found.map(({ invoice, date }) => [invoice.id, date])) }
}

const daysFrom = (one: string, other: string) => Math.round((Date.parse(other) - Date.parse(one)) / 86_400_000)

function outcomeOf({ mails, rules, chosen }: Planned): Outcome {
  return {
    mails: mails.map(({ invoices, step, at, date, there }) => ({
      invoices: invoices.map(({ invoice }) => invoice.id),
      sequence: step.sequence,
      offset: step.offset,
      tone: step.tone,
      at: at.toString(),
      on: dateOfDay(date),
      there: dateOfDay(there),
    })),
    rules: Object.fromEntries([...rules].map(([{ id }, rule]) => [id, rule])),
    choices: [...chosen].map(([{ id }, { step, day, reason }]) => ({
      invoice: id,
      step: dateOfDay(step),
      day: dateOfDay(day),
      why: wordOf(reason),
    })),
  }
}

// Worlds that change at random.

const zones = ['Asia/Dubai', 'Europe/London', 'Pacific/Honolulu', 'Pacific/Kiritimati', 'America/New_York', 'Asia/Kolkata']
const begin = dayNumber('2026-03-01')

type Below = (limit: number) => number

function someSequence(below: Below): PlanSequence {
  const offsets = [...new Set(Array.from({ length: 1 + below(5) }, () => (below(3) === 0 ? -below(15) : below(40))))].toSorted(
    (one, other) => one - other,
  )
  const tones: Tone[] = ['friendly', 'firm', 'final']
  const level = below(2)
  const toneOf = (nth: number): Tone => (below(6) === 0 ? tones[below(3)] : tones[Math.min(2, Math.floor((nth + level) / 2))]) ?? 'friendly'
  return {
    steps: offsets.map((offset, nth) => ({ offset, tone: toneOf(nth) })),
    everyDays: below(2) === 0 ? null : 1 + below(15),
    atMost: below(2) === 0 ? null : 1 + below(8),
    atLeast: 1 + below(7),
  }
}

function someCalendar(below: Below): Calendar | null {
  if (below(2) === 0) return null
  const days = (share: number) => new Set(Array.from({ length: 160 }, (_none, nth) => begin - 50 + nth).filter(() => below(100) < share))
  const weekends = [[6, 7], [7], [5, 6], [], [1, 2, 3, 4, 5, 6]]
  return { weekend: new Set(weekends[below(weekends.length)]), closed: days(below(3) * 12), open: days(2) }
}

/** Chances that change from day to day, as they do where more is learned. */
function someHazard(below: Below): Hazard {
  const chances = Array.from({ length: 90 }, () => below(100) / (below(2) === 0 ? 2_000 : 300))
  const paid = new Map(['asha', 'ravi', 'meera'].map((key) => [key, below(9)]))
  const all = 10 + below(60)
  return {
    at: (client, t) => chances[Math.abs(t + (client ?? '').length * 7) % chances.length] ?? 0,
    paid: (client) => (client === undefined ? all : (paid.get(client) ?? 0)),
    paidBy: (client, day) => ({ count: paid.get(client) ?? 0, last: day }),
  }
}

function someWorld(below: Below): World {
  const keys = ['s1', 's2', 's3'].slice(0, 1 + below(3))
  const clients = ['asha', 'ravi', 'meera'].slice(0, 1 + below(3))
  const choice = () => (below(6) === 0 ? (['every_day', 'never'][below(2)] ?? '') : (keys[below(keys.length)] ?? ''))
  return {
    timezone: zones[below(zones.length)] ?? '',
    reminderHour: 6 + below(12),
    grouped: below(2) === 0,
    calendar: someCalendar(below),
    clients: new Map(
      clients.flatMap((key) =>
        below(3) === 0
          ? [[key, { timezone: below(2) === 0 ? null : (zones[below(zones.length)] ?? ''), calendar: someCalendar(below) }] as const]
          : [],
      ),
    ),
    sequences: new Map(keys.map((key) => [key, someSequence(below)])),
    lastTo: new Map(),
    smart: below(2) === 0 ? { hazard: someHazard(below), days: 1 + below(10), credit: 1 } : null,
    invoices: Array.from({ length: 1 + below(6) }, (_none, nth) => ({
      id: `i${nth}`,
      clientKey: clients[below(clients.length)] ?? '',
      currency: below(5) === 0 ? 'EUR' : 'INR',
      language: nth % 3 === 0 ? 'de' : 'en',
      due: begin - 60 + below(110),
      sequence: choice(),
      ...noHistory,
      smart: below(8) > 0,
    })),
  }
}

/** What people do to an invoice, and what happens to it, before a run. */
function changed(invoice: PlanInvoice, below: Below, world: World, date: DayNumber): PlanInvoice {
  const all = [...world.sequences.keys(), 'every_day', 'never']
  const one = { ...invoice, refusedToday: below(20) === 0 }
  const acts: (() => Partial<PlanInvoice>)[] = [
    () => ({ due: one.due + below(40) - 15 }),
    () => ({ sequence: all[below(all.length)] ?? one.sequence }),
    () => ({ pause: { until: below(3) === 0 ? null : date + below(9) } }),
    () => ({ pause: null }),
    () => {
      const until = date + below(6) - 1
      return { pause: { until }, promisedUntil: until }
    },
    () => ({ addressHeld: !one.addressHeld }),
    () => ({ openMail: true }),
    () => ({ smart: !one.smart }),
  ]
  const act = below(100) < 12 ? acts[below(acts.length)] : undefined
  return { ...one, openMail: false, addressHeld: one.addressHeld && below(3) > 0, ...act?.() }
}

/** After a run some emails are accepted: of the others nothing changes. */
function afterRun(world: World, planned: Planned, accepted: Planned['mails']): World {
  const next = new Map(planned.next.invoices.map((invoice) => [invoice.id, invoice]))
  const ids = new Set(accepted.flatMap(({ invoices }) => invoices.map(({ invoice }) => invoice.id)))
  const lastTo = new Map(world.lastTo)
  for (const { invoices } of accepted)
    for (const { invoice } of invoices)
      lastTo.set(groupKey(invoice), planned.next.lastTo.get(groupKey(invoice)) ?? Number.NEGATIVE_INFINITY)
  const invoices = world.invoices.map((one) => {
    const after = next.get(one.id) ?? one
    return ids.has(one.id) ? after : { ...one, chosen: after.chosen }
  })
  return { ...world, lastTo, smart: planned.next.smart, invoices }
}

/** A step stays inside its window, after the due date, and keeps the days between two emails on both sides. */
function refuseUnkept({ smart, sequences }: World, chosen: Map<PlanInvoice, Choice>): void {
  for (const [invoice, { step, day }] of chosen) {
    const { steps = [], atLeast = 1 } = sequences.get(invoice.sequence) ?? {}
    expect(Math.abs(day - step)).toBeLessThanOrEqual(smart?.days ?? 0)
    expect(day).toBeGreaterThan(invoice.due)
    if (invoice.lastOn !== null) expect(day - invoice.lastOn).toBeGreaterThanOrEqual(atLeast)
    const following = steps.map(({ offset }) => invoice.due + offset).find((one) => one > step)
    if (following !== undefined && day > step) expect(following - day).toBeGreaterThanOrEqual(atLeast)
    expect(invoice.chosen.some((one) => one.step === step)).toBe(false)
  }
}

/** Replays a world for 60 days and compares each run with the oracle. Returns how many emails there were. */
function replay(seed: number): number {
  const random = seeded(seed)
  const below: Below = (limit) => Math.floor(random() * limit)
  let world = someWorld(below)
  const history: Sent[] = []
  const choices: Chosen[] = []
  const stepsSent = new Set<string>()
  const mailed = new Set<string>()
  const closed = new Map<string, PlanInvoice>()
  let count = 0
  let down = 0
  for (let date = begin; date < begin + 60; date += 1) {
    world = { ...world, invoices: world.invoices.map((invoice) => changed(invoice, below, world, date)) }
    if (world.smart && below(4) === 0) world = { ...world, smart: { ...world.smart, hazard: someHazard(below) } }
    if (below(40) === 0) world = { ...world, sequences: new Map([...world.sequences.keys()].map((key) => [key, someSequence(below)])) }
    const [first] = world.invoices
    if (first && below(25) === 0) {
      // Paid, or deleted.
      closed.set(first.id, first)
      world = { ...world, invoices: world.invoices.slice(1) }
    }
    const [again] = closed.values()
    if (again && below(10) === 0) {
      closed.delete(again.id)
      world = { ...world, invoices: [...world.invoices, again] }
    }
    down = down > 0 ? down - 1 : below(25) === 0 ? 1 + below(6) : 0
    const kinds: PlanDay['kind'][] = down > 0 ? [] : ['daily']
    if (below(15) === 0) kinds.unshift(below(2) === 0 ? 'start' : 'trigger')
    for (const kind of kinds) {
      const hour = { hour: world.reminderHour }
      const at = Temporal.PlainDate.from(dateOfDay(date)).toZonedDateTime({ timeZone: world.timezone, plainTime: hour })
      const out = new Set(world.invoices.flatMap(({ clientKey }) => (below(30) === 0 ? clientKey : [])))
      world = { ...world, leftOut: new Map([[date, out]]) }
      const day: PlanDay = { date, kind, at: at.toInstant(), next: at.add({ days: 1 }).toInstant() }
      const planned = plan(world, day)
      const { mails, rules, choices: chosen, made } = oracle(world, day, history, choices)
      expect(outcomeOf(planned), `seed ${seed}, ${dateOfDay(date)}, ${kind}`).toEqual({ mails, rules, choices: chosen })
      choices.push(...made)
      refuseUnkept(world, planned.chosen)
      const accepted = planned.mails.filter(() => below(8) > 0)
      for (const { invoices, date: on, there } of accepted)
        for (const { invoice, step } of invoices) {
          count += 1
          const of = `seed ${seed}, ${dateOfDay(date)}, ${invoice.id}`
          // One automatic email a day, at most as many as the sequence has, and as far apart as it asks for.
          expect(mailed.has(`${invoice.id} ${there}`), of).toBe(false)
          mailed.add(`${invoice.id} ${there}`)
          const sequence = world.sequences.get(invoice.sequence)
          if (sequence?.atMost != null) expect(invoice.sent, of).toBeLessThan(sequence.atMost)
          if (sequence && invoice.lastOn !== null) expect(there - invoice.lastOn, of).toBeGreaterThanOrEqual(sequence.atLeast)
          if (sequence && step.number !== null) {
            const key = `${invoice.id} ${invoice.due} ${step.date}`
            expect(stepsSent.has(key), of).toBe(false)
            stepsSent.add(key)
          }
          history.push({
            invoice: invoice.id,
            group: groupKey(invoice),
            on: dateOfDay(on),
            there: dateOfDay(there),
            step: dateOfDay(step.date),
            ofSequence: step.sequence !== 'every_day',
          })
        }
      world = afterRun(world, planned, accepted)
    }
    if (below(20) === 0)
      world = {
        ...world,
        invoices: world.invoices.map((invoice) => {
          if (invoice.due >= date || below(2) === 0) return invoice
          const there = Math.max(date, invoice.lastOn ?? date)
          const on = dateOfDay(there)
          history.push({ invoice: invoice.id, group: groupKey(invoice), on, there: on, step: null, ofSequence: false })
          return { ...invoice, lastOn: there }
        }),
      }
  }
  return count
}

// 60 days each; 100 worlds take about a second, 5,000 a minute.
test('plan decides as an oracle that replays the whole history of each invoice', () => {
  let emails = 0
  for (let seed = 1; seed <= times(40, 5_000); seed += 1) emails += replay(seed)
  expect(emails).toBeGreaterThan(times(200, 30_000))
})

// Single cases, by the names of the days they are about.

const ready: PlanSequence = {
  steps: [
    { offset: -3, tone: 'friendly' },
    { offset: 1, tone: 'friendly' },
    { offset: 7, tone: 'friendly' },
    { offset: 14, tone: 'firm' },
    { offset: 30, tone: 'final' },
  ],
  everyDays: null,
  atMost: 8,
  atLeast: 3,
}

function worldOf(invoices: Partial<PlanInvoice>[], about: Partial<World> = {}): World {
  const plain = {
    clientKey: 'asha',
    currency: 'INR',
    language: 'en',
    due: begin,
    sequence: 'ready',
    through: null,
    lastOn: null,
    sent: 0,
    promisedUntil: null,
  }
  const quiet = { pause: null, addressHeld: false, openMail: false, refusedToday: false, smart: true, chosen: [] }
  return {
    timezone: 'Asia/Kolkata',
    reminderHour: 9,
    grouped: false,
    calendar: null,
    clients: new Map(),
    sequences: new Map([['ready', ready]]),
    lastTo: new Map(),
    smart: null,
    ...about,
    invoices: invoices.map((one, nth) => ({ id: `i${nth}`, ...plain, ...quiet, ...one })),
  }
}

function dayOf(world: World, date: DayNumber): PlanDay {
  const at = Temporal.PlainDate.from(dateOfDay(date)).toZonedDateTime({ timeZone: world.timezone, plainTime: { hour: world.reminderHour } })
  return { date, kind: 'daily', at: at.toInstant(), next: at.add({ days: 1 }).toInstant() }
}

/** What leaves on these days, each accepted: `day offset`, days counted from the due date. */
function walk(start: World, from: number, to: number, runs: (day: number) => boolean = () => true): string[] {
  let world = start
  const left: string[] = []
  for (let day = from; day <= to; day += 1) {
    if (!runs(day)) continue
    const { mails, next } = plan(world, dayOf(world, begin + day))
    left.push(...mails.map(({ step }) => `${day} ${step.offset}`))
    world = next
  }
  return left
}

test('each step leaves on its day', () => {
  expect(walk(worldOf([{}]), -10, 60)).toEqual(['-3 -3', '1 1', '7 7', '14 14', '30 30'])
})

test('after days without a run one email leaves, of the latest step, and the others keep their days', () => {
  const sequence = { ...ready, steps: [1, 2, 3, 10].map((offset) => ({ offset, tone: 'firm' as const })), atLeast: 1 }
  const world = worldOf([{}], { sequences: new Map([['ready', sequence]]) })
  expect(walk(world, 0, 20, (day) => day < 2 || day > 4)).toEqual(['1 1', '5 3', '10 10'])
  expect(walk(worldOf([{}]), 1, 120, (day) => day < 2 || day > 91)).toEqual(['1 1', '92 30'])
  const [paused] = worldOf([{}]).invoices
  const pause = { until: begin + 20 }
  expect(paused && walk(worldOf([{ through: begin - 3, lastOn: begin - 3, sent: 1, pause }]), 0, 60)).toEqual(['21 14', '30 30'])
})

test('a step before the due date that was missed leaves up to the due date, and never after it', () => {
  expect(walk(worldOf([{}]), -1, 0)).toEqual(['-1 -3'])
  expect(walk(worldOf([{}]), 2, 2)).toEqual(['2 1'])
})

test('500 invoices imported 200 days late get one friendly email each', () => {
  const world = worldOf(Array.from({ length: 500 }, () => ({ due: begin - 200 })))
  const { mails, next } = plan(world, dayOf(world, begin))
  expect(mails.map(({ step }) => `${step.offset} ${step.tone}`)).toEqual(Array.from({ length: 500 }, () => '7 friendly'))
  expect(plan(next, dayOf(world, begin + 5)).mails).toEqual([])
})

test('a step on a quiet day leaves on the next open day, or before the due date on the last one', () => {
  const sunday = dayNumber('2026-03-01')
  const calendar = { weekend: new Set([6, 7]), closed: new Set([sunday + 1]), open: new Set<number>() }
  // Due on Sunday: the steps are on Thursday, Monday (a holiday), Sunday the 8th, and so on.
  expect(walk(worldOf([{}], { calendar }), -10, 16)).toEqual(['-3 -3', '2 1', '8 7', '15 14'])
  const onSunday = worldOf([{ due: sunday + 3 }], { calendar })
  expect(walk(onSunday, -10, 2)).toEqual(['-2 -3'])
})

test('a client whose days are all quiet gets no email', () => {
  const calendar = { weekend: new Set([1, 2, 3, 4, 5, 6, 7]), closed: new Set<number>(), open: new Set<number>() }
  const world = worldOf([{}], { calendar })
  expect(walk(world, -60, 500)).toEqual([])
  expect(world.invoices[0] && openNext(world)(world.invoices[0], begin)).toBeNull()
})

test('a client gets its email in the hours of its own zone, on the date of the step there, also where summer time begins, before the next run', () => {
  for (const account of zones)
    for (const timezone of zones) {
      const clients = new Map([['asha', { timezone, calendar: null }]])
      for (let due = dayNumber('2026-03-01'); due < dayNumber('2026-04-10'); due += 1) {
        let world = worldOf([{ due, through: due }], { timezone: account, clients })
        const left: { mail: Planned['mails'][number]; day: PlanDay }[] = []
        for (let date = due - 1; date <= due + 2; date += 1) {
          const day = dayOf(world, date)
          const { mails, next } = plan(world, day)
          left.push(...mails.map((mail) => ({ mail, day })))
          world = next
        }
        const dates = left.map(({ mail }) => mail.at.toZonedDateTimeISO(timezone).toPlainDate().toString())
        expect(dates, `${account} ${timezone}`).toEqual([dateOfDay(due + 1)])
        for (const { mail, day } of left) {
          const local = mail.at.toZonedDateTimeISO(timezone)
          expect(local.hour).toBeGreaterThanOrEqual(9)
          expect(local.hour).toBeLessThan(18)
          expect(Temporal.Instant.compare(mail.until ?? mail.at, day.next)).toBeLessThanOrEqual(0)
        }
      }
    }
})

test('an email for several invoices has one tone, and the other tone waits', () => {
  const invoices = [{ due: begin - 14 }, { due: begin - 1 }, { due: begin + 3 }].map((one) => ({
    ...one,
    lastOn: begin - 40,
    through: begin - 40,
  }))
  const world = worldOf(invoices, { grouped: true })
  const { mails, rules } = plan(world, dayOf(world, begin))
  expect(mails.map(({ invoices: about, step }) => `${step.tone} ${about.map(({ invoice }) => invoice.id)}`)).toEqual(['firm i0'])
  expect([...rules].map(([{ id }, rule]) => `${id} ${rule}`)).toEqual(['i1 gap', 'i2 null'])
})

test('the day after a broken promise counts as a step, in the words of the step reached', () => {
  const world = worldOf([{ through: begin + 8, lastOn: begin + 8, sent: 2, promisedUntil: begin + 11, pause: { until: begin + 11 } }])
  expect(walk(world, 9, 20)).toEqual(['12 7', '15 14'])
})

test('the next day of an invoice is the first on which plan sends its email', () => {
  for (let seed = 1; seed <= times(30, 2_000); seed += 1) {
    const random = seeded(seed)
    const below: Below = (limit) => Math.floor(random() * limit)
    const start = { ...someWorld(below), grouped: false }
    const past = below(2) === 0 ? { through: begin - below(30), lastOn: begin - below(30), sent: below(4) } : {}
    const world = { ...start, invoices: start.invoices.map((one) => changed({ ...one, ...past }, below, start, begin)) }
    for (const invoice of world.invoices.filter(({ openMail }) => !openMail)) {
      const days = Array.from({ length: 90 }, (_none, nth) => begin + nth)
      let alone: World = { ...world, invoices: [invoice] }
      const sends = (date: DayNumber) => {
        const { mails, next } = plan(alone, dayOf(world, date))
        alone = next
        return mails.length > 0
      }
      const found = openNext(world)(invoice, begin)?.date ?? Number.POSITIVE_INFINITY
      expect(days.find(sends) ?? null, `seed ${seed}, ${invoice.id}`).toBe(found < begin + 90 ? found : null)
    }
  }
})
