import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { HoldReason } from '#contract/reminders.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { domainOf, type Sender, sameWordsAtDomains, wordsOf } from '#server/mail/mail.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { arrayText, byKeys, type Database, preparedRows, rows, statement, value } from '#server/platform/database.ts'
import { lastRestore } from '#server/platform/origin.ts'
import { isSentBy, isSentTo, type SendingMailbox, sentBy } from './mailboxes.ts'
import {
  addressHeld,
  balance,
  beingPaid,
  dealsThrough,
  inOtherLanguage,
  neverReminded,
  notRemindedSince,
  owedToday,
  sourceOf,
} from './owed.ts'
import { localDate } from './schedule.ts'
import type { runs } from './tables.ts'
import { holdTexts, texts } from './texts.ts'

/*
 * The state of an email. Only this file changes it, by these transitions:
 *
 *   plan, split ──▶ queued ──────────────┐
 *                     ▲                  │ claim
 *   unclaim, reclaim  │                  ▼                accept   ──▶ sent
 *   (process died) ───┴────────────── sending ──────────▶ fail     ──▶ failed (refused)
 *                                        │  ▲
 *                            retryLater  │  │ claim
 *                                        ▼  │
 *                                     retrying
 *
 *   queued, retrying ── hold, giveBack ──▶ held ── release, pullForward ──▶ queued         sending ── holdRefused ──▶ held
 *   What may have left before a restore is planned and taken back as held (`maybeSent`).
 *   queued, retrying, held ── cancel ──▶ cancelled (every run that wants it was stopped)
 *                          ── close ───▶ superseded (nothing owed any more), failed (too late)
 *                          ── leaveOut ▶ superseded (left out by the owner)
 *                          ── supersede▶ superseded (planned by what does not apply any more)
 *   superseded (left out, or nothing owed) ── takeBack ──▶ queued
 *   queued, retrying ── fail ──▶ failed (too large)
 *   in hand at three deaths of a process ── reclaim ──▶ failed (poisoned)
 *
 *   failed (refused in the same words at several domains) ── takeBackRefused ──▶ held
 *
 * sent, failed, cancelled and superseded are final, but for what is taken back: the end of an email also frees its invoices for the next one (`freed`), in the same
 * statement. A transition out of `sending` needs the ticket of the claim; a reply to an older claim changes nothing.
 */
/** For statements that know the account: each of the two conditions of `pending` has a partial index that begins with the account. */
const waiting = sql`d.state IN ('queued', 'retrying')`
export const pending = sql`(${waiting} OR d.state = 'held')`
const openStates = sql`('queued', 'sending', 'retrying', 'held')`
const open = sql`d.state IN ${openStates}`
/**
 * For statements that know the email or its run. `coalesce` keeps PostgreSQL off the partial indexes: with statistics from before nine o'clock it expects
 * them to be empty, and would read what waits of all accounts.
 */
export const stillQueued = sql`coalesce(d.state, '') = 'queued'`
const stillWaiting = sql`coalesce(d.state, '') IN ('queued', 'retrying')`
export const stillPending = sql`coalesce(d.state, '') IN ('queued', 'retrying', 'held')`

/** Follows `changed`, which returns at least id and state. */
const freed = sql`freed AS (
  UPDATE delivery_invoices di SET open = false FROM changed WHERE di.delivery_id = changed.id AND changed.state NOT IN ${openStates}
  RETURNING di.invoice_id, di.step_date, changed.*)`

/** Every run that wants the email `d` was cancelled. */
const stopped = sql`NOT EXISTS (SELECT 1 FROM runs r WHERE r.id IN (d.run_id, d.pulled_by_run_id) AND r.cancelled_at IS NULL)`

/** The run that the email `d` is sent for was cancelled: the Send Now that pulled it forward, else its own. */
const unwanted = sql`NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = coalesce(d.pulled_by_run_id, d.run_id) AND r.cancelled_at IS NULL)`

/** Whether only the daily run wants the email `d`. */
export const onlyScheduled = sql`(d.pulled_by_run_id IS NULL AND EXISTS (SELECT 1 FROM runs r WHERE r.id = d.run_id AND r.kind = 'daily'))`

/** A person sends the email `d` now or again, also to those who are never reminded. */
const byPerson = sql`EXISTS (SELECT 1 FROM runs r WHERE r.id IN (d.run_id, d.pulled_by_run_id) AND r.kind IN ('send_now', 'retry') AND r.cancelled_at IS NULL)`

/** The reason of an email that was held until its deadline, for API clients. */
export const heldTooLong = 'held_too_long'
/** Stored in place of a mail server's reply where the deadline passed for another reason. Compared in queries: it must not change. */
export const notInTime = 'Not sent in time.'

/** Not tried because its mail server had not answered others. */
export const hostDown = 'host_down'
/** As `hostOf` in deliver.ts names it. */
export const hostOf = sql`CASE m.provider WHEN 'smtp' THEN lower(m.host) || ':' || m.port ELSE m.provider END`

/**
 * Changes the emails `d` that match and returns how many. `failed`: they were tried without success, so their invoices show since when none was
 * delivered, and why.
 */
async function change(
  db: Database,
  about: { which: SQL; from: SQL; set: SQL },
  failed: Pick<Tried, 'reply' | 'now'> | null = null,
): Promise<number> {
  const shown =
    failed &&
    sql`, shown AS (
          UPDATE invoices i SET ${undelivered(failed)} FROM changed JOIN delivery_invoices x ON x.delivery_id = changed.id
          WHERE i.id = x.invoice_id AND lower(i.client_email) = lower(changed.client_email) AND changed.state <> 'cancelled')`
  const [done] = await rows(
    db,
    z.object({ count: z.number() }),
    sql`WITH changed AS (
          UPDATE deliveries d SET ${about.set} WHERE (${about.which}) AND ${about.from} RETURNING d.id, d.state, d.client_email),
        ${freed}${shown ?? sql``}
        SELECT count(*)::int AS count FROM changed`,
  )
  return done?.count ?? 0
}

type Run = typeof runs.$inferSelect

/** An email of a run that is being planned, and the invoices it is about. */
export interface PlannedMail {
  deliveryId: string
  invoiceIds: string[]
  /** The step of a sequence whose text it has; null: it has that of the template. `date` null: it counts as no step, as Send Now. */
  step?: { sequenceId: string; offset: number; date: string | null } | null
  /** For each of the invoices the date of its own step, if it is one, and what its day says besides. */
  steps?: { date: string | null; note: string | null }[]
  /** When it may leave, until when, and the date by then at a client in another time zone; without it immediately, until the deadline of the run. */
  leaves?: { at: Instant; until: Instant | null; clientDate: string | null }
}

/** Every invoice with its email, and its step. */
export function invoicesOf(mails: PlannedMail[]): SQL {
  const all = mails.flatMap(({ deliveryId, invoiceIds, steps }) =>
    invoiceIds.map((invoiceId, nth) => ({ deliveryId, invoiceId, date: null, note: null, ...steps?.[nth] })),
  )
  return sql`unnest(${arrayText(all.map(({ deliveryId }) => deliveryId))}::uuid[], ${arrayText(all.map(({ invoiceId }) => invoiceId))}::uuid[],
    ${arrayText(all.map(({ date }) => date))}::date[], ${arrayText(all.map(({ note }) => note))}::text[]) AS pair(delivery_id, invoice_id, step_date, note)`
}

function textOf(value: string | number | null | undefined): string | null {
  return value == null ? null : String(value)
}

function later(one: Instant | null, other: Instant | null): Instant | null {
  return one && other && Temporal.Instant.compare(one, other) > 0 ? one : (other ?? one)
}

/** The email `d` may have left before the data was restored: its run was made before, or is automatic and its step was due by then. */
const maybeSent = sql`EXISTS (SELECT 1 FROM ${lastRestore} restored JOIN runs r ON r.id = d.run_id WHERE r.created_at < restored.at OR (r.kind IN ('daily', 'trigger')
  AND (SELECT min(x.step_date) FROM delivery_invoices x JOIN invoices i ON i.id = x.invoice_id WHERE x.delivery_id = d.id AND i.created_at < restored.at)
    <= (restored.at AT TIME ZONE (SELECT a.timezone FROM accounts a WHERE a.id = d.owner_id))::date))`

/** Adds the emails of a run. Returns how many are held for approval, because they may have left before the data was restored. */
export async function plan(tx: Database, run: Run, mails: PlannedMail[], now: Instant): Promise<number> {
  if (mails.length === 0) return 0
  const column = (of: (mail: PlannedMail) => string | number | null | undefined) => arrayText(mails.map((mail) => textOf(of(mail))))
  const leaves = ({ leaves: own }: PlannedMail) => later(own?.at ?? null, run.leavesAt)?.toString()
  await tx.execute(sql`
    INSERT INTO deliveries (id, owner_id, run_id, client_email, currency, language, state, created_at, next_try_at, deadline_at, sequence_id, step_offset, step_date, client_date)
    SELECT m.id, ${run.ownerId}::uuid, ${run.id}::uuid, i.client_email, i.currency, i.language, 'queued', ${now.toString()}::timestamptz, coalesce(m.at, ${now.toString()}::timestamptz), coalesce(m.until, ${run.deadlineAt.toString()}::timestamptz),
      m.sequence_id, m.step_offset, m.step_date, m.client_date
    FROM unnest(${column(({ deliveryId }) => deliveryId)}::uuid[], ${column(({ invoiceIds }) => invoiceIds[0])}::uuid[], ${column(leaves)}::timestamptz[],
      ${column(({ leaves }) => leaves?.until?.toString())}::timestamptz[], ${column(({ step }) => step?.sequenceId)}::uuid[], ${column(({ step }) => step?.offset)}::int[],
      ${column(({ step }) => step?.date)}::date[], ${column(({ leaves }) => leaves?.clientDate)}::date[]) AS m (id, invoice_id, at, until, sequence_id, step_offset, step_date, client_date)
    JOIN invoices i ON i.id = m.invoice_id`)
  await tx.execute(sql`
    INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open, amount_minor, step_date)
    SELECT ${run.ownerId}::uuid, pair.delivery_id, pair.invoice_id, true, ${balance}, pair.step_date
    FROM ${invoicesOf(mails)} JOIN invoices i ON i.id = pair.invoice_id`)
  const its = sql`d.id = ANY(${column(({ deliveryId }) => deliveryId)}::uuid[])`
  return change(tx, { which: sql`${its} AND ${maybeSent}`, from: stillQueued, set: sql`state = 'held', reason = 'restored'` })
}

/**
 * The same as part of a statement that makes many runs: adds `emails` (id, owner_id, run_id, client_email, currency, language, deadline_at) with the invoices
 * that `decided` (owner_id, invoice_id, amount_minor, email_id, decision) writes about.
 */
export const planned = (at: SQL) => sql`
  new_deliveries AS (
    INSERT INTO deliveries (id, owner_id, run_id, client_email, currency, language, state, created_at, next_try_at, deadline_at)
    SELECT e.id, e.owner_id, e.run_id, e.client_email, e.currency, e.language, 'queued', ${at}, ${at}, e.deadline_at FROM emails e),
  new_invoices AS (
    INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open, amount_minor)
    SELECT x.owner_id, x.email_id, x.invoice_id, true, x.amount_minor FROM decided x WHERE x.decision = 'write')`

/** Emails that wait for a retry, or only for an approval, are tried now, for this run too. What that changes is kept, for `giveBack`. */
export async function pullForward(tx: Database, run: Run, ids: string[], now: Instant): Promise<void> {
  if (ids.length === 0) return
  const approved = sql`(d.state = 'held' AND d.reason IN ('plan', 'restored'))`
  await change(tx, {
    which: sql`d.id = ANY(${arrayText([...new Set(ids)])}::uuid[]) AND d.owner_id = ${run.ownerId}::uuid`,
    from: open,
    set: sql`pulled_by_run_id = ${run.id}::uuid, own_next_try_at = coalesce(d.own_next_try_at, d.next_try_at), own_deadline_at = coalesce(d.own_deadline_at, d.deadline_at),
      approved_by_pull = CASE WHEN d.state = 'held' AND d.reason = 'restored' THEN true ELSE d.approved_by_pull END, deadline_at = greatest(d.deadline_at, ${run.deadlineAt.toString()}::timestamptz),
      next_try_at = CASE WHEN d.state = 'sending' THEN d.next_try_at ELSE least(d.next_try_at, ${now.toString()}::timestamptz) END,
      state = CASE WHEN ${approved} THEN 'queued' ELSE d.state END, reason = CASE WHEN ${approved} THEN NULL ELSE d.reason END,
      rendered_from = CASE WHEN ${run.subject !== null} THEN NULL ELSE d.rendered_from END`,
  })
  await tx.execute(sql`
    UPDATE delivery_invoices di SET amount_minor = ${balance} FROM invoices i
    WHERE di.delivery_id = ANY(${arrayText([...new Set(ids)])}::uuid[]) AND di.owner_id = ${run.ownerId}::uuid AND i.id = di.invoice_id`)
}

/**
 * Emails whose Send Now was stopped belong to their own run alone again, as if they had not been pulled forward: they wait for their time and until
 * their deadline, in the words of before, and for the approval that only the Send Now had given. What is being sent stays until its try ends.
 */
export async function giveBack(db: Database, which: SQL): Promise<void> {
  const words = sql`EXISTS (SELECT 1 FROM runs p WHERE p.id = d.pulled_by_run_id AND p.content IS NOT NULL)`
  await change(db, {
    which: sql`${which} AND d.pulled_by_run_id IS NOT NULL AND ${unwanted} AND NOT ${stopped}`,
    from: stillPending,
    set: sql`pulled_by_run_id = NULL, own_next_try_at = NULL, own_deadline_at = NULL, approved_by_pull = NULL,
      next_try_at = greatest(d.next_try_at, d.own_next_try_at), deadline_at = coalesce(d.own_deadline_at, d.deadline_at),
      state = CASE WHEN d.approved_by_pull THEN 'held' ELSE d.state END, reason = CASE WHEN d.approved_by_pull THEN 'restored' ELSE d.reason END,
      rendered_from = CASE WHEN ${words} THEN NULL ELSE d.rendered_from END`,
  })
}

/**
 * Emails of stopped runs on which a scheduled run counts, because it found them open: they are that run's from now on, until its deadline, in the words
 * of the account. One that a person sent after that run only has its place in the decision log. What is being sent stays, and is tried again for that run.
 */
export async function handOver(tx: Database, ownerId: string, stoppedRuns: string[], now: Instant): Promise<void> {
  const ids = sql`${arrayText(stoppedRuns)}::uuid[]`
  const words = sql`EXISTS (SELECT 1 FROM runs p WHERE p.id IN (d.run_id, d.pulled_by_run_id) AND p.content IS NOT NULL)`
  const unapproved = sql`(d.approved_by_pull AND d.state <> 'sending')`
  await tx.execute(sql`
    WITH counted AS (
      SELECT DISTINCT ON (d.id) d.id, day.id AS day_id, day.deadline_at, day.leaves_at
      FROM deliveries d JOIN decisions x ON x.owner_id = d.owner_id AND x.delivery_id = d.id AND x.rule = 'mail'
        JOIN runs day ON day.owner_id = x.owner_id AND day.local_date = x.local_date AND day.kind IN ('daily', 'start')
        JOIN accounts a ON a.id = d.owner_id AND a.reminders_active
      WHERE d.owner_id = ${ownerId}::uuid AND (d.run_id = ANY(${ids}) OR d.pulled_by_run_id = ANY(${ids})) AND ${stopped}
        AND day.cancelled_at IS NULL AND day.created_at > d.created_at AND day.deadline_at > ${now.toString()}::timestamptz
      ORDER BY d.id, day.created_at DESC),
    handed AS (
      UPDATE deliveries d SET run_id = counted.day_id, pulled_by_run_id = NULL, own_next_try_at = NULL, own_deadline_at = NULL, approved_by_pull = NULL,
        deadline_at = counted.deadline_at, next_try_at = greatest(d.next_try_at, counted.leaves_at),
        state = CASE WHEN ${unapproved} THEN 'held' ELSE d.state END, reason = CASE WHEN ${unapproved} THEN 'restored' ELSE d.reason END,
        rendered_from = CASE WHEN ${words} THEN NULL ELSE d.rendered_from END
      FROM counted WHERE d.id = counted.id AND ${open} RETURNING d.id, d.run_id, lower(d.client_email) AS client_key, d.currency),
    places AS (
      SELECT h.run_id, count(*) AS invoices, count(DISTINCT (h.client_key, h.currency)) FILTER (WHERE NOT EXISTS (
        SELECT 1 FROM deliveries o WHERE o.run_id = h.run_id AND lower(o.client_email) = h.client_key AND o.currency = h.currency)) AS clients
      FROM handed h JOIN delivery_invoices x ON x.delivery_id = h.id GROUP BY h.run_id)
    UPDATE runs r SET skipped = greatest(0, r.skipped - CASE WHEN r.grouped THEN places.clients ELSE places.invoices END),
      settled_at = NULL, sent = NULL, failed = NULL, dropped = NULL
    FROM places WHERE r.id = places.run_id`)
}

/** A pending email replaces the one that this run would send, so it is tried for as long. */
export async function extend(tx: Database, run: Run, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.execute(sql`
    UPDATE deliveries SET deadline_at = greatest(deadline_at, ${run.deadlineAt.toString()}::timestamptz),
      own_deadline_at = CASE WHEN own_deadline_at IS NOT NULL THEN greatest(own_deadline_at, ${run.deadlineAt.toString()}::timestamptz) END
    WHERE id = ANY(${arrayText([...new Set(ids)])}::uuid[]) AND owner_id = ${run.ownerId}::uuid`)
}

/** An email to be claimed. `composed`: null where the stored bytes still apply. */
interface ClaimWanted {
  id: string
  /** Identifies this one try. */
  ticket: string
  sender: Pick<Sender, 'senderId' | 'perHour' | 'perDay'>
  /** The run that it was to be sent for when it was read. */
  sentFor: string
  /** The date in the account's time zone. */
  today: string
  composed: { raw: Buffer; subject: string; messageId: string; source: string | null; clientEmail: string } | null
  /** A grouped email no longer lists everything it was made for. */
  dropsInvoices: boolean
}

const claimedDelivery = z.object({
  id: z.string(),
  claim: z.string(),
  attempt: z.number(),
  /** The bytes stored at an earlier try; null where this claim stored them. */
  raw: z
    .instanceof(Uint8Array)
    .transform((raw) => Buffer.from(raw))
    .nullable(),
})

/**
 * Claims emails that are still wanted at this moment: not claimed, not cancelled, by the same run as when they were read, in time, the invoice still owed and unchanged since it
 * was rendered, no client paying it, the same sender, not paused, and the account not on hold. The bytes are stored before anything is sent.
 */
export async function claim(
  db: Database,
  all: ClaimWanted[],
  about: { processId: string; now: Instant },
): Promise<z.output<typeof claimedDelivery>[]> {
  // In a fixed order, or two processes could wait for each other's rows.
  const sorted = all.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const column = (of: (one: ClaimWanted) => string | null) => arrayText(sorted.map(of))
  const wanted = {
    ...joined(sorted.map(({ composed }) => composed?.raw ?? null)),
    processId: about.processId,
    now: about.now.toString(),
    ids: column(({ id }) => id),
    tickets: column(({ ticket }) => ticket),
    senderIds: column(({ sender }) => sender.senderId),
    limits: column(({ sender }) => `${sender.perHour ?? ''}/${sender.perDay ?? ''}`),
    sentFor: column(({ sentFor }) => sentFor),
    dates: column(({ today }) => today),
    subjects: column(({ composed }) => composed?.subject ?? null),
    messageIds: column(({ composed }) => composed?.messageId ?? null),
    sources: column(({ composed }) => composed?.source ?? null),
    clientEmails: column(({ composed }) => composed?.clientEmail ?? null),
  }
  const [first] = all
  // Only alone: an invoice that is no longer in the email is not reminded by it, and the row of its day must show that.
  return first?.dropsInvoices ? claimOne(db, { ...wanted, today: first.today }) : claimAll(db, wanted)
}

const claimedNow = sql`
    UPDATE deliveries d SET state = 'sending', reason = NULL, attempt = d.attempt + 1, claimed_by = ${value('processId')}::uuid, claim = w.ticket,
      raw = coalesce(substring(${value('bytes')}::bytea FROM w.begins FOR w.length), d.raw), subject = coalesce(w.subject, d.subject), message_id = coalesce(w.message_id, d.message_id),
      rendered_from = coalesce(w.source, d.rendered_from), client_email = coalesce(w.client_email, d.client_email)
    FROM ${byKeys(sql`unnest(${value('ids')}::uuid[], ${value('tickets')}::uuid[], ${value('senderIds')}::uuid[], ${value('dates')}::date[], ${value('begins')}::int[], ${value('lengths')}::int[],
        ${value('subjects')}::text[], ${value('messageIds')}::text[], ${value('sources')}::text[], ${value('clientEmails')}::text[], ${value('sentFor')}::uuid[], ${value('limits')}::text[])
        AS w (id, ticket, sender_id, today, begins, length, subject, message_id, source, client_email, sent_for, limits)`)} w
      CROSS JOIN LATERAL (
        SELECT ${unwanted} OR ${beingPaid(value('now'))} AS barred, ${sourceOf(sql`w.sender_id`, sql`w.today`)} AS source,
          EXISTS (SELECT 1 FROM mail_configs m WHERE ${isSentTo(sql`coalesce(w.client_email, d.client_email)`)} AND m.sender_id = w.sender_id AND m.pause_reason IS NULL AND concat(m.per_hour, '/', m.per_day) = w.limits) AS "isSent"
        FROM deliveries d WHERE d.id = w.id OFFSET 0) now,
      accounts a
    WHERE d.id = w.id AND ${stillWaiting} AND d.deadline_at > ${value('now')}::timestamptz AND coalesce(d.pulled_by_run_id, d.run_id) = w.sent_for
      AND a.id = d.owner_id AND a.held_at IS NULL AND NOT now.barred AND now."isSent" AND now.source = coalesce(w.source, d.rendered_from)
    RETURNING d.id, d.claim, d.attempt, CASE WHEN w.length IS NULL THEN d.raw END AS raw`
const claimAll = statement(claimedDelivery, claimedNow)
/** The same of one grouped email that no longer lists all its invoices. */
const claimOne = statement(
  claimedDelivery,
  sql`WITH claimed AS (${claimedNow}),
    dropped AS (
      DELETE FROM delivery_invoices x USING claimed, deliveries d
      WHERE d.id = claimed.id AND x.delivery_id = d.id AND x.invoice_id NOT IN (SELECT i.id ${owedToday(value('today'))})
      RETURNING x.invoice_id, x.delivery_id),
    told AS (UPDATE decisions x SET rule = 'not_owed', delivery_id = NULL FROM dropped WHERE x.invoice_id = dropped.invoice_id AND x.delivery_id = dropped.delivery_id)
    SELECT * FROM claimed`,
)

/**
 * Messages as one binary parameter, with where each begins and how long it is: PostgreSQL reads an array of them character by character, which costs
 * more than storing them.
 */
function joined(messages: (Buffer | null)[]): { bytes: Buffer; begins: string; lengths: string } {
  const begins: (string | null)[] = []
  let at = 1
  for (const one of messages) {
    begins.push(one && String(at))
    at += one?.length ?? 0
  }
  return {
    bytes: Buffer.concat(messages.filter((one) => one !== null)),
    begins: arrayText(begins),
    lengths: arrayText(messages.map((one) => one && String(one.length))),
  }
}

/** The email in hand, before it is claimed: if composing it ends the process, that counts as one of its deaths. */
export async function markComposing(db: Database, id: string, processId: string): Promise<void> {
  await db.execute(sql`UPDATE deliveries d SET claimed_by = ${processId}::uuid WHERE d.id = ${id}::uuid AND ${stillWaiting}`)
}

/** The process lives: the email, unclaimed, is no longer in its hand. */
export async function unmark(db: Database, id: string, processId: string): Promise<void> {
  await db.execute(
    sql`UPDATE deliveries SET claimed_by = NULL WHERE id = ${id}::uuid AND claim IS NULL AND claimed_by = ${processId}::uuid`,
  )
}

/** The end of one try. */
export interface Tried {
  id: string
  claim: string
  /** The mail server's reply. */
  reply: string
  now: Instant
  tookMs: number
}

/** The further recipients of an email: how many were accepted, and in words which were not. */
export interface Copies {
  accepted: number
  refused: string | null
}
export type Accepted = Omit<Tried, 'now'> & { copies?: Copies | null }

const mine = ({ id, claim: ticket }: Pick<Tried, 'id' | 'claim'>) => sql`d.id = ${id}::uuid AND d.claim = ${ticket}::uuid`
const tried = ({ reply, now, tookMs }: Omit<Tried, 'id' | 'claim'>) =>
  sql`claimed_by = NULL, claim = NULL, server_reply = ${reply}, tried_at = ${now.toString()}::timestamptz, took_ms = ${Math.round(tookMs)}::int`

/**
 * The mail server accepted these emails. An automatic one deals with every step up to its day, and up to the date of its own step; one by hand
 * with none.
 */
export async function accept(db: Database, all: Accepted[], now: Instant): Promise<void> {
  const sorted = all.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const at = sql`${now.toString()}::timestamptz`
  const answered = byKeys(sql`unnest(${arrayText(sorted.map(({ id }) => id))}::uuid[], ${arrayText(sorted.map((one) => one.claim))}::uuid[],
      ${arrayText(sorted.map(({ reply }) => reply))}::text[], ${arrayText(sorted.map(({ tookMs }) => String(Math.round(tookMs))))}::int[],
      ${arrayText(sorted.map(({ copies }) => String(copies?.accepted ?? 0)))}::int[], ${arrayText(sorted.map(({ copies }) => copies?.refused ?? null))}::text[]) AS said (id, claim, reply, took, copies, refused)`)
  await preparedRows(
    db,
    z.unknown(),
    sql`WITH changed AS (
          UPDATE deliveries d SET state = 'sent', sent_at = ${at}, tried_at = ${at}, took_ms = said.took, claimed_by = NULL, claim = NULL, server_reply = said.reply,
            copies = said.copies, copies_refused = said.refused
          FROM ${answered} said
          WHERE d.id = said.id AND d.claim = said.claim AND d.state = 'sending'
          RETURNING d.id, d.state, d.message_id, ${dealsThrough} AS deals_through),
        ${freed}
        UPDATE invoices i SET reminders_sent = i.reminders_sent + 1, last_reminder_at = ${at}, refusal = NULL,
          reminded_through = greatest(i.reminded_through, freed.deals_through, freed.step_date),
          steps_sent = i.steps_sent + CASE WHEN freed.step_date IS NULL THEN 0 ELSE 1 END,
          sequence_ended_on = CASE WHEN freed.step_date IS NULL THEN i.sequence_ended_on END,
          undelivered_since = NULL, undelivered_reply = NULL,
          first_message_id = coalesce(i.first_message_id, freed.message_id), last_message_id = freed.message_id
        FROM freed WHERE i.id = freed.invoice_id`,
  )
}

/**
 * The mail server permanently refused it; the invoice shows that unless its address was corrected meanwhile. Returns the ids of the invoices
 * that still have that address.
 */
export async function failRefused(db: Database, of: Tried): Promise<string[]> {
  const refused = await rows(
    db,
    z.object({ id: z.string() }),
    sql`
    WITH changed AS (
      UPDATE deliveries d SET state = 'failed', reason = 'refused', ${tried(of)} WHERE ${mine(of)} AND d.state = 'sending'
      RETURNING d.id, d.state, d.client_email),
    ${freed}
    UPDATE invoices i SET refusal = ${of.reply}, ${undelivered(of)} FROM freed
    WHERE i.id = freed.invoice_id AND lower(i.client_email) = lower(freed.client_email) RETURNING i.id`,
  )
  return refused.map(({ id }) => id)
}

/**
 * The emails of one run that a mailbox was refused last, in these words, where they went to clients at several domains: nothing was accepted between. Empty
 * where the words may be about one client.
 */
export async function refusedAlike(db: Database, of: { emailId: string; senderId: string }, reply: string): Promise<string[]> {
  const last = await rows(
    db,
    z.object({ id: z.string(), clientEmail: z.string(), reply: z.string().nullable(), isRefused: z.boolean() }),
    sql`SELECT d.id, d.client_email AS "clientEmail", d.server_reply AS reply, d.state = 'failed' AND d.reason = 'refused' AS "isRefused"
        FROM deliveries d JOIN deliveries this ON this.id = ${of.emailId}::uuid
        WHERE d.owner_id = this.owner_id AND d.run_id = this.run_id AND d.state IN ('sent', 'failed') AND starts_with(d.rendered_from, ${of.senderId})
        ORDER BY d.tried_at DESC, d.id DESC LIMIT 500`,
  )
  const words = wordsOf(reply)
  const other = last.findIndex((one) => !one.isRefused || wordsOf(one.reply ?? '') !== words)
  const alike = other === -1 ? last : last.slice(0, other)
  const domains = new Set(alike.map(({ clientEmail }) => domainOf(clientEmail.toLowerCase())))
  return domains.size < sameWordsAtDomains ? [] : alike.map(({ id }) => id)
}

/** Holds emails that had failed for what was their mailbox's fault; their invoices show nothing of it any more. */
export async function takeBackRefused(db: Database, ids: string[], sender: { ownerId: string; senderId: string }): Promise<void> {
  const its = sql`d.owner_id = ${sender.ownerId}::uuid AND d.id = ANY(${arrayText(ids)}::uuid[]) AND d.state = 'failed' AND d.reason = 'refused'`
  await db.transaction(async (tx) => {
    await tx.execute(sql`
      UPDATE delivery_invoices x SET open = true FROM deliveries d
      WHERE ${its} AND x.delivery_id = d.id AND NOT EXISTS (SELECT 1 FROM delivery_invoices o WHERE o.invoice_id = x.invoice_id AND o.open)`)
    const isBack = sql`EXISTS (SELECT 1 FROM delivery_invoices x WHERE x.delivery_id = d.id AND x.open)`
    await tx.execute(sql`
      UPDATE invoices i SET refusal = NULL,
        undelivered_since = CASE WHEN i.undelivered_since >= d.created_at THEN NULL ELSE i.undelivered_since END,
        undelivered_reply = CASE WHEN i.undelivered_since >= d.created_at THEN NULL ELSE i.undelivered_reply END
      FROM deliveries d JOIN delivery_invoices x ON x.delivery_id = d.id
      WHERE ${its} AND x.open AND i.id = x.invoice_id AND lower(i.client_email) = lower(d.client_email)`)
    const paused = sql`EXISTS (SELECT 1 FROM mail_configs m WHERE m.owner_id = d.owner_id AND m.sender_id = ${sender.senderId}::uuid AND m.pause_reason IS NOT NULL)`
    const back = await rows(
      tx,
      z.object({ runId: z.string() }),
      sql`UPDATE deliveries d SET state = CASE WHEN ${paused} THEN 'held' ELSE 'queued' END, reason = CASE WHEN ${paused} THEN 'sending_paused' END
          WHERE ${its} AND ${isBack} RETURNING d.run_id AS "runId"`,
    )
    const [first] = back
    // It may have ended with the last of them.
    if (first)
      await tx.execute(sql`UPDATE runs SET settled_at = NULL, sent = NULL, failed = NULL, dropped = NULL WHERE id = ${first.runId}::uuid`)
  })
}

/** Of an invoice `i`: since when no email about it was accepted, and why not. */
const undelivered = ({ reply, now }: Pick<Tried, 'reply' | 'now'>) =>
  sql`undelivered_since = coalesce(i.undelivered_since, ${now.toString()}::timestamptz), undelivered_reply = ${reply}`

/** Fails an email that its template makes too large: no later try could make it smaller. */
export function failTooLarge(db: Database, id: string, now: Instant): Promise<number> {
  const set = sql`state = 'failed', reason = 'too_large', server_reply = ${texts.tooLarge}`
  return change(db, { which: sql`d.id = ${id}::uuid`, from: stillWaiting, set }, { reply: texts.tooLarge, now })
}

/** Schedules the next try of the email that was deferred; where that is past the deadline, this was the last one. */
export async function retryLater(db: Database, of: Tried, next: Instant): Promise<void> {
  await change(db, { which: mine(of), from: sql`d.state = 'sending'`, set: sql`${tried(of)}, ${nextTry(next)}` }, of)
}

/** An unreachable mail server concerns every due email of its mailbox, not just the one that was tried. */
export async function retryAllLater(db: Database, of: Omit<Tried, 'claim'> & { sender: SendingMailbox }, next: Instant): Promise<void> {
  const which = sql`${sentBy(of.sender)} AND d.next_try_at <= ${of.now.toString()}::timestamptz`
  const set = sql`attempt = d.attempt + 1, server_reply = ${of.reply}, tried_at = ${of.now.toString()}::timestamptz,
    took_ms = CASE WHEN d.id = ${of.id}::uuid THEN ${Math.round(of.tookMs)}::int ELSE 0 END, ${nextTry(next)}`
  await change(db, { which, from: waiting, set }, of)
}

function nextTry(next: Instant): SQL {
  const at = sql`${next.toString()}::timestamptz`
  return sql`next_try_at = ${at},
    state = CASE WHEN ${stopped} THEN 'cancelled' WHEN d.deadline_at <= ${at} THEN 'failed' ELSE 'retrying' END,
    reason = CASE WHEN ${stopped} THEN 'stopped' WHEN d.deadline_at <= ${at} THEN 'too_late' END`
}

/** Its mail server did not answer other mailboxes, in these words: what the mailbox has due is put off, without counting that as a try. */
export async function putOffForHost(
  db: Database,
  sender: SendingMailbox,
  about: { now: Instant; until: Instant; reply: string },
): Promise<void> {
  await change(db, {
    which: sql`${sentBy(sender)} AND d.next_try_at <= ${about.now.toString()}::timestamptz`,
    from: waiting,
    set: sql`state = 'retrying', reason = ${hostDown}, server_reply = ${about.reply}, next_try_at = ${about.until.toString()}::timestamptz`,
  })
}

/** The mail server answers again: what was put off because of it is due now. Returns whose emails. */
export async function wakeHost(db: Database, host: string, now: Instant): Promise<string[]> {
  const woken = await rows(
    db,
    z.object({ ownerId: z.string() }),
    sql`WITH woken AS (
          UPDATE deliveries d SET next_try_at = ${now.toString()}::timestamptz FROM mail_configs m
          WHERE ${isSentBy} AND ${hostOf} = ${host} AND d.state = 'retrying' AND d.reason = ${hostDown} RETURNING d.owner_id)
        SELECT DISTINCT owner_id AS "ownerId" FROM woken`,
  )
  return woken.map(({ ownerId }) => ownerId)
}

/** Puts off what a mailbox has waiting, without counting that as a try. */
export async function putOff(db: Database, sender: SendingMailbox, now: Instant, until: Instant): Promise<void> {
  await change(db, {
    which: sql`${sentBy(sender)} AND d.next_try_at <= ${now.toString()}::timestamptz`,
    from: waiting,
    set: sql`next_try_at = ${until.toString()}::timestamptz`,
  })
}

/**
 * The mailbox refused the login, or reached its limit: this email is held with the others. Where another mailbox was connected meanwhile,
 * the refusal of this one must not hold anything.
 */
export async function holdRefused(db: Database, of: Tried, sender: { ownerId: string; senderId: string }): Promise<void> {
  const paused = sql`EXISTS (SELECT 1 FROM mail_configs m WHERE m.owner_id = ${sender.ownerId}::uuid AND m.sender_id = ${sender.senderId}::uuid AND m.pause_reason IS NOT NULL)`
  await change(db, {
    which: mine(of),
    from: sql`d.state = 'sending'`,
    set: sql`${tried(of)}, state = CASE WHEN ${stopped} THEN 'cancelled' WHEN ${paused} THEN 'held' ELSE 'queued' END,
      reason = CASE WHEN ${stopped} THEN 'stopped' WHEN ${paused} THEN 'sending_paused' END`,
  })
}

/**
 * Holds what an account has waiting until the reason ends; returns how many. For the plan, emails of the daily run only; for a paused `sender`
 * those that it sends.
 */
export function hold(db: Database, ownerId: string, reason: HoldReason, sender?: SendingMailbox): Promise<number> {
  const all = sql`d.owner_id = ${ownerId}::uuid`
  const which = reason === 'plan' ? sql`${all} AND ${onlyScheduled}` : reason === 'sending_paused' && sender ? sentBy(sender) : all
  return change(db, { which, from: waiting, set: sql`state = 'held', reason = ${reason}` })
}

/** Holds these emails as long as their clients are paying online. */
export async function holdPaying(db: Database, ownerId: string, ids: string[], now: Instant): Promise<void> {
  const which = sql`d.owner_id = ${ownerId}::uuid AND d.id = ANY(${arrayText(ids)}::uuid[]) AND ${beingPaid(now)}`
  await change(db, { which, from: stillWaiting, set: sql`state = 'held', reason = 'paying'` })
}

/** Queues again what no client is paying any more; returns whose emails. */
export async function releasePaying(db: Database, now: Instant): Promise<string[]> {
  const over = await rows(
    db,
    z.object({ id: z.string(), ownerId: z.string() }),
    sql`SELECT d.id, d.owner_id AS "ownerId" FROM deliveries d WHERE d.state = 'held' AND d.reason = 'paying' AND NOT ${beingPaid(now)}`,
  )
  if (over.length === 0) return []
  await release(db, sql`d.id = ANY(${arrayText(over.map(({ id }) => id))}::uuid[]) AND d.reason = 'paying'`, now)
  return [...new Set(over.map(({ ownerId }) => ownerId))]
}

/**
 * Emails about the invoices `i` that match follow the holds of their addresses: those to a held one wait, others are queued again. Returns
 * how many were queued.
 */
export async function followHolds(db: Database, ownerId: string, which: SQL, now: Instant): Promise<number> {
  // An email that is being tried at this moment must not be waited for: its record waits for an invoice that this transaction may have locked.
  const to = (
    held: SQL,
  ) => sql`d.id IN (SELECT f.id FROM deliveries f WHERE f.owner_id = ${ownerId}::uuid AND (f.state IN ('queued', 'retrying') OR f.state = 'held') AND EXISTS (
    SELECT 1 FROM delivery_invoices x JOIN invoices i ON i.id = x.invoice_id WHERE x.delivery_id = f.id AND x.open AND ${which} AND ${held}) FOR UPDATE SKIP LOCKED)`
  await change(db, { which: to(addressHeld), from: stillWaiting, set: sql`state = 'held', reason = 'address'` })
  return release(db, sql`d.reason = 'address' AND ${to(sql`NOT ${addressHeld}`)}`, now)
}

/** After a restore from a backup: holds every email that could still be sent, also one that was being sent at the time of the backup. */
export function holdEverything(db: Database, now: Instant): Promise<number> {
  return change(db, {
    which: sql`d.deadline_at > ${now.toString()}::timestamptz`,
    from: open,
    set: sql`state = 'held', reason = 'restored', approved_by_pull = NULL, claimed_by = NULL, claim = NULL`,
  })
}

/** An email to a client in another time zone keeps waiting for the hour there, unless it is sent by hand. */
const hourThere = sql`CASE WHEN d.client_date IS NOT NULL AND d.pulled_by_run_id IS NULL THEN d.next_try_at END`

/** Queues held emails again; returns how many. Those to an address that is held since wait for that. */
export function release(db: Database, which: SQL, now: Instant): Promise<number> {
  // OFFSET 0: by their keys, as in owed.ts.
  const refused = sql`EXISTS (SELECT 1 FROM (SELECT invoice_id FROM delivery_invoices WHERE delivery_id = d.id OFFSET 0) x
    JOIN LATERAL (SELECT * FROM invoices WHERE invoices.id = x.invoice_id OFFSET 0) i ON true WHERE ${addressHeld})`
  return change(db, {
    which,
    from: sql`d.state = 'held'`,
    set: sql`state = CASE WHEN ${refused} THEN 'held' ELSE 'queued' END, reason = CASE WHEN ${refused} THEN 'address' END,
      next_try_at = greatest(${now.toString()}::timestamptz, (SELECT r.leaves_at FROM runs r WHERE r.id = d.run_id AND d.pulled_by_run_id IS NULL), ${hourThere})`,
  })
}

/** Cancels what is pending of stopped runs; returns how many emails. */
export function cancel(tx: Database, ownerId: string): Promise<number> {
  return change(tx, {
    which: sql`d.owner_id = ${ownerId}::uuid AND ${stopped}`,
    from: pending,
    set: sql`state = 'cancelled', reason = 'stopped'`,
  })
}

/** Closes emails of a daily run that its owner leaves out. */
export async function leaveOut(tx: Database, run: Run, ids: string[], now: Instant): Promise<void> {
  await change(tx, { which: ours(run.ownerId, ids), from: stillPending, set: sql`state = 'superseded', reason = 'left_out'` })
  await tx.execute(sql`
    UPDATE decisions x SET rule = 'left_out', note = NULL, decided_at = ${now.toString()}::timestamptz
    FROM deliveries d WHERE ${ours(run.ownerId, ids)} AND d.reason = 'left_out' AND x.delivery_id = d.id AND x.local_date = ${run.localDate}::date`)
}

/**
 * Queues again what was left out of a daily run, to leave with it or immediately; or what was closed because its invoices were not owed for a while, to
 * leave when it would have. Grouped, it joins what still waits for the same client. An invoice that another email is about by now, or has been since
 * the run, or whose step is yet to come after another due date, or that is never reminded by now but by hand, stays out of it.
 */
export async function takeBack(
  tx: Database,
  run: Run,
  ids: string[],
  now: Instant,
  reason: 'left_out' | 'not_owed' = 'left_out',
): Promise<void> {
  if (run.grouped) await join(tx, run, ids)
  const closed = sql`${ours(run.ownerId, ids)} AND d.state = 'superseded' AND d.reason = ${reason}`
  const at = reason === 'left_out' ? sql`${run.leavesAt?.toString() ?? null}::timestamptz, ${hourThere}` : sql`d.next_try_at`
  await tx.execute(sql`
    UPDATE delivery_invoices x SET open = true FROM deliveries d
    WHERE ${closed} AND x.delivery_id = d.id AND NOT EXISTS (SELECT 1 FROM delivery_invoices o WHERE o.invoice_id = x.invoice_id AND o.open)
      AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.id = x.invoice_id AND (i.last_reminder_at >= ${run.createdAt.toString()}::timestamptz
        OR NOT ${stepCame} OR (${neverReminded} AND NOT ${byPerson})))`)
  await tx.execute(sql`
    DELETE FROM delivery_invoices x USING deliveries d
    WHERE ${closed} AND x.delivery_id = d.id AND NOT x.open AND EXISTS (SELECT 1 FROM delivery_invoices y WHERE y.delivery_id = d.id AND y.open)`)
  await tx.execute(sql`
    UPDATE decisions x SET rule = 'mail', decided_at = ${now.toString()}::timestamptz
    FROM deliveries d JOIN delivery_invoices y ON y.delivery_id = d.id
    WHERE ${closed} AND y.open AND x.delivery_id = d.id AND x.invoice_id = y.invoice_id AND x.local_date = ${run.localDate}::date`)
  await tx.execute(sql`
    UPDATE deliveries d SET state = CASE WHEN ${maybeSent} THEN 'held' ELSE 'queued' END, reason = CASE WHEN ${maybeSent} THEN 'restored' END,
      next_try_at = greatest(${now.toString()}::timestamptz, ${at})
    WHERE ${closed} AND EXISTS (SELECT 1 FROM delivery_invoices x WHERE x.delivery_id = d.id AND x.open)`)
  // Nothing of it may have been open any more.
  await tx.execute(sql`UPDATE runs SET settled_at = NULL, sent = NULL, failed = NULL, dropped = NULL WHERE id = ${run.id}::uuid`)
}

/**
 * The step of an email `d` has come for its invoice `i` by the due date of now. In a grouped one it may be the step of another invoice: it has come
 * as it had when the email was planned, unless the due date was changed since.
 */
export const stepCame = sql`(d.step_date IS NULL OR i.due_date + d.step_offset <= d.step_date OR NOT EXISTS (
  SELECT 1 FROM invoice_changes c WHERE c.owner_id = i.owner_id AND c.invoice_id = i.id AND c.field = 'due_date' AND c.at >= d.created_at))`

/** The emails about invoices `i` that were closed because these were not owed, and could still leave: none about them was accepted or is open since. */
export const closedFor = (now: SQL) => sql`LATERAL (
  SELECT d.* FROM (SELECT delivery_id FROM delivery_invoices WHERE invoice_id = i.id OFFSET 0) x
    JOIN LATERAL (SELECT * FROM deliveries WHERE deliveries.id = x.delivery_id OFFSET 0) d ON true
  WHERE d.deadline_at > ${now}::timestamptz ORDER BY d.created_at DESC, d.id DESC LIMIT 1) d
  ON d.state = 'superseded' AND d.reason = 'not_owed' AND ${notRemindedSince} AND NOT ${stopped}`

/**
 * Makes one of the emails to a client that are taken back, or still wait. Those that wait are replaced and not added to: a claim that waits for
 * their lock must fail, because it has seen them without the others.
 */
async function join(tx: Database, run: Run, ids: string[]): Promise<void> {
  const back = arrayText(ids)
  const same = await rows(
    tx,
    z.object({ id: z.string(), key: z.string(), back: z.boolean() }),
    sql`SELECT d.id, concat_ws(' ', lower(d.client_email), d.currency, d.language, d.sequence_id, d.step_offset) AS key, d.id = ANY(${back}::uuid[]) AS back FROM deliveries d
        WHERE d.run_id = ${run.id}::uuid AND d.pulled_by_run_id IS NULL AND (${stillWaiting} OR d.id = ANY(${back}::uuid[]))
          AND lower(d.client_email) IN (SELECT lower(b.client_email) FROM deliveries b WHERE b.id = ANY(${back}::uuid[]))
        ORDER BY d.id FOR UPDATE`,
  )
  const moves = [...Map.groupBy(same, ({ key }) => key).values()].flatMap((group) => {
    const into = group.find((one) => one.back)
    return into ? group.filter((one) => one !== into).map(({ id }) => ({ id, into: into.id })) : []
  })
  if (moves.length === 0) return
  const from = arrayText(moves.map(({ id }) => id))
  const moved = sql`unnest(${from}::uuid[], ${arrayText(moves.map(({ into }) => into))}::uuid[]) AS m (id, target)`
  // Not open until the email is queued again.
  await tx.execute(sql`UPDATE delivery_invoices x SET delivery_id = m.target, open = false FROM ${moved} WHERE x.delivery_id = m.id`)
  await tx.execute(sql`UPDATE decisions x SET delivery_id = m.target, rule = 'left_out' FROM ${moved} WHERE x.delivery_id = m.id`)
  await tx.execute(
    sql`DELETE FROM deliveries d WHERE ${ours(
      run.ownerId,
      moves.map(({ id }) => id),
    )}`,
  )
}

/** Moves the other invoices of an email to one of their own in the same run, so that it is about these alone. */
export function splitOthers(tx: Database, ownerId: string, id: string, invoiceIds: string[]): Promise<void> {
  const which = sql`NOT (invoice_id = ANY(${arrayText(invoiceIds)}::uuid[]))`
  return moveToOwn(tx, { ownerId, id, which }, { to: sql`d.client_email, d.currency, d.language`, state: sql`d.state`, from: sql`` })
}

/** Moves the invoices `which` of an email to one of their own in the same run. `to`: client, currency and language of that. */
async function moveToOwn(
  tx: Database,
  { ownerId, id, which }: { ownerId: string; id: string; which: SQL },
  own: { to: SQL; state: SQL; from: SQL },
): Promise<void> {
  const into = newId()
  await tx.execute(sql`
    INSERT INTO deliveries (id, owner_id, run_id, pulled_by_run_id, own_next_try_at, own_deadline_at, approved_by_pull, client_email, currency, language, state, reason, created_at, next_try_at, deadline_at, sequence_id, step_offset, step_date, client_date)
    SELECT ${into}::uuid, d.owner_id, d.run_id, d.pulled_by_run_id, d.own_next_try_at, d.own_deadline_at, d.approved_by_pull, ${own.to}, ${own.state}, d.reason, d.created_at, d.next_try_at, d.deadline_at, d.sequence_id, d.step_offset, d.step_date, d.client_date
    FROM deliveries d ${own.from} WHERE d.id = ${id}::uuid AND d.owner_id = ${ownerId}::uuid`)
  const its = sql`owner_id = ${ownerId}::uuid AND delivery_id = ${id}::uuid AND ${which}`
  await tx.execute(sql`UPDATE delivery_invoices SET delivery_id = ${into}::uuid WHERE ${its}`)
  await tx.execute(sql`UPDATE decisions SET delivery_id = ${into}::uuid WHERE ${its}`)
}

function ours(ownerId: string, ids: string[]): SQL {
  return sql`(d.owner_id = ${ownerId}::uuid AND d.id = ANY(${arrayText(ids)}::uuid[]))`
}

/** No person asked for the email `d`. */
const automatic = sql`(d.pulled_by_run_id IS NULL AND EXISTS (SELECT 1 FROM runs r WHERE r.id = d.run_id AND r.kind <> 'send_now'))`

/** Closes what waits of automatic runs and matches: it was planned by a sequence that does not apply any more. */
export async function supersede(tx: Database, ownerId: string, which: SQL, from = pending): Promise<void> {
  await change(tx, {
    which: sql`d.owner_id = ${ownerId}::uuid AND ${automatic} AND ${which}`,
    from,
    set: sql`state = 'superseded', reason = 'replanned'`,
  })
}

/**
 * The same of emails about the invoices `i` that match; the other invoices of a grouped one get an email of their own in the same run. `mails`: pending
 * ones that may be meant.
 */
export async function supersedeAbout(tx: Database, ownerId: string, which: SQL, mails = pending): Promise<void> {
  const found = await rows(
    tx,
    z.object({ id: z.string(), invoiceIds: z.array(z.string()), others: z.number() }),
    sql`WITH locked AS (
          SELECT d.id FROM deliveries d WHERE d.owner_id = ${ownerId}::uuid AND ${automatic} AND ${mails}
            AND EXISTS (SELECT 1 FROM delivery_invoices x JOIN invoices i ON i.id = x.invoice_id WHERE x.delivery_id = d.id AND x.open AND ${which})
          ORDER BY d.id FOR UPDATE OF d)
        SELECT locked.id, array_agg(i.id::text) FILTER (WHERE ${which}) AS "invoiceIds", (count(*) FILTER (WHERE NOT (${which})))::int AS others
        FROM locked JOIN delivery_invoices x ON x.delivery_id = locked.id JOIN invoices i ON i.id = x.invoice_id
        GROUP BY locked.id ORDER BY locked.id`,
  )
  for (const { id, invoiceIds, others } of found) if (others > 0) await splitOthers(tx, ownerId, id, invoiceIds)
  if (found.length > 0) await supersede(tx, ownerId, sql`d.id = ANY(${arrayText(found.map(({ id }) => id))}::uuid[])`, stillPending)
}

const tooLateWords = sql.join(
  Object.entries(holdTexts).map(([reason, { tooLate }]) => sql`WHEN ${reason} THEN ${tooLate}`),
  sql` `,
)

/**
 * Closes what can no longer be sent, with the reason: stopped, too late, or (where the account, and so its date, is known) nothing owed.
 * Returns how many emails.
 */
export async function close(
  db: Database,
  about: { now: Instant; account: Pick<AccountRow, 'id' | 'timezone'> | null; which: SQL },
): Promise<number> {
  const notOwed = about.account
    ? sql`WHEN NOT EXISTS (SELECT 1 ${owedToday(localDate(about.now, about.account.timezone))}) THEN 'not_owed'`
    : sql``
  const why = sql`CASE WHEN ${stopped} THEN 'stopped' WHEN d.deadline_at <= ${about.now.toString()}::timestamptz THEN 'too_late' ${notOwed} END`
  const [done] = await rows(
    db,
    z.object({ count: z.number() }),
    sql`WITH judged AS (
          SELECT d.id, ${why} AS why FROM deliveries d WHERE ${about.which} AND ${stillPending} FOR UPDATE SKIP LOCKED),
        changed AS (
          UPDATE deliveries d SET reason = CASE WHEN judged.why = 'too_late' AND d.state = 'held' THEN ${heldTooLong} ELSE judged.why END,
            state = CASE judged.why WHEN 'stopped' THEN 'cancelled' WHEN 'not_owed' THEN 'superseded' ELSE 'failed' END,
            server_reply = CASE
              WHEN judged.why <> 'too_late' OR d.server_reply IS NOT NULL THEN d.server_reply
              WHEN d.state = 'held' THEN CASE d.reason ${tooLateWords} ELSE ${notInTime} END
              ELSE ${notInTime} END
          FROM judged WHERE d.id = judged.id AND judged.why IS NOT NULL RETURNING d.id, d.state, d.reason, d.client_email, d.server_reply),
        ${freed},
        shown AS (
          UPDATE invoices i SET undelivered_since = coalesce(i.undelivered_since, ${about.now.toString()}::timestamptz), undelivered_reply = changed.server_reply
          FROM changed JOIN delivery_invoices x ON x.delivery_id = changed.id
          WHERE i.id = x.invoice_id AND changed.reason = 'too_late' AND lower(i.client_email) = lower(changed.client_email))
        SELECT count(*)::int AS count FROM changed`,
  )
  return done?.count ?? 0
}

/** An invoice whose address or language changed while a grouped email waits gets an email of its own, in the same run. `which`: of `o`, the row of both. */
export async function split(tx: Database, ownerId: string, which: SQL): Promise<void> {
  const moved = await rows(
    tx,
    z.object({ invoiceId: z.string(), deliveryId: z.string() }),
    sql`SELECT o.invoice_id AS "invoiceId", o.delivery_id AS "deliveryId"
        FROM delivery_invoices o JOIN deliveries d ON d.id = o.delivery_id JOIN invoices i ON i.id = o.invoice_id
        WHERE o.owner_id = ${ownerId}::uuid AND ${which} AND o.open AND ${stillPending}
          AND (lower(i.client_email) <> lower(d.client_email) OR ${inOtherLanguage})
          AND EXISTS (SELECT 1 FROM delivery_invoices n WHERE n.delivery_id = d.id AND n.invoice_id <> o.invoice_id)
        FOR UPDATE OF d SKIP LOCKED`,
  )
  for (const { invoiceId, deliveryId: id } of moved)
    await moveToOwn(
      tx,
      { ownerId, id, which: sql`invoice_id = ${invoiceId}::uuid` },
      {
        to: sql`i.client_email, i.currency, i.language`,
        state: sql`CASE d.state WHEN 'held' THEN 'held' ELSE 'queued' END`,
        from: sql`JOIN invoices i ON i.owner_id = d.owner_id AND i.id = ${invoiceId}::uuid`,
      },
    )
}

/** Claims that this process made without learning of it: none of these emails was sent, so the try does not count. */
export function unclaim(db: Database, tickets: string[]): Promise<number> {
  return change(db, {
    which: sql`d.claim = ANY(${arrayText(tickets)}::uuid[])`,
    from: sql`d.state = 'sending'`,
    set: sql`state = 'queued', attempt = d.attempt - 1, claimed_by = NULL, claim = NULL`,
  })
}

/** An orderly end of a process: what could not be recorded counts as unknown and is sent again. */
export async function unclaimAll(db: Database, processId: string): Promise<void> {
  await change(db, {
    which: sql`d.claimed_by = ${processId}::uuid`,
    from: open,
    set: sql`state = CASE d.state WHEN 'sending' THEN 'queued' ELSE d.state END, claimed_by = NULL, claim = NULL`,
  })
}

/** An email that was in hand at so many deaths of a process is set aside. */
const mostDeaths = 3
/** After its second death an email waits this many seconds, so that others are sent before the process may die of it again. */
const suspectSeconds = 10

const reclaimed = z.object({ id: z.string(), ownerId: z.string(), setAside: z.boolean() })

/**
 * Takes over what dead processes had in hand: it is sent again, the same bytes under the same Message-ID, because it is unknown whether the
 * mail server accepted it. An email that a process died with three times is set aside: it may be what ends them.
 */
export function reclaim(db: Database, lost: SQL, now: Instant): Promise<z.output<typeof reclaimed>[]> {
  const last = sql`d.deaths + 1 >= ${mostDeaths}::int`
  const later = sql`CASE WHEN d.deaths = 0 THEN d.next_try_at ELSE greatest(d.next_try_at, ${now.add({ seconds: suspectSeconds }).toString()}::timestamptz) END`
  return rows(
    db,
    reclaimed,
    sql`WITH changed AS (
          UPDATE deliveries d SET deaths = d.deaths + 1, claimed_by = NULL, claim = NULL, next_try_at = ${later},
            state = CASE WHEN ${last} THEN 'failed' WHEN d.state = 'sending' THEN 'queued' ELSE d.state END,
            reason = CASE WHEN ${last} THEN 'poisoned' ELSE d.reason END,
            server_reply = CASE WHEN ${last} THEN ${texts.setAside} ELSE d.server_reply END
          WHERE d.claimed_by IS NOT NULL AND ${open} AND ${lost} RETURNING d.id, d.state, d.owner_id),
        ${freed}
        SELECT id, owner_id AS "ownerId", state = 'failed' AS "setAside" FROM changed`,
  )
}
