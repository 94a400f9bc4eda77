import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { credentials, Profile, Proof, passwordChange, profileChange, ServerAbilities, signUpDraft, User } from '#contract/accounts.ts'
import { isCurrency, unknownCurrency } from '#contract/currency-codes.ts'
import type { Account, Principal } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import { type Database, statement } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { dropSystemMails, queueSystemMail, sendsSystemMail } from '#server/platform/system-mail.ts'
import { isZone } from '#server/platform/zones.ts'
import { type Origin, writePersonEntry } from './audit.ts'
import type { KnownBrowser } from './known-browser.ts'
import { dropLinks, recipientOf, sendChangeLink, sendConfirmLink } from './links.ts'
import { findAccount, lockAccount, lockOwned, lockPerson, lockPersonAsSeen, retryingDeadlocks, selectAccounts } from './lock.ts'
import { createBusiness, createBusinessOfTheirOwn, lockOthersIn } from './new-business.ts'
import { hashPassword, isOldHash, verifyPassword } from './passwords.ts'
import { endOtherSessions, openSession, type RefreshToken, refuseOldSignIn, signedInRecently } from './sessions.ts'
import { type AccountRow, accounts, invitations, memberships, type PersonRow, people } from './tables.ts'
import { cleanUpAfter } from './takeover.ts'
import { accountDeletedEmail, passwordChangedEmail, refusals } from './texts.ts'
import {
  addressKey,
  countGuess,
  countTry,
  forgetEveryGuess,
  forgetGuesses,
  guessKey,
  ownGuessKey,
  takeBackGuess,
  tooManyLinks,
} from './throttle.ts'
import { countRecoveryCodes, demandSecondFactor, refuseWithoutCode } from './two-factor.ts'

// The count of tries and the audit log serve other slices too.
export { hasHappened, nameActors, type Origin, originOf, writeAudit, writeAudits } from './audit.ts'
export { findAccount, lockAccount, lockAsSeen, lockRow, selectAccounts } from './lock.ts'
export { changedMeanwhile, isMeant, refuseStale, versionOf } from './meanwhile.ts'
export type { AccountRow } from './tables.ts'
export type { OnAccountTakeover } from './takeover.ts'
export { countTry } from './throttle.ts'
// For key rotation.
export { sealedFactors } from './two-factor.ts'

declare module '#server/platform/answer.ts' {
  interface Account extends AccountRow {}
  interface Person extends PersonRow {}
}

interface NewAccount {
  displayName: string
  email: string
  passwordHash: string | null
  timezone: string
  googleIssuer?: string
  googleSub?: string
  emailVerifiedAt?: Instant | null
}

/** What runs in the transaction that changes a profile. */
export interface OnProfileChange {
  /** Time zone or hour are others now: the next daily run moves with them. */
  onScheduleChange(tx: Database, before: AccountRow, after: AccountRow, now: Instant): Promise<void>
  /** Refuses with `plan_changed` a time zone and hour that would do something else than what was looked at. */
  refuseChangedSchedule(
    tx: Database,
    locked: AccountRow,
    chosen: Pick<z.output<typeof profileChange>, 'timezone' | 'reminderHour' | 'fingerprint'>,
    now: Instant,
  ): Promise<void>
  onAddressLeft: OnAddressLeft
}

const signUpsFromOneAddress = { limit: 20, seconds: 3600 }
/** The address is unverified, so these emails may reach a stranger. */
const newEmailsOfOneAccount = { limit: 10, seconds: 3600 }
const signInsFromOneAddress = { limit: 20, seconds: 60 }

/** What is set up on this server; screens show and hide features by it. */
export function serverAbilities(config: Deps['config']): ServerAbilities {
  return {
    google: config.google !== null,
    microsoft: config.microsoft !== null,
    payments: config.razorpay !== null,
    payLinks: config.payLinks,
    systemMail: sendsSystemMail(config),
    supportUrl: config.supportUrl,
    demoMail: config.demoMailUrl,
    passwordMinLength: config.passwordMinLength,
  }
}

/**
 * Creates a person and the account that they own; its first midnight job runs at the next midnight in its time zone. Refuses a taken email with
 * `email_taken`.
 */
export async function createAccount(
  db: Database,
  { timezone, ...draft }: NewAccount,
  now: Instant,
): Promise<AccountRow & { person: PersonRow }> {
  const [person] = await db
    .insert(people)
    .values({ ...draft, createdAt: now, updatedAt: now })
    .onConflictDoNothing()
    .returning()
  if (!person) throw emailTaken(refusals.accountExists)
  return { ...(await createBusiness(db, person, { timezone }, now)), person }
}

/**
 * Creates an account that signs in by password. A time zone that this server does not know is ignored.
 * Refuses a short password with `invalid`, a taken email with `email_taken`, too many from one address with `too_many`.
 */
export async function signUp(
  deps: Deps,
  draft: z.output<typeof signUpDraft>,
  onAccountCreated: OnAccountCreated,
  from: Origin,
  now: Instant,
): Promise<PersonRow> {
  const { db, config } = deps
  const { displayName, email, password, timezone } = draft
  refuseShortPassword(password, 'password', config.passwordMinLength)
  if (config.rateLimit) await countTry(db, addressKey('sign-up', from.address), signUpsFromOneAddress, now)
  const passwordHash = await hashPassword(password)
  const zone = timezone && isZone(timezone) ? timezone : config.defaultTimezone
  return db.transaction(async (tx) => {
    const account = await createAccount(tx, { displayName, email, passwordHash, timezone: zone }, now)
    const { person } = account
    await onAccountCreated(tx, account, now)
    await writePersonEntry(tx, { person: person.id, kind: 'signed_up' }, from, now)
    await sendConfirmLink(tx, deps, person, now)
    return person
  })
}

/**
 * Begins a session by email and password. An unknown email and a wrong password get the same `wrong_credentials` for the same work;
 * too many tries of one email or from one address get `too_many`. `known`: the person that this browser was signed in as before, whose
 * attempts are counted separately from those of strangers. With a second factor also: `second_factor_needed`, `wrong_second_factor`.
 */
export async function signIn(
  deps: Deps,
  { email, password, code }: z.output<typeof credentials>,
  from: Origin,
  known: KnownBrowser | null,
  now: Instant,
): Promise<{ person: PersonRow; refreshToken: RefreshToken }> {
  const { db, config, log } = deps
  if (config.rateLimit) await countTry(db, addressKey('sign-in', from.address), signInsFromOneAddress, now)
  const refused = new ProblemError('wrong_credentials', refusals.wrongCredentials)
  const [found] = await db.select().from(people).where(hasEmail(email))
  const passwordHash = found?.passwordHash ?? null
  const browserId = found && known?.ownerId === String(found.id) ? known.browserId : null
  const key = guessKey(email, browserId)
  const right = await guess(deps, key, passwordHash, password, now)
  if (!found || !passwordHash || !right) {
    log.info({ personId: found?.id, address: from.address }, 'A sign-in was refused.')
    throw refused
  }
  await demandSecondFactor(deps, found.id, { code, browserId }, from, now)
  const rehashed = (await isOldHash(passwordHash, password)) ? await hashPassword(password) : passwordHash
  return db.transaction(async (tx) => {
    const person = await lockPerson(tx, eq(people.id, found.id))
    // The password may have changed while this one was verified. The old one must not open a session.
    if (person?.passwordHash !== passwordHash) throw refused
    if (rehashed !== passwordHash) await tx.update(people).set({ passwordHash: rehashed }).where(eq(people.id, found.id))
    await writePersonEntry(tx, { person: found.id, kind: 'signed_in' }, from, now)
    return { person, refreshToken: await openSession(tx, config.secretKey, found.id, from, now) }
  })
}

/**
 * Changes what a person says about themselves, and time zone, hour and currency of their account. A new email needs the current password (`wrong_password`), must be free
 * (`email_taken`) and cannot be set where Google vouches for it (`not_allowed`); where this server sends email it takes effect once the link
 * that was sent there is opened, and too many such emails are refused with `too_many`. A `fingerprint` of the plan that was shown before zone
 * and hour are saved refuses them with `plan_changed` where the plan is another one.
 */
export async function changeProfile(
  deps: Deps,
  account: Account,
  change: z.output<typeof profileChange>,
  { onScheduleChange, onAddressLeft, refuseChangedSchedule }: OnProfileChange,
  from: Origin,
  now: Instant,
): Promise<Account> {
  const { currentPassword, email, displayName, fingerprint, ...fields } = change
  const { person } = account
  if (fields.timezone !== undefined && !isZone(fields.timezone)) throw invalid('timezone', unknownZone)
  if (fields.currency !== undefined && !isCurrency(fields.currency)) throw invalid('currency', unknownCurrency(fields.currency))
  const newEmail = email !== undefined && email !== person.email ? email : null
  const byLink = newEmail !== null && sendsSystemMail(deps.config)
  if (newEmail !== null) {
    if (person.googleSub) throw new ProblemError('not_allowed', refusals.emailFromGoogle)
    if (!currentPassword) throw wrongPassword(refusals.passwordForEmail)
    await refuseWrongPassword(deps, person, currentPassword, now)
    if (byLink) {
      await refuseTakenEmail(deps.db, person.id, newEmail)
      if (deps.config.rateLimit) await countTry(deps.db, `new-email:${person.id}`, newEmailsOfOneAccount, now)
    }
  }
  try {
    return await deps.db.transaction(async (tx) => {
      const atOnce = newEmail !== null && !byLink
      const owned = atOnce ? await lockOwned(tx, person.id) : []
      const before = await lockAccount(tx, account.id)
      await lockPersonAsSeen(tx, person)
      if (!before) throw new ProblemError('not_signed_in', refusals.signIn)
      await refuseChangedSchedule(tx, before, { ...fields, fingerprint }, now)
      const timezone = fields.timezone ?? before.timezone
      if (Object.keys(fields).length > 0)
        await tx
          .update(accounts)
          .set({
            ...fields,
            updatedAt: now,
            // Looked at again at once: further east a midnight may have passed already.
            ...(timezone === before.timezone ? {} : { nextMidnightAt: now }),
          })
          .where(eq(accounts.id, account.id))
      const [changed] = await tx
        .update(people)
        .set({
          ...(displayName === undefined ? {} : { displayName }),
          ...(atOnce ? { email: newEmail, emailVerifiedAt: null } : {}),
          updatedAt: now,
        })
        .where(eq(people.id, person.id))
        .returning()
      const after = await findAccount(tx, account.id)
      if (!after || !changed) throw new Error('A locked account was not there to be changed.')
      const nextAt = newEmail !== null && byLink ? await sendChangeLink(tx, deps, changed, newEmail, now) : null
      if (nextAt) throw tooManyLinks(nextAt, now)
      if (atOnce) {
        for (const left of owned) await onAddressLeft(tx, left, now)
        await dropLinks(tx, person.id)
        await writePersonEntry(tx, { person: person.id, kind: 'email_changed', about: newEmail }, from, now)
      }
      if (after.timezone !== before.timezone || after.reminderHour !== before.reminderHour) await onScheduleChange(tx, before, after, now)
      return { ...after, person: changed }
    })
  } catch (error) {
    if (breaksIndex(error, 'people_email')) throw emailTaken(refusals.emailUsed)
    throw error
  }
}

/** Ends the API keys that a person made. Must come before the person is locked: accounts are locked first. */
export type EndKeysOf = (tx: Database, person: PersonId, from: Origin, now: Instant) => Promise<void>

/**
 * Changes the password and ends every other session, and the person's API keys where they want that. Refuses a wrong current password with `wrong_password`, a short new one with
 * `invalid`, and an account that signs in with Google with `not_allowed`.
 */
export async function changePassword(
  deps: Deps,
  person: PersonRow,
  sessionId: string,
  { currentPassword, newPassword, endKeys }: z.output<typeof passwordChange>,
  endKeysOf: EndKeysOf,
  from: Origin,
  now: Instant,
): Promise<void> {
  if (person.googleSub) throw new ProblemError('not_allowed', refusals.passwordWithGoogle)
  refuseShortPassword(newPassword, 'newPassword', deps.config.passwordMinLength)
  await refuseWrongPassword(deps, person, currentPassword, now)
  const passwordHash = await hashPassword(newPassword)
  await deps.db.transaction(async (tx) => {
    if (endKeys) await endKeysOf(tx, person.id, from, now)
    const before = await lockPerson(tx, eq(people.id, person.id))
    if (before?.passwordHash !== person.passwordHash) throw wrongPassword()
    await tx.update(people).set({ passwordHash, updatedAt: now }).where(eq(people.id, person.id))
    await dropLinks(tx, person.id)
    await endOtherSessions(tx, person.id, sessionId)
    await forgetEveryGuess(tx, recipientOf(before))
    await writePersonEntry(tx, { person: person.id, kind: 'password_changed' }, from, now)
    await queueSystemMail(tx, deps, { ...passwordChangedEmail(), to: recipientOf(person) }, now)
  })
}

/**
 * Clean-up at external services when an account is deleted, such as revoking a grant. Called in the transaction of the deletion, once the account is
 * locked, and again where that is tried again; the function it answers is called after it. A failure is logged and does not stop the deletion.
 */
export type OnAccountDeleted = (db: Database, ownerId: string) => Promise<() => Promise<void>>

/** Runs in the transaction that deletes a person, once the accounts that they own are deleted. */
export type OnPersonDeleted = (tx: Database, person: PersonId, now: Instant) => Promise<void>

/** Runs in the transaction that confirms the email of an account: emails that waited for it may leave. */
export type OnEmailConfirmed = (tx: Database, ownerId: string, now: Instant) => Promise<void>

/** Called before an email is free for another account, because its account is deleted or gets another one. */
export type OnAddressLeft = (db: Database, account: AccountRow, now: Instant) => Promise<void>

/** Deletes in chunks what an account has most of, so that deleting the rest with it is one short transaction. */
export type DeleteHistory = (db: Database, ownerId: string, now: Instant) => Promise<void>

/** Runs in the transaction that creates an account. */
export type OnAccountCreated = (tx: Database, account: AccountRow, now: Instant) => Promise<void>

/** What deleting a person needs of the slices above. */
export interface PersonDeletionHandDowns {
  /** Who else is to hear that an account is gone. */
  onAccountDeleted: OnAccountDeleted[]
  onPersonDeleted: OnPersonDeleted
  onAddressLeft: OnAddressLeft
  deleteHistory: DeleteHistory
}

/**
 * Deletes a person with the accounts that they own and, by foreign keys, every record and session of them. The person gets an email that says so. Deadlocks
 * are tried again, because the records of a running delivery are locked in another order than the cascade deletes them.
 */
export async function deletePerson(deps: Deps, person: PersonRow, handed: PersonDeletionHandDowns, now: Instant): Promise<void> {
  const { db } = deps
  const owned = await selectAccounts(db).where(eq(people.id, person.id))
  await refuseOthersIn(db, owned)
  for (const account of owned) {
    await handed.onAddressLeft(db, account, now)
    await handed.deleteHistory(db, account.id, now)
  }
  const cleanUps = await retryingDeadlocks(() =>
    db.transaction(async (tx) => {
      const cleanUps = []
      const locked = await lockOwned(tx, person.id)
      await refuseOthersIn(tx, locked)
      for (const { id } of locked) cleanUps.push(...(await deleteLocked(tx, id, handed.onAccountDeleted)))
      // What they sent or made in the businesses of others would outlive them.
      await tx.delete(invitations).where(eq(invitations.invitedBy, person.id))
      await handed.onPersonDeleted(tx, person.id, now)
      const gone = await tx.delete(people).where(eq(people.id, person.id)).returning({ id: people.id })
      if (gone.length === 0) return cleanUps
      await dropSystemMails(tx, String(person.id))
      await queueSystemMail(tx, deps, { ...accountDeletedEmail(deps.config.publicUrl), to: recipientOf(person) }, now)
      return cleanUps
    }),
  )
  await cleanUpAfter(deps, cleanUps, 'an account deletion')
}

/** Refuses with `owns_business` where others work in one of these accounts. */
async function refuseOthersIn(db: Database, owned: AccountRow[]): Promise<void> {
  for (const { id, displayName } of owned)
    if ((await db.$count(memberships, eq(memberships.ownerId, id))) > 1)
      throw new ProblemError('owns_business', refusals.ownerLeaves(displayName))
}

/** Deletes an account and, by foreign keys, every record of it; its people stay. Refuses with `conflict` the last one of its owner. */
export async function deleteBusiness(
  deps: Deps,
  account: Account,
  handed: { onAccountDeleted: OnAccountDeleted[]; deleteHistory: DeleteHistory },
  from: Origin,
  now: Instant,
): Promise<void> {
  const { db } = deps
  const owned = await selectAccounts(db).where(eq(people.id, account.person.id))
  if (owned.length < 2) throw new ProblemError('conflict', refusals.onlyBusiness)
  await handed.deleteHistory(db, account.id, now)
  const cleanUps = await retryingDeadlocks(() =>
    db.transaction(async (tx) => {
      // Of two deletions at the same time the later one sees what the earlier one left.
      const left = await lockOwned(tx, account.person.id)
      await lockPersonAsSeen(tx, account.person)
      if (left.length < 2 || !left.some(({ id }) => id === account.id)) throw new ProblemError('conflict', refusals.onlyBusiness)
      await writePersonEntry(tx, { person: account.person.id, kind: 'business_deleted', about: account.displayName }, from, now)
      const worked = await lockOthersIn(tx, account.id)
      const prepared = await deleteLocked(tx, account.id, handed.onAccountDeleted)
      for (const person of worked) await createBusinessOfTheirOwn(tx, person, account, now)
      return prepared
    }),
  )
  await cleanUpAfter(deps, cleanUps, 'the deletion of a business')
}

async function deleteLocked(tx: Database, id: string, onAccountDeleted: OnAccountDeleted[]): Promise<(() => Promise<void>)[]> {
  const cleanUps = []
  // What is begun while an account is locked, such as a payment, does not find it afterwards.
  for (const prepare of onAccountDeleted) cleanUps.push(await prepare(tx, id))
  await tx.delete(accounts).where(eq(accounts.id, id))
  await dropSystemMails(tx, id)
  return cleanUps
}

/** Whether reminders of an account may leave: where the server can send the link, its owner must have confirmed the email. */
export function maySend(config: Deps['config'], { emailVerifiedAt }: Pick<AccountRow, 'emailVerifiedAt'>): boolean {
  return emailVerifiedAt !== null || !sendsSystemMail(config)
}

/** Refuses with `email_not_confirmed` where reminders may not leave. */
export function refuseUnconfirmed(config: Deps['config'], account: Pick<AccountRow, 'emailVerifiedAt'>): void {
  if (!maySend(config, account)) throw new ProblemError('email_not_confirmed', refusals.confirmEmailFirst)
}

const itsAccount = sql`${sql.placeholder('account')}::uuid`
const itsPerson = sql`${sql.placeholder('person')}::uuid`
/** What a profile shows besides what is known of who asks; no codes where two-factor authentication is off. */
const profileFacts = statement(
  z.object({
    members: z.number(),
    businesses: z.number(),
    owner: z.string(),
    recoveryCodesLeft: z.number().nullable(),
    apiKeys: z.number(),
    pendingEmail: z.string().nullable(),
  }),
  sql`SELECT (SELECT count(*)::int FROM memberships m WHERE m.owner_id = ${itsAccount}) AS members,
        (SELECT count(*)::int FROM memberships m WHERE m.person_id = ${itsPerson}) AS businesses, o.display_name AS owner,
        (SELECT (SELECT count(*)::int FROM recovery_codes r WHERE r.person_id = f.person_id) FROM second_factors f
          WHERE f.person_id = ${itsPerson} AND f.confirmed_at IS NOT NULL) AS "recoveryCodesLeft",
        (SELECT count(*)::int FROM api_keys k WHERE k.made_by = ${itsPerson} AND k.offered_to IS NULL) AS "apiKeys",
        (SELECT l.email FROM account_links l WHERE l.person_id = ${itsPerson} AND l.purpose = 'change_email' AND l.expires_at > ${sql.placeholder('now')}::timestamptz LIMIT 1) AS "pendingEmail"
      FROM memberships m JOIN people o ON o.id = m.person_id WHERE m.owner_id = ${itsAccount} AND m.role = 'owner'`,
)

export async function readProfile(
  db: Database,
  { account: { person, ...row }, role, kept }: Pick<Principal, 'account' | 'role' | 'kept'>,
  now: Instant,
): Promise<Profile> {
  const [found] = await profileFacts(db, { account: row.id, person: String(person.id), now: now.toString() })
  if (!found) throw new Error('The statement of a profile answers one row.')
  const { owner, members, businesses, recoveryCodesLeft, apiKeys, pendingEmail } = found
  return {
    ...toUser(person),
    createdAt: person.createdAt.toString(),
    timezone: row.timezone,
    reminderHour: row.reminderHour,
    currency: row.currency,
    emailVerified: person.emailVerifiedAt !== null,
    accessToReview: person.reviewAccessSince !== null,
    pendingEmail,
    twoFactor: recoveryCodesLeft === null ? null : { recoveryCodesLeft },
    apiKeys,
    business: { name: row.name ?? owner, owner, role, kept: kept ?? null, members, businesses },
  }
}

export function toUser({ id, displayName, email, googleSub }: PersonRow): User {
  return { _id: String(id), displayName, email, ...(googleSub ? { googleId: googleSub } : {}) }
}

const unknownZone = refusals.unknownZone

/** A name for an account that has none yet: the part of its email before the @. */
export function nameFrom(email: string): string {
  return email.split('@')[0] ?? email
}

/** Matches an email regardless of case. */
export function hasEmail(email: string): SQL {
  return sql`lower(${people.email}) = lower(${email})`
}

/** Whether the password is right; every wrong one makes the next wait longer, and a right one clears that. */
async function guess({ db, config }: Deps, key: string, passwordHash: string | null, password: string, now: Instant): Promise<boolean> {
  if (!config.rateLimit) return verifyPassword(passwordHash, password)
  await countGuess(db, key, now)
  try {
    const right = await verifyPassword(passwordHash, password)
    if (right) await forgetGuesses(db, key)
    return right
  } catch (error) {
    await takeBackGuess(db, key)
    throw error
  }
}

/**
 * Refuses a wrong current password with `wrong_password`, and too many of them with `too_many`; strangers who guess at the sign-in page are
 * not counted here. Never inside a transaction.
 */
export async function refuseWrongPassword(deps: Deps, person: PersonRow, password: string, now: Instant): Promise<void> {
  if (!(await guess(deps, ownGuessKey(String(person.id)), person.passwordHash, password, now))) throw wrongPassword()
}

/** Whether a session whose person has just signed in needs no further proof: for what is set up first. */
type Freshness = 'always' | 'unless_recent'

/**
 * Before how an account is paid changes, who owns it, or something is set up that outlives the session: refuses with `wrong_password` or `invalid` a request without the current password or a code,
 * however young the session unless that is asked for; an account with neither needs a recent sign-in (`recent_sign_in_needed`). Never inside a
 * transaction.
 */
export async function refuseUnproven(
  deps: Deps,
  { account: { person }, sessionId }: Pick<Principal, 'account' | 'sessionId'>,
  proof: Proof,
  now: Instant,
  what: keyof typeof refusals.passwordFor = 'pay',
  ask: Freshness = 'always',
): Promise<void> {
  if (ask === 'unless_recent' && (await signedInRecently(deps.db, sessionId, now))) return
  const hasCode = (await countRecoveryCodes(deps.db, person.id)) !== null
  if (hasCode && proof.code !== undefined) return refuseWithoutCode(deps, person, proof.code, now)
  if (person.passwordHash !== null) {
    if (!proof.currentPassword) throw wrongPassword(refusals.passwordFor[what])
    return refuseWrongPassword(deps, person, proof.currentPassword, now)
  }
  if (hasCode) return refuseWithoutCode(deps, person, undefined, now)
  await refuseOldSignIn(deps.db, sessionId, now, refusals.recentSignInFor[what])
}

export function refuseShortPassword(password: string, path: string, shortest: number): void {
  if (password.length < shortest) throw invalid(path, refusals.shortPassword(shortest))
}

function wrongPassword(message = refusals.wrongPassword): ProblemError {
  return new ProblemError('wrong_password', message, { errors: [{ path: 'currentPassword', message }] })
}

async function refuseTakenEmail(db: Database, person: PersonId, email: string): Promise<void> {
  const taken = await db
    .select({ id: people.id })
    .from(people)
    .where(and(hasEmail(email), ne(people.id, person)))
  if (taken.length > 0) throw emailTaken(refusals.emailUsed)
}

export function emailTaken(message: string): ProblemError {
  return new ProblemError('email_taken', message, { errors: [{ path: 'email', message }] })
}

/**
 * Whether a unique index was violated. Both drivers name it in `constraint`; the query builder wraps their error.
 */
export function breaksIndex(error: unknown, index: 'people_email' | 'people_google'): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'constraint' in cause && cause.constraint === index
}
