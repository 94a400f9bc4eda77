import { randomBytes } from 'node:crypto'
import { and, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import type { SealedColumn } from '#server/platform/reseal.ts'
import { hashToken, sameText, seal, unseal } from '#server/platform/secrets.ts'
import { queueSystemMail, type Recipient } from '#server/platform/system-mail.ts'
import { type Origin, writePersonEntry } from './audit.ts'
import { recipientOf } from './links.ts'
import { lockPersonAsSeen } from './lock.ts'
import { type PersonRow, recoveryCodes, secondFactors } from './tables.ts'
import { refusals, twoFactorEmail } from './texts.ts'
import { codeKey, countGuess, forgetGuesses } from './throttle.ts'
import { newTotpSecret, stepOf, toBase32, totpAt, totpUri } from './totp.ts'

type Owner = Omit<Recipient, 'id'> & { id: PersonId }

const codes = 10
const purpose = 'second-factor'

/** Makes a secret for an authenticator; a first code activates it. Refuses with `conflict` where two-factor authentication is on. */
export async function startTwoFactor({ db, config }: Deps, owner: Owner): Promise<{ secret: string; uri: string }> {
  const secret = newTotpSecret()
  const sealedSecret = seal(config.secretKey, purpose, placeOf(owner.id), secret)
  const [written] = await db
    .insert(secondFactors)
    .values({ personId: owner.id, sealedSecret })
    .onConflictDoUpdate({ target: secondFactors.personId, set: { sealedSecret, lastStep: 0 }, setWhere: isNull(secondFactors.confirmedAt) })
    .returning()
  if (!written) throw new ProblemError('conflict', refusals.twoFactorOn)
  return { secret, uri: totpUri(secret, owner.email) }
}

/** Turns two-factor authentication on; answers the recovery codes, which cannot be shown again. `invalid` for a wrong code. */
export async function confirmTwoFactor(deps: Deps, owner: PersonRow, code: string, from: Origin, now: Instant): Promise<string[]> {
  const { db } = deps
  await countCode(deps, owner.id, signedIn, now)
  const [waiting] = await db
    .select()
    .from(secondFactors)
    .where(and(eq(secondFactors.personId, owner.id), isNull(secondFactors.confirmedAt)))
  const step = waiting && matchingStep(openSecret(deps, waiting), code, now)
  if (!step) throw wrongCode()
  return db.transaction(async (tx) => {
    await lockPersonAsSeen(tx, owner)
    const [confirmed] = await tx
      .update(secondFactors)
      .set({ confirmedAt: now, lastStep: step })
      .where(
        and(eq(secondFactors.personId, owner.id), isNull(secondFactors.confirmedAt), eq(secondFactors.sealedSecret, waiting.sealedSecret)),
      )
      .returning()
    if (!confirmed) throw wrongCode()
    await forgetGuesses(tx, codeKey(String(owner.id), signedIn))
    await recordSwitch(tx, deps, owner, 'on', from, now)
    return writeRecoveryCodes(tx, owner.id)
  })
}

/** Replaces the recovery codes. Refuses a wrong code with `invalid`. */
export async function renewRecoveryCodes(deps: Deps, owner: Owner, code: string, from: Origin, now: Instant): Promise<string[]> {
  if (!(await isRightCode(deps, owner.id, { code, where: signedIn }, now))) throw wrongCode()
  return deps.db.transaction(async (tx) => {
    await writePersonEntry(tx, { person: owner.id, kind: 'recovery_codes_renewed' }, from, now)
    return writeRecoveryCodes(tx, owner.id)
  })
}

/** Refuses a wrong code with `invalid`. */
export async function removeTwoFactor(deps: Deps, owner: Owner, code: string, from: Origin, now: Instant): Promise<void> {
  if (!(await isRightCode(deps, owner.id, { code, where: signedIn }, now))) throw wrongCode()
  await deps.db.transaction(async (tx) => {
    await dropTwoFactor(tx, owner.id)
    await recordSwitch(tx, deps, owner, 'off', from, now)
  })
}

/**
 * Must run after the password was verified. `browserId`: of a browser that the account is known by, whose codes are counted separately from
 * those of strangers. Refuses with `second_factor_needed`, `wrong_second_factor`.
 */
export async function demandSecondFactor(
  deps: Deps,
  person: PersonId,
  { code, browserId }: { code: string | undefined; browserId: string | null },
  from: Origin,
  now: Instant,
): Promise<void> {
  if ((await countRecoveryCodes(deps.db, person)) === null) return
  if (!code) throw new ProblemError('second_factor_needed', refusals.codeNeeded)
  const right = await isRightCode(deps, person, { code, where: browserId }, now)
  if (!right) {
    // The password was right, so the owner must be able to see it.
    const about = 'the password was right, the second factor was not'
    await writePersonEntry(deps.db, { person, kind: 'sign_in_refused', about }, from, now)
    throw wrongCode(refusals.wrongCode, 'wrong_second_factor')
  }
  if (right === 'recovery') await writePersonEntry(deps.db, { person, kind: 'recovery_code_used' }, from, now)
}

/** For a signed-in owner with a second factor, before it is removed. Refuses a missing or wrong code with `invalid`. */
export async function refuseWithoutCode(deps: Deps, owner: Owner, code: string | undefined, now: Instant): Promise<void> {
  if ((await countRecoveryCodes(deps.db, owner.id)) === null) return
  if (code === undefined) throw wrongCode(refusals.codeNeeded)
  if (!(await isRightCode(deps, owner.id, { code, where: signedIn }, now))) throw wrongCode()
}

/** How many recovery codes are left; null where two-factor authentication is off. */
export async function countRecoveryCodes(db: Database, person: PersonId): Promise<number | null> {
  const [found] = await db
    .select({ left: sql<number>`(SELECT count(*)::int FROM recovery_codes r WHERE r.person_id = ${person}::uuid)` })
    .from(secondFactors)
    .where(and(eq(secondFactors.personId, person), isNotNull(secondFactors.confirmedAt)))
  return found?.left ?? null
}

/** Forgets the second factor and its recovery codes; answers whether there was one. */
export async function dropTwoFactor(tx: Database, person: PersonId): Promise<boolean> {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.personId, person))
  const dropped = await tx.delete(secondFactors).where(eq(secondFactors.personId, person)).returning({ personId: secondFactors.personId })
  return dropped.length > 0
}

/** Consumes a code. Two concurrent requests cannot both use it. */
async function isRightCode(
  deps: Deps,
  person: PersonId,
  { code, where }: { code: string; where: string | null },
  now: Instant,
): Promise<'totp' | 'recovery' | null> {
  const { db } = deps
  await countCode(deps, person, where, now)
  const used = (await spendTotp(deps, person, code, now)) ? 'totp' : (await spendRecoveryCode(db, person, code)) ? 'recovery' : null
  if (used) await forgetGuesses(db, codeKey(String(person), where))
  return used
}

async function spendTotp(deps: Deps, person: PersonId, code: string, now: Instant): Promise<boolean> {
  const own = and(eq(secondFactors.personId, person), isNotNull(secondFactors.confirmedAt))
  const [factor] = await deps.db.select().from(secondFactors).where(own)
  const step = factor && matchingStep(openSecret(deps, factor), code, now)
  if (!step) return false
  const used = await deps.db
    .update(secondFactors)
    .set({ lastStep: step })
    .where(and(own, lt(secondFactors.lastStep, step)))
    .returning({ personId: secondFactors.personId })
  return used.length > 0
}

async function spendRecoveryCode(db: Database, person: PersonId, code: string): Promise<boolean> {
  const used = await db
    .delete(recoveryCodes)
    .where(and(eq(recoveryCodes.personId, person), eq(recoveryCodes.codeHash, hashToken(plain(code)))))
    .returning({ personId: recoveryCodes.personId })
  return used.length > 0
}

/** Accepts the previous and next step too, because clocks differ (RFC 6238, 5.2). */
function matchingStep(secret: string, code: string, now: Instant): number | undefined {
  const given = code.replace(/\s/g, '')
  const current = stepOf(now)
  return [current, current - 1, current + 1].find((step) => sameText(totpAt(secret, step), given))
}

async function writeRecoveryCodes(tx: Database, person: PersonId): Promise<string[]> {
  const made = Array.from({ length: codes }, () => toBase32(randomBytes(10)))
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.personId, person))
  await tx.insert(recoveryCodes).values(made.map((code) => ({ personId: person, codeHash: hashToken(code) })))
  return made.map((code) => (code.match(/.{4}/g) ?? []).join('-'))
}

function plain(code: string): string {
  return code.toUpperCase().replace(/[^A-Z2-7]/g, '')
}

function openSecret({ config }: Deps, factor: { personId: PersonId; sealedSecret: string }): string {
  return unseal(config.secretKey, purpose, placeOf(factor.personId), factor.sealedSecret)
}

async function recordSwitch(tx: Database, deps: Deps, owner: Owner, switched: 'on' | 'off', from: Origin, now: Instant): Promise<void> {
  await writePersonEntry(tx, { person: owner.id, kind: `two_factor_${switched}` }, from, now)
  await queueSystemMail(tx, deps, { ...twoFactorEmail(switched), to: recipientOf(owner) }, now)
}

async function countCode({ db, config }: Deps, person: PersonId, where: string | null, now: Instant): Promise<void> {
  if (config.rateLimit) await countGuess(db, codeKey(String(person), where), now)
}

/** Where codes are entered in a session, counted separately from those at the sign-in page. */
const signedIn = 'session'

function placeOf(person: PersonId | string): string {
  return `second_factors.${person}.sealedSecret`
}

function wrongCode(message = refusals.wrongCode, code: 'invalid' | 'wrong_second_factor' = 'invalid'): ProblemError {
  return new ProblemError(code, message, { errors: [{ path: 'code', message }] })
}

export const sealedFactors: SealedColumn = { table: 'second_factors', column: 'sealed_secret', key: 'person_id', purpose, place: placeOf }
