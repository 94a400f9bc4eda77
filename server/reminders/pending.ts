import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { firstLanguage } from '#contract/speech.ts'
import { mostListed, type Wording } from '#contract/templates.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, byKeys, type Database, statement, value } from '#server/platform/database.ts'
import { onlyScheduled } from './deliveries.ts'
import { mailboxOfClient, type SendingMailbox } from './mailboxes.ts'
import { balance, beingPaid, copiesOf, fromName, languageOfMail, owedToday, source, stepOf } from './owed.ts'
import { localDate } from './schedule.ts'
import { inStep, stepIn, storedStep } from './sequence-steps.ts'

/** How many emails are read ahead; each is still claimed by one statement of its own. */
export const readAhead = 40

const wording = z.object({ subject: z.string(), content: z.string() })

const pendingRow = z.object({
  id: z.string(),
  ownerId: z.string(),
  /** Who it is from. */
  fromName: z.string(),
  /** The date at a client in another time zone when it leaves; null: that of the account. */
  clientDate: z.string().nullable(),
  /** The Send Now that has pulled it forward. */
  pulledBy: z.string().nullable(),
  /** The run that it is sent for: that, else its own. */
  sentFor: z.string(),
  attempt: z.number(),
  /** How often a process died with it in hand. */
  deaths: z.number(),
  /** The current address of the invoice. */
  clientEmail: z.string(),
  /** What it would be rendered from now. */
  source: z.string().nullable(),
  /** Whether the stored bytes were rendered from that. */
  composed: z.boolean(),
  /** Its client is paying online. */
  paying: z.boolean(),
  /** How many invoices it was made for; `about` has only those still owed. */
  madeFor: z.number(),
  /** The wording that was written for this one email; null where the account's applies. */
  written: wording.nullable(),
  /** As a BCP 47 tag; null where nothing is owed any more. */
  language: z.string().nullable(),
  step: storedStep.nullable(),
  /** Where it goes besides the client. */
  copies: z.array(z.string()),
  /** All that is owed now; `about` has the first of them, as many as an email lists. */
  owed: z.object({ count: z.number(), totalMinor: z.number() }),
  about: z.array(
    z.object({
      id: z.string(),
      reference: z.string(),
      clientName: z.string(),
      clientEmail: z.string(),
      balanceMinor: z.number(),
      amountMinor: z.number(),
      currency: z.string(),
      dueDate: z.string(),
      fileId: z.string().nullable(),
      /** In bytes. */
      fileSize: z.number().nullable(),
      firstMessageId: z.string().nullable(),
      lastMessageId: z.string().nullable(),
    }),
  ),
})
export interface PendingDelivery extends Omit<z.output<typeof pendingRow>, 'step' | 'language'> {
  language: string
  /** The words of its step; null: those of the template. */
  step: { one: Wording; group: Wording } | null
}

const readDue = statement(
  pendingRow,
  sql`SELECT d.id, d.owner_id AS "ownerId", ${fromName} AS "fromName", d.client_date::text AS "clientDate", d.pulled_by_run_id AS "pulledBy", coalesce(d.pulled_by_run_id, d.run_id) AS "sentFor", d.attempt, d.deaths, s.source, coalesce(d.raw IS NOT NULL AND d.rendered_from = s.source, false) AS composed, ${beingPaid(value('now'))} AS paying,
          (SELECT count(*)::int FROM delivery_invoices n WHERE n.delivery_id = d.id) AS "madeFor",
          (SELECT json_build_object('subject', r.subject, 'content', r.content) FROM runs r
            WHERE r.id IN (d.run_id, d.pulled_by_run_id) AND r.content IS NOT NULL ORDER BY r.created_at DESC LIMIT 1) AS written,
          s.language, CASE WHEN d.sequence_id IS NOT NULL THEN ${stepIn(sql`s.language`, sql`c.sequence_id = d.sequence_id AND c."offset" = ${stepOf}`)} END AS step,
          coalesce(string_to_array(s.copies, ','), '{}') AS copies,
          a.about, s.owed, coalesce(a.about->0->>'clientEmail', d.client_email) AS "clientEmail"
        FROM ${byKeys(sql`unnest(${value('owners')}::uuid[], ${value('senders')}::uuid[], ${value('dates')}::date[], ${value('scheduling')}::boolean[], ${value('places')}::uuid[], ${value('fallbacks')}::uuid[])
          AS w (owner_id, sender_id, today, scheduling, place, fallback)`)} w
        CROSS JOIN LATERAL (
          SELECT * FROM deliveries d WHERE d.owner_id = w.owner_id AND d.state IN ('queued', 'retrying') AND (w.scheduling OR NOT ${onlyScheduled}) AND d.next_try_at <= ${value('now')}::timestamptz
            AND (w.place IS NULL OR coalesce(${mailboxOfClient}, w.fallback) = w.place)
          ORDER BY d.next_try_at, d.id LIMIT ${readAhead}::int) d
        CROSS JOIN LATERAL (
          SELECT ${source(sql`w.sender_id`)} AS source, json_build_object('count', count(*), 'totalMinor', coalesce(sum(${balance}), 0)) AS owed,
            ${copiesOf} AS copies, CASE WHEN count(*) > 0 THEN ${languageOfMail} END AS language
          ${owedToday(sql`w.today`)}) s
        CROSS JOIN LATERAL (
          SELECT coalesce((SELECT json_agg(one) FROM (
            SELECT i.id, i.reference, i.client_name AS "clientName", i.client_email AS "clientEmail", ${balance} AS "balanceMinor", i.amount_minor AS "amountMinor", i.currency,
              i.due_date::text AS "dueDate", i.file_id AS "fileId", (SELECT f.size FROM invoice_files f WHERE f.id = i.file_id) AS "fileSize",
              i.first_message_id AS "firstMessageId",
              coalesce(i.last_message_id, i.first_message_id) AS "lastMessageId"
            ${owedToday(sql`w.today`)} ORDER BY i.due_date, i.id LIMIT ${mostListed}::int) one), '[]') AS about) a
        ORDER BY d.next_try_at, d.id`,
)

/** The due emails of mailboxes, by account: the oldest first, at most `readAhead` each; those of the daily run only with `scheduling`. */
export async function readPending(
  db: Database,
  those: { account: Pick<AccountRow, 'id' | 'timezone'>; sender: SendingMailbox; scheduling: boolean }[],
  now: Instant,
): Promise<Map<string, PendingDelivery[]>> {
  if (those.length === 0) return new Map()
  const column = (of: (one: (typeof those)[number]) => string | null) => arrayText(those.map(of))
  const found = await readDue(db, {
    now: now.toString(),
    owners: column(({ account }) => account.id),
    senders: column(({ sender }) => sender.senderId),
    dates: column(({ account }) => localDate(now, account.timezone)),
    scheduling: column(({ scheduling }) => String(scheduling)),
    places: column(({ sender }) => (sender.several ? sender.place : null)),
    fallbacks: column(({ sender }) => (sender.isDefault ? sender.place : null)),
  })
  const pending = found.map(({ step, language, ...one }): PendingDelivery => {
    const its = language ?? firstLanguage
    return { ...one, language: its, step: step && inStep(step, its) }
  })
  return Map.groupBy(pending, ({ ownerId }) => ownerId)
}
