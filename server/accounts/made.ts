import { and, eq, ne } from 'drizzle-orm'
import { type HandedOver, type Made, type MadeKind, teamCalls } from '#contract/business.ts'
import { screens } from '#contract/screens.ts'
import { type Account, type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { queueSystemMail } from '#server/platform/system-mail.ts'
import { refuseUnproven } from './accounts.ts'
import { nameActors, type Origin, originOf, writeAudit } from './audit.ts'
import { lockAccount, lockAsSeen, ownerOf } from './lock.ts'
import { madeTexts as texts } from './made-texts.ts'
import { linkFor, notify, notifyOwner, withdrawNotices } from './notices.ts'
import { memberships, people } from './tables.ts'
import { cleanUpAfter } from './takeover.ts'

/** Something that works without the person who set it up. */
export interface MadeRow extends Omit<Made, '_id' | 'kind'> {
  id: string
  /** Who set it up last; null: not known, so it counts as the owner's. */
  madeBy: PersonId | null
  /** Its maker has left: who was asked to take it over. */
  offeredTo: PersonId | null
}

/** What a slice has of one kind. The account is locked by the caller of what changes it. */
export interface MadeThings {
  kind: MadeKind
  list(db: Database, ownerId: string): Promise<MadeRow[]>
  /** Stops these until another person takes them over: a secret that their maker knows must open nothing meanwhile. */
  offer(tx: Database, ownerId: string, ids: string[], about: { to: PersonId; now: Instant }): Promise<void>
  /** Gives one to a person. Answers its new secret; null where Duely issues none. Refuses with `conflict` what has to be connected again. */
  takeOver(tx: Database, ownerId: string, id: string, about: { by: PersonId; now: Instant }): Promise<string | null>
  /** Ends these; what it answers runs after the commit. */
  end(tx: Database, ownerId: string, ids: string[], about: { from: Origin | null; now: Instant }): Promise<(() => Promise<void>)[]>
}

/** Something made, with the part of its slice. */
export type Found = MadeRow & { of: MadeThings }

/** Everything that works in a business without who set it up. */
export async function listMade(db: Database, parts: MadeThings[], ownerId: string): Promise<Found[]> {
  const found: Found[] = []
  for (const of of parts) for (const row of await of.list(db, ownerId)) found.push({ ...row, of })
  return found
}

/** What a member made, but for what was handed over: that is no one's until it is taken over. */
export async function listMadeBy(db: Database, parts: MadeThings[], ownerId: string, person: PersonId): Promise<Found[]> {
  return (await listMade(db, parts, ownerId)).filter(({ madeBy, offeredTo }) => madeBy === person && offeredTo === null)
}

export const toMade = ({ id, of, name, detail }: Found): Made => ({ _id: id, kind: of.kind, name, detail })
export const nameOf = ({ of, name }: Found) => texts.named(of.kind, name)

/** Ends these; what it answers runs after the commit. */
export async function endMade(
  tx: Database,
  ownerId: string,
  found: Found[],
  about: { from: Origin | null; now: Instant },
): Promise<(() => Promise<void>)[]> {
  const afterwards: (() => Promise<void>)[] = []
  for (const [of, rows] of Map.groupBy(found, (one) => one.of)) afterwards.push(...(await of.end(tx, ownerId, idsOf(rows), about)))
  return afterwards
}

const idsOf = (rows: Found[]) => rows.map(({ id }) => id)

/** Their maker leaves: these stop until `to` takes them over. Who is asked by another person gets an email. */
export async function offerMade(
  tx: Database,
  deps: Deps,
  about: { ownerId: string; found: Found[]; from: string; to: PersonId; isAsked: boolean; origin: Origin | null },
  now: Instant,
): Promise<void> {
  const { ownerId, found, from, to } = about
  if (found.length === 0) return
  for (const [of, rows] of Map.groupBy(found, (one) => one.of)) await of.offer(tx, ownerId, idsOf(rows), { to, now })
  const [heir] = await tx.select().from(people).where(eq(people.id, to))
  if (!heir) throw new Error('Who takes something over must be there.')
  const t = texts.handedOver
  await writeAudit(tx, { ownerId, kind: 'handed_over', about: t.audit(found.map(nameOf), heir.email) }, about.origin, now)
  const title = t.title(from, found.length, heir.displayName)
  await notify(tx, ownerId, { kind: 'handed_over', cause: String(found[0]?.madeBy ?? ''), title, text: t.text, link: screens.team }, now)
  if (!about.isAsked) return
  const { button, ...email } = texts.askHeir
  const path = await linkFor(tx, to, ownerId, button.path)
  const { emailVerifiedAt } = heir
  await queueSystemMail(tx, deps, { ...email, button: { ...button, path }, to: { id: ownerId, email: heir.email, emailVerifiedAt } }, now)
}

/** Someone is gone without having been asked: what they made in a business is for its owner to take over. The account must be locked. */
export async function offerToOwner(
  tx: Database,
  deps: Deps,
  parts: MadeThings[],
  { ownerId, person }: { ownerId: string; person: PersonId },
  now: Instant,
): Promise<void> {
  const found = await listMadeBy(tx, parts, ownerId, person)
  const { id: to } = await ownerOf(tx, ownerId)
  await offerMade(tx, deps, { ownerId, found, from: texts.someone, to, isAsked: true, origin: null }, now)
}

/** The same in every business where someone worked who deletes their account. */
export async function offerToOwners(tx: Database, deps: Deps, parts: MadeThings[], person: PersonId, now: Instant): Promise<void> {
  const works = await tx
    .select({ ownerId: memberships.ownerId })
    .from(memberships)
    .where(and(eq(memberships.personId, person), ne(memberships.role, 'owner')))
    .orderBy(memberships.ownerId)
  for (const { ownerId } of works) if (await lockAccount(tx, ownerId)) await offerToOwner(tx, deps, parts, { ownerId, person }, now)
}

/**
 * Someone other than the owner set up something that works without them, or knows a new secret of it: a notice, and an email to the owner. Must run in
 * the transaction that does it.
 */
export async function reportMade(
  tx: Database,
  deps: Deps,
  account: Account,
  about: { kind: MadeKind; id: string; name: string; link: string; isSecret?: boolean },
  now: Instant,
): Promise<void> {
  const { kind, id, name, link, isSecret = false } = about
  const { person } = account
  if ((await ownerOf(tx, account.id)).id === person.id) return
  const title = (isSecret ? texts.newSecret : texts.setUp)(person.displayName, kind, name)
  await notifyOwner(tx, deps, account, { kind: 'access_changed', cause: `${kind} ${id}`, title, text: texts.setUpText, link }, now)
}

/** Refuses with `conflict` a change of what was handed over and not taken over yet. */
export function refuseHandedOver({ offeredTo }: Pick<MadeRow, 'offeredTo'>): void {
  if (offeredTo !== null) throw new ProblemError('conflict', texts.takeOverFirst)
}

export function madeRoutes(app: App, deps: Deps, parts: MadeThings[]): void {
  const { db, clock } = deps

  answer(app, teamCalls.handedOver, async (_parts, { account, role }) => {
    const found = (await listMade(db, parts, account.id)).filter(({ offeredTo }) => offeredTo !== null)
    const named = await nameActors(
      db,
      found.flatMap(({ madeBy, offeredTo }) => [{ personId: madeBy }, { personId: offeredTo }]),
    )
    const personOf = (personId: PersonId | null) => named({ personId, program: null })
    return found.map((one): HandedOver => {
      const mine = role === 'owner' || one.offeredTo === account.person.id
      return { ...toMade(one), from: personOf(one.madeBy), to: personOf(one.offeredTo), mine }
    })
  })

  /** One that was handed over, in a transaction that locked the account. */
  const find = async (tx: Database, ownerId: string, { kind, id }: { kind: string; id: string }): Promise<Found> => {
    const found = (await listMade(tx, parts, ownerId)).find((one) => one.of.kind === kind && one.id === id && one.offeredTo !== null)
    if (!found) throw new ProblemError('not_found', texts.notThere)
    return found
  }
  const settle = async (tx: Database, ownerId: string) => {
    const left = (await listMade(tx, parts, ownerId)).filter(({ offeredTo }) => offeredTo !== null)
    if (left.length === 0) await withdrawNotices(tx, ownerId, ['handed_over'])
  }

  answer(app, teamCalls.takeOver, async ({ params, body }, principal, { request }) => {
    const now = clock.now()
    const { account, role } = principal
    await refuseUnproven(deps, principal, body, now, 'access')
    return db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const one = await find(tx, account.id, params)
      const { offeredTo } = one
      if (role !== 'owner' && offeredTo !== account.person.id) {
        const named = await nameActors(tx, [{ personId: offeredTo }])
        throw new ProblemError('not_allowed', texts.notMine(named({ personId: offeredTo, program: null })))
      }
      const secret = await one.of.takeOver(tx, account.id, one.id, { by: account.person.id, now })
      await writeAudit(tx, { ownerId: account.id, kind: 'taken_over', about: nameOf(one) }, originOf(request), now)
      await settle(tx, account.id)
      return { secret }
    })
  })

  answer(app, teamCalls.endHandedOver, async ({ params }, { account }, { request }) => {
    const now = clock.now()
    const afterwards = await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const one = await find(tx, account.id, params)
      const ended = await endMade(tx, account.id, [one], { from: originOf(request), now })
      await settle(tx, account.id)
      return ended
    })
    await cleanUpAfter(deps, afterwards, 'ending what was handed over')
  })
}
