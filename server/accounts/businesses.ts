import { asc, eq } from 'drizzle-orm'
import { type Business, type BusinessDetails, businessCalls } from '#contract/business.ts'
import type { Role } from '#contract/call.ts'
import { type Account, type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid } from '#server/platform/problem-error.ts'
import { type DeleteHistory, deleteBusiness, type OnAccountDeleted } from './accounts.ts'
import { listBusinessAudit, originOf, writeAudit } from './audit.ts'
import { readBrand, readReplyTo, saveBrand } from './brand.ts'
import { lockAsSeen, lockOwned, lockPersonAsSeen, ownerOf } from './lock.ts'
import { createBusiness, trialOver } from './new-business.ts'
import { refuseOldSignIn } from './sessions.ts'
import { accounts, memberships, type PersonRow } from './tables.ts'
import { refusals } from './texts.ts'
import { countTry } from './throttle.ts'

/** Each has limits and turns of its own, so they must not be made without end. */
const newBusinesses = { limit: 20, seconds: 24 * 3600 }

interface Handed {
  onAccountDeleted: OnAccountDeleted[]
  deleteHistory: DeleteHistory
  /** Refuses with `plan_limit` another business of an owner of these. */
  refuseUnpaid(db: Database, ownedIds: string[], now: Instant): Promise<void>
  /** Refuses with `invalid` a language that emails cannot be written in. */
  refuseLanguages(db: Database, ownerId: string, languages: string[]): Promise<void>
  /** Those that it can be written in. */
  readLanguages(db: Database, ownerId: string): Promise<string[]>
  /** Its logo, and whether its plan has white-label. */
  readLook(db: Database, ownerId: string): Promise<Pick<BusinessDetails, 'logo' | 'logoInEmails' | 'whiteLabel'>>
  /** Refuses with `plan_limit` where the plan has no white-label. */
  refuseWithoutWhiteLabel(db: Database, ownerId: string, now: Instant): Promise<void>
  /** Its emails that wait are in another language now. */
  onLanguageChange(tx: Database, ownerId: string): Promise<void>
}

export function businessRoutes(app: App, deps: Deps, handed: Handed): void {
  const { db, clock } = deps

  answer(app, businessCalls.list, async (_parts, { account }) => listBusinesses(db, account.person.id))

  answer(app, businessCalls.create, async ({ body }, { account }) => addBusiness(deps, account, body.name, handed, clock.now()))

  answer(app, businessCalls.read, async (_parts, { account, role }) => toDetails(db, account, role, handed))

  answer(app, businessCalls.change, async ({ body }, { account, role }, { request }) => {
    const now = clock.now()
    await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const { name, language, brand } = body
      if (language !== undefined) await handed.refuseLanguages(tx, account.id, [language])
      await tx.update(accounts).set({ name, language, updatedAt: now }).where(eq(accounts.id, account.id))
      if (name !== undefined) await writeAudit(tx, { ownerId: account.id, kind: 'business_named', about: name }, originOf(request), now)
      if (brand !== undefined) {
        if (brand.colour) await handed.refuseWithoutWhiteLabel(tx, account.id, now)
        const given = Object.fromEntries(Object.entries(brand).filter(([, value]) => value !== undefined))
        await saveBrand(tx, account.id, given, now)
        await writeAudit(tx, { ownerId: account.id, kind: 'brand_changed' }, originOf(request), now)
      }
      if (language === undefined || language === account.language) return
      await handed.onLanguageChange(tx, account.id)
      await writeAudit(tx, { ownerId: account.id, kind: 'language_changed', about: language }, originOf(request), now)
    })
    const { name = account.name, language = account.language } = body
    return toDetails(db, { ...account, name, language, displayName: name ?? account.displayName }, role, handed)
  })

  answer(app, businessCalls.audit, async ({ query }, { account }) => listBusinessAudit(db, account.id, query.before))

  answer(app, businessCalls.remove, async ({ body }, { account, sessionId }, { request }) => {
    const now = clock.now()
    if (body.name !== account.displayName) throw invalid('name', refusals.otherName)
    await refuseOldSignIn(db, sessionId, now)
    await deleteBusiness(deps, account, handed, originOf(request), now)
  })
}

async function listBusinesses(db: Database, person: PersonId): Promise<Business[]> {
  const found = await db
    .select({ id: accounts.id, name: accounts.name, role: memberships.role })
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.ownerId))
    .where(eq(memberships.personId, person))
    .orderBy(asc(memberships.joinedAt), asc(memberships.ownerId))
  const owners = await Promise.all(found.map(({ id }) => ownerOf(db, id)))
  return found.map(({ id, name, role }, nth) => {
    const owner = owners[nth]?.displayName ?? ''
    return { _id: id, name: name ?? owner, role, owner }
  })
}

async function addBusiness(
  { db, config }: Deps,
  account: Account,
  name: string,
  { refuseUnpaid }: Pick<Handed, 'refuseUnpaid'>,
  now: Instant,
): Promise<Business> {
  if (config.rateLimit) await countTry(db, `new-business:${account.person.id}`, newBusinesses, now)
  const { timezone, currency } = account
  return db.transaction(async (tx) => {
    const owned = await lockOwned(tx, account.person.id)
    const person: PersonRow = await lockPersonAsSeen(tx, account.person)
    await refuseUnpaid(
      tx,
      owned.map(({ id }) => id),
      now,
    )
    const made = await createBusiness(tx, person, { name, timezone, currency, trialStartedAt: trialOver(now) }, now)
    return { _id: made.id, name, role: 'owner', owner: person.displayName }
  })
}

async function toDetails(
  db: Database,
  account: Account,
  role: Role,
  { readLanguages, readLook }: Pick<Handed, 'readLanguages' | 'readLook'>,
): Promise<BusinessDetails> {
  const owner = await ownerOf(db, account.id)
  const { replyTo, asked } = await readReplyTo(db, account.id)
  return {
    _id: account.id,
    name: account.displayName,
    role,
    owner: owner.displayName,
    named: account.name !== null,
    language: account.language,
    languages: await readLanguages(db, account.id),
    brand: await readBrand(db, account.id),
    replyTo,
    pendingReplyTo: asked,
    ...(await readLook(db, account.id)),
    createdAt: account.createdAt.toString(),
  }
}
