import { and, eq, gt, lte } from 'drizzle-orm'
import { displayName, emailAddress } from '#contract/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { Identity } from '#server/platform/openid.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { queueSystemMail } from '#server/platform/system-mail.ts'
import {
  type AccountRow,
  breaksIndex,
  createAccount,
  emailTaken,
  hasEmail,
  isZone,
  lockAccount,
  type OnAccountTakeover,
  refuseShortPassword,
} from './accounts.ts'
import { type Origin, writeAudit } from './audit.ts'
import { dropLinks, sendConfirmLink } from './links.ts'
import { hashPassword } from './passwords.ts'
import { endAllSessions, endOtherSessions, openSession, type RefreshToken } from './sessions.ts'
import { accounts, googleReturns } from './tables.ts'
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
    linkOwnerId: began.linkFor,
    expiresAt: now.add(began.unlinks ? unlinkLife : returnLife),
  })
  return { code, browser }
}

/**
 * Opens a session for a return from Google. The account is found by issuer and `sub`, never by email, which may change hands. A stranger's email that no account has makes an account. One that an account has links Google to it only where its owner has
 * verified the mailbox, Google runs it, and no second factor is set up; the previous password is removed
 * (pre-hijacking, arXiv 2205.10174).
 * Refuses with `google_failed` and `email_taken`.
 */
export async function signInWithGoogle(
  deps: Deps,
  given: { code: string; browser: string; timezone: string | undefined },
  onAccountTakeover: OnAccountTakeover,
  from: Origin,
  now: Instant,
): Promise<{ account: AccountRow; refreshToken: RefreshToken }> {
  const came = await takeReturn(deps.db, given, now)
  if (came.linkOwnerId !== null) throw googleFailed()
  return deps.db.transaction(async (tx) => {
    const account = (await findLinked(tx, came)) ?? (await admit(tx, { ...deps, onAccountTakeover }, came, given.timezone, from, now))
    await writeAudit(tx, { ownerId: account.id, kind: 'signed_in', about: 'Google' }, from, now)
    return { account, refreshToken: await openSession(tx, account.id, from, now) }
  })
}

/** Links Google to the account that began to; from then on it is the only way in. Refuses with `google_failed` and `conflict`. */
export async function linkGoogle(
  deps: Deps,
  principal: { account: AccountRow; sessionId: string },
  given: { code: string; browser: string },
  from: Origin,
  now: Instant,
): Promise<AccountRow> {
  const came = await takeReturn(deps.db, given, now)
  const taken = new ProblemError('conflict', refusals.googleTaken)
  try {
    return await deps.db.transaction(async (tx) => {
      const account = await lockAccount(tx, principal.account.id)
      if (!account || came.linkOwnerId !== account.id) throw googleFailed()
      if (account.googleSub) throw alreadyLinked()
      if (await findLinked(tx, came)) throw taken
      const linked = await link(tx, deps, account, came, from, now)
      await endOtherSessions(tx, account.id, principal.sessionId)
      return linked
    })
  } catch (error) {
    throw breaksIndex(error, 'accounts_google') ? taken : error
  }
}

/**
 * Switches an account to password sign-in. The person has just signed in at Google with the linked account.
 * Refuses with `google_failed`, `conflict` where none is linked, a short password with `invalid`.
 */
export async function unlinkGoogle(
  deps: Deps,
  principal: { account: AccountRow; sessionId: string },
  given: { code: string; browser: string; newPassword: string },
  from: Origin,
  now: Instant,
): Promise<AccountRow> {
  refuseNotLinked(principal.account)
  // Before the code is used up, so that a short password does not cost another trip to Google.
  refuseShortPassword(given.newPassword, 'newPassword', deps.config.passwordMinLength)
  const came = await takeReturn(deps.db, given, now)
  const passwordHash = await hashPassword(given.newPassword)
  return deps.db.transaction(async (tx) => {
    const account = await lockAccount(tx, principal.account.id)
    if (!account || came.linkOwnerId !== account.id) throw googleFailed()
    if (account.googleSub !== came.sub || account.googleIssuer !== came.issuer)
      throw new ProblemError('google_failed', refusals.googleOther)
    const [unlinked] = await tx
      .update(accounts)
      .set({ googleIssuer: null, googleSub: null, passwordHash, updatedAt: now })
      .where(eq(accounts.id, account.id))
      .returning()
    if (!unlinked) throw new Error('A locked account was not there to be unlinked.')
    await dropLinks(tx, account.id)
    await endOtherSessions(tx, account.id, principal.sessionId)
    await writeAudit(tx, { ownerId: account.id, kind: 'google_unlinked' }, from, now)
    await queueSystemMail(tx, deps, { ...googleUnlinkedEmail(), to: account }, now)
    return unlinked
  })
}

/** Refuses an account that does not sign in with Google with `conflict`. */
export function refuseNotLinked(account: AccountRow): void {
  if (!account.googleSub) throw new ProblemError('conflict', refusals.googleNotLinked)
}

/** Refuses an account that signs in with Google already with `conflict`. */
export function refuseLinked(account: AccountRow): void {
  if (account.googleSub) throw alreadyLinked()
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

async function findLinked(tx: Database, { issuer, sub }: Return): Promise<AccountRow | undefined> {
  const [found] = await tx
    .select()
    .from(accounts)
    .where(and(eq(accounts.googleIssuer, issuer), eq(accounts.googleSub, sub)))
  return found
}

/** Signs in an identity that is not linked yet. */
async function admit(
  tx: Database,
  deps: Deps & { onAccountTakeover: OnAccountTakeover },
  came: Return,
  timezone: string | undefined,
  from: Origin,
  now: Instant,
): Promise<AccountRow> {
  if (!came.emailVerified) throw new ProblemError('google_failed', refusals.googleUnverified)
  const [same] = await tx.select().from(accounts).where(hasEmail(came.email)).for('update')
  if (same) {
    if (same.googleSub) throw emailTaken(refusals.signsInWithOtherGoogle)
    // A stolen Google account must not bypass the second factor of this account.
    const guarded = (await countRecoveryCodes(tx, same.id)) !== null
    if (!came.authoritative || !same.emailVerifiedAt || guarded) throw emailTaken(refusals.accountExistsLinkGoogle)
    await endAllSessions(tx, same.id)
    await deps.onAccountTakeover(tx, same.id)
    return link(tx, deps, same, came, from, now)
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
  await writeAudit(tx, { ownerId: account.id, kind: 'signed_up' }, from, now)
  if (!came.authoritative) await sendConfirmLink(tx, deps, account, now)
  return account
}

/** Removes every other way in: password, second factor, emailed links. The caller ends the sessions. */
async function link(tx: Database, deps: Deps, account: AccountRow, came: Return, from: Origin, now: Instant): Promise<AccountRow> {
  const confirms = came.authoritative && came.email.toLowerCase() === account.email.toLowerCase()
  const [linked] = await tx
    .update(accounts)
    .set({
      googleIssuer: came.issuer,
      googleSub: came.sub,
      passwordHash: null,
      updatedAt: now,
      ...(confirms ? { emailVerifiedAt: now } : {}),
    })
    .where(eq(accounts.id, account.id))
    .returning()
  if (!linked) throw new Error('A locked account was not there to be linked.')
  await dropLinks(tx, account.id)
  await dropTwoFactor(tx, account.id)
  await writeAudit(tx, { ownerId: account.id, kind: 'google_linked', about: came.email }, from, now)
  await queueSystemMail(tx, deps, { ...googleLinkedEmail(deps.config.publicUrl), to: linked }, now)
  return linked
}

/** Google marks every address as verified, but is authoritative only for mailboxes that it runs (its sign-in guide). */
function isAuthoritative({ emailVerified, hostedDomain }: Identity, email: string): boolean {
  return emailVerified && (hostedDomain !== null || email.toLowerCase().endsWith('@gmail.com'))
}

function nameOf({ name, email }: Return): string {
  const given = displayName.safeParse(name)
  return given.success ? given.data : (email.split('@')[0] ?? email)
}

function alreadyLinked(): ProblemError {
  return new ProblemError('conflict', refusals.googleLinked)
}
