import { and, eq, gt, ne, sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { emailConfirmation, forgotten, passwordReset } from '#contract/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { queueSystemMail, sendsSystemMail } from '#server/platform/system-mail.ts'
import {
  breaksIndex,
  deletePerson,
  emailTaken,
  hasEmail,
  nameFrom,
  type OnAddressLeft,
  type OnEmailConfirmed,
  type PersonDeletionHandDowns,
  refuseShortPassword,
} from './accounts.ts'
import { type Origin, writePersonEntry } from './audit.ts'
import { dropLinks, recipientOf, sendConfirmLink, writeLink } from './links.ts'
import { lockOwned, lockPersonAsSeen, lockWorkplaces, ownerOf, retryingDeadlocks } from './lock.ts'
import { hashPassword } from './passwords.ts'
import { endAllSessions } from './sessions.ts'
import { accountLinks, type PersonRow, people } from './tables.ts'
import { cleanUpAfter, nothingTaken, type Takeover, type TakeoverHandDowns, takeOver } from './takeover.ts'
import { emailChangedEmail, operator, passwordChangedEmail, passwordResetEmail, refusals, signInWithGoogleEmail } from './texts.ts'
import { addressKey, countTry, emailKey, forgetEveryGuess, tooManyLinks } from './throttle.ts'
import { dropTwoFactor } from './two-factor.ts'

const requestsFromOneAddress = { limit: 20, seconds: 3600 }
/** Counted with and without an account, so that the refusal reveals nothing. */
const requestsForOneEmail = { limit: 3, seconds: 900 }
const linksFromOneAddress = { limit: 30, seconds: 600 }

/**
 * Sends a password reset link, if there is such an account. Neither the answer nor its timing shows whether there is.
 * Refuses with `not_ready` where the server sends no email, `too_many` after 3 in a quarter of an hour for one address.
 */
export async function askForNewPassword(deps: Deps, { email }: z.output<typeof forgotten>, from: Origin, now: Instant): Promise<void> {
  const { db, config } = deps
  refuseWithoutMail(deps)
  if (config.rateLimit) {
    await countTry(db, addressKey('forgot', from.address), requestsFromOneAddress, now)
    await countTry(db, emailKey('forgot', email), requestsForOneEmail, now)
  }
  const token = newToken()
  const [found] = await db.select().from(people).where(hasEmail(email))
  // A Google link of an account whose email was never confirmed is not a reason to keep the owner of the email out.
  const byPassword = found && (!found.googleSub || !found.emailVerifiedAt)
  const message = found && !byPassword ? signInWithGoogleEmail : passwordResetEmail(token)
  const link = { hash: message === signInWithGoogleEmail ? null : hashToken(token) }
  // The same statements with and without an account, so that timing reveals nothing.
  await db.transaction(async (tx) => {
    const written = { token, email, purpose: 'reset_password', now, queuedFor: message.expiresIn } as const
    await writeLink(tx, written, byPassword ? eq(people.id, found.id) : sql`false`)
    await queueSystemMail(tx, deps, { ...message, to: found ? recipientOf(found) : { id: null, email, emailVerifiedAt: null }, link }, now)
  })
}

/** A link for a new password, for the operator to hand over. Refuses with `not_found`. */
export async function makeResetLink({ db, config }: Pick<Deps, 'db' | 'config'>, email: string, now: Instant): Promise<string> {
  const token = newToken()
  const written = await writeLink(db, { token, email: null, purpose: 'reset_password', now }, hasEmail(email))
  if (!written) throw new ProblemError('not_found', operator.noAccount(email))
  return `${config.publicUrl}/reset-password#token=${token}`
}

/** Turns two-factor authentication off for an owner who lost authenticator and recovery codes. Refuses with `not_found`. */
export async function removeLostTwoFactor({ db }: Pick<Deps, 'db'>, email: string, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    const [found] = await tx.select().from(people).where(hasEmail(email))
    if (!found) throw new ProblemError('not_found', operator.noAccount(email))
    if (!(await dropTwoFactor(tx, found.id))) throw new ProblemError('not_found', operator.twoFactorOff(email))
    await writePersonEntry(tx, { person: found.id, kind: 'two_factor_off' }, null, now)
  })
}

/**
 * Sets a new password by a link and ends every session. Where the link was sent to an email that had never been confirmed, the account is taken
 * over. Returns what that removed. Refuses with `link_expired`, a short password with `invalid`.
 */
export async function resetPassword(
  deps: Deps,
  draft: z.output<typeof passwordReset>,
  handed: TakeoverHandDowns,
  from: Origin,
  now: Instant,
): Promise<Takeover> {
  const { db, config } = deps
  refuseShortPassword(draft.newPassword, 'newPassword', config.passwordMinLength)
  await countLink(deps, from, now)
  const link = and(
    eq(accountLinks.tokenHash, hashToken(draft.token)),
    eq(accountLinks.purpose, 'reset_password'),
    gt(accountLinks.expiresAt, now),
  )
  // Before the slow hash, so that a made-up link costs little.
  const [seen] = await db.select().from(accountLinks).where(link)
  if (!seen) throw expired()
  const passwordHash = await hashPassword(draft.newPassword)
  const taken = await retryingDeadlocks(() =>
    db.transaction(async (tx) => {
      const found = await lockWorkplaces(tx, seen.personId)
      const [used] = await tx.delete(accountLinks).where(link).returning()
      if (!found || !used || (used.email !== null && !sameEmail(used.email, found.person.email))) throw expired()
      const { person } = found
      const isTakeover = used.email !== null && person.emailVerifiedAt === null
      const taken = isTakeover ? await takeOver(tx, deps, found, nameFrom(person.email), handed, now) : nothingTaken
      await tx
        .update(people)
        .set({
          passwordHash,
          // By the link of an operator also for someone who signed in with Google: one of the two is the way in.
          googleIssuer: null,
          googleSub: null,
          updatedAt: now,
          ...(used.email === null ? {} : { emailVerifiedAt: now }),
          // Nothing that acts was removed: someone who knew the password may have added to it.
          reviewAccessSince: isTakeover ? null : now,
        })
        .where(eq(people.id, person.id))
      await dropLinks(tx, person.id)
      await endAllSessions(tx, person.id)
      await forgetEveryGuess(tx, recipientOf(person))
      await writePersonEntry(tx, { person: person.id, kind: 'password_reset' }, from, now)
      const to = recipientOf(used.email === null ? person : { ...person, emailVerifiedAt: now })
      await queueSystemMail(tx, deps, { ...passwordChangedEmail(), to }, now)
      return taken
    }),
  )
  await cleanUpAfter(deps, taken.afterwards, 'a takeover')
  return taken
}

/** Refuses with `not_ready`, `conflict` where it is confirmed already, `too_many`. */
export async function sendConfirmLinkAgain(deps: Deps, person: PersonRow, now: Instant): Promise<void> {
  refuseWithoutMail(deps)
  if (person.emailVerifiedAt) throw new ProblemError('conflict', refusals.emailConfirmed)
  await deps.db.transaction(async (tx) => {
    const nextAt = await sendConfirmLink(tx, deps, person, now)
    if (nextAt) throw tooManyLinks(nextAt, now)
  })
}

/** Which email a link was sent to, and what it is for. Refuses with `link_expired`. */
export async function lookAtEmailLink(
  deps: Deps,
  { token }: z.output<typeof emailConfirmation>,
  from: Origin,
  now: Instant,
): Promise<{ email: string; changes: boolean }> {
  await countLink(deps, from, now)
  const [found] = await deps.db.select().from(accountLinks).where(emailLink(token, now))
  if (!found?.email) throw expired()
  return { email: found.email, changes: found.purpose === 'change_email' }
}

/**
 * Confirms the email of a signed-in person by the link that was sent there, or changes to it. Never by the link alone: anyone can sign up with the address
 * of another person, who would vouch for that account by opening it. Answers the person's email. Refuses with `link_expired`, with `not_allowed` the
 * link of another account, and with `email_taken` if another account uses it by now.
 */
export async function confirmEmail(
  deps: Deps,
  seen: PersonRow,
  { token }: z.output<typeof emailConfirmation>,
  { onEmailConfirmed, onAddressLeft }: { onEmailConfirmed: OnEmailConfirmed; onAddressLeft: OnAddressLeft },
  from: Origin,
  now: Instant,
): Promise<string> {
  await countLink(deps, from, now)
  try {
    return await deps.db.transaction(async (tx) => {
      const owned = await lockOwned(tx, seen.id)
      const person = await lockPersonAsSeen(tx, seen)
      const [link] = await tx.select().from(accountLinks).where(emailLink(token, now))
      if (!link?.email) throw expired()
      if (link.personId !== person.id) throw new ProblemError('not_allowed', refusals.linkOfOther(person.email))
      const changes = link.purpose === 'change_email'
      // Google provides the email of a linked account, so an older link is invalid.
      if (changes ? person.googleSub !== null : !sameEmail(link.email, person.email)) throw expired()
      const email = changes ? link.email : person.email
      await tx.update(people).set({ email, emailVerifiedAt: now, updatedAt: now }).where(eq(people.id, person.id))
      for (const { id } of owned) await onEmailConfirmed(tx, id, now)
      // Links sent to the previous mailbox must not open the account, and another one that confirms this email must not end it.
      await dropLinks(tx, person.id, changes ? undefined : 'confirm_email')
      if (changes) {
        for (const account of owned) await onAddressLeft(tx, account, now)
        await queueSystemMail(tx, deps, { ...emailChangedEmail(deps.config.publicUrl), to: recipientOf(person) }, now)
      }
      await writePersonEntry(tx, { person: person.id, kind: changes ? 'email_changed' : 'email_confirmed', about: email }, from, now)
      return email
    })
  } catch (error) {
    if (breaksIndex(error, 'people_email')) throw emailTaken(refusals.emailUsedMeanwhile)
    throw error
  }
}

/** What ending a sign-up needs of the slices above. */
export interface RejectionHandDowns extends TakeoverHandDowns, Omit<PersonDeletionHandDowns, 'onAddressLeft'> {
  /** Whether an account has invoices, or was paid for: then it is not deleted. */
  holdsRecords(tx: Database, ownerId: string): Promise<boolean>
}

/**
 * The owner of an email says by its link that the account is not theirs. Nothing of a sign-up acts or signs in afterwards; without invoices it is deleted.
 * Another person's change to this email is dropped. Answers whether the account stays. Refuses with `link_expired`, also where the email is confirmed.
 */
export async function rejectEmail(
  deps: Deps,
  { token }: z.output<typeof emailConfirmation>,
  handed: RejectionHandDowns,
  from: Origin,
  now: Instant,
): Promise<{ changes: boolean; kept: boolean }> {
  await countLink(deps, from, now)
  const { afterwards, ended, ...answer } = await retryingDeadlocks(() =>
    deps.db.transaction(async (tx) => {
      const [seen] = await tx.select().from(accountLinks).where(emailLink(token, now))
      const found = seen && (await lockWorkplaces(tx, seen.personId))
      const [link] = await tx.delete(accountLinks).where(emailLink(token, now)).returning()
      if (!found || !link?.email) throw expired()
      const { person, places } = found
      await writePersonEntry(tx, { person: person.id, kind: 'email_rejected', about: link.email }, from, now)
      if (link.purpose === 'change_email') return { changes: true, kept: true, ended: null, afterwards: [] }
      if (person.emailVerifiedAt !== null || !sameEmail(link.email, person.email)) throw expired()
      const { afterwards } = await takeOver(tx, deps, found, nameFrom(person.email), handed, now)
      await tx.update(people).set({ passwordHash: null, updatedAt: now }).where(eq(people.id, person.id))
      let kept = false
      for (const { account } of places)
        kept ||= (await handed.holdsRecords(tx, account.id)) && (await ownerOf(tx, account.id)).id === person.id
      return { changes: false, kept, ended: kept ? null : person, afterwards }
    }),
  )
  await cleanUpAfter(deps, afterwards, 'the end of a sign-up')
  // The address is free again as if it had never been used: there is no trial to remember.
  if (ended) await deletePerson(deps, ended, { ...handed, onAddressLeft: async () => undefined }, now)
  return answer
}

/** A valid link that confirms an email or changes to it. */
function emailLink(token: string, now: Instant) {
  return and(eq(accountLinks.tokenHash, hashToken(token)), gt(accountLinks.expiresAt, now), ne(accountLinks.purpose, 'reset_password'))
}

async function countLink({ db, config }: Deps, from: Origin, now: Instant): Promise<void> {
  if (config.rateLimit) await countTry(db, addressKey('link', from.address), linksFromOneAddress, now)
}

function refuseWithoutMail({ config }: Deps): void {
  if (!sendsSystemMail(config)) throw new ProblemError('not_ready', refusals.noSystemMail)
}

function expired(): ProblemError {
  return new ProblemError('link_expired', refusals.linkExpired)
}

function sameEmail(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
