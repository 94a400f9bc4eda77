import { and, eq, ne } from 'drizzle-orm'
import type { TakeoverRemoval } from '#contract/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { dropLinks } from './links.ts'
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

/** The removals that the owner sees, and the clean-up to run after the commit. */
export interface Takeover {
  removed: TakeoverRemoval[]
  afterwards: (() => Promise<void>)[]
}

/**
 * The owner of a mailbox takes over what anyone could have created with its address: everything that acts is removed from the person and the
 * accounts they own, invoices stay. Their rows must be locked; the caller sets the new credentials and confirms the email.
 */
export async function takeOver(
  tx: Database,
  deps: Deps,
  { person, owned }: { person: PersonRow; owned: AccountRow[] },
  about: { displayName: string; parts: OnAccountTakeover[] },
  now: Instant,
): Promise<Takeover> {
  const { id } = person
  const removed = new Set<TakeoverRemoval>()
  const afterwards: Takeover['afterwards'] = []
  await endAllSessions(tx, id)
  await dropLinks(tx, id)
  await tx.delete(googleReturns).where(eq(googleReturns.personId, id))
  if (person.displayName !== about.displayName) removed.add('display_name')
  if (await dropTwoFactor(tx, id)) removed.add('two_factor')
  if (person.googleSub) removed.add('google')
  await tx
    .update(people)
    .set({ displayName: about.displayName, googleIssuer: null, googleSub: null, updatedAt: now })
    .where(eq(people.id, id))
  for (const account of owned) {
    // Notices quote mail servers, and so possibly the creator of the account.
    await tx.delete(notices).where(eq(notices.ownerId, account.id))
    // Who was let in by someone else than the owner of the address.
    const invited = await tx.delete(invitations).where(eq(invitations.ownerId, account.id)).returning({ id: invitations.id })
    const others = await lockOthersIn(tx, account.id)
    await tx.delete(memberships).where(and(eq(memberships.ownerId, account.id), ne(memberships.role, 'owner')))
    for (const other of others) await createBusinessOfTheirOwn(tx, other, account, now)
    if (invited.length + others.length > 0) removed.add('team')
    await tx.update(accounts).set({ name: null, offeredTo: null, offeredUntil: null }).where(eq(accounts.id, account.id))
    for (const part of about.parts) {
      const done = await part(tx, account.id, now)
      for (const what of done.removed) removed.add(what)
      if (done.afterwards) afterwards.push(done.afterwards)
    }
  }
  const all = [...removed]
  if (all.length > 0)
    for (const { id: ownerId } of owned)
      await notifyOwner(
        tx,
        deps,
        { id: ownerId, email: person.email, emailVerifiedAt: now },
        { kind: 'taken_over', title: takenOver.title, text: takenOver.text(all), link: null },
        now,
      )
  return { removed: all, afterwards }
}

/** Runs after the commit. A failure is logged: the account is taken over whether or not an external service answers. */
export async function cleanUpAfter({ log }: Pick<Deps, 'log'>, afterwards: (() => Promise<void>)[], what: string): Promise<void> {
  for (const cleanUp of afterwards) await cleanUp().catch((error: unknown) => log.warn({ err: error }, `A clean-up after ${what} failed.`))
}
