import { and, eq, ne } from 'drizzle-orm'
import type { TakeoverRemoval } from '#contract/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { writeAudit } from './audit.ts'
import { dropLinks } from './links.ts'
import { findAccount, type Workplaces } from './lock.ts'
import { endAdmin, handOver, heirOf } from './membership.ts'
import { createBusinessOfTheirOwn, lockOthersIn } from './new-business.ts'
import { notifyOwner } from './notices.ts'
import { endAllSessions } from './sessions.ts'
import { type AccountRow, accounts, googleReturns, invitations, memberships, notices, type PersonRow, people } from './tables.ts'
import { takenOver } from './texts.ts'
import { dropTwoFactor } from './two-factor.ts'

/**
 * Removes everything of one slice that acts for an account: what sends, signs in, or adds words of its own to an email. Runs in the transaction of
 * the takeover and reports what was there. `afterwards` runs once that is committed, for clean-up at external services.
 */
export type OnAccountTakeover = (
  tx: Database,
  ownerId: string,
  now: Instant,
) => Promise<{ removed: TakeoverRemoval[]; afterwards?: () => Promise<void> }>

/** Ends what a person made in an account and what acts in their name there: API keys, webhooks, grants of apps. */
export type RevokeAccess = (tx: Database, ownerId: string, person: PersonId) => Promise<void>

/** Another person owns the account: what the former owner can do without signing in ends. */
export type OnOwnerChange = (tx: Database, ownerId: string) => Promise<void>

/** What a takeover needs of the slices above. */
export interface TakeoverHandDowns {
  /** Each slice removes what acts for an account that its mailbox's owner takes over. */
  onAccountTakeover: OnAccountTakeover[]
  revokeAccess: RevokeAccess
  /** What else the person set up in an account of others that works without them. */
  onLeft(tx: Database, ownerId: string, person: PersonId, now: Instant): Promise<void>
  onOwnerChange: OnOwnerChange
}

/** What the owner of the email sees of it, and the clean-up to run after the commit. */
export interface Takeover {
  removed: TakeoverRemoval[]
  /** The names of the businesses of others that the person worked in. */
  left: string[]
  /** Whether a business with its invoices is still theirs. */
  keeps: boolean
  afterwards: (() => Promise<void>)[]
}

export const nothingTaken: Takeover = { removed: [], left: [], keeps: true, afterwards: [] }

/**
 * The owner of a mailbox takes over what anyone could have created with its address. Everything that signs in, and everything that acts, is removed from
 * the person and the businesses that they created; the invoices stay. They leave the businesses of others, because they joined none of them themselves, and
 * one that was handed over to them goes back. The caller sets the new credentials and confirms the email.
 */
export async function takeOver(
  tx: Database,
  deps: Deps,
  { person, places }: Workplaces,
  displayName: string,
  handed: TakeoverHandDowns,
  now: Instant,
): Promise<Takeover> {
  const { id } = person
  const removed = new Set<TakeoverRemoval>()
  const afterwards: Takeover['afterwards'] = []
  await endAllSessions(tx, id)
  await dropLinks(tx, id)
  await tx.delete(googleReturns).where(eq(googleReturns.personId, id))
  if (person.displayName !== displayName) removed.add('display_name')
  if (await dropTwoFactor(tx, id)) removed.add('two_factor')
  if (person.googleSub) removed.add('google')
  await tx
    .update(people)
    .set({ displayName, googleIssuer: null, googleSub: null, reviewAccessSince: null, updatedAt: now })
    .where(eq(people.id, id))
  const left: AccountRow[] = []
  const owned: AccountRow[] = []
  for (const { account, role, joinedAt } of places) {
    const heir = role === 'owner' ? await heirOf(tx, account, { personId: id, joinedAt }) : null
    if (role === 'owner' && heir === null) {
      owned.push(account)
      continue
    }
    if (heir !== null) {
      await handOver(tx, account, heir, null, now)
      await handed.onOwnerChange(tx, account.id)
    }
    await leave(tx, person, account.id, handed, now)
    // Named after its owner, it has another name now.
    left.push((await findAccount(tx, account.id)) ?? account)
  }
  for (const account of owned) {
    const done = await empty(tx, account, handed, now)
    for (const what of done.removed) removed.add(what)
    afterwards.push(...done.afterwards)
  }
  const [first] = left
  const fresh = first && (await createBusinessOfTheirOwn(tx, person, first, now))
  const taken = { removed: [...removed], left: left.map((account) => account.displayName), keeps: owned.length > 0, afterwards }
  if (taken.removed.length + taken.left.length > 0)
    for (const { id: ownerId } of fresh ? [fresh] : owned)
      await notifyOwner(
        tx,
        deps,
        { id: ownerId },
        { kind: 'taken_over', title: takenOver.title, text: takenOver.text(taken), link: null },
        now,
      )
  return taken
}

/** Nothing that the person made or was offered in a business of others is left there. */
async function leave(
  tx: Database,
  { id, email }: PersonRow,
  ownerId: string,
  { revokeAccess, onLeft }: Pick<TakeoverHandDowns, 'revokeAccess' | 'onLeft'>,
  now: Instant,
): Promise<void> {
  await revokeAccess(tx, ownerId, id)
  await onLeft(tx, ownerId, id, now)
  await tx.delete(memberships).where(and(eq(memberships.ownerId, ownerId), eq(memberships.personId, id)))
  await endAdmin(tx, ownerId, String(id))
  await writeAudit(tx, { ownerId, kind: 'member_removed', about: email }, null, now)
}

/** Removes everything that acts from a business, and the others who work there. */
async function empty(
  tx: Database,
  account: AccountRow,
  { onAccountTakeover }: Pick<TakeoverHandDowns, 'onAccountTakeover'>,
  now: Instant,
): Promise<Pick<Takeover, 'removed' | 'afterwards'>> {
  const removed: TakeoverRemoval[] = []
  const afterwards: Takeover['afterwards'] = []
  // Notices quote mail servers, and so possibly the creator of the account; but that of an earlier takeover.
  await tx.delete(notices).where(and(eq(notices.ownerId, account.id), ne(notices.kind, 'taken_over')))
  // Who was let in by someone else than the owner of the address.
  const invited = await tx.delete(invitations).where(eq(invitations.ownerId, account.id)).returning({ id: invitations.id })
  const others = await lockOthersIn(tx, account.id)
  await tx.delete(memberships).where(and(eq(memberships.ownerId, account.id), ne(memberships.role, 'owner')))
  for (const other of others) await createBusinessOfTheirOwn(tx, other, account, now)
  if (invited.length + others.length > 0) removed.push('team')
  await tx.update(accounts).set({ name: null, offeredTo: null, offeredUntil: null }).where(eq(accounts.id, account.id))
  for (const part of onAccountTakeover) {
    const done = await part(tx, account.id, now)
    removed.push(...done.removed)
    if (done.afterwards) afterwards.push(done.afterwards)
  }
  return { removed, afterwards }
}

/** Runs after the commit. A failure is logged: the account is taken over whether or not an external service answers. */
export async function cleanUpAfter({ log }: Pick<Deps, 'log'>, afterwards: (() => Promise<void>)[], what: string): Promise<void> {
  for (const cleanUp of afterwards) await cleanUp().catch((error: unknown) => log.warn({ err: error }, `A clean-up after ${what} failed.`))
}
