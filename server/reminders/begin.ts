import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { largestAttached } from '#contract/pay-links.ts'
import { hasPayLink } from '#contract/templates.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { selectAccounts } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { entitlementsOfMany } from '#server/billing/billing.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import { payLinksFor } from '#server/pay/links.ts'
import { nothingToPay, readEmailPayments, readOwnBrands } from '#server/pay/pay.ts'
import { batch } from '#server/platform/batch.ts'
import { arrayText, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { readWordings, type Wordings } from '#server/templates/templates.ts'
import { filesLeftOut, type MailPayment, type SentBrand, sentBrand } from './compose.ts'
import type { SendingMailbox } from './mailboxes.ts'
import { type PendingDelivery, readPending } from './pending.ts'

/** What sending for an account begins with, all read at about the same moment: each claim checks again what could have changed. */
export interface Begun {
  account: AccountRow
  sender: SendingMailbox | null
  /** The places of the mailboxes besides the default one. */
  others: string[]
  /** Whether the plan has daily reminders. */
  scheduling: boolean
  /** Runs of it are not planned completely. */
  unplanned: boolean
  wordings: Wordings
  /** What its emails say about it; null: nothing. */
  brand: SentBrand | null
  /** Its due emails, the oldest first; those of the daily run only with `scheduling`. */
  pending: PendingMail[]
}

/** Whose emails begin, and by which mailbox; null: the default one. */
export interface Beginning {
  ownerId: string
  place: string | null
}

/** A due email and how its client can pay. */
export interface PendingMail extends PendingDelivery {
  pay: MailPayment | null
}

export type Begin = (which: Beginning) => Promise<Begun | null>

type BeginDeps = Pick<Deps, 'db' | 'clock' | 'config' | 'log'>

/** Accounts read by one set of statements. */
const size = 100

/**
 * Reads many accounts at a time, because at nine o'clock thousands begin together; one that cannot be read delays none of the others. Null where
 * there is no such account any more.
 */
export function openBegin(deps: BeginDeps, concurrency: number): Begin {
  return batch({ concurrency, size, alone: true }, (all: Beginning[]) => beginMany(deps, all))
}

/** No account is in it twice: one job serves it. */
async function beginMany(deps: BeginDeps, all: Beginning[]): Promise<(Begun | null)[]> {
  const { db, clock, config } = deps
  const now = clock.now()
  const ownerIds = all.map(({ ownerId }) => ownerId)
  const ids = arrayText(ownerIds)
  const owners = await selectAccounts(db).where(sql`${accounts.id} = ANY(${ids}::uuid[])`)
  const senders = await db.select().from(mailConfigs).where(sql`${mailConfigs.ownerId} = ANY(${ids}::uuid[])`)
  const unplanned = await rows(
    db,
    z.object({ ownerId: z.string() }),
    sql`SELECT DISTINCT owner_id AS "ownerId" FROM runs WHERE owner_id = ANY(${ids}::uuid[]) AND planned_at IS NULL AND cancelled_at IS NULL`,
  )
  const entitlements = await entitlementsOfMany(db, owners, now, config)
  const found = owners.map((account) => {
    const own = senders.filter(({ ownerId }) => ownerId === account.id)
    const wanted = all.find(({ ownerId }) => ownerId === account.id)?.place ?? null
    const sender = own.find(({ place, isDefault }) => (wanted === null ? isDefault : place === wanted))
    return {
      account,
      sender: sender ? { ...sender, several: own.length > 1 } : null,
      others: own.flatMap(({ place, isDefault }) => (isDefault ? [] : [place])),
      scheduling: entitlements.get(account.id)?.abilities.includes('scheduling') ?? false,
    }
  })
  const due = await readPending(
    db,
    found.flatMap(({ account, sender, scheduling }) => (sender ? [{ account, sender, scheduling }] : [])),
    now,
  )
  // Must be read after the emails, as what `withPayment` reads: a claim refuses an older source, but not older bytes.
  const wordings = await readWordings(
    db,
    ownerIds,
    [...due.values()].flatMap((mails) => mails.map(({ language }) => language)),
  )
  const brands = await readOwnBrands(db, ownerIds)
  const largest = new Map(found.map(({ account, sender }) => [account.id, largestAttached[sender?.provider ?? 'smtp']]))
  const pending = await withPayment(deps, due, { wordings, largest })
  return ownerIds.map((ownerId) => {
    const one = found.find(({ account }) => account.id === ownerId)
    const both = wordings.get(ownerId)
    if (!one || !both) return null
    return {
      ...one,
      unplanned: unplanned.some((run) => run.ownerId === ownerId),
      wordings: both,
      brand: sentBrand(brands.get(ownerId), entitlements.get(ownerId)?.abilities ?? []),
      pending: pending.get(ownerId) ?? [],
    }
  })
}

/**
 * Adds to each email how its client can pay. Must be read after the emails: their source names the version of the settings, so that an older one
 * is never sent with newer bytes.
 */
async function withPayment(
  { db, config, clock, log }: BeginDeps,
  pending: Map<string, PendingDelivery[]>,
  { wordings, largest }: { wordings: Map<string, Begun['wordings']>; largest: Map<string, number> },
): Promise<Map<string, PendingMail[]>> {
  const payments = await readEmailPayments(db, config, [...pending.keys()])
  const all = [...pending].flatMap(([ownerId, mails]) => mails.map((mail) => ({ ownerId, mail })))
  const mostAttached = (ownerId: string) => largest.get(ownerId) ?? largestAttached.smtp
  const linked = all.filter(({ ownerId, mail: { composed, about, owed, written, step, language } }) => {
    if (!config.payLinks || composed || about.length === 0) return false
    const payment = payments.get(ownerId)
    if (payment?.inEmails) return true
    if (payment && filesLeftOut({ about, owed, pay: { ...payment, mostAttached: mostAttached(ownerId) } }).length > 0) return true
    const { one, group } = step ?? wordings.get(ownerId)?.in(language) ?? {}
    return [written, one, group].some((wording) => wording && hasPayLink(wording))
  })
  const links = await payLinksFor(
    { db, config, log },
    linked.map(({ ownerId, mail: { about, owed, clientEmail } }) => ({
      ownerId,
      invoiceId: owed.count === 1 ? (about[0]?.id ?? null) : null,
      clientKey: clientEmail.toLowerCase(),
    })),
    clock.now(),
  )
  const linkOf = new Map(linked.map(({ mail }, at) => [mail.id, links[at] ?? null]))
  const added = ({ ownerId, mail }: (typeof all)[number]): PendingMail => {
    const payment = payments.get(ownerId)
    const payLink = linkOf.get(mail.id) ?? null
    const pay = { ...(payment ?? nothingToPay), payLink, mostAttached: mostAttached(ownerId) }
    return { ...mail, pay: payment || payLink !== null ? pay : null }
  }
  return Map.groupBy(all.map(added), ({ ownerId }) => ownerId)
}
