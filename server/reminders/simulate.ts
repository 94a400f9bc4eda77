import { createHash, type Hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { fromMinor } from '#contract/money.ts'
import {
  builtInSequences,
  mostPlanned,
  type PlannedMail,
  planDays,
  type ReminderPlan,
  type Simulation,
  type SimulationRequest,
} from '#contract/sequences.ts'
import { firstLanguage } from '#contract/speech.ts'
import { groupValues, reminderValues, renderGroupReminder, renderReminder, type Wording } from '#contract/templates.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { speechOf } from '#server/platform/speech.ts'
import { isZone } from '#server/platform/zones.ts'
import { readWordings } from '#server/templates/templates.ts'
import { type Quiet, quietAfter } from './calendars.ts'
import { type Learned, readLearned } from './learned.ts'
import { type Outlook, readOutlook } from './outlook.ts'
import { type DayNumber, dateOfDay, dayNumber, groupKey, type PlanMail, plan, type StepDue, type World } from './plan.ts'
import { apartFrom, dayAfter, firstDateAfterStart, leavesAt, localDate, nextRun, type Occurrence, owedFrom } from './schedule.ts'
import { readStoredSteps, type StoredStep, wordingsAt } from './sequence-steps.ts'
import { whyOn } from './steps.ts'
import { texts } from './texts.ts'
import { type Choices, readStored, readWorld, type StoredInvoice, todayAt } from './world.ts'

type Reading = Pick<Deps, 'db' | 'config'> & { account: AccountRow; now: Instant }
type Change = Omit<SimulationRequest, 'days' | 'suppose'>

/** The emails of the next days, without a change; of one `invoice` for much less, where smart reminders do not spend on it what others save. */
export async function readPlan(
  reading: Reading,
  { days, invoice, suppose }: { days: number; invoice?: string | undefined; suppose?: SimulationRequest['suppose'] },
): Promise<ReminderPlan> {
  const { db, account } = reading
  const which = invoice === undefined ? undefined : account.smart ? sql`true` : beside(account, invoice)
  const all = await planAhead(reading, {}, Math.max(days, planDays), await readNow(reading, {}, which))
  const ahead = invoice === undefined ? all : { ...all, mails: all.mails.filter(({ invoiceIds }) => invoiceIds.includes(invoice)) }
  const mails = ahead.isSupposed && !suppose ? [] : within(ahead, reading, days)
  return {
    mails: await toPlanned(db, ahead, mails),
    count: mails.length,
    clients: new Set(mails.map(({ clientKey }) => clientKey)).size,
    fingerprint: fingerprintOf([within(ahead, reading, planDays)]),
  }
}

/** An invoice `i` with those that may share its emails. */
function beside({ id, groupByClient }: AccountRow, invoice: string): SQL {
  const it = sql`(SELECT t.id, lower(t.client_email) AS client_key FROM invoices t WHERE t.owner_id = ${id}::uuid AND t.id::text = ${invoice})`
  return groupByClient ? sql`lower(i.client_email) IN (SELECT client_key FROM ${it} t)` : sql`i.id IN (SELECT id FROM ${it} t)`
}

/** How many emails leave in the next days, and to how many clients. */
export async function countPlan(reading: Reading, days: number): Promise<{ emails: number; clients: number }> {
  const { mails, isSupposed } = await planAhead(reading, {}, days, await readNow(reading))
  if (isSupposed) return { emails: 0, clients: 0 }
  return { emails: mails.length, clients: new Set(mails.map(({ clientKey }) => clientKey)).size }
}

/** The emails of the daily run of a date, those of clients that are left out on it included. */
export async function readPlanOfDay(
  reading: Reading,
  date: string,
): Promise<{ clientEmail: string; clientName: string; references: string[] }[]> {
  const read = await readNow(reading)
  const days = dayNumber(date) - dayNumber(localDate(reading.now, reading.account.timezone)) + 1
  const ahead = await planAhead(reading, {}, days, { ...read, whole: date })
  const mails = ahead.isSupposed ? [] : ahead.mails.filter(({ runDate }) => runDate === date)
  await readFacts(
    reading.db,
    read.facts,
    mails.flatMap(({ invoiceIds }) => invoiceIds),
  )
  return mails.flatMap(({ invoiceIds }) => {
    const about = invoiceIds.flatMap((id) => read.facts.get(id) ?? [])
    const [first] = about
    return first
      ? [{ clientEmail: first.clientEmail, clientName: first.clientName, references: about.map(({ reference }) => reference) }]
      : []
  })
}

/** What a change would add, remove, move and reword in the next days; changes nothing. Refuses with `invalid` an unknown zone or sequence. */
export async function simulate(reading: Reading, { days = planDays, suppose, ...change }: SimulationRequest): Promise<Simulation> {
  const read = await readNow(reading, change)
  const before = await planAhead(reading, {}, Math.max(days, planDays), read)
  const after = await planAhead(reading, change, Math.max(days, planDays), read)
  const shown = (ahead: Ahead) => (ahead.isSupposed && !suppose ? [] : within(ahead, reading, days))
  const [old, fresh] = [shown(before), shown(after)]
  const found = compare(old, fresh)
  const listed = async (ahead: Ahead, mails: Left[]) => toPlanned(reading.db, ahead, mails)
  const moved = found.moved.slice(0, mostPlanned)
  return {
    before: await listed(before, old),
    after: await listed(after, fresh),
    added: await listed(after, found.added),
    removed: await listed(before, found.removed),
    moved: (
      await listed(
        after,
        moved.map(({ to }) => to),
      )
    ).map((mail, nth) => ({ ...mail, from: moved[nth]?.from ?? mail.localDate })),
    reworded: await listed(after, found.reworded),
    counts: {
      before: old.length,
      after: fresh.length,
      added: found.added.length,
      removed: found.removed.length,
      moved: found.moved.length,
      reworded: found.reworded.length,
    },
    most: await mostToOne(reading.db, after, fresh),
    // Of as many days as a change is compared by, however many were asked for, and of what would leave where nothing does.
    fingerprint: fingerprintOf([within(before, reading, planDays), within(after, reading, planDays)]),
  }
}

/** Refuses with `plan_changed`, and what the change would do now, where that is not what was looked at. */
export async function refuseChanged(reading: Reading, change: Change, seen: string | undefined): Promise<void> {
  if (seen === undefined) return
  const now = await simulate(reading, { ...change, days: planDays })
  if (now.fingerprint !== seen) throw new ProblemError('plan_changed', texts.planChanged, { simulation: now })
}

/** An email on its day, and what makes its words. It keeps no invoice of its world: 30 days of them are too much memory. */
interface Left {
  at: Instant
  step: StepDue
  /** It leaves once daily reminders are started: at any time. */
  byStart: boolean
  /** The date of its run, and the dates on which it leaves at the account and at the client: in another time zone they may differ. */
  runDate: string
  localDate: string
  clientDate: DayNumber
  clientKey: string
  language: string
  invoiceIds: string[]
  /** The same as one text, to compare. */
  ids: string
  words: string
  /** So many days had to be between it and the email before. */
  waitedFor: number | null
}

interface Ahead {
  mails: Left[]
  /** The schedule is off or on hold: they leave only once it is started. */
  isSupposed: boolean
  /** The texts of the steps by sequence and offset, and those of the template, in a language. */
  wordingOf: (step: StepDue, language: string) => { one: Wording; group: Wording; key: string }
  userName: string
  /** Those that are answered already: an email may be in several lists. */
  shown: Map<Left, PlannedMail>
  facts: Facts
  /** Why a step leaves on another day than its date. */
  say: Quiet['say']
}

/** What a plan with a change and one without it have in common. */
interface Now {
  stored: StoredInvoice[]
  /** What smart reminders learn from, where they are on before or after the change. */
  learned: Learned | undefined
  facts: Facts
  /** The date on which clients that are left out count too. */
  whole?: string
}

async function readNow({ db, account, now }: Reading, { settings }: Change = {}, which = sql`true`): Promise<Now> {
  const { id, timezone } = account
  const isSmart = account.smart || settings?.smart === true
  return {
    stored: await readStored(db, id, which),
    learned: isSmart ? await readLearned(db, { id, timezone, today: localDate(now, timezone) }, { afterEmails: false }) : undefined,
    facts: new Map(),
  }
}

/** The emails of so many days; those that would leave if the schedule was started now, where it is off or on hold. */
async function planAhead(
  { db, account, now, config }: Reading,
  change: Change,
  days: number,
  { stored, learned, facts, whole }: Now,
): Promise<Ahead> {
  const { settings = {} } = change
  const changed = changedAccount(account, settings, now)
  const languages = new Set([firstLanguage, ...stored.map(({ language }) => language)])
  const stepsIn = new Map<string, Map<string, StoredStep[]>>()
  for (const language of languages) stepsIn.set(language, withChange(await readStoredSteps(db, account.id, language), change, language))
  refuseUnknown(change, new Set<string>([...builtInSequences, ...(stepsIn.get(firstLanguage)?.keys() ?? [])]))
  const template = (await readWordings(db, [account.id])).get(account.id)
  if (!template) throw new Error('The wordings of an account were not read.')
  const wordings = new Map<string, { one: Wording; group: Wording; key: string }>()
  const wordingOf = ({ sequence, offset }: StepDue, language: string) => {
    const key = `${sequence} ${offset} ${language}`
    const known = wordings.get(key)
    if (known) return known
    const { one, group } = wordingsAt(stepsIn.get(language)?.get(sequence), offset, language) ?? template.in(language)
    const made = { one, group, key: hash(JSON.stringify([one.subject, one.content, group.subject, group.content])) }
    wordings.set(key, made)
    return made
  }
  const outlook = await readOutlook(db, changed, now, config)
  const mails: Left[] = []
  const today = localDate(now, changed.timezone)
  const last = dayNumber(today) + days
  const read = await worldOf(db, changed, change, { today, now, stored, learned })
  const leftOut = new Map([...(read.leftOut ?? [])].filter(([date]) => dateOfDay(date) !== whole))
  let world = settled({ ...read, leftOut }, stored, todayAt(changed, read, now))
  let waiting = new Set<string>()
  for (let run = firstRun(changed, outlook, now); dayNumber(run.date) < last; ) {
    read.learning?.until(dayNumber(run.date), world.invoices)
    const byStart = run.kind === 'start'
    const next = nextDaily(changed, run)
    const leaves = byStart ? run.at : (leavesAt(changed, run.at) ?? run.at)
    const planned = plan(world, { date: dayNumber(run.date), kind: run.kind, at: leaves, next: next.at })
    for (const { at, until, date: clientDate, step, invoices } of byTime(planned.mails, world)) {
      const invoiceIds = invoices.map(({ invoice }) => invoice.id)
      const waitedFor = invoiceIds.some((id) => waiting.has(id)) ? (world.sequences.get(step.sequence)?.atLeast ?? null) : null
      const { clientKey = '', language = firstLanguage } = invoices[0]?.invoice ?? {}
      mails.push({
        at,
        step,
        byStart,
        runDate: run.date,
        localDate: until === null ? run.date : localDate(at, changed.timezone),
        clientDate,
        clientKey,
        language,
        invoiceIds,
        ids: invoiceIds.join(' '),
        words: wordingOf(step, language).key,
        waitedFor,
      })
    }
    waiting = new Set()
    for (const [{ id }, rule] of planned.rules) if (rule === 'gap') waiting.add(id)
    world = planned.next
    // Other requests have their turn between two days of very many invoices.
    await setImmediate()
    run = next
  }
  const isSupposed = outlook.state !== 'active'
  return { mails, isSupposed, wordingOf, userName: account.displayName, shown: new Map(), facts, say: read.say }
}

type Run = Occurrence & { kind: 'daily' | 'start' }

/** The next daily run, of a schedule that is on hold too; where the schedule is off, the run that Start would make now. */
function firstRun(account: AccountRow, outlook: Outlook, now: Instant): Run {
  if (outlook.state === 'active') return { at: outlook.at, date: outlook.date, kind: 'daily' }
  const { nextRunAt, timezone } = account
  if (outlook.state === 'off' || !nextRunAt) return { at: now, date: localDate(now, timezone), kind: 'start' }
  return { ...nextRun(account, { now, notBefore: localDate(nextRunAt, timezone), lastRunAt: apartFrom(account) }), kind: 'daily' }
}

/** The daily run after another one, or after Start, which may be on the same day. */
function nextDaily(account: AccountRow, { at, date, kind }: Run): Run {
  if (kind === 'daily') return { ...nextRun(account, { now: at, notBefore: dayAfter(date), lastRunAt: null }), kind }
  return { ...nextRun(account, { now: at, notBefore: firstDateAfterStart(account, at), lastRunAt: apartFrom(account) }), kind: 'daily' }
}

/** Only those to clients in other time zones leave later than their run. */
function byTime(mails: PlanMail[], { clients }: World): PlanMail[] {
  return clients.size === 0 ? mails : mails.toSorted((one, other) => Temporal.Instant.compare(one.at, other.at))
}

function changedAccount(account: AccountRow, settings: NonNullable<Change['settings']>, now: Instant): AccountRow {
  const { sequence, groupByClient = account.groupByClient, timezone = account.timezone, reminderHour = account.reminderHour } = settings
  refuseUnknownZone(timezone, 'settings.timezone')
  const chosen = sequence === undefined ? {} : toChoice(sequence)
  const quiet = quietAfter({ ...account, timezone }, settings)
  const { smart = account.smart, smartDays = account.smartDays } = settings
  const changed = { ...account, groupByClient, timezone, reminderHour, smart, smartDays, ...quiet, ...chosen }
  if ((timezone === account.timezone && reminderHour === account.reminderHour) || !account.nextRunAt) return changed
  const notBefore = owedFrom({ ...account, nextRunAt: account.nextRunAt })
  return { ...changed, nextRunAt: nextRun(changed, { now, notBefore, lastRunAt: apartFrom({ ...account, scheduleChangedAt: now }) }).at }
}

function refuseUnknown({ settings, assignments = [] }: Change, known: ReadonlySet<string>): void {
  const named = [settings?.sequence, ...assignments.map(({ sequence }) => sequence)]
  if (named.some((one) => typeof one === 'string' && !known.has(one))) throw new ProblemError('invalid', texts.sequences.none)
  for (const [nth, { timezone }] of assignments.entries()) if (timezone) refuseUnknownZone(timezone, `assignments.${nth}.timezone`)
}

function refuseUnknownZone(timezone: string, path: string): void {
  if (!isZone(timezone)) throw invalid(path, texts.unknownZone)
}

/** The columns of a choice of a sequence. */
export function toChoice(sequence: string): { follows: 'every_day' | 'never' | 'own'; sequenceId: string | null } {
  return sequence === 'every_day' || sequence === 'never'
    ? { follows: sequence, sequenceId: null }
    : { follows: 'own', sequenceId: sequence }
}

async function worldOf(
  db: Database,
  account: AccountRow,
  { sequences = [], assignments = [], ownDays }: Change,
  about: { today: string; now: Instant; stored: StoredInvoice[]; learned: Learned | undefined },
): Promise<Awaited<ReturnType<typeof readWorld>>> {
  const ofInvoice = new Map(assignments.flatMap(({ invoiceId, ...its }) => (invoiceId === undefined ? [] : [[invoiceId, its] as const])))
  const ofClient = new Map(assignments.flatMap(({ clientId, ...its }) => (clientId === undefined ? [] : [[clientId, its] as const])))
  const choose = (invoiceId: string, choices: Choices): Choices => {
    const { sequence: own = choices.own, smart = choices.smart } = ofInvoice.get(invoiceId) ?? {}
    const its = choices.clientId === null ? undefined : ofClient.get(choices.clientId)
    return {
      ...choices,
      own,
      smart,
      ofClient: its?.sequence === undefined ? choices.ofClient : its.sequence,
      smartOfClient: its?.smart ?? choices.smartOfClient,
    }
  }
  const world = await readWorld(db, account, { ...about, grouped: account.groupByClient, choose, ownDays, moved: ofClient })
  const changed = sequences.map(({ _id, steps, everyDays, atMost, atLeast }) => {
    const ascending = steps.map(({ offset, tone }) => ({ offset, tone })).toSorted((one, other) => one.offset - other.offset)
    return [_id, { steps: ascending, everyDays, atMost, atLeast }] as const
  })
  return { ...world, sequences: new Map([...world.sequences, ...changed]) }
}

/** An email that waits is taken for one that is accepted today, and deals with the steps that it then will. */
function settled(world: World, stored: StoredInvoice[], todayOf: (clientKey: string) => number): World {
  const waiting = new Map(stored.flatMap((one) => (one.openMail ? [[one.id, one] as const] : [])))
  const lastTo = new Map(world.lastTo)
  const invoices = world.invoices.map((invoice) => {
    const email = waiting.get(invoice.id)
    if (!email) return invoice
    const today = todayOf(invoice.clientKey)
    if (world.sequences.has(invoice.sequence)) lastTo.set(groupKey(invoice), today)
    const through = email.openThrough === null ? invoice.through : Math.max(dayNumber(email.openThrough), invoice.through ?? 0)
    return { ...invoice, openMail: false, lastOn: today, through, sent: invoice.sent + (email.openStep ? 1 : 0) }
  })
  return { ...world, invoices, lastTo }
}

/** The steps as they would be: texts in other languages than that of the change stay with the steps of the same day and tone. */
function withChange(stored: Map<string, StoredStep[]>, { sequences = [], language: changed = firstLanguage }: Change, language: string) {
  const steps = new Map(stored)
  for (const { _id, steps: fresh } of sequences) {
    const before = stored.get(_id) ?? []
    const kept = ({ offset, tone }: StoredStep) => before.find((one) => one.offset === offset && one.tone === tone)?.texts ?? null
    steps.set(
      _id,
      fresh.map(({ offset, tone, subject, content, groupSubject, groupContent }) => {
        const step = { offset, tone, texts: { subject, content, groupSubject, groupContent } }
        return language === changed ? step : { ...step, texts: kept(step) }
      }),
    )
  }
  return steps
}

function within({ mails }: Ahead, { account, now }: Reading, days: number): Left[] {
  const last = dateOfDay(dayNumber(localDate(now, account.timezone)) + days)
  return mails.filter(({ runDate }) => runDate < last)
}

/**
 * Emails about the same invoices on the same day are the same. Of the others those of the same step are moved, then those of the same
 * sequence in the order of their days, because an edited step has another one.
 */
function compare(before: Left[], after: Left[]): { added: Left[]; removed: Left[]; moved: { to: Left; from: string }[]; reworded: Left[] } {
  // By day and invoices instead of one key of both: an account may have 300,000 emails in 30 days.
  const old = byDay(before)
  const fresh = byDay(after)
  const kept = (days: typeof old, { localDate: date, ids }: Left) => days.get(date)?.get(ids)
  const gone = Map.groupBy(
    before.filter((one) => !kept(fresh, one)),
    ({ ids }) => ids,
  )
  const reworded: Left[] = []
  const others: Left[] = []
  const moved: { to: Left; from: string }[] = []
  const from = new Set<Left>()
  const move = (to: Left, isSame: (other: Left) => boolean) => {
    const was = gone.get(to.ids)?.find((other) => !from.has(other) && isSame(other))
    if (!was) return false
    from.add(was)
    moved.push({ to, from: was.localDate })
    return true
  }
  for (const one of after) {
    const same = kept(old, one)
    if (same) {
      if (same.words !== one.words) reworded.push(one)
      continue
    }
    if (!move(one, ({ step }) => step.offset === one.step.offset)) others.push(one)
  }
  const added = others.filter((one) => !move(one, ({ step }) => step.sequence === one.step.sequence))
  moved.sort((one, other) => (one.to.localDate < other.to.localDate ? -1 : one.to.localDate > other.to.localDate ? 1 : 0))
  return { added, removed: before.filter((one) => !kept(fresh, one) && !from.has(one)), moved, reworded }
}

function byDay(mails: Left[]): Map<string, Map<string, Left>> {
  const days = new Map<string, Map<string, Left>>()
  for (const one of mails) {
    const day = days.get(one.localDate) ?? new Map<string, Left>()
    days.set(one.localDate, day.set(one.ids, one))
  }
  return days
}

function fingerprintOf(all: Left[][]): string {
  const whole = createHash('sha256')
  for (const mails of all) {
    whole.update('\n')
    for (const [date, day] of Map.groupBy(mails, ({ localDate: at }) => at)) {
      // When Start is pressed is not known.
      const lines = day.map(
        ({ at, byStart, step, ids, words }) => `${byStart ? 'start' : at.epochMilliseconds} ${step.offset} ${words} ${ids}`,
      )
      whole.update(`${date}\n${lines.join('\n')}\n`)
    }
  }
  return short(whole)
}

function hash(text: string): string {
  return short(createHash('sha256').update(text))
}

function short(made: Hash): string {
  return made.digest('base64url').slice(0, 22)
}

const factsRow = z.object({
  id: z.string(),
  reference: z.string(),
  clientName: z.string(),
  clientEmail: z.string(),
  currency: z.string(),
  amountMinor: z.coerce.number(),
  paidMinor: z.coerce.number(),
  dueDate: z.string(),
})

type Facts = Map<string, z.output<typeof factsRow>>

/** Adds to `facts` what is not there yet. */
async function readFacts(db: Database, facts: Facts, ids: string[]): Promise<void> {
  const missing = ids.filter((id) => !facts.has(id))
  if (missing.length === 0) return
  const found = await rows(
    db,
    factsRow,
    sql`SELECT i.id, i.reference, i.client_name AS "clientName", i.client_email AS "clientEmail", i.currency, i.amount_minor AS "amountMinor", i.paid_minor AS "paidMinor", i.due_date::text AS "dueDate"
        FROM invoices i WHERE i.id = ANY(${arrayText(missing)}::uuid[])`,
  )
  for (const one of found) facts.set(one.id, one)
}

/** The first of these emails as they are shown. */
async function toPlanned(db: Database, ahead: Ahead, all: Left[]): Promise<PlannedMail[]> {
  const mails = all.slice(0, mostPlanned)
  const fresh = mails.filter((one) => !ahead.shown.has(one))
  await readFacts(db, ahead.facts, [...new Set(fresh.flatMap(({ invoiceIds }) => invoiceIds))])
  for (const one of fresh) {
    const shown = showMail(ahead, one)
    if (shown) ahead.shown.set(one, shown)
  }
  return mails.flatMap((one) => ahead.shown.get(one) ?? [])
}

function showMail(
  { wordingOf, userName, facts, say }: Ahead,
  { at, step, localDate: date, clientDate, clientKey, language, invoiceIds, waitedFor }: Left,
): PlannedMail | null {
  const about = invoiceIds.flatMap((id) => facts.get(id) ?? [])
  const [first] = about
  if (!first) return null
  const { currency, clientName, clientEmail } = first
  const listed = about.map((one) => ({
    ...one,
    amount: fromMinor(one.amountMinor - one.paidMinor, currency),
    invoiceAmount: fromMinor(one.amountMinor, currency),
    paidAmount: fromMinor(one.paidMinor, currency),
    daysOverdue: clientDate - dayNumber(one.dueDate),
  }))
  const names = { clientName, userName, currency, speech: speechOf(language) }
  const { one, group } = wordingOf(step, language)
  const [single] = listed
  const totalMinor = about.reduce((sum, { amountMinor, paidMinor }) => sum + amountMinor - paidMinor, 0)
  // The list of invoices takes long, and is hardly ever part of a subject.
  const total = {
    invoices: group.subject.includes('invoiceList') ? listed : [],
    count: listed.length,
    total: fromMinor(totalMinor, currency),
  }
  const { subject } =
    single && listed.length === 1
      ? renderReminder({ ...one, content: '' }, reminderValues({ ...names, ...single }))
      : renderGroupReminder({ ...group, content: '' }, groupValues({ ...names, ...total }))
  const { sequence, offset, tone, date: stepDate, since, number } = step
  return {
    at: at.toString(),
    localDate: date,
    clientName,
    clientEmail,
    invoiceIds: about.map(({ id }) => id),
    sequence,
    offset,
    tone,
    subject,
    why: waitedFor !== null ? texts.nextStep.gap(date, waitedFor) : whyOn(step, { clientKey, clientName, date, say }),
    movedFrom: number !== null && (since !== stepDate || waitedFor !== null) ? dateOfDay(stepDate) : null,
  }
}

async function mostToOne(db: Database, ahead: Ahead, mails: Left[]): Promise<Simulation['most']> {
  const byClient = Map.groupBy(mails, ({ clientKey }) => clientKey)
  const [most] = [...byClient.values()].toSorted((one, other) => other.length - one.length)
  const [first] = await toPlanned(db, ahead, most?.slice(0, 1) ?? [])
  return most && first ? { emails: most.length, clientName: first.clientName, clientEmail: first.clientEmail } : null
}
