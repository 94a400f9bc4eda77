import { and, asc, eq, isNotNull, ne, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { accountCalls } from '#contract/accounts.ts'
import type { CallParts } from '#contract/call.ts'
import type { clientCalls } from '#contract/clients.ts'
import {
  mostSequences,
  type Sequence,
  type SequenceDraft,
  type SequenceStep,
  type StepText,
  type sequenceCalls,
  versionOfSequence,
} from '#contract/sequences.ts'
import { sampleValues } from '#contract/templates.ts'
import { lockAsSeen, type Origin, refuseStale, writeAudit } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { refuseWithout } from '#server/billing/billing.ts'
import { clients, type InvoiceRow, invoices, sequences } from '#server/invoices/tables.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { speechOf } from '#server/platform/speech.ts'
import { readWordings } from '#server/templates/templates.ts'
import type { Whereabouts } from './calendars.ts'
import { composeReminder } from './compose.ts'
import { supersede, supersedeAbout } from './deliveries.ts'
import { localDate } from './schedule.ts'
import { readSteps, writeSteps } from './sequence-steps.ts'
import { refuseChanged, toChoice } from './simulate.ts'
import { ownDays, smartChoices } from './tables.ts'
import { texts } from './texts.ts'

/** Who changes what; `from`: for the audit log. */
interface Changing extends Pick<Deps, 'db' | 'config'> {
  account: Account
  from: Origin | null
  now: Instant
}

const inherit = { follows: 'inherit' as const, sequenceId: null }

type SequenceRow = typeof sequences.$inferSelect

/** The sequences of an account by name, behind those that every account has. */
export async function listSequences(db: Database, account: Account, language: string): Promise<Sequence[]> {
  const own = await db.select().from(sequences).where(eq(sequences.ownerId, account.id)).orderBy(asc(sequences.name), asc(sequences.id))
  const steps = await readSteps(db, account.id, language)
  const uses = await readUses(db, account.id)
  const isDefault = (id: string) => (account.sequenceId ?? account.follows) === id
  const use = (id: string) => ({ ...(uses.get(id) ?? { invoices: 0, clients: 0 }), isDefault: isDefault(id) })
  const builtIn = { everyDays: null, atMost: null, atLeast: 1, version: 1, builtIn: true }
  return [
    {
      ...builtIn,
      _id: 'every_day',
      name: texts.sequences.everyDay,
      steps: [await stepOfTemplate(db, account.id, language)],
      everyDays: 1,
      ...use('every_day'),
    },
    { ...builtIn, _id: 'never', name: texts.sequences.never, steps: [], ...use('never') },
    ...own.map((row) => ({ ...toSequence(row, steps.get(row.id) ?? []), ...use(row.id) })),
  ]
}

function toSequence({ id, name, version, everyDays, atMost, atLeast }: SequenceRow, steps: SequenceStep[]) {
  return { _id: id, name, version, steps, everyDays, atMost, atLeast, builtIn: false }
}

/** The one step of Every day: the texts of the template. */
async function stepOfTemplate(db: Database, ownerId: string, language: string): Promise<SequenceStep> {
  const wordings = (await readWordings(db, [ownerId], [language])).get(ownerId)
  if (!wordings) throw new Error('The wordings of an account were not read.')
  const { one, group } = wordings.in(language)
  const words = { subject: one.subject, content: one.content, groupSubject: group.subject, groupContent: group.content }
  return { offset: 1, tone: 'friendly', ...words, copyToMe: false, copyToSecondContact: false }
}

/** How many open invoices and clients have a sequence by a choice of their own, by sequence. */
async function readUses(db: Database, ownerId: string): Promise<Map<string, { invoices: number; clients: number }>> {
  const found = await rows(
    db,
    z.object({ id: z.string(), invoices: z.number(), clients: z.number() }),
    sql`SELECT id, sum(invoices)::int AS invoices, sum(clients)::int AS clients FROM (
          SELECT coalesce(i.sequence_id::text, i.follows) AS id, 1 AS invoices, 0 AS clients FROM invoices i
            WHERE i.owner_id = ${ownerId}::uuid AND i.follows <> 'inherit' AND i.deleted_at IS NULL AND i.status <> 'paid'
          UNION ALL SELECT coalesce(k.sequence_id::text, k.follows), 0, 1 FROM clients k WHERE k.owner_id = ${ownerId}::uuid AND k.follows <> 'inherit') uses
        GROUP BY id`,
  )
  return new Map(found.map(({ id, ...use }) => [id, use]))
}

/** Refuses with `not_found`. */
export async function readSequence(db: Database, account: Account, id: string, language: string): Promise<Sequence> {
  const found = (await listSequences(db, account, language)).find(({ _id }) => _id === id)
  if (!found) throw new ProblemError('not_found', texts.sequences.none)
  return found
}

/** Refuses with `plan_limit` where the plan has no daily reminders, and with `conflict` beyond the most that an account may have. */
export async function createSequence(change: Changing, draft: SequenceDraft, language: string): Promise<Sequence> {
  const { db, account, now, config, from } = change
  const id = newId()
  await db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    await refuseWithout('scheduling', tx, account.id, now, config)
    if ((await tx.$count(sequences, eq(sequences.ownerId, account.id))) >= mostSequences)
      throw new ProblemError('conflict', texts.sequences.tooMany(mostSequences))
    await tx.insert(sequences).values({ id, ownerId: account.id, ...columnsOf(draft), createdAt: now, updatedAt: now })
    await writeSteps(tx, { ownerId: account.id, sequenceId: id, language }, draft.steps)
    await writeAudit(tx, { ownerId: account.id, kind: 'sequence_saved', about: draft.name }, from, now)
  })
  return readSequence(db, account, id, language)
}

function columnsOf({ name, everyDays, atMost, atLeast }: SequenceDraft) {
  return { name, everyDays, atMost, atLeast }
}

/**
 * Emails that wait are composed again; the state of no invoice changes, because it is a date. Refuses with `not_found`, `plan_limit`, with
 * `changed_meanwhile` what is meant for another version, and with `plan_changed` where the plan is another one than what was looked at.
 */
export async function replaceSequence(
  change: Changing & { ifMatch: string | undefined },
  id: string,
  draft: SequenceDraft,
  language: string,
): Promise<Sequence> {
  const { db, account, now, config, from, ifMatch } = change
  await db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    await refuseWithout('scheduling', tx, account.id, now, config)
    const row = await findSequence(tx, account.id, id)
    const version = versionOfSequence({ _id: row.id, version: row.version })
    await refuseStale(tx, locked, { ifMatch, what: 'this sequence', version, kind: 'sequence_saved', about: row.name }, now)
    const { fingerprint, ...fields } = draft
    await refuseChanged({ db: tx, config, account: locked, now }, { sequences: [{ _id: row.id, ...fields }], language }, fingerprint)
    await tx
      .update(sequences)
      .set({ ...columnsOf(draft), version: row.version + 1, updatedAt: now })
      .where(eq(sequences.id, row.id))
    await writeSteps(tx, { ownerId: account.id, sequenceId: row.id, language }, draft.steps)
    await writeAudit(tx, { ownerId: account.id, kind: 'sequence_saved', about: draft.name }, from, now)
  })
  return readSequence(db, account, id, language)
}

async function findSequence(db: Database, ownerId: string, id: string): Promise<SequenceRow> {
  const [row] = await db
    .select()
    .from(sequences)
    .where(and(eq(sequences.ownerId, ownerId), sql`${sequences.id}::text = ${id}`))
  if (!row) throw new ProblemError('not_found', texts.sequences.none)
  return row
}

/** Deletes a sequence; what has it has `use` afterwards. Refuses with `not_found`, and with `conflict` one in use without another one. */
export async function removeSequence({ db, account, from, now }: Changing, id: string, use: string | undefined): Promise<void> {
  await db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    const row = await findSequence(tx, account.id, id)
    const uses = (await readUses(tx, account.id)).get(id) ?? { invoices: 0, clients: 0 }
    const isDefault = locked.sequenceId === id
    if (use === undefined && (uses.invoices > 0 || uses.clients > 0 || isDefault))
      throw new ProblemError('conflict', texts.sequences.inUse(uses.invoices, uses.clients))
    if (use === id) throw new ProblemError('invalid', texts.sequences.itself)
    const choice = use === undefined ? null : await choiceOf(tx, account.id, use)
    await supersede(tx, account.id, sql`d.sequence_id = ${id}::uuid`)
    // Invoices that are paid or deleted may have it without counting as a use.
    for (const table of [invoices, clients])
      await tx
        .update(table)
        .set(choice ?? inherit)
        .where(and(eq(table.ownerId, account.id), eq(table.sequenceId, id)))
    if (isDefault && choice) await tx.update(accounts).set(choice).where(eq(accounts.id, account.id))
    await tx.delete(sequences).where(eq(sequences.id, id))
    await noteSteps(tx, account.id)
    await writeAudit(tx, { ownerId: account.id, kind: 'sequence_deleted', about: row.name }, from, now)
    if (isDefault) await writeAudit(tx, { ownerId: account.id, kind: 'reminder_settings_changed' }, from, now)
  })
}

/** The columns of a choice. Refuses with `not_found` a sequence that is not of the account. */
async function choiceOf(tx: Database, ownerId: string, sequence: string) {
  const choice = toChoice(sequence)
  if (choice.sequenceId !== null) await findSequence(tx, ownerId, choice.sequenceId)
  return choice
}

/** Chooses the sequence of an invoice, and whether smart reminders may move its steps. Refuses with `not_found`, `plan_limit` and `plan_changed`. */
export async function assignToInvoice(
  change: Changing,
  id: string,
  { sequence, smart, fingerprint }: CallParts<typeof sequenceCalls.assign>['body'],
): Promise<InvoiceRow> {
  const { db, account } = change
  return db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    const here = and(eq(invoices.ownerId, account.id), sql`${invoices.id}::text = ${id}`, sql`${invoices.deletedAt} IS NULL`)
    const [row] = await tx.select().from(invoices).where(here)
    if (!row) throw new ProblemError('not_found', texts.noInvoice)
    const about = { invoiceId: row.id, sequence, smart }
    await refuseChanged({ ...change, db: tx, account: locked }, { assignments: [about] }, fingerprint)
    if (smart !== undefined) await tx.update(invoices).set({ smart, updatedAt: change.now }).where(eq(invoices.id, row.id))
    if (sequence !== undefined) {
      const choice = await prepare(tx, change, sequence)
      await tx
        .update(invoices)
        .set({ ...choice, updatedAt: change.now })
        .where(eq(invoices.id, row.id))
      await finish(tx, change, { which: sql`i.id = ${row.id}::uuid`, about: row.reference })
    }
    const [after = row] = await tx.select().from(invoices).where(here)
    return after
  })
}

/** Refuses with `plan_changed` a change of a client that would do something else than what was looked at. */
export async function refuseChangedClient(
  { db, account, config, now }: Changing,
  clientId: string,
  { fingerprint, ...chosen }: Pick<CallParts<typeof clientCalls.update>['body'], 'fingerprint' | 'sequence' | 'smart' | keyof Whereabouts>,
): Promise<void> {
  if (fingerprint === undefined) return
  const locked = await lockAsSeen(db, account)
  await refuseChanged({ db, config, account: locked, now }, { assignments: [{ clientId, ...chosen }] }, fingerprint)
}

/** The same for time zone and hour of a locked account. */
export async function refuseChangedSchedule(
  reading: Parameters<typeof refuseChanged>[0],
  { fingerprint, timezone, reminderHour }: CallParts<typeof accountCalls.changeProfile>['body'],
): Promise<void> {
  await refuseChanged(reading, { settings: { timezone, reminderHour } }, fingerprint)
}

/** Chooses the sequence of a client: of every invoice of it without a choice of its own. */
export async function assignToClient(change: Changing, id: string, sequence: string | null): Promise<void> {
  const { db, account } = change
  await db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    const [row] = await tx
      .select()
      .from(clients)
      .where(and(eq(clients.ownerId, account.id), sql`${clients.id}::text = ${id}`))
    if (!row) throw new ProblemError('not_found', texts.noClient)
    const choice = await prepare(tx, change, sequence)
    await tx.update(clients).set(choice).where(eq(clients.id, row.id))
    await finish(tx, change, { which: sql`lower(i.client_email) = ${row.emailKey} AND i.follows = 'inherit'`, about: row.emailKey })
  })
}

/** The same for the account: every client and invoice without a choice of its own. */
export async function assignToAccount(tx: Database, change: Omit<Changing, 'db'>, sequence: string): Promise<void> {
  const choice = await choiceOf(tx, change.account.id, sequence)
  if (sequence !== 'every_day') await refuseWithout('scheduling', tx, change.account.id, change.now, change.config)
  await tx.update(accounts).set(choice).where(eq(accounts.id, change.account.id))
  const which = sql`i.follows = 'inherit' AND NOT EXISTS (
    SELECT 1 FROM clients k WHERE k.owner_id = i.owner_id AND k.email_key = lower(i.client_email) AND k.follows <> 'inherit')`
  await finish(tx, change, { which, about: texts.sequences.account })
}

async function prepare(tx: Database, { account, config, now }: Changing, sequence: string | null) {
  const choice = sequence === null ? inherit : await choiceOf(tx, account.id, sequence)
  // Whose plan has ended can still return to what everybody has.
  if (sequence !== null && sequence !== 'every_day') await refuseWithout('scheduling', tx, account.id, now, config)
  return choice
}

/** Emails that wait for these invoices `i` were planned by another sequence: the next run plans again. */
async function finish(
  tx: Database,
  { account, from, now }: Omit<Changing, 'db'>,
  { which, about }: { which: SQL; about: string },
): Promise<void> {
  await supersedeAbout(tx, account.id, which)
  await noteSteps(tx, account.id)
  await writeAudit(tx, { ownerId: account.id, kind: 'sequence_assigned', about }, from, now)
}

/** Whether an account's runs must be planned by `plan`: for steps, quiet days or the clock of a client. */
export async function noteSteps(tx: Database, ownerId: string): Promise<void> {
  const chosen = sql`follows IN ('never', 'own')`
  await tx.execute(sql`
    UPDATE accounts a SET plans_steps = a.follows <> 'every_day' OR EXISTS (SELECT 1 FROM clients WHERE owner_id = a.id AND ${chosen})
      OR EXISTS (SELECT 1 FROM invoices WHERE owner_id = a.id AND ${chosen})
      OR coalesce(a.quiet_weekends, false) OR coalesce(a.quiet_holidays, false) OR EXISTS (SELECT 1 FROM own_days WHERE owner_id = a.id)
      OR EXISTS (SELECT 1 FROM clients WHERE owner_id = a.id AND timezone IS NOT NULL)
    WHERE a.id = ${ownerId}::uuid`)
}

/** Every client is reminded every day again, no day is quiet, and copies go to no one else. Returns how many sequences and clients with further recipients there were. */
export async function removeSequences(tx: Database, ownerId: string): Promise<number> {
  const contacts = await tx
    .update(clients)
    .set({ secondContact: null, copies: null })
    .where(and(eq(clients.ownerId, ownerId), or(isNotNull(clients.secondContact), isNotNull(clients.copies))))
    .returning({ id: clients.id })
  for (const table of [clients, invoices])
    await tx
      .update(table)
      .set(inherit)
      .where(and(eq(table.ownerId, ownerId), ne(table.follows, 'inherit')))
  await tx
    .update(clients)
    .set({ language: null, country: null, region: null, timezone: null, smart: true })
    .where(eq(clients.ownerId, ownerId))
  await tx.delete(ownDays).where(eq(ownDays.ownerId, ownerId))
  await tx.delete(smartChoices).where(eq(smartChoices.ownerId, ownerId))
  const asNew = {
    smart: false,
    smartDays: 5,
    smartCredit: 0,
    follows: 'every_day',
    sequenceId: null,
    plansSteps: false,
    quietWeekends: null,
    quietHolidays: null,
    country: null,
    region: null,
  } as const
  await tx.update(accounts).set(asNew).where(eq(accounts.id, ownerId))
  const gone = await tx.delete(sequences).where(eq(sequences.ownerId, ownerId)).returning({ id: sequences.id })
  return gone.length + contacts.length
}

/** The step with this text, or as it is saved. Refuses with `not_found`. */
export async function stepToTest(
  db: Database,
  account: Account,
  id: string,
  { offset, text, language }: { offset: number; text?: Omit<StepText, 'offset'> | undefined; language: string },
): Promise<StepText> {
  const { steps } = await readSequence(db, account, id, language)
  if (text) return { ...text, offset }
  const step = steps.find((one) => one.offset === offset)
  if (!step) throw new ProblemError('not_found', texts.sequences.noStep)
  return step
}

/** The email of a step about one or two made-up invoices, to the person who asks. */
export async function composeTest(
  step: StepText,
  about: { account: Account; from: string; group: boolean; language: string; now: Instant },
): Promise<Buffer> {
  const { account, now } = about
  const today = localDate(now, account.timezone)
  const dueDate = Temporal.PlainDate.from(today).subtract({ days: step.offset }).toString()
  const { clientName } = sampleValues
  const amountMinor = 500_000
  const facts = { clientName, clientEmail: account.person.email, balanceMinor: amountMinor, amountMinor, currency: 'INR', dueDate }
  const nothing = { fileId: null, fileSize: null, firstMessageId: null, lastMessageId: null }
  const invoice = (reference: string) => ({ id: newId(), reference, ...facts, ...nothing })
  const group = { subject: step.groupSubject, content: step.groupContent }
  const { raw } = await composeReminder({
    id: newId(),
    about: about.group ? [invoice('INV-0001'), invoice('INV-0002')] : [invoice('INV-0001')],
    owed: about.group ? { count: 2, totalMinor: 2 * amountMinor } : { count: 1, totalMinor: amountMinor },
    wordings: { one: { subject: step.subject, content: step.content }, group },
    from: { name: account.displayName, address: about.from },
    today,
    now,
    pay: null,
    speech: speechOf(about.language),
  })
  return raw
}
