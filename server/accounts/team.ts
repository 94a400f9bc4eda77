import { and, asc, desc, eq, gt, lte, sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { Proof } from '#contract/accounts.ts'
import { type Business, type Invitation, type Member, teamCalls } from '#contract/business.ts'
import { reaches } from '#contract/call.ts'
import { screens } from '#contract/screens.ts'
import { type Account, type App, answer, answerOpen, type Principal } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type PersonId, personId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { queueSystemMail, sendsSystemMail } from '#server/platform/system-mail.ts'
import { hasEmail, refuseUnproven } from './accounts.ts'
import { type Origin, originOf, writeAudit } from './audit.ts'
import { findAccount, lockAccount, lockAsSeen, lockPerson, lockPersonAsSeen, ownerOf } from './lock.ts'
import { endMade, type Found, listMadeBy, type MadeThings, madeRoutes, nameOf, offerMade, toMade } from './made.ts'
import { madeTexts } from './made-texts.ts'
import { endAdmin, handOver } from './membership.ts'
import { createBusinessOfTheirOwn } from './new-business.ts'
import { emailOwner, notify } from './notices.ts'
import { refuseBelow } from './roles.ts'
import { type AccountRow, accounts, invitations, memberships, type PersonRow, people } from './tables.ts'
import { cleanUpAfter, type OnOwnerChange } from './takeover.ts'
import { invitationEmail, operator, refusals } from './texts.ts'
import { addressKey, countTry } from './throttle.ts'

/** What a team needs of the slices above. */
interface TeamHandDowns {
  /** How many people besides viewers, and how many viewers, the plan of an account allows; null: any number. */
  seatsOf(db: Database, ownerId: string, now: Instant): Promise<Seats>
  /** Refuses with `plan_limit`, naming the plan that has more. */
  refuseFull(): ProblemError
  /** What people set up that works without them. */
  made: MadeThings[]
  /** Someone leaves: what they allowed apps to do ends. */
  endGrantsOf(tx: Database, ownerId: string, person: PersonId): Promise<void>
  onOwnerChange: OnOwnerChange
}

export interface Seats {
  people: number | null
  viewers: number | null
}

type InvitationRow = typeof invitations.$inferSelect
const [invitationDays, offerDays] = [7, 7]
/** For so long an expired invitation still names the business to ask: its email does not. */
const namedDays = 30
const invitationsOfOneAccount = { limit: 20, seconds: 24 * 3600 }
const looksFromOneAddress = { limit: 30, seconds: 600 }

export function teamRoutes(app: App, deps: Deps, handed: TeamHandDowns): void {
  const { db, clock, config } = deps
  madeRoutes(app, deps, handed.made)

  answer(app, teamCalls.made, async ({ params }, principal) => {
    const { account } = principal
    const whom = await findMember(db, account, params.personId)
    if (!whom.self) await refuseBelow(db, principal, 'admin')
    return (await listMadeBy(db, handed.made, account.id, personId(whom._id))).map(toMade)
  })

  answer(app, teamCalls.members, async (_parts, { account }) => ({
    members: await listMembers(db, account),
    seats: await handed.seatsOf(db, account.id, clock.now()),
    offer: offerOf(account, clock.now()),
  }))

  answer(app, teamCalls.changeMember, async ({ params, body }, principal, { request }) => {
    const now = clock.now()
    const { account } = principal
    if (body.role === 'admin') await refuseUnproven(deps, principal, body, now, 'admin')
    return db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const before = await findMember(tx, account, params.personId)
      const { role = before.role, getsMails = before.getsMails } = body
      if (before.role === 'owner')
        throw new ProblemError('not_allowed', body.role === undefined ? refusals.ownerWarned : refusals.ownerStays)
      if ((role === 'viewer') !== (before.role === 'viewer')) await refuseFull(tx, account.id, role, handed, now)
      await tx.update(memberships).set({ role, getsMails }).where(one(account.id, before._id))
      if (role !== 'admin') await endAdmin(tx, account.id, before._id)
      if (role !== before.role)
        await writeAudit(
          tx,
          { ownerId: account.id, kind: 'member_role_changed', about: `${before.email}, ${before.role} to ${role}` },
          originOf(request),
          now,
        )
      if (role === 'admin' && before.role !== 'admin') await reportAdmin(tx, deps, account, before, now)
      return { ...before, role, getsMails }
    })
  })

  answer(app, teamCalls.removeMember, async ({ params, body }, principal, { request }) =>
    removeMember(deps, principal, { whom: params.personId, ...body }, handed, originOf(request), clock.now()),
  )

  answer(app, teamCalls.invitations, async (_parts, { account }) => {
    const found = await db
      .select({ row: invitations, by: people.displayName })
      .from(invitations)
      .leftJoin(people, eq(people.id, invitations.invitedBy))
      .where(and(eq(invitations.ownerId, account.id), gt(invitations.expiresAt, clock.now())))
      .orderBy(desc(invitations.createdAt), desc(invitations.id))
    return found.map(({ row, by }) => toInvitation(row, by ?? ''))
  })

  answer(app, teamCalls.invite, async ({ body }, principal, { request }) =>
    invite(deps, principal, { ...body, proof: body }, handed, originOf(request), clock.now()),
  )

  answer(app, teamCalls.inviteAgain, async ({ params }, principal, { request }) => {
    const { account } = principal
    const [row] = await db
      .select()
      .from(invitations)
      .where(and(eq(invitations.ownerId, account.id), sql`${invitations.id}::text = ${params.id}`))
    if (!row) throw new ProblemError('not_found', refusals.noInvitation)
    // Its address and role were chosen with a proof.
    return invite(deps, principal, { ...row, proof: null }, handed, originOf(request), clock.now())
  })

  answer(app, teamCalls.revokeInvitation, async ({ params }, { account }, { request }) => {
    await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const [gone] = await tx
        .delete(invitations)
        .where(and(eq(invitations.ownerId, account.id), sql`${invitations.id}::text = ${params.id}`))
        .returning()
      if (!gone) throw new ProblemError('not_found', refusals.noInvitation)
      await writeAudit(tx, { ownerId: account.id, kind: 'invitation_revoked', about: gone.email }, originOf(request), clock.now())
    })
  })

  answer(app, teamCalls.offerOwnership, async ({ body }, principal, { request }) => {
    const now = clock.now()
    const { account } = principal
    refuseUnconfirmedPerson(config, account.person, 'hand over the business')
    await refuseUnproven(deps, principal, body, now, 'ownership')
    await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const to = await findMember(tx, account, body.personId)
      if (to.role !== 'admin') throw new ProblemError('invalid', refusals.toAdminsOnly)
      await tx
        .update(accounts)
        .set({ offeredTo: personId(to._id), offeredUntil: now.add({ hours: 24 * offerDays }) })
        .where(eq(accounts.id, account.id))
      await writeAudit(tx, { ownerId: account.id, kind: 'ownership_offered', about: to.email }, originOf(request), now)
    })
  })

  answer(app, teamCalls.withdrawOwnership, async (_parts, { account }) => {
    await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      await tx.update(accounts).set({ offeredTo: null, offeredUntil: null }).where(eq(accounts.id, account.id))
    })
  })

  answer(app, teamCalls.acceptOwnership, async (_parts, { account }, { request }) => {
    const now = clock.now()
    refuseUnconfirmedPerson(config, account.person, 'accept the business')
    return db.transaction(async (tx) => {
      const locked = await lockAsSeen(tx, account)
      if (offerOf(locked, now)?.personId !== String(account.person.id)) throw new ProblemError('conflict', refusals.noOffer)
      await handOver(tx, locked, account.person.id, originOf(request), now)
      await handed.onOwnerChange(tx, account.id)
      return toBusiness(tx, account.id, 'owner')
    })
  })

  answerOpen(app, teamCalls.lookAtInvitation, async ({ body }, { request }) => {
    const now = clock.now()
    if (config.rateLimit) await countTry(db, addressKey('invitation', request.ip), looksFromOneAddress, now)
    const row = await findInvitation(db, body.token, now)
    const account = await findAccount(db, row.ownerId)
    const [by] = row.invitedBy ? await db.select().from(people).where(eq(people.id, row.invitedBy)) : []
    const business = account?.displayName ?? ''
    return { business, role: row.role, invitedBy: by?.displayName ?? business, email: row.email }
  })

  answer(app, teamCalls.acceptInvitation, async ({ body }, { account }, { request }) =>
    accept(deps, account, body.token, handed, originOf(request), clock.now()),
  )
}

async function listMembers(db: Database, account: Account): Promise<Member[]> {
  const found = await db
    .select({ membership: memberships, person: people })
    .from(memberships)
    .innerJoin(people, eq(people.id, memberships.personId))
    .where(eq(memberships.ownerId, account.id))
    .orderBy(desc(eq(memberships.role, 'owner')), asc(memberships.joinedAt), asc(memberships.personId))
  return found.map(({ membership: { role, getsMails, joinedAt }, person: { id, displayName, email } }) => ({
    _id: String(id),
    displayName,
    email,
    role,
    getsMails,
    joinedAt: joinedAt.toString(),
    self: id === account.person.id,
  }))
}

async function findMember(tx: Database, account: Account, whom: string): Promise<Member> {
  const found = (await listMembers(tx, account)).find(({ _id }) => _id === whom)
  if (!found) throw new ProblemError('not_found', refusals.noMember)
  return found
}

function offerOf({ offeredTo, offeredUntil }: Pick<AccountRow, 'offeredTo' | 'offeredUntil'>, now: Instant) {
  if (offeredTo === null || offeredUntil === null || Temporal.Instant.compare(now, offeredUntil) >= 0) return null
  return { personId: String(offeredTo), until: offeredUntil.toString() }
}

const one = (ownerId: string, whom: string) => and(eq(memberships.ownerId, ownerId), sql`${memberships.personId} = ${whom}::uuid`)

/** The account must be locked. */
async function refuseFull(tx: Database, ownerId: string, role: Member['role'], handed: TeamHandDowns, now: Instant): Promise<void> {
  const { people: most, viewers } = await handed.seatsOf(tx, ownerId, now)
  const limit = role === 'viewer' ? viewers : most
  if (limit === null) return
  const same = role === 'viewer' ? eq(memberships.role, 'viewer') : sql`${memberships.role} <> 'viewer'`
  if ((await tx.$count(memberships, and(eq(memberships.ownerId, ownerId), same))) >= limit) throw handed.refuseFull()
}

/**
 * Everyone may leave but the owner; others are removed by admins. Someone who has no other business gets an empty one. What they set up ends, or
 * stops until the heir takes it over: they know its secrets.
 */
async function removeMember(
  deps: Deps,
  principal: Principal,
  { whom, programs, takeOver, heirId }: { whom: string } & z.output<NonNullable<typeof teamCalls.removeMember.body>>,
  handed: TeamHandDowns,
  from: Origin,
  now: Instant,
): Promise<void> {
  const { account } = principal
  const leaves = whom === String(account.person.id)
  const afterwards = await deps.db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    const { role } = await findMember(tx, account, String(account.person.id))
    await refuseBelow(tx, { ...principal, role }, leaves ? 'viewer' : 'admin')
    const gone = await findMember(tx, account, whom)
    if (gone.role === 'owner') throw new ProblemError('owns_business', refusals.ownerLeaves(account.displayName))
    const [person] = await tx.select().from(people).where(sql`${people.id} = ${whom}::uuid`)
    if (!person) throw new ProblemError('not_found', refusals.noMember)
    const made = await listMadeBy(tx, handed.made, account.id, person.id)
    if (made.length > 0 && programs === undefined)
      throw new ProblemError('invalid', madeTexts.choose, { errors: made.map((one) => ({ path: 'programs', message: nameOf(one) })) })
    const isKept = ({ of, id }: Found) => takeOver === undefined || takeOver.some((one) => one.kind === of.kind && one.id === id)
    const kept = programs === 'take_over' ? made.filter(isKept) : []
    const to = await heirOf(tx, account, { leaves, whom, heirId })
    const ended = made.filter((one) => !kept.includes(one))
    const prepared = await endMade(tx, account.id, ended, { from, now })
    await offerMade(
      tx,
      deps,
      { ownerId: account.id, found: kept, from: gone.displayName, to, isAsked: to !== account.person.id, origin: from },
      now,
    )
    await handed.endGrantsOf(tx, account.id, person.id)
    await tx.delete(memberships).where(one(account.id, whom))
    await endAdmin(tx, account.id, whom)
    await createBusinessOfTheirOwn(tx, person, account, now)
    await writeAudit(tx, { ownerId: account.id, kind: leaves ? 'member_left' : 'member_removed', about: gone.email }, from, now)
    return prepared
  })
  await cleanUpAfter(deps, afterwards, 'a member left')
}

/** Who takes over what someone made: by default who removes them, or the owner where they leave. Refuses with `invalid` who could not have made it. */
async function heirOf(
  tx: Database,
  account: Account,
  { leaves, whom, heirId }: { leaves: boolean; whom: string; heirId: string | undefined },
): Promise<PersonId> {
  if (heirId === undefined) return leaves ? (await ownerOf(tx, account.id)).id : account.person.id
  const heir = (await listMembers(tx, account)).find(({ _id }) => _id === heirId)
  if (!heir || heirId === whom || !reaches(heir.role, 'admin')) throw invalid('heirId', madeTexts.heir)
  return personId(heirId)
}

async function invite(
  deps: Deps,
  principal: Principal,
  { email, role, proof }: Pick<InvitationRow, 'email' | 'role'> & { proof: Proof | null },
  handed: TeamHandDowns,
  from: Origin,
  now: Instant,
): Promise<z.output<typeof teamCalls.invite.reply>> {
  const { db, config } = deps
  const { account } = principal
  refuseUnconfirmedPerson(config, account.person, 'invite people')
  if (role === 'admin' && proof) await refuseUnproven(deps, principal, proof, now, 'admin')
  if (config.rateLimit) await countTry(db, `invitation:${account.id}`, invitationsOfOneAccount, now)
  const token = newToken()
  return db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    const members = await listMembers(tx, account)
    if (members.some((known) => known.email.toLowerCase() === email.toLowerCase()))
      throw new ProblemError('conflict', refusals.alreadyMember)
    await refuseFull(tx, account.id, role, handed, now)
    const values = { role, tokenHash: hashToken(token), invitedBy: account.person.id, expiresAt: now.add({ hours: 24 * invitationDays }) }
    // One for each email: an earlier link becomes invalid.
    await tx.delete(invitations).where(and(eq(invitations.ownerId, account.id), sql`lower(${invitations.email}) = lower(${email})`))
    const [row] = await tx
      .insert(invitations)
      .values({ ownerId: account.id, email, createdAt: now, ...values })
      .returning()
    if (!row) throw new Error('An invitation was not stored.')
    await writeAudit(tx, { ownerId: account.id, kind: 'member_invited', about: `${email}, ${role}` }, from, now)
    const nextAt = await queueSystemMail(
      tx,
      deps,
      { ...invitationEmail(token), to: { id: account.id, email, emailVerifiedAt: null }, link: { hash: null } },
      now,
    )
    const link = `${config.publicUrl}${screens.join}#token=${token}`
    return { ...toInvitation(row, account.person.displayName), link, emailed: nextAt === null && sendsSystemMail(config) }
  })
}

async function findInvitation(db: Database, token: string, now: Instant): Promise<InvitationRow> {
  const [row] = await db
    .select()
    .from(invitations)
    .where(eq(invitations.tokenHash, hashToken(token)))
  if (row && Temporal.Instant.compare(row.expiresAt, now) > 0) return row
  const account = row && (await findAccount(db, row.ownerId))
  throw new ProblemError('invitation_gone', refusals.invitationGone(account?.displayName ?? null))
}

export async function pruneInvitations(db: Database, now: Instant): Promise<void> {
  await db.delete(invitations).where(lte(invitations.expiresAt, now.subtract({ hours: 24 * namedDays })))
}

/**
 * Where the server can send the link, no one with an unconfirmed email lets anyone into a business, or comes into one: the owner of the email, who may
 * take the account over, would find themselves among strangers.
 */
function refuseUnconfirmedPerson(config: Deps['config'], { email, emailVerifiedAt }: PersonRow, wish: string): void {
  if (sendsSystemMail(config) && emailVerifiedAt === null) throw new ProblemError('email_not_confirmed', refusals.confirmFirst(email, wish))
}

/** The owner is notified of every new admin: one reaches almost everything, and outlives the session that made them one. */
async function reportAdmin(
  tx: Database,
  deps: Deps,
  account: { id: string },
  { _id, displayName }: { _id: string | PersonId; displayName: string },
  now: Instant,
): Promise<void> {
  const { title, text, subject, before } = madeTexts.newAdmin
  const about = { kind: 'access_changed' as const, link: screens.team }
  await notify(tx, account.id, { ...about, cause: `admin ${_id}`, title: title(displayName), text }, now)
  await emailOwner(tx, deps, account, { ...about, subject, before }, now)
}

/** Only the person whose email it is joins; where the server can send the link for it, the email must be confirmed. */
async function accept(
  deps: Deps,
  { person }: Pick<Account, 'person'>,
  token: string,
  handed: TeamHandDowns,
  from: Origin,
  now: Instant,
): Promise<Business> {
  const { db, config } = deps
  const seen = await findInvitation(db, token, now)
  if (seen.email.toLowerCase() !== person.email.toLowerCase())
    throw new ProblemError('not_allowed', refusals.invitedOther(seen.email, person.email))
  refuseUnconfirmedPerson(config, person, 'join')
  return db.transaction(async (tx) => {
    const account = await lockAccount(tx, seen.ownerId)
    await lockPersonAsSeen(tx, person, 'share')
    // Another request, or the one who revokes it, may have been first.
    const { role } = await findInvitation(tx, token, now)
    if (!account) throw new ProblemError('invitation_gone', refusals.invitationGone(null))
    await refuseFull(tx, account.id, role, handed, now)
    await tx.delete(invitations).where(and(eq(invitations.ownerId, account.id), eq(invitations.id, seen.id)))
    const [joined] = await tx
      .insert(memberships)
      .values({ ownerId: account.id, personId: person.id, role, getsMails: reaches(role, 'admin'), joinedAt: now })
      .onConflictDoNothing()
      .returning()
    if (!joined) throw new ProblemError('conflict', refusals.alreadyMember)
    await writeAudit(tx, { ownerId: account.id, kind: 'member_joined', about: `${person.email}, ${role}` }, from, now)
    if (role === 'admin') await reportAdmin(tx, deps, account, { _id: person.id, displayName: person.displayName }, now)
    return toBusiness(tx, account.id, role)
  })
}

/**
 * For an owner who is lost: the operator hands their business over. Refuses with `not_found`, and with `email_not_confirmed` where the server can send
 * the link. Answers the name of the business.
 */
export async function giveBusiness(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  id: string,
  email: string,
  now: Instant,
  onOwnerChange: OnOwnerChange,
): Promise<string> {
  return db.transaction(async (tx) => {
    const [found] = await tx.select({ id: accounts.id }).from(accounts).where(sql`${accounts.id}::text = ${id}`)
    const account = found && (await lockAccount(tx, found.id))
    if (!account) throw new ProblemError('not_found', refusals.noBusinessWith(id))
    const person = await lockPerson(tx, hasEmail(email))
    if (!person) throw new ProblemError('not_found', operator.noAccount(email))
    if (sendsSystemMail(config) && person.emailVerifiedAt === null)
      throw new ProblemError('email_not_confirmed', operator.notConfirmed(email))
    await handOver(tx, account, person.id, null, now)
    await onOwnerChange(tx, account.id)
    const left = await findAccount(tx, id)
    return left?.displayName ?? ''
  })
}

async function toBusiness(tx: Database, id: string, role: Business['role']): Promise<Business> {
  const account = await findAccount(tx, id)
  const owner = await ownerOf(tx, id)
  return { _id: id, name: account?.displayName ?? owner.displayName, role, owner: owner.displayName }
}

function toInvitation({ id, email, role, createdAt, expiresAt }: InvitationRow, invitedBy: string): Invitation {
  return { _id: id, email, role, invitedBy, createdAt: createdAt.toString(), expiresAt: expiresAt.toString() }
}
