import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, ne, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type CallParts, type Role, reaches } from '#contract/call.ts'
import { balanceOf, type CheckedRow } from '#contract/import/lines.ts'
import { formatMoney } from '#contract/money.ts'
import { screens } from '#contract/screens.ts'
import type { Pull, SourceLook, sourceCalls, WatchedSource } from '#contract/sources.ts'
import { type AccountRow, findAccount, lockAccount, lockAsSeen, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { refuseHandedOver, reportMade } from '#server/accounts/made.ts'
import { notifyOwner, withdrawNotices } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import { countTry } from '#server/accounts/throttle.ts'
import { entitlementsOf, refuseWithout, type Wanted } from '#server/billing/billing.ts'
import { listLayouts } from '#server/invoices/file-layouts.ts'
import { importInvoices, undoableOf } from '#server/invoices/import.ts'
import { hasReference } from '#server/invoices/invoices.ts'
import { type AfterChange, invoices } from '#server/invoices/tables.ts'
import type { Account } from '#server/platform/answer.ts'
import { type Instant, systemTimers, type Timers } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { type FairScheduler, openFairScheduler, type Slot, type Slots } from '#server/platform/fair-scheduler.ts'
import type { Queue } from '#server/platform/job.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { zoneOf } from '#server/platform/zones.ts'
import { waitForReading } from '#server/reminders/daily-runs.ts'
import { resumeHeld } from '#server/reminders/holds.ts'
import { readLanguages } from '#server/templates/templates.ts'
import { defaultNetwork, download, refuseAddress, type WebhookNetwork } from './http-client.ts'
import { pullSourcesJob } from './jobs.ts'
import type { Known, Read, Reading } from './read-source.ts'
import { pulls, sources } from './tables.ts'
import { texts } from './texts.ts'

type SourceRow = typeof sources.$inferSelect
type PullRow = typeof pulls.$inferSelect
/** An account and what is done about its changed invoices. */
type Pulling = Deps & { onChange: AfterChange }

/** The most addresses of an account. */
const mostSources = 10
/** Pulls by hand, an hour. */
const byHand = { limit: 30, seconds: 3_600 }
/** A download may take this long, in ms, with its redirects; reading the file as long again. */
const deadline = 30_000
/** More new invoices than this wait for a person; and changes of more than a third of those that are known, but for a few. */
const mostNew = 100
const few = 3
/** Failures in a row until the owner is notified. */
const patience = 3
/** Lines of a look. */
const mostShown = 500
const kept = { hours: 90 * 24 }
/** As much memory as reading a file may take, in MB: 20,000 lines of short cells need more than 64. */
const readerMemory = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 }
/** Files of all accounts, each up to 5 MB from its download until it was read. Those of servers that were slow for 5 s have at most a quarter. */
const filesAtOnce = { slots: 16, each: 2, slow: { afterMs: 5_000, slots: 4 } }
/** Files that are read at a time. */
const readAtOnce = { slots: 2, each: 1 }
/** Accounts whose addresses a process pulls, or that wait for a slot. After so many ms one that waits gives way to others. */
export const pulledAtOnce = 64
const turnPatience = 10_000
/** A pull by hand that takes longer, in ms, is given up: the browser waits for 45 s. */
const handPatience = 40_000

/** What pulls of all accounts share. */
interface Shares {
  files: FairScheduler
  readings: FairScheduler
  timers: Timers
}

export function openShares(timers: Timers = systemTimers): Shares {
  return { files: openFairScheduler({ ...filesAtOnce, timers }), readings: openFairScheduler({ ...readAtOnce, timers }), timers }
}

/** Of calls and jobs alike, because the memory of their process is one. */
const shares = openShares()

const wanted = { ability: 'scheduling', what: 'Watched addresses' } satisfies Wanted

/** What files are downloaded over, and what is shared meanwhile. */
interface Reach {
  network: WebhookNetwork
  shares: Shares
}

export function sourceReach(config: Deps['config']): Reach {
  return { network: { ...defaultNetwork(config), deadline }, shares }
}

/** `role`: of who asks. Below an admin the links are left out: they may open the file for everyone who has them. */
export async function listSources(db: Database, ownerId: string, role: Role): Promise<WatchedSource[]> {
  const found = await db.select().from(sources).where(eq(sources.ownerId, ownerId)).orderBy(asc(sources.createdAt), asc(sources.id))
  const last = await db
    .selectDistinctOn([pulls.sourceId])
    .from(pulls)
    .where(eq(pulls.ownerId, ownerId))
    .orderBy(pulls.sourceId, desc(pulls.at), desc(pulls.id))
  const ids = last.map(({ id }) => id)
  const undoable = await undoableOf(db, ownerId, ids)
  const bySource = new Map(last.map((pull) => [pull.sourceId, toPull(pull, undoable.has(pull.id))]))
  const all = found.map((row) => toSource(row, bySource.get(row.id) ?? null))
  return reaches(role, 'admin') ? all : all.map((source) => ({ ...source, url: null }))
}

/** Watches an address. It is looked at on the next day first: what it has today is looked through by hand. */
export async function addSource(
  deps: Deps,
  account: Account,
  { name, url, daysToPay, missingMeansPaid }: CallParts<typeof sourceCalls.create>['body'],
  from: Origin,
  now: Instant,
): Promise<WatchedSource> {
  const { db, config } = deps
  await refuseWithout(wanted, db, account.id, now, config)
  const address = fileAddress(url, config)
  return db.transaction(async (tx) => {
    const owner = await lockAsSeen(tx, account)
    if ((await tx.$count(sources, eq(sources.ownerId, owner.id))) >= mostSources)
      throw new ProblemError('conflict', texts.source.mostSources(mostSources))
    const values = { ownerId: owner.id, name: name ?? new URL(address).host, url: address, daysToPay, missingMeansPaid }
    const [row] = await tx
      .insert(sources)
      .values({ ...values, madeBy: account.person.id, createdAt: now, pulledFor: dateOf(now, owner) })
      .returning()
    await writeAudit(tx, { ownerId: owner.id, kind: 'source_added', about: new URL(address).host }, from, now)
    await reportMade(tx, deps, account, madeOf(row as SourceRow), now)
    return toSource(row as SourceRow, null)
  })
}

const madeOf = ({ id, url }: Pick<SourceRow, 'id' | 'url'>) =>
  ({ kind: 'source', id, name: new URL(url).host, link: screens.sources }) as const

/** A new address makes it theirs who set it. Refuses with `conflict` one that was handed over. */
export async function changeSource(
  deps: Deps,
  account: Account,
  id: string,
  { name, url, daysToPay, missingMeansPaid }: CallParts<typeof sourceCalls.update>['body'],
  from: Origin,
  now: Instant,
): Promise<WatchedSource> {
  const { db, config } = deps
  const ownerId = account.id
  const address = url === undefined ? undefined : fileAddress(url, config)
  await db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    const [before] = await tx.select().from(sources).where(thisSource(ownerId, id))
    if (!before) throw new ProblemError('not_found', texts.source.notFound)
    refuseHandedOver(before)
    const isMoved = address !== undefined && address !== before.url
    const change = { name, daysToPay, missingMeansPaid, ...(isMoved ? { url: address, failures: 0, madeBy: account.person.id } : {}) }
    if (Object.values(change).some((value) => value !== undefined)) await tx.update(sources).set(change).where(thisSource(ownerId, id))
    if (!isMoved) return
    await writeAudit(tx, { ownerId, kind: 'source_added', about: new URL(address).host }, from, now)
    await reportMade(tx, deps, account, madeOf({ id, url: address }), now)
  })
  const found = (await listSources(db, ownerId, 'admin')).find(({ _id }) => _id === id)
  if (!found) throw new ProblemError('not_found', texts.source.notFound)
  return found
}

export async function removeSource(db: Database, ownerId: string, id: string, from: Origin, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    const [gone] = await tx.delete(sources).where(thisSource(ownerId, id)).returning({ url: sources.url })
    if (!gone) throw new ProblemError('not_found', texts.source.notFound)
    await withdrawNotices(tx, ownerId, ['source_failing', 'source_waiting'], id)
    await writeAudit(tx, { ownerId, kind: 'source_removed', about: new URL(gone.url).host }, from, now)
  })
}

/** The file of a link to a Google Sheet; another address as it is. Refuses with `invalid` one that is never called. */
function fileAddress(address: string, config: Deps['config']): string {
  const url = new URL(address)
  const sheet = /^\/spreadsheets\/d\/([\w-]+)(?:\/|$)/.exec(url.pathname)?.[1]
  const isPublished = url.pathname.includes('/pub') || url.searchParams.get('format') === 'csv' || url.pathname.includes('/d/e/')
  const gid = url.searchParams.get('gid') ?? /gid=(\d+)/.exec(url.hash)?.[1] ?? '0'
  const file =
    url.hostname === 'docs.google.com' && sheet && !isPublished
      ? `https://docs.google.com/spreadsheets/d/${sheet}/export?format=csv&gid=${gid}`
      : url.href
  const network = { allowPrivateHosts: config.allowPrivateWebhookHosts }
  const message =
    url.username !== '' || url.password !== '' || (url.protocol !== 'https:' && !network.allowPrivateHosts)
      ? texts.source.notHttps
      : refuseAddress(file, network)
  if (message !== null) throw invalid('url', message)
  return file
}

/** What a file would change. */
interface Looked {
  fingerprint: string
  rows: CheckedRow[]
  refused: number
  changes: number
  waits: boolean
  /** What the file leaves open, in sentences: rows that depend on it are not recorded. */
  asks: string[]
}

/** The slot of a file, what ends it early, and what is given back once the rows of the file are stored: until then they take memory. */
interface Turn {
  slot: Slot
  stopping: AbortSignal
  held: DisposableStack
}

/**
 * Downloads and reads the file of a source, and compares it with the invoices. Changes nothing. Answers a sentence where it cannot, and null where it
 * was interrupted: it was slow while slow servers had their share, or the process stops.
 */
async function look(
  db: Database,
  owner: AccountRow,
  source: SourceRow,
  now: Instant,
  reach: Reach,
  turn: Turn,
): Promise<Looked | string | null> {
  const read = await readAddress(db, owner, source, now, reach, turn)
  if (typeof read === 'string' || read === null) return read
  const { checked, missing, asks } = read
  const isClear = checked.some(({ state }) => ['ready', 'update', 'same', 'noted'].includes(state))
  // Where every row waits, nothing is recorded, and a person is asked.
  if (!isClear && asks.length > 0) return { fingerprint: '', rows: checked, refused: checked.length, changes: 0, waits: true, asks }
  const gone = source.missingMeansPaid ? missing : []
  const wantedRows = [...checked.filter(({ state }) => ['ready', 'update', 'same', 'noted'].includes(state)), ...gone]
  if (wantedRows.length === gone.length) return texts.source.empty
  const count = (...states: CheckedRow['state'][]) => wantedRows.filter(({ state }) => states.includes(state)).length
  const [fresh, changed, known] = [count('ready'), count('update', 'missing'), count('update', 'missing', 'same', 'noted')]
  const hash = createHash('sha256').update(JSON.stringify(wantedRows.map(({ state, draft }) => [state, draft])))
  return {
    fingerprint: hash.digest('base64url'),
    rows: [...checked, ...gone],
    refused: checked.length - (wantedRows.length - gone.length),
    changes: fresh + changed,
    waits: fresh > mostNew || (changed > few && changed * 3 > known),
    asks,
  }
}

/** In the slot of its file, and then also in that of a reading. Null: it was interrupted. */
async function readAddress(
  db: Database,
  owner: AccountRow,
  source: SourceRow,
  now: Instant,
  { network, shares }: Reach,
  { slot, stopping, held }: Turn,
): Promise<Extract<Read, { kind: 'rows' }> | string | null> {
  const crowdedOut = new AbortController()
  const cut = AbortSignal.any([crowdedOut.signal, stopping])
  slot.begin(() => crowdedOut.abort())
  const file = await download(source.url, network, cut)
  // What it waits for from here on is not its server.
  slot.end()
  if (cut.aborted) return null
  if ('words' in file) return file.words
  const reader = await held
    .use(shares.readings.open(owner.id))
    .acquire({ until: stopping })
    .catch(() => null)
  if (!reader) return null
  held.defer(reader.release)
  const reading = {
    bytes: new Uint8Array(file.bytes),
    today: dateOf(now, owner),
    usual: owner.currency,
    held: await currenciesOf(db, owner),
    daysToPay: source.daysToPay,
    languages: await readLanguages(db, owner.id),
    layouts: (await listLayouts(db, owner.id)).filter(({ kind }) => kind === 'invoices'),
  }
  return readFile(reading, (references) => knownInvoices(db, source, references))
}

/** The currencies in use in an account: `$` is the one of them that has this sign. */
async function currenciesOf(db: Database, { id, currency }: AccountRow): Promise<string[]> {
  const found = await db
    .selectDistinct({ currency: invoices.currency })
    .from(invoices)
    .where(and(eq(invoices.ownerId, id), isNull(invoices.deletedAt)))
  return [...new Set([currency, ...found.map((row) => row.currency)])]
}

/** Reads a file in a thread of its own, which takes its bytes over. */
function readFile(reading: Reading, know: (references: string[]) => Promise<Known>): Promise<Extract<Read, { kind: 'rows' }> | string> {
  const worker = new Worker(new URL('./read-source.ts', import.meta.url), {
    workerData: reading,
    transferList: [reading.bytes.buffer],
    resourceLimits: readerMemory,
  })
  const { promise, resolve, reject } = Promise.withResolvers<Extract<Read, { kind: 'rows' }> | string>()
  const timer = setTimeout(() => resolve(texts.source.tooSlow), deadline)
  worker.on('message', (message: Read) => {
    if (message.kind === 'references') know(message.references).then((known) => worker.postMessage(known), reject)
    else if (message.kind === 'rows') resolve(message)
    else if (message.kind === 'long-row') resolve(texts.source.longRow(message.number))
    else resolve(unread[message.kind])
  })
  // Out of memory, or a file that breaks its reader.
  worker.on('error', () => resolve(texts.source.notCsv))
  return promise.finally(async () => {
    clearTimeout(timer)
    await worker.terminate()
  })
}

const unread = {
  'not-csv': texts.source.notCsv,
  empty: texts.source.empty,
  'no-columns': texts.source.noColumns,
  'too-long': texts.source.tooLong,
}

/**
 * The invoices with these references, and the open ones that came from the source. What was deleted here is remembered as long as the file has it:
 * else it would be created again, and its client reminded.
 */
async function knownInvoices(db: Database, { ownerId, id: sourceId, deleted }: SourceRow, references: string[]): Promise<Known> {
  const asked = arrayText(references)
  const named = hasReference(references)
  const renamed = and(eq(invoices.source, sourceId), sql`${invoices.importedAs} = ANY(${asked}::text[])`)
  const gone = await db
    .selectDistinct({ reference: invoices.reference, importedAs: invoices.importedAs })
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), eq(invoices.source, sourceId), isNotNull(invoices.deletedAt), or(named, renamed)))
  const there = new Set(references)
  const their = [...gone.flatMap(({ reference, importedAs }) => [reference, importedAs ?? reference]), ...deleted]
  const stay = new Set(their.filter((reference) => there.has(reference)))
  if (stay.size !== deleted.length || deleted.some((reference) => !stay.has(reference)))
    await db
      .update(sources)
      .set({ deleted: [...stay] })
      .where(thisSource(ownerId, sourceId))
  const open = and(eq(invoices.source, sourceId), ne(invoices.status, 'paid'))
  const found = await db
    .select({
      reference: invoices.reference,
      clientName: invoices.clientName,
      clientEmail: invoices.clientEmail,
      currency: invoices.currency,
      amountMinor: invoices.amountMinor,
      paidMinor: invoices.paidMinor,
      status: invoices.status,
      dueDate: invoices.dueDate,
      importedAs: invoices.importedAs,
      source: invoices.source,
    })
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), isNull(invoices.deletedAt), or(named, renamed, open)))
  return {
    invoices: found.map(({ source: _, ...invoice }) => invoice),
    ofSource: new Set(found.filter(({ source }) => source === sourceId).map(({ reference }) => reference)),
    deleted: stay,
  }
}

/** Imports what a look has found. Each line is checked again by the import. */
async function apply(
  deps: Pulling,
  ownerId: string,
  source: SourceRow,
  { looked, set }: { looked: Looked; set?: Partial<SourceRow> },
  now: Instant,
): Promise<Pull> {
  const { db, onChange, config } = deps
  const lines = looked.rows.flatMap(({ state, draft }) => (draft && state !== 'duplicate' ? [draft] : []))
  const id = newId()
  const about = { lines, keepDuplicates: false, pastDue: 'hold' as const, onExisting: 'update' as const, source: source.id, key: null }
  const result = await importInvoices(db, ownerId, { ...about, importId: id }, now, onChange, config)
  const { imported, updated, unchanged } = result
  const refused = looked.refused + result.lines.filter((line) => 'code' in line).length
  const outcome = { id, state: 'applied' as const, imported, updated, unchanged, refused }
  return record(db, source, { ...outcome, ...(looked.asks.length > 0 ? { message: texts.source.asks(looked.asks) } : {}) }, now, set)
}

type Outcome = Pick<PullRow, 'state'> & Partial<PullRow>

/** Records what a pull led to, and what of the source changes by it. */
async function record(
  db: Database,
  { ownerId, id: sourceId }: SourceRow,
  outcome: Outcome,
  now: Instant,
  set: Partial<SourceRow> = { failures: 0 },
): Promise<Pull> {
  return db.transaction(async (tx) => {
    const [still] = await tx.update(sources).set(set).where(thisSource(ownerId, sourceId)).returning({ id: sources.id })
    if (!still) throw new ProblemError('not_found', texts.source.notFound)
    await tx.delete(pulls).where(and(eq(pulls.ownerId, ownerId), lt(pulls.at, now.subtract(kept))))
    const [row] = await tx
      .insert(pulls)
      .values({ id: newId(), ...outcome, ownerId, sourceId, at: now })
      .returning()
    if (outcome.state === 'applied') await withdrawNotices(tx, ownerId, ['source_failing', 'source_waiting'], sourceId)
    return toPull(row as PullRow, (outcome.imported ?? 0) + (outcome.updated ?? 0) > 0)
  })
}

/**
 * Looks at an address now, and applies what was looked through. Refuses with `invalid` an address that cannot be read, and with `conflict` a
 * file that is another one meanwhile, or that changes much and was not looked through.
 */
export async function pullByHand(
  deps: Pulling,
  account: AccountRow,
  { id, ...asked }: { id: string } & CallParts<typeof sourceCalls.pull>['body'],
  reach: Reach,
): Promise<SourceLook> {
  const { db, clock, config } = deps
  const now = clock.now()
  await refuseWithout(wanted, db, account.id, now, config)
  if (config.rateLimit) await countTry(db, `pull:${account.id}`, byHand, now)
  const [source] = await db.select().from(sources).where(thisSource(account.id, id))
  if (!source) throw new ProblemError('not_found', texts.source.notFound)
  refuseHandedOver(source)
  const late = new AbortController()
  const cancel = reach.shares.timers.after(handPatience, () => late.abort())
  try {
    for (;;) {
      using held = new DisposableStack()
      const slots = held.use(reach.shares.files.open(account.id))
      const slot = await slots.acquire({ server: source.id, until: late.signal }).catch(() => null)
      if (slot) held.defer(slot.release)
      const looked = slot && (await look(db, account, source, now, reach, { slot, stopping: late.signal, held }))
      if (late.signal.aborted) throw new ProblemError('too_many', texts.source.busy, { retryAfter: 60 })
      if (looked !== null) return await lookedByHand(deps, account, source, { looked, ...asked }, now)
    }
  } finally {
    cancel()
  }
}

async function lookedByHand(
  deps: Pulling,
  account: AccountRow,
  source: SourceRow,
  { looked, ...asked }: CallParts<typeof sourceCalls.pull>['body'] & { looked: Looked | string },
  now: Instant,
): Promise<SourceLook> {
  const { db } = deps
  if (typeof looked === 'string') throw new ProblemError('invalid', looked)
  const { fingerprint, changes, waits, asks } = looked
  if (asked.apply && asked.fingerprint !== undefined && asked.fingerprint !== fingerprint)
    throw new ProblemError('conflict', texts.source.changed)
  const isAsked = changes === 0 && waits
  if (asked.apply && isAsked) throw new ProblemError('conflict', texts.source.asks(asks))
  if (asked.apply && asked.fingerprint === undefined && waits) throw new ProblemError('conflict', texts.source.waits(changes))
  const by = asked.apply ? await changeOf(db, source) : null
  if (by !== null)
    throw by === 'removed' ? new ProblemError('not_found', texts.source.notFound) : new ProblemError('conflict', texts.source.changed)
  const pull = asked.apply ? await apply(deps, account.id, source, { looked }, now) : null
  const lines = looked.rows.filter(({ state }) => state !== 'same').slice(0, mostShown)
  return {
    fingerprint,
    changes,
    waits,
    asks,
    pull,
    lines: lines.map(({ number, state, draft, message, cells }) => ({
      line: number,
      reference: draft?.reference ?? cells.find((cell) => cell !== '') ?? '',
      state,
      about: draft ? `${draft.clientName}, ${formatMoney(balanceOf(draft).amount, balanceOf(draft).currency)}` : '',
      message,
    })),
  }
}

/** What someone did about an address while its file was read, which takes minutes where others are before it; null: nothing. Handed over is as removed. */
async function changeOf(db: Database, { ownerId, id, url, daysToPay, missingMeansPaid }: SourceRow): Promise<'removed' | 'changed' | null> {
  const [now] = await db.select().from(sources).where(thisSource(ownerId, id))
  if (!now || now.offeredTo !== null) return 'removed'
  return now.url === url && now.daysToPay === daysToPay && now.missingMeansPaid === missingMeansPaid ? null : 'changed'
}

/** Signals every account with an address whose hour has come: one before the daily run, by the clock of the account. */
export async function enqueueDuePulls({ db, queue, clock }: Pick<Deps, 'db' | 'queue' | 'clock'>): Promise<void> {
  const due = await db
    .selectDistinct({ ownerId: sources.ownerId })
    .from(sources)
    .innerJoin(accounts, eq(accounts.id, sources.ownerId))
    .where(isDue(clock.now()))
  if (due.length > 0) await queue.sendMany(db, pullSourcesJob, due)
}

const hourBefore = sql`make_interval(hours => ${accounts.reminderHour} - 1)`
const zone = () => zoneOf(accounts.timezone)
const at = (now: Instant) => sql`${now.toString()}::timestamptz`
/** The local date of the pull that was due last, and since when it is due. */
const dueFor = (now: Instant) => sql`((${at(now)} AT TIME ZONE ${zone()}) - ${hourBefore})::date`
const dueSince = (now: Instant) => sql`((${dueFor(now)} + ${hourBefore}) AT TIME ZONE ${zone()})`
/** One that was handed over is not read until someone takes it over, and nothing waits for it. */
const behind = (now: Instant) => sql`(${sources.pulledFor} < ${dueFor(now)} AND ${sources.offeredTo} IS NULL)`
const untried = (now: Instant) => sql`(${sources.triedAt} IS NULL OR ${sources.triedAt} < ${dueSince(now)})`
const failed = sql`${sources.failures} > 0`
/** The process, or its database, went away in the last try of this day. */
const unfinished = (now: Instant) => sql`(NOT ${untried(now)} AND NOT EXISTS (
  SELECT 1 FROM ${pulls} WHERE ${pulls.ownerId} = ${sources.ownerId} AND ${pulls.sourceId} = ${sources.id} AND ${pulls.at} >= ${sources.triedAt}))`

/** One that failed is tried again every ten minutes until the hour of the daily run, and every minute while the run waits for it. */
function isDue(now: Instant): SQL {
  const ago = (minutes: number) => sql`${sources.triedAt} <= ${at(now.subtract({ minutes }))}`
  return sql`${behind(now)} AND (${untried(now)} OR (${failed} AND (
    (${ago(10)} AND ${at(now)} < ${dueSince(now)} + interval '1 hour') OR (${ago(1)} AND ${accounts.readingUntil} > ${at(now)}))))`
}

/**
 * Whether an account has an address for which its daily run is to wait, because no process was there in the hour before: the email would ask for
 * what the file may have as paid. An address that failed all the time is not waited for.
 */
export function waitsForSources(now: Instant): SQL {
  const lately = sql`${sources.triedAt} >= ${at(now.subtract({ minutes: 15 }))}`
  return sql`EXISTS (SELECT 1 FROM ${sources} WHERE ${sources.ownerId} = ${accounts.id} AND ${behind(now)} AND (${untried(now)} OR (${failed} AND NOT ${lately})))`
}

/** After the plan has changed: held emails are queued again, once the addresses that were not read without a plan have been. */
export async function resumeOnceRead(tx: Database, queue: Queue, ownerId: string, now: Instant): Promise<void> {
  const found = await rows(
    tx,
    z.object({ id: z.string() }),
    sql`UPDATE ${sources} SET tried_at = NULL FROM ${accounts} WHERE ${accounts.id} = ${ownerId}::uuid AND ${sources.ownerId} = ${accounts.id} AND ${behind(now)} RETURNING ${sources.id}`,
  )
  if (found.length > 0) await queue.send(tx, pullSourcesJob, { ownerId })
  else await resumeHeld(tx, queue, ownerId, now)
}

/**
 * Pulls one address of an account whose hour has come; the next one queues again, so that accounts take turns. Where it is not its turn, or it is
 * interrupted, the address is due as before, and queued again within 15 s.
 */
export async function pullDue(deps: Pulling, ownerId: string, reach: Reach, stopping: AbortSignal): Promise<void> {
  const { db, queue, clock, config } = deps
  const asked = clock.now()
  const [due, next] = await db
    .select({ source: sources, isFirst: sql<boolean>`${untried(asked)}`, isUnfinished: sql<boolean>`${unfinished(asked)}` })
    .from(sources)
    .innerJoin(accounts, eq(accounts.id, sources.ownerId))
    .where(and(eq(sources.ownerId, ownerId), isDue(asked)))
    .orderBy(asc(sources.pulledFor), asc(sources.id))
    .limit(2)
  const owner = await findAccount(db, ownerId)
  if (!owner) return
  const { abilities } = await entitlementsOf(db, ownerId, asked, config)
  const isAllowed = abilities.includes(wanted.ability)
  if (due) {
    using held = new DisposableStack()
    const slots = held.use(reach.shares.files.open(ownerId))
    // Before anything is stored: an address that only waits was not tried.
    const slot = isAllowed ? await turnOf(slots, due.source, reach.shares, stopping) : null
    if (isAllowed && !slot) return
    if (slot) held.defer(slot.release)
    const now = clock.now()
    // The run must not take an address that is being read for one that was.
    if (isAllowed) await waitForReading(db, [ownerId], now)
    // First, as a failure: else a database that goes away meanwhile would cost the day. A file which ends this process is read twice a day at most.
    const failures = due.source.failures + (due.isFirst ? 1 : 0)
    const started = { failures, ...(due.isUnfinished ? { pulledFor: dueDateOf(now, owner) } : {}) }
    await db
      .update(sources)
      .set({ triedAt: now, ...(isAllowed ? started : {}) })
      .where(thisSource(ownerId, due.source.id))
    if (next) await queue.send(db, pullSourcesJob, { ownerId })
    if (slot) {
      const pulling = pullNow(deps, owner, due, now, reach, { slot, stopping, held })
      const isRead = await pulling.catch(async (error: unknown) => {
        // Tried again as what could not be read: a refused statement must not cost the day.
        deps.log.error({ err: error }, 'What a watched address had could not be stored.')
        await fail(deps, owner, due, texts.source.notApplied, now)
        return true
      })
      if (!isRead) return
    }
  }
  // Also where a process died while it read the last one.
  if (!next) await endReading(deps, ownerId, isAllowed, clock.now())
}

/** The slot for the file of an address; null where others are before it for a while. */
async function turnOf(slots: Slots, { id }: SourceRow, { timers }: Shares, stopping: AbortSignal): Promise<Slot | null> {
  const late = new AbortController()
  const cancel = timers.after(turnPatience, () => late.abort())
  return slots
    .acquire({ server: id, until: AbortSignal.any([late.signal, stopping]) })
    .catch(() => null)
    .finally(cancel)
}

/** A source that is due, and whether it was not tried on this day. */
interface DueSource {
  source: SourceRow
  isFirst: boolean
}

/** Answers false where it was interrupted: the address is pulled again. */
async function pullNow(deps: Pulling, owner: AccountRow, due: DueSource, now: Instant, reach: Reach, turn: Turn): Promise<boolean> {
  const { db } = deps
  const { source, isFirst } = due
  const done = { failures: 0, pulledFor: dueDateOf(now, owner) }
  const looked = await look(db, owner, source, now, reach, turn)
  const by = await changeOf(db, source)
  if (by === 'removed') return true
  // It is pulled again, as it is now.
  if (by === 'changed' || looked === null) {
    const failures = sql`greatest(${sources.failures} - ${isFirst ? 1 : 0}::int, 0)`
    const set = { pulledFor: source.pulledFor, triedAt: by === 'changed' ? null : source.triedAt, failures }
    await db.update(sources).set(set).where(thisSource(owner.id, source.id))
  } else if (typeof looked === 'string') await fail(deps, owner, due, looked, now)
  else if (looked.waits) await wait(deps, owner, source, { looked, set: done }, now)
  else await apply(deps, owner.id, source, { looked, set: done }, now)
  return looked !== null
}

/** Nothing more is due: held emails are queued again, and the daily run waits only for what could not be read and is tried again. */
async function endReading({ db, queue }: Deps, ownerId: string, isAllowed: boolean, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await lockAccount(tx, ownerId))) return
    const again = sql`EXISTS (SELECT 1 FROM ${sources} WHERE ${sources.ownerId} = ${accounts.id} AND ${behind(now)} AND (${untried(now)} OR ${failed}))`
    await tx.execute(
      sql`UPDATE ${accounts} SET reading_until = ${at(now)} WHERE ${accounts.id} = ${ownerId}::uuid AND reading_until > ${at(now)} AND NOT ${again}`,
    )
    if (isAllowed) await resumeHeld(tx, queue, ownerId, now)
  })
}

/** Of the tries of a day one counts. */
async function fail(deps: Deps, owner: AccountRow, { source, isFirst }: DueSource, message: string, now: Instant): Promise<void> {
  const failures = source.failures + (isFirst ? 1 : 0)
  await record(deps.db, source, { state: 'failed', message }, now, { failures, pulledFor: source.pulledFor })
  if (!isFirst || failures !== patience) return
  const about = { title: texts.source.failingTitle(source.name), text: message, link: screens.sources, cause: source.id }
  await deps.db.transaction((tx) => notifyOwner(tx, deps, owner, { kind: 'source_failing', ...about }, now))
}

async function wait(
  deps: Deps,
  owner: AccountRow,
  source: SourceRow,
  { looked: { changes, asks }, set }: { looked: Looked; set: Partial<SourceRow> },
  now: Instant,
): Promise<void> {
  const message = changes === 0 ? texts.source.asks(asks) : texts.source.waits(changes)
  await record(deps.db, source, { state: 'waiting', message }, now, set)
  const about = { title: texts.source.waitsTitle(source.name), text: message, link: screens.sources, cause: source.id }
  await deps.db.transaction((tx) => notifyOwner(tx, deps, owner, { kind: 'source_waiting', ...about }, now))
}

function thisSource(ownerId: string, id: string): SQL | undefined {
  return z.uuid().safeParse(id).success ? and(eq(sources.ownerId, ownerId), inArray(sources.id, [id])) : sql`false`
}

/** The local date of the pull that was due last. */
function dueDateOf(now: Instant, { timezone, reminderHour }: AccountRow): string {
  const local = now.toZonedDateTimeISO(timezone).toPlainDateTime()
  return local
    .subtract({ hours: reminderHour - 1 })
    .toPlainDate()
    .toString()
}

function dateOf(now: Instant, { timezone }: Pick<AccountRow, 'timezone'>): string {
  return now.toZonedDateTimeISO(timezone).toPlainDate().toString()
}

function toSource(row: SourceRow, lastPull: Pull | null): WatchedSource {
  const { id, name, url, daysToPay, missingMeansPaid, createdAt, failures, offeredTo } = row
  const handedOver = offeredTo !== null
  return { _id: id, name, url, daysToPay, missingMeansPaid, createdAt: createdAt.toString(), failures, handedOver, lastPull }
}

function toPull({ id, at, state, message, imported, updated, unchanged, refused }: PullRow, undoable: boolean): Pull {
  return { _id: id, at: at.toString(), state, message, imported, updated, unchanged, refused, undoable }
}
