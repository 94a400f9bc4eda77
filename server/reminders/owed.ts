import { SQL, sql } from 'drizzle-orm'
import { mostListed } from '#contract/templates.ts'
import type { Instant } from '#server/platform/clock.ts'

/** Whether the reminders of an invoice `i` are paused on a date, for the invoice or for its client. */
export const pausedOn = (date: string | SQL) => sql`(
  (i.paused_at IS NOT NULL AND (i.paused_until IS NULL OR i.paused_until >= ${date}::date))
  OR EXISTS (SELECT 1 FROM client_pauses c WHERE c.owner_id = i.owner_id AND c.client_key = lower(i.client_email) AND (c.paused_until IS NULL OR c.paused_until >= ${date}::date)))`

/** Whether reminders to the address of an invoice `i` are held because a mail server has permanently refused it. */
export const addressHeld = sql`EXISTS (SELECT 1 FROM address_holds h WHERE h.owner_id = i.owner_id AND h.client_key = lower(i.client_email))`

/** Whether an invoice `i` is never reminded: by its own choice, else that of its client, else that of its account. */
export const neverReminded = sql`coalesce(nullif(i.follows, 'inherit'),
  (SELECT nullif(k.follows, 'inherit') FROM clients k WHERE k.owner_id = i.owner_id AND k.email_key = lower(i.client_email)),
  (SELECT a.follows FROM accounts a WHERE a.id = i.owner_id)) = 'never'`

/** The step of the sequence of an email `d` whose text it has: of a repetition the last one. Null where the sequence has none any more. */
export const stepOf = sql`(SELECT max(s."offset") FROM sequence_steps s
  WHERE s.sequence_id = d.sequence_id AND s."offset" <= d.step_offset AND (s."offset" > 0) = (d.step_offset > 0))`

/** Today for an email `d`: for one to a client in another time zone the date there. */
const dateOf = (today: string | SQL) => sql`coalesce(d.client_date, ${today}::date)`

/** The language of an invoice `i` without one of its own: that of its client, else of its account. */
const usualLanguage = sql`coalesce((SELECT k.language FROM clients k WHERE k.owner_id = i.owner_id AND k.email_key = lower(i.client_email)),
  (SELECT a.language FROM accounts a WHERE a.id = i.owner_id))`
/** The language of an invoice `i`. */
const languageOf = sql`coalesce(i.language, ${usualLanguage})`
/** The language of an invoice `i` where it is not that of its client, else null: most invoices have none, and cost nothing. */
export const ownLanguage = sql`CASE WHEN i.language IS NOT NULL THEN nullif(i.language, ${usualLanguage}) END`
/** Whether an invoice `i` has another language than the email `d` to its client. */
export const inOtherLanguage = sql`(i.language IS DISTINCT FROM d.language AND ${languageOf} <> coalesce(d.language, ${usualLanguage}))`
/** The language of an email `d` about invoices `i`, which have the same. */
export const languageOfMail = sql`coalesce(max(i.language), (SELECT k.language FROM clients k WHERE k.owner_id = d.owner_id AND k.email_key = max(lower(i.client_email))),
  (SELECT a.language FROM accounts a WHERE a.id = d.owner_id))`

/** Whether an invoice `i` is on the side of its due date that an email `d` is about; most emails are about invoices past due. */
const onItsSide = (today: string | SQL) =>
  sql`CASE WHEN d.step_offset <= 0 THEN i.due_date >= ${dateOf(today)} ELSE i.due_date < ${dateOf(today)} END`

/**
 * The invoices of a delivery `d` that still have to be reminded: unpaid or overdue, past due today, or not yet for a step before that, not deleted, not paused. One that
 * counts as a step needs it to exist; one by hand has the words of the template without it. A grouped
 * email is for one client, one currency and one language, so an invoice with another address, currency or language since then is not in it. OFFSET 0 makes Postgres
 * go from the email to its invoices by their keys, however old its statistics are.
 */
export const owedToday = (today: string | SQL) => sql`
  FROM (SELECT invoice_id, count(*) OVER () AS together FROM delivery_invoices WHERE delivery_id = d.id OFFSET 0) di
  JOIN LATERAL (SELECT * FROM invoices WHERE invoices.id = di.invoice_id OFFSET 0) i
    ON i.deleted_at IS NULL AND i.status <> 'paid' AND ${onItsSide(today)} AND (d.step_date IS NULL OR ${stepOf} IS NOT NULL) AND NOT ${pausedOn(dateOf(today))}
      AND (di.together = 1 OR (lower(i.client_email) = lower(d.client_email) AND i.currency = d.currency AND NOT ${inOtherLanguage}))`

/**
 * The emails `d` of an invoice `i`, with the row `x` of both and the run `r` that wants each. By their keys, as above: without statistics
 * Postgres would read the emails of all accounts once for every invoice.
 */
export const emailsOf = sql`(SELECT * FROM delivery_invoices WHERE invoice_id = i.id OFFSET 0) x
  JOIN LATERAL (SELECT * FROM deliveries WHERE deliveries.id = x.delivery_id OFFSET 0) d ON true
  JOIN LATERAL (SELECT * FROM runs WHERE runs.id = coalesce(d.pulled_by_run_id, d.run_id) OFFSET 0) r ON true`

/** No email about an invoice `i` was accepted since the email `d` was made. */
export const notRemindedSince = sql`(i.last_reminder_at IS NULL OR i.last_reminder_at < d.created_at)`

/**
 * Up to which day an email `d` deals with the steps of its invoices, besides that of each, once it is accepted; null: one by hand deals with
 * none. A retry deals with what the email that failed would have dealt with; one that was handed over to a later run only with its own steps.
 */
export const dealsThrough = sql`(SELECT CASE WHEN r.retry_of IS NULL THEN coalesce(d.client_date, r.local_date)
    ELSE (SELECT f.local_date FROM runs f WHERE f.id = r.retry_of AND f.kind NOT IN ('send_now', 'retry')) END FROM runs r
  WHERE r.id = d.run_id AND d.created_at >= r.created_at AND (d.step_date IS NOT NULL OR (d.sequence_id IS NULL AND r.kind <> 'send_now')))`

/** The email `o` that an invoice `i` still waits for, likewise, with the date of the step that it is for this one. */
export const openEmailOf = sql`LATERAL (
  SELECT d.*, x.step_date AS own_step, ${dealsThrough} AS deals_through
  FROM (SELECT delivery_id, step_date FROM delivery_invoices WHERE invoice_id = i.id AND open OFFSET 0) x
  JOIN LATERAL (SELECT * FROM deliveries WHERE deliveries.id = x.delivery_id OFFSET 0) d ON true) o`

/** Whether the client of an email `d` is paying one of its invoices online at this moment. */
export const beingPaid = (now: Instant | SQL) => sql`EXISTS (
  SELECT 1 FROM pay_attempts p JOIN pay_attempt_invoices y ON y.attempt_id = p.id JOIN delivery_invoices n ON n.invoice_id = y.invoice_id
  WHERE p.owner_id = d.owner_id AND p.state IN ('starting', 'open') AND p.hold_until > ${now instanceof SQL ? now : now.toString()}::timestamptz AND n.delivery_id = d.id)`

/** What is left to pay of an invoice `i` that is owed. */
export const balance = sql`(i.amount_minor - i.paid_minor)`

/** How often the pay link of an invoice `i`, or of the client of a delivery `d`, was replaced; '' where it never was. */
const linkOf = (which: SQL) => sql`coalesce((SELECT '/' || l.revision FROM pay_links l WHERE l.revision > 0 AND ${which}), '')`
/**
 * A change at the same instant must not go unnoticed where it is a payment, so what was paid is named besides the time. Not where nothing
 * was: emails that the version before these payments composed keep their bytes.
 */
const versions = sql`string_agg(' ' || i.id || '@' || extract(epoch FROM i.updated_at)
  || CASE WHEN i.paid_minor <> 0 THEN '=' || i.amount_minor || '-' || i.paid_minor ELSE '' END || ${linkOf(sql`l.invoice_id = i.id`)}
  || CASE WHEN i.file_id IS NOT NULL THEN '+' || i.file_id ELSE '' END, '' ORDER BY i.id)`
/** What the account of a delivery `d` says about itself and about paying. */
const payment = sql`coalesce((SELECT ' brand' || b.version FROM brands b WHERE b.owner_id = d.owner_id), '') || coalesce((SELECT ' pay' || p.version FROM payment_settings p WHERE p.owner_id = d.owner_id), '')
  || CASE WHEN count(*) > 1 THEN ${linkOf(sql`l.invoice_id IS NULL AND l.owner_id = d.owner_id AND l.client_key = lower(d.client_email)`)} ELSE '' END`
/** The client of an email `d` about invoices `i`. */
const itsClient = sql`k.owner_id = d.owner_id AND k.email_key = max(lower(i.client_email))`
/** The number of the step of an email `d` in its sequence; 0 where it has none. */
const stepNumber = sql`(SELECT count(*) FROM sequence_steps s WHERE s.sequence_id = d.sequence_id AND s."offset" <= ${stepOf})`
/**
 * The addresses that an email `d` about invoices `i` goes to besides that of its client, each once: those of its step, and the further recipients
 * of the client. One that a mail server has refused as a client's is left out.
 */
export const copiesOf = sql`(SELECT string_agg(DISTINCT x.address, ',' ORDER BY x.address) FROM (
    SELECT unnest(ARRAY[CASE WHEN c.copy_to_me THEN lower(a.email) END, CASE WHEN c.copy_to_second_contact THEN lower(k.second_contact) END]) AS address
    FROM sequence_steps c JOIN memberships m ON m.owner_id = c.owner_id AND m.role = 'owner' JOIN people a ON a.id = m.person_id
    LEFT JOIN clients k ON ${itsClient}
    WHERE c.sequence_id = d.sequence_id AND c."offset" = ${stepOf}
    UNION ALL
    SELECT lower(one->>'email') FROM clients k CROSS JOIN LATERAL jsonb_array_elements(k.copies) one
    WHERE ${itsClient} AND (one->>'gets' = 'every' OR (one->>'gets' = 'from_step' AND ${stepNumber} >= (one->>'step')::int))) x
  WHERE x.address <> max(lower(i.client_email)) AND NOT EXISTS (SELECT 1 FROM address_holds h WHERE h.owner_id = d.owner_id AND h.client_key = x.address))`
/** The step of an email `d` and its version, '' for one in the words of the template, as where the sequence is deleted; and its further recipients. */
const step = sql`CASE WHEN d.sequence_id IS NULL THEN '' ELSE
  coalesce((SELECT ' step ' || q.id || '/' || q.version || '/' || d.step_offset FROM sequences q WHERE q.id = d.sequence_id), '') END || coalesce(' cc ' || ${copiesOf}, '')`
/**
 * The language of an email `d`, '' for English; and the words of its template, '' where it has those of a step, of its run, or the default ones: such
 * emails keep their bytes.
 */
const spoken = sql`(SELECT CASE WHEN l <> 'en' THEN ' in ' || l ELSE '' END || CASE WHEN d.sequence_id IS NULL OR ${stepOf} IS NULL THEN coalesce((
    SELECT ' words ' || md5(t.custom_subject || chr(10) || t.custom_content) FROM templates t
    WHERE t.owner_id = d.owner_id AND t.kind = CASE WHEN n > 1 THEN 'group' ELSE 'one' END AND t.language = l AND t.use_custom
      AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id IN (d.run_id, d.pulled_by_run_id) AND r.content IS NOT NULL)), '') ELSE '' END
  FROM (VALUES (${languageOfMail}, count(i.id))) said (l, n))`
const owned = sql`accounts a JOIN memberships m ON m.owner_id = a.id AND m.role = 'owner' JOIN people p ON p.id = m.person_id`
/** The name of its business, which an email `d` is from. */
export const fromName = sql`(SELECT coalesce(a.name, p.display_name) FROM ${owned} WHERE a.id = d.owner_id)`
/** The same in a source: '' where it is still what the account began with, so that emails composed before a source had it keep their bytes. */
const named = sql`coalesce((SELECT ' from ' || md5(coalesce(a.name, p.display_name)) FROM ${owned}
  WHERE a.id = d.owner_id AND (a.name IS NOT NULL OR p.updated_at <> a.created_at)), '')`
/** Of many invoices a digest: thousands of versions would travel with every claim. */
export const source = (senderId: string | SQL) =>
  sql`${senderId}::text || CASE WHEN count(*) > ${mostListed}::int THEN ' ' || count(*) || ' ' || md5(${versions}) ELSE ${versions} END || ${payment} || ${step} || ${spoken} || ${named}`

/**
 * What an email is rendered from: the mailbox, every invoice in it with its version and its PDF, the pay links, the brand, the settings of the ways to pay, the step with its copies, the language,
 * the words of the template, and the name of the business. Null where nothing is owed any more.
 */
export const sourceOf = (senderId: string | SQL, today: string | SQL) => sql`(SELECT ${source(senderId)} ${owedToday(today)})`
