import { and, desc, eq, inArray, lt, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import type { FastifyRequest } from 'fastify'
import type { AuditEntry, AuditKind } from '#contract/accounts.ts'
import { actorNow } from '#server/platform/actor.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { deviceOf } from './device.ts'
import { auditEntries, people, personEntries } from './tables.ts'
import { actors, auditText } from './texts.ts'

export interface Origin {
  address: string
  userAgent: string
}

export function originOf(request: FastifyRequest): Origin {
  return { address: request.ip, userAgent: request.headers['user-agent'] ?? '' }
}

const perPage = 100

/**
 * Must run in the transaction of the event. `about`: never a secret. `from`: null without a browser, as for the operator's commands.
 */
export async function writeAudit(tx: Database, entry: Happening, from: Origin | null, now: Instant): Promise<void> {
  await writeAudits(tx, [entry], from, now)
}

interface Happening {
  ownerId: string
  kind: AuditKind
  about?: string | undefined
}

export async function writeAudits(tx: Database, entries: Happening[], from: Origin | null, now: Instant): Promise<void> {
  if (entries.length === 0) return
  await tx.insert(auditEntries).values(entries.map(({ ownerId, ...entry }) => ({ ownerId, ...written(entry, from, now), ...actorNow() })))
}

/** Whether something of a kind ever happened in an account. */
export async function hasHappened(db: Database, ownerId: string, kind: AuditKind): Promise<boolean> {
  const found = await db
    .select({ id: auditEntries.id })
    .from(auditEntries)
    .where(and(eq(auditEntries.ownerId, ownerId), eq(auditEntries.kind, kind)))
    .limit(1)
  return found.length > 0
}

/** The same for what a person did about how they sign in. */
export async function writePersonEntry(
  tx: Database,
  { person, ...entry }: Omit<Happening, 'ownerId'> & { person: PersonId },
  from: Origin | null,
  now: Instant,
): Promise<void> {
  await tx.insert(personEntries).values({ personId: person, ...written(entry, from, now) })
}

function written({ kind, about }: Pick<Happening, 'kind' | 'about'>, from: Origin | null, now: Instant) {
  const userAgent = from?.userAgent.slice(0, 300) ?? ''
  return { kind, about: about?.slice(0, 300) ?? null, at: now, address: from?.address ?? '', userAgent }
}

/**
 * Names who did something: a person for as long as they have an account, a program with the person it asked for, and Duely where it was no one else.
 * Entries with a browser but without a person are from before people were recorded.
 */
export async function nameActors(db: Database, entries: Pick<Actor, 'personId'>[]): Promise<(actor: Actor) => string> {
  const ids = [...new Set(entries.flatMap(({ personId }) => personId ?? []))]
  const found =
    ids.length === 0 ? [] : await db.select({ id: people.id, name: people.displayName }).from(people).where(inArray(people.id, ids))
  const names = new Map(found.map(({ id, name }) => [id, name]))
  return ({ personId, program, address }) => {
    if (personId === null) return address ? '' : actors.duely
    const name = names.get(personId) ?? actors.former
    return program === null ? name : actors.program(program, name)
  }
}

interface Actor {
  personId: PersonId | null
  program: string | null
  address?: string
}

const shownOf = ({ id, at, kind, about, address, userAgent }: typeof auditEntries | typeof personEntries) => ({
  id,
  at,
  kind,
  about,
  address,
  userAgent,
})

/** The entries of a business, newest first, those older than the entry `before`. */
function entriesOf(db: Database, ownerId: string | null, before: string | undefined) {
  return db
    .select({ ...shownOf(auditEntries), personId: auditEntries.personId, program: auditEntries.program })
    .from(auditEntries)
    .where(
      and(
        ownerId === null ? sql`false` : eq(auditEntries.ownerId, ownerId),
        before === undefined ? undefined : lt(auditEntries.id, before),
      ),
    )
    .orderBy(desc(auditEntries.id))
    .limit(perPage)
}

export async function listBusinessAudit(db: Database, ownerId: string, before: string | undefined): Promise<AuditEntry[]> {
  return toEntries(db, await entriesOf(db, ownerId, before))
}

/** The entries of a person and of their account, newest first, those older than the entry `before`. */
export async function listAudit(
  db: Database,
  whose: { ownerId: string | null; person: PersonId },
  before: string | undefined,
): Promise<AuditEntry[]> {
  const ofPerson = db
    .select({
      ...shownOf(personEntries),
      personId: sql<PersonId | null>`${personEntries.personId}`,
      program: sql<string | null>`NULL::text`,
    })
    .from(personEntries)
    .where(and(eq(personEntries.personId, whose.person), before === undefined ? undefined : lt(personEntries.id, before)))
    .orderBy(desc(personEntries.id))
    .limit(perPage)
  const found = await unionAll(entriesOf(db, whose.ownerId, before), ofPerson)
    .orderBy(desc(auditEntries.id))
    .limit(perPage)
  return toEntries(db, found)
}

async function toEntries(db: Database, found: Awaited<ReturnType<typeof entriesOf>>): Promise<AuditEntry[]> {
  const nameOf = await nameActors(db, found)
  return found.map(({ id, at, kind, about, address, userAgent, ...actor }) => ({
    _id: id,
    at: at.toString(),
    kind,
    by: nameOf({ ...actor, address }),
    text: auditText(kind, about ?? ''),
    device: userAgent === '' ? '' : deviceOf(userAgent),
    address,
  }))
}
