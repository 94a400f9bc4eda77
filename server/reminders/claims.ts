import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { batch } from '#server/platform/batch.ts'
import type { Clock } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { changed, type Database, preparedRows, rows } from '#server/platform/database.ts'
import { failPoint } from '#server/platform/fail-point.ts'
import { type FairScheduler, openFairScheduler } from '#server/platform/fair-scheduler.ts'
import type { ComposedMail } from './compose.ts'
import { owedToday, type PendingDelivery, sourceOf } from './pending.ts'

/** Emails claimed at a time in one process: a crash repeats at most these. */
const slots = 8

const claimedDelivery = z.object({
  id: z.string(),
  /** Identifies this one try. */
  claim: z.string(),
  attempt: z.number(),
  /** The bytes stored at an earlier try; null where this claim stored them. */
  raw: z
    .instanceof(Uint8Array)
    .transform((raw) => Buffer.from(raw))
    .nullable(),
})

export type ClaimedDelivery = Omit<z.output<typeof claimedDelivery>, 'raw'> & { raw: Buffer }

/** An email to be claimed, its sender, and its composed form: null where the stored bytes still apply. */
interface Wanted {
  mail: PendingDelivery
  composed: ComposedMail | null
  senderId: string
  /** The date in the account's time zone. */
  today: string
}

interface Accepted {
  mail: ClaimedDelivery
  reply: string
}

/** The deliveries that this process has claimed. */
export interface Claims {
  scheduler: FairScheduler
  /**
   * Claims one email, if it is still wanted at this moment: not claimed, not cancelled, in time, the invoice still owed and unchanged since
   * it was rendered, the same sender and not paused. The bytes are stored before anything is sent. Null where it is not wanted.
   */
  claim(wanted: Wanted): Promise<ClaimedDelivery | null>
  /** Records that a mail server accepted an email. With a claim that was taken away meanwhile it changes nothing. */
  accepted(said: Accepted): Promise<void>
  /** The outcome of the email is recorded. */
  release(mail: ClaimedDelivery): void
  /**
   * Reclaims emails that this process claimed without learning of it: the database committed, and its answer was lost. None of them was
   * sent, because nothing is sent without that answer. Returns how many.
   */
  reclaimLost(): Promise<number>
}

/** `statements`: how many of one kind may run at a time; more than one helps only where the database has several connections. */
export function openClaims(about: { db: Database; clock: Clock; processId: string; statements: number }): Claims {
  const { db, clock, processId } = about
  /** Present from before a claim is requested. */
  const tickets = new Set<string>()
  const together = { concurrency: about.statements, size: slots }

  const take = async (all: (Wanted & { ticket: string })[]): Promise<(ClaimedDelivery | null)[]> => {
    const taken = claiming(all, { processId, now: clock.now().toString() })
    const [first] = all
    const claimed =
      first && dropsInvoices(first)
        ? await rows(db, claimedDelivery, dropping(taken, first.today))
        : await preparedRows(db, claimedDelivery, taken)
    return all.map(({ ticket, composed }) => {
      const mine = claimed.find(({ claim }) => claim === ticket)
      const raw = mine?.raw ?? composed?.raw
      return mine && raw ? { ...mine, raw } : null
    })
  }
  const takeTogether = batch(together, take)
  const record = batch(together, async (all: Accepted[]) => {
    await preparedRows(db, z.unknown(), recording(all, clock.now().toString()))
    return all.map(() => undefined)
  })

  return {
    scheduler: openFairScheduler({ slots }),
    async claim(wanted) {
      const ticket = newId()
      tickets.add(ticket)
      let claimed: ClaimedDelivery | null = null
      try {
        claimed = dropsInvoices(wanted) ? ((await take([{ ...wanted, ticket }]))[0] ?? null) : await takeTogether({ ...wanted, ticket })
      } finally {
        if (!claimed) tickets.delete(ticket)
      }
      if (claimed) failPoint('claim')
      return claimed
    },
    accepted: record,
    release({ claim }) {
      tickets.delete(claim)
    },
    async reclaimLost() {
      const taken = await rows(
        db,
        z.object({ claim: z.string() }),
        sql`SELECT claim FROM deliveries WHERE state = 'sending' AND claimed_by = ${processId}::uuid AND claim IS NOT NULL`,
      )
      // Must come after the query: a ticket exists before its claim can be read, and until the outcome is recorded.
      const lost = taken.filter(({ claim }) => !tickets.has(claim))
      if (lost.length === 0) return 0
      return changed(
        db,
        sql`UPDATE deliveries SET state = 'queued', attempt = attempt - 1, claimed_by = NULL, claim = NULL
            WHERE state = 'sending' AND claimed_by = ${processId}::uuid AND claim = ANY(${among(lost.map(({ claim }) => claim))})`,
      )
    },
  }
}

function claiming(all: (Wanted & { ticket: string })[], { processId, now }: { processId: string; now: string }): SQL {
  const wanted = all.map(
    ({ mail, composed, senderId, today, ticket }) =>
      sql`(${mail.id}::uuid, ${ticket}::uuid, ${senderId}::uuid, ${today}::date, ${composed?.raw ?? null}::bytea, ${composed?.subject ?? null}::text,
        ${composed?.messageId ?? null}::text, ${composed ? mail.source : null}::text, ${composed ? mail.clientEmail : null}::text)`,
  )
  return sql`
    UPDATE deliveries d SET state = 'sending', reason = NULL, attempt = d.attempt + 1, claimed_by = ${processId}::uuid, claim = w.ticket,
      raw = coalesce(w.raw, d.raw), subject = coalesce(w.subject, d.subject), message_id = coalesce(w.message_id, d.message_id),
      rendered_from = coalesce(w.source, d.rendered_from), client_email = coalesce(w.client_email, d.client_email)
    FROM (VALUES ${sql.join(wanted, sql`, `)}) AS w (id, ticket, sender_id, today, raw, subject, message_id, source, client_email), mail_configs m
    WHERE d.id = w.id AND d.state IN ('queued', 'retrying') AND d.deadline_at > ${now}::timestamptz
      AND m.owner_id = d.owner_id AND m.sender_id = w.sender_id AND m.pause_reason IS NULL
      AND EXISTS (SELECT 1 FROM runs r WHERE r.id IN (d.run_id, d.pulled_by_run_id) AND r.cancelled_at IS NULL)
      AND ${sourceOf(sql`w.sender_id`, sql`w.today`)} = coalesce(w.source, d.rendered_from)
    RETURNING d.id, d.claim, d.attempt, CASE WHEN w.raw IS NULL THEN d.raw END AS raw`
}

/** Whether a grouped email no longer lists everything it was made for. */
function dropsInvoices({ mail }: Wanted): boolean {
  return mail.owed.count !== mail.madeFor
}

/** An invoice that is no longer in the email is not reminded by it, and the row of its day must show that. */
function dropping(taken: SQL, today: string): SQL {
  return sql`
    WITH claimed AS (${taken}),
    dropped AS (
      DELETE FROM delivery_invoices x USING claimed, deliveries d
      WHERE d.id = claimed.id AND x.delivery_id = d.id AND x.invoice_id NOT IN (SELECT i.id ${owedToday(today)})
      RETURNING x.invoice_id, x.delivery_id),
    told AS (UPDATE decisions x SET rule = 'not_owed', delivery_id = NULL FROM dropped WHERE x.invoice_id = dropped.invoice_id AND x.delivery_id = dropped.delivery_id)
    SELECT * FROM claimed`
}

function recording(all: Accepted[], now: string): SQL {
  const said = all.map(({ mail, reply }) => sql`(${mail.id}::uuid, ${mail.claim}::uuid, ${reply}::text)`)
  return sql`
    WITH done AS (
      UPDATE deliveries d SET state = 'sent', sent_at = ${now}::timestamptz, claimed_by = NULL, claim = NULL, server_reply = said.reply
      FROM (VALUES ${sql.join(said, sql`, `)}) AS said (id, claim, reply)
      WHERE d.id = said.id AND d.claim = said.claim AND d.state = 'sending' RETURNING d.id, d.message_id),
    closed AS (
      UPDATE delivery_invoices di SET open = false FROM done WHERE di.delivery_id = done.id RETURNING di.invoice_id, done.message_id)
    UPDATE invoices i SET reminders_sent = i.reminders_sent + 1, last_reminder_at = ${now}::timestamptz, refusal = NULL,
      first_message_id = coalesce(i.first_message_id, closed.message_id)
    FROM closed WHERE i.id = closed.invoice_id`
}

function among(ids: string[]): SQL {
  return sql`${`{${ids.join(',')}}`}::uuid[]`
}
