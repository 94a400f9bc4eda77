import { and, eq, gt, lte } from 'drizzle-orm'
import { displayName, emailAddress } from '#contract/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import { personId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { Identity } from '#server/platform/openid.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { queueSystemMail, sendsSystemMail } from '#server/platform/system-mail.ts'
import { isZone } from '#server/platform/zones.ts'
import {
  breaksIndex,
  createAccount,
  emailTaken,
  hasEmail,
  nameFrom,
  type OnAccountCreated,
  type OnEmailConfirmed,
  refuseShortPassword,
} from './accounts.ts'
import { type Origin, writePersonEntry } from './audit.ts'
import { dropLinks, recipientOf, sendConfirmLink } from './links.ts'
import { lockOwned, lockPerson, lockPersonAsSeen, lockWorkplaces, retryingDeadlocks } from './lock.ts'
import { hashPassword } from './passwords.ts'
import { endAllSessions, endOtherSessions, openSession, type RefreshToken, recordAuthentication } from './sessions.ts'
import { googleReturns, type PersonRow, people } from './tables.ts'
import { cleanUpAfter, nothingTaken, type Takeover, type TakeoverHandDowns, takeOver } from './takeover.ts'
import { googleLinkedEmail, googleUnlinkedEmail, refusals } from './texts.ts'
import { countRecoveryCodes, dropTwoFactor } from './two-factor.ts'

type Return = typeof googleReturns.$inferSelect

const returnLife = { seconds: 60 }
/** Unlinking takes longer because the person chooses a password. */
const unlinkLife = { minutes: 10 }

/**
 * Stores a return from Google. Answers the code for the page's URL and the secret for the browser's cookie; only both together are valid.
 * Refuses an identity without an email with `google_failed`.
 */
export async function keepReturn(
  db: Database,
  identity: Identity,
  began: { linkFor: string | null; unlinks: boolean },
  now: Instant,
): Promise<{ code: string; browser: string }> {
  const email = emailAddress.safeParse(identity.email)
  if (!email.success) throw googleFailed()
  const [code, browser] = [newToken(), newToken()]
  await db.insert(googleReturns).values({
    codeHash: hashToken(code),
    browserHash: hashToken(browser),
    issuer: identity.issuer,
    sub: identity.sub,
    email: email.data,
    name: identity.name,
    emailVerified: identity.emailVerified,
    authoritative: isAuthoritative(identity, email.data),
    personId: began.linkFor === null ? null : personId(began.linkFor),
    expiresAt: now.add(began.unlinks ? unlinkLife : returnLife),
  })
  return { code, browser }
}

/**
 * Opens a session for a return from Google. The account is found by issuer and `sub`, never by email, which may change hands. An email that no
 * account has makes an account. One that an account has links Google to it only where Google runs that mailbox, and either its owner has confirmed
 * it and set up no second factor, or it was never confirmed although this server could have sent the link: then the account is taken over. Earlier
 * credentials and access end (pre-hijacking, arXiv 2205.10174). Refuses with `google_failed` and `email_taken`.
 */
export async function signInWithGoogle(
  deps: Deps,
  given: { code: string; browser: string; timezone: string | undefined },
  handed: GoogleHandDowns,
  from: Origin,
  now: Instant,
): Promise<{ person: PersonRow; refreshToken: RefreshToken; taken: Takeover }> {
  const came = await takeReturn(deps.db, given, now)
  if (came.personId !== null) throw googleFailed()
  const signedIn = await retryingDeadlocks(() =>
    deps.db.transaction(async (tx) => {
      const linked = await findLinked(tx, came)
      const { person, taken } = linked
        ? { person: linked, taken: nothingTaken }
        : await admit(tx, { ...deps, ...handed }, came, given.timezone, from, now)
      await writePersonEntry(tx, { person: person.id, kind: 'signed_in', about: 'Google' }, from, now)
      return { person, taken, refreshToken: await openSession(tx, deps.config.secretKey, person.id, from, now) }
    }),
  )
  await cleanUpAfter(deps, signedIn.taken.afterwards, 'a takeover')
  return signedIn
}

/** What a sign-in with Google needs of the slices above. */
export interface GoogleHandDowns extends TakeoverHandDowns {
  onEmailConfirmed: OnEmailConfirmed
  onAccountCreated: OnAccountCreated
}

/** Links Google to the account that began to; from then on it is the only way in. Refuses with `google_failed` and `conflict`. */
export async function linkGoogle(
  deps: Deps,
  asked: { person: PersonRow; sessionId: string },
  given: { code: string; browser: string },
  { onEmailConfirmed }: Pick<GoogleHandDowns, 'onEmailConfirmed'>,
  from: Origin,
  now: Instant,
): Promise<PersonRow> {
  const came = await takeReturn(deps.db, given, now)
  const taken = new ProblemError('conflict', refusals.googleTaken)
  try {
    return await deps.db.transaction(async (tx) => {
      const owned = await lockOwned(tx, asked.person.id)
      const person = await lockPersonAsSeen(tx, asked.person)
      if (came.personId !== person.id) throw googleFailed()
      if (person.googleSub) throw alreadyLinked()
      if (await findLinked(tx, came)) throw taken
      const linked = await link(tx, deps, person, came, from, now)
      if (linked.emailVerifiedAt !== null) for (const { id } of owned) await onEmailConfirmed(tx, id, now)
      await endOtherSessions(tx, person.id, asked.sessionId)
      return linked
    })
  } catch (error) {
    throw breaksIndex(error, 'people_google') ? taken : error
  }
}

/**
 * Switches an account to password sign-in. The person has just signed in at Google with the linked account.
 * Refuses with `google_failed`, `conflict` where none is linked, a short password with `invalid`.
 */
export async function unlinkGoogle(
  deps: Deps,
  asked: { person: PersonRow; sessionId: string },
  given: { code: string; browser: string; newPassword: string },
  from: Origin,
  now: Instant,
): Promise<PersonRow> {
  refuseNotLinked(asked.person)
  // Before the code is used up, so that a short password does not cost another trip to Google.
  refuseShortPassword(given.newPassword, 'newPassword', deps.config.passwordMinLength)
  const came = await takeReturn(deps.db, given, now)
  const passwordHash = await hashPassword(given.newPassword)
  return deps.db.transaction(async (tx) => {
    const person = await lockPerson(tx, eq(people.id, asked.person.id))
    refuseOtherIdentity(came, person)
    const [unlinked] = await tx
      .update(people)
      .set({ googleIssuer: null, googleSub: null, passwordHash, updatedAt: now })
      .where(eq(people.id, person.id))
      .returning()
    if (!unlinked) throw new Error('A locked person was not there to be unlinked.')
    await dropLinks(tx, person.id)
    await endOtherSessions(tx, person.id, asked.sessionId)
    await writePersonEntry(tx, { person: person.id, kind: 'google_unlinked' }, from, now)
    await queueSystemMail(tx, deps, { ...googleUnlinkedEmail(), to: recipientOf(person) }, now)
    return unlinked
  })
}

/** The person has just signed in at Google with the linked account. Refuses with `google_failed`, `conflict` where none is linked. */
export async function reauthenticateWithGoogle(
  { db }: Deps,
  { person, sessionId }: { person: PersonRow; sessionId: string },
  given: { code: string; browser: string },
  now: Instant,
): Promise<void> {
  refuseNotLinked(person)
  refuseOtherIdentity(await takeReturn(db, given, now), person)
  await recordAuthentication(db, sessionId, now)
}

/** A return must be of the person who began, with the Google account that is linked to it. */
function refuseOtherIdentity(came: Return, person: PersonRow | undefined): asserts person is PersonRow {
  if (!person || came.personId !== person.id) throw googleFailed()
  if (person.googleSub !== came.sub || person.googleIssuer !== came.issuer) throw new ProblemError('google_failed', refusals.googleOther)
}

/** Refuses an account that does not sign in with Google with `conflict`. */
export function refuseNotLinked({ googleSub }: PersonRow): void {
  if (!googleSub) throw new ProblemError('conflict', refusals.googleNotLinked)
}

/** Refuses an account that signs in with Google already with `conflict`. */
export function refuseLinked({ googleSub }: PersonRow): void {
  if (googleSub) throw alreadyLinked()
}

export async function pruneReturns(db: Database, now: Instant): Promise<void> {
  await db.delete(googleReturns).where(lte(googleReturns.expiresAt, now))
}

export function googleFailed(): ProblemError {
  return new ProblemError('google_failed', refusals.googleFailed)
}

/** Must not run inside a transaction: a return is used up even if the caller fails. */
async function takeReturn(db: Database, { code, browser }: { code: string; browser: string }, now: Instant): Promise<Return> {
  const [came] = await db
    .delete(googleReturns)
    .where(
      and(eq(googleReturns.codeHash, hashToken(code)), eq(googleReturns.browserHash, hashToken(browser)), gt(googleReturns.expiresAt, now)),
    )
    .returning()
  if (!came) throw googleFailed()
  return came
}

async function findLinked(tx: Database, { issuer, sub }: Return): Promise<PersonRow | undefined> {
  // Locked, because a takeover at this moment removes the link: a session must not be opened by it afterwards.
  return lockPerson(tx, and(eq(people.googleIssuer, issuer), eq(people.googleSub, sub)))
}

/** Signs in an identity that is not linked yet. */
async function admit(
  tx: Database,
  deps: Deps & GoogleHandDowns,
  came: Return,
  timezone: string | undefined,
  from: Origin,
  now: Instant,
): Promise<{ person: PersonRow; taken: Takeover }> {
  if (!came.emailVerified) throw new ProblemError('google_failed', refusals.googleUnverified)
  const [known] = await tx.select({ id: people.id }).from(people).where(hasEmail(came.email))
  const found = known && (await lockWorkplaces(tx, known.id))
  const same = found?.person
  // Their email was changed while this waited.
  if (same && same.email.toLowerCase() !== came.email.toLowerCase()) return admit(tx, deps, came, timezone, from, now)
  if (found && same && came.authoritative && !same.emailVerifiedAt && sendsSystemMail(deps.config)) {
    const taken = await takeOver(tx, deps, found, nameOf(came), deps, now)
    return { person: await link(tx, deps, same, came, from, now), taken }
  }
  if (same) {
    if (same.googleSub) throw emailTaken(refusals.signsInWithOtherGoogle)
    // A stolen Google account must not bypass the second factor of this account.
    const guarded = (await countRecoveryCodes(tx, same.id)) !== null
    if (!came.authoritative || !same.emailVerifiedAt || guarded) throw emailTaken(refusals.accountExistsLinkGoogle)
    await endAllSessions(tx, same.id)
    await tx.update(people).set({ reviewAccessSince: now }).where(eq(people.id, same.id))
    for (const { account } of found.places) await deps.revokeAccess(tx, account.id, same.id)
    return { person: await link(tx, deps, same, came, from, now), taken: nothingTaken }
  }
  const account = await createAccount(
    tx,
    {
      displayName: nameOf(came),
      email: came.email,
      timezone: timezone && isZone(timezone) ? timezone : deps.config.defaultTimezone,
      passwordHash: null,
      googleIssuer: came.issuer,
      googleSub: came.sub,
      emailVerifiedAt: came.authoritative ? now : null,
    },
    now,
  )
  await deps.onAccountCreated(tx, account, now)
  const { person } = account
  await writePersonEntry(tx, { person: person.id, kind: 'signed_up' }, from, now)
  if (!came.authoritative) await sendConfirmLink(tx, deps, person, now)
  return { person, taken: nothingTaken }
}

/** Removes every other way in: password, second factor, emailed links. The caller ends the sessions. */
async function link(tx: Database, deps: Deps, person: PersonRow, came: Return, from: Origin, now: Instant): Promise<PersonRow> {
  const confirms = came.authoritative && came.email.toLowerCase() === person.email.toLowerCase()
  const [linked] = await tx
    .update(people)
    .set({
      googleIssuer: came.issuer,
      googleSub: came.sub,
      passwordHash: null,
      updatedAt: now,
      ...(confirms ? { emailVerifiedAt: now } : {}),
    })
    .where(eq(people.id, person.id))
    .returning()
  if (!linked) throw new Error('A locked person was not there to be linked.')
  await dropLinks(tx, person.id)
  await dropTwoFactor(tx, person.id)
  await writePersonEntry(tx, { person: person.id, kind: 'google_linked', about: came.email }, from, now)
  await queueSystemMail(tx, deps, { ...googleLinkedEmail(deps.config.publicUrl), to: recipientOf(linked) }, now)
  return linked
}

/** Google marks every address as verified, but is authoritative only for mailboxes that it runs (its sign-in guide). */
function isAuthoritative({ emailVerified, hostedDomain }: Identity, email: string): boolean {
  return emailVerified && (hostedDomain !== null || email.toLowerCase().endsWith('@gmail.com'))
}

function nameOf({ name, email }: Return): string {
  const given = displayName.safeParse(name)
  return given.success ? given.data : nameFrom(email)
}

function alreadyLinked(): ProblemError {
  return new ProblemError('conflict', refusals.googleLinked)
}
