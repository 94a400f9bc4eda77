import { and, asc, desc, eq, inArray, isNull, lte, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import { screens, withQuery } from '#contract/screens.ts'
import { hasEmail, selectAccounts } from '#server/accounts/accounts.ts'
import { notify, withdrawNotices } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import { addressHolds, clients, invoices } from '#server/invoices/tables.ts'
import { findMailbox } from '#server/mail/mail.ts'
import { askAgain } from '#server/pay/pay.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Queue } from '#server/platform/job.ts'
import { recordRestore } from '#server/platform/origin.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { followHolds, hold, holdEverything, release, split } from './deliveries.ts'
import { byHand, deliverJob } from './jobs.ts'
import { apartFrom, dailyDeadline, dayAfter, localDate, nextRun } from './schedule.ts'
import { deliveries, runs } from './tables.ts'
import { texts } from './texts.ts'

/** The most invoices that a notice names. */
export const mostNamed = 20

/** After the mailbox or the plan has changed, held emails are queued again; they are held again if the reason persists. */
export async function resumeHeld(tx: Database, queue: Queue, ownerId: string, now: Instant): Promise<void> {
  const resumed = await release(tx, sql`d.owner_id = ${ownerId}::uuid AND d.reason NOT IN ('restored', 'address', 'paying')`, now)
  if (resumed > 0) await queue.send(tx, deliverJob, { ownerId })
}

/** Emails about several invoices that wait may have two languages, now that the business has another one. */
export function splitLanguages(tx: Database, ownerId: string): Promise<void> {
  return split(tx, ownerId, sql`true`)
}

/** From which mailbox a client is written to; null: the default one. Refuses with `not_found`. */
export async function chooseMailbox(
  tx: Database,
  queue: Queue,
  ownerId: string,
  about: { clientId: string; mailbox: string | null },
  now: Instant,
): Promise<void> {
  const place = about.mailbox === null ? null : (await findMailbox(tx, ownerId, about.mailbox)).place
  const chosen = await tx
    .update(clients)
    .set({ mailboxId: place })
    .where(and(eq(clients.ownerId, ownerId), sql`${clients.id}::text = ${about.clientId}`))
    .returning({ id: clients.id })
  if (chosen.length === 0) throw new ProblemError('not_found', texts.noClient)
  await resumeHeld(tx, queue, ownerId, now)
}

/** The owner approved the emails of a run that were held since a restore. Returns how many are sent. */
export async function releaseRestored(
  tx: Database,
  queue: Queue,
  about: { ownerId: string; runId: string },
  now: Instant,
): Promise<number> {
  const which = sql`d.owner_id = ${about.ownerId}::uuid AND ${about.runId}::uuid IN (d.run_id, d.pulled_by_run_id) AND d.reason = 'restored'`
  const released = await release(tx, which, now)
  if (released > 0) await queue.send(tx, deliverJob, { ownerId: about.ownerId }, byHand)
  return released
}

/**
 * A mail server has permanently refused the address of these invoices, or an email came back (`about` words the notice): reminders to it wait until it is corrected or tried again. However
 * often that happens, it is one notice.
 */
export async function holdAddress(
  tx: Database,
  ownerId: string,
  about: { invoiceIds: string[]; reply: string; about?: { title: string; text: string } },
  now: Instant,
): Promise<void> {
  const { invoiceIds, reply } = about
  if (invoiceIds.length === 0) return
  const [first] = await tx.select().from(invoices).where(inArray(invoices.id, invoiceIds)).orderBy(invoices.dueDate, invoices.id)
  if (!first) return
  const clientKey = first.clientEmail.toLowerCase()
  await tx
    .insert(addressHolds)
    .values({ ownerId, clientKey, heldSince: now, reply })
    .onConflictDoUpdate({ target: [addressHolds.ownerId, addressHolds.clientKey], set: { reply } })
  const here = sql`lower(i.client_email) = ${clientKey}`
  await followHolds(tx, ownerId, here, now)
  const owed = await tx
    .select({ invoiceId: invoices.id, clientName: invoices.clientName, reference: invoices.reference })
    .from(invoices)
    .where(
      and(
        eq(invoices.ownerId, ownerId),
        isNull(invoices.deletedAt),
        ne(invoices.status, 'paid'),
        sql`lower(${invoices.clientEmail}) = ${clientKey}`,
      ),
    )
    .orderBy(invoices.dueDate, invoices.id)
    .limit(mostNamed)
  const t = texts.addressRefused
  await notify(
    tx,
    ownerId,
    {
      kind: 'address_refused',
      cause: clientKey,
      summary: about.about ? texts.bounced.summary(first.clientName) : t.summary(first.clientName),
      title: t.title(first.clientEmail),
      text: t.text(reply),
      ...about.about,
      link: screens.invoice(first.id),
      clients: owed,
    },
    now,
  )
}

/**
 * Ends the hold of an address: its emails are queued again, and its notice is withdrawn. Returns whether it was held.
 */
export async function releaseAddress(tx: Database, queue: Queue, ownerId: string, address: string, now: Instant): Promise<boolean> {
  const clientKey = address.toLowerCase()
  const ended = await tx
    .delete(addressHolds)
    .where(and(eq(addressHolds.ownerId, ownerId), eq(addressHolds.clientKey, clientKey)))
    .returning({ clientKey: addressHolds.clientKey })
  if (ended.length === 0) return false
  await withdrawNotices(tx, ownerId, ['address_refused'], clientKey)
  if ((await followHolds(tx, ownerId, sql`lower(i.client_email) = ${clientKey}`, now)) > 0) await queue.send(tx, deliverJob, { ownerId })
  return true
}

/** The same for every address that an email of this run failed at. */
export async function releaseAddressesOf(
  tx: Database,
  queue: Queue,
  about: { ownerId: string; runId: string },
  now: Instant,
): Promise<void> {
  const held = await rows(
    tx,
    z.object({ clientKey: z.string() }),
    sql`SELECT h.client_key AS "clientKey" FROM address_holds h WHERE h.owner_id = ${about.ownerId}::uuid AND EXISTS (
          SELECT 1 FROM deliveries d WHERE ${about.runId}::uuid IN (d.run_id, d.pulled_by_run_id) AND d.state = 'failed' AND lower(d.client_email) = h.client_key)`,
  )
  for (const { clientKey } of held) await releaseAddress(tx, queue, about.ownerId, clientKey, now)
}

/**
 * Called when invoices have changed: an email whose invoice has another address now waits or resumes as that address does. A notice about an
 * address that no unpaid invoice has is withdrawn.
 */
export async function followAddresses(tx: Database, queue: Queue, ownerId: string, invoiceIds: string[], now: Instant): Promise<void> {
  const held = await tx.select({ clientKey: addressHolds.clientKey }).from(addressHolds).where(eq(addressHolds.ownerId, ownerId))
  if (held.length === 0) return
  if ((await followHolds(tx, ownerId, sql`i.id IN ${invoiceIds}`, now)) > 0) await queue.send(tx, deliverJob, { ownerId })
  await tx.execute(sql`
    DELETE FROM notices n WHERE n.owner_id = ${ownerId}::uuid AND n.kind = 'address_refused' AND NOT EXISTS (
      SELECT 1 FROM invoices i WHERE i.owner_id = n.owner_id AND lower(i.client_email) = n.cause AND i.deleted_at IS NULL AND i.status <> 'paid')`)
}

/** The notice that a run has emails that may have left before the data was restored. */
export async function noteRestored(tx: Database, ownerId: string, run: string, now: Instant): Promise<void> {
  const { title, text } = texts.restored
  const about = { kind: 'restored' as const, summary: title, title, text, link: withQuery(screens.reminderControl, { run }) }
  await notify(tx, ownerId, about, now)
}

/**
 * After a restore from a backup, pending emails may already have been sent since the backup was made: all of them need their owner's
 * approval, and daily runs whose hour has passed are not caught up. The same goes for what is planned of earlier runs, and for steps that were due by now (`plan`). Returns how many emails are held.
 */
export async function holdRestored(tx: Database, now: Instant): Promise<number> {
  const at = now.toString()
  const owners = await tx
    .selectDistinctOn([deliveries.ownerId], { ownerId: deliveries.ownerId, run: deliveries.runId })
    .from(deliveries)
    .where(sql`state IN ('queued', 'retrying', 'sending', 'held') AND deadline_at > ${at}::timestamptz`)
    .orderBy(deliveries.ownerId, desc(deliveries.runId))
  await recordRestore(tx, now)
  const held = await holdEverything(tx, now)
  await askAgain(tx, now)
  const behind = await selectAccounts(tx).where(lte(accounts.nextRunAt, now)).orderBy(asc(accounts.id))
  for (const account of behind) {
    const today = localDate(now, account.timezone)
    const soonest = nextRun(account, { now, notBefore: today, lastRunAt: apartFrom(account) })
    const passed = Temporal.Instant.compare(soonest.at, now) <= 0
    const next = passed ? nextRun(account, { now, notBefore: dayAfter(today), lastRunAt: null }) : soonest
    await tx.update(accounts).set({ nextRunAt: next.at, nextRunFrom: next.date }).where(eq(accounts.id, account.id))
    if (passed)
      await tx
        .insert(runs)
        .values({
          ownerId: account.id,
          kind: 'daily',
          localDate: today,
          createdAt: now,
          deadlineAt: dailyDeadline(today, account.timezone),
          plannedAt: now,
          skippedReason: texts.skipped.restored,
        })
        .onConflictDoNothing()
  }
  for (const { ownerId, run } of owners) await noteRestored(tx, ownerId, run, now)
  return held
}

/**
 * The operator holds the sending of each business that a person owns: its emails wait, and fail at their deadline unless it is resumed before. Returns
 * how many wait. Refuses with `not_found`.
 */
export async function holdAccount(db: Database, email: string, now: Instant): Promise<number> {
  return db.transaction(async (tx) => {
    let waiting = 0
    for (const ownerId of await setHeld(tx, email, now)) waiting += await hold(tx, ownerId, 'operator')
    return waiting
  })
}

/** Resumes it; returns how many emails are sent now, within seconds. Refuses with `not_found`. */
export async function releaseAccount(db: Database, email: string, now: Instant): Promise<number> {
  return db.transaction(async (tx) => {
    let resumed = 0
    for (const ownerId of await setHeld(tx, email, null))
      resumed += await release(tx, sql`d.owner_id = ${ownerId}::uuid AND d.reason = 'operator'`, now)
    return resumed
  })
}

async function setHeld(tx: Database, email: string, heldAt: Instant | null): Promise<string[]> {
  const ids = (await selectAccounts(tx).where(hasEmail(email)).orderBy(asc(accounts.id))).map(({ id }) => id)
  if (ids.length === 0) throw new ProblemError('not_found', texts.operator.noAccount(email))
  await tx.update(accounts).set({ heldAt }).where(inArray(accounts.id, ids))
  return ids
}
