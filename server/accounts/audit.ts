import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import type { FastifyRequest } from 'fastify'
import type { AuditEntry, AuditKind } from '#contract/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { deviceOf } from './device.ts'
import { auditEntries, personEntries } from './tables.ts'
import { auditText } from './texts.ts'

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
  await tx.insert(auditEntries).values(entries.map(({ ownerId, ...entry }) => ({ ownerId, ...written(entry, from, now) })))
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

const shownOf = ({ id, at, kind, about, address, userAgent }: typeof auditEntries | typeof personEntries) => ({
  id,
  at,
  kind,
  about,
  address,
  userAgent,
})

/** The entries of a person and of their account, newest first, those older than the entry `before`. */
export async function listAudit(
  db: Database,
  whose: { ownerId: string | null; person: PersonId },
  before: string | undefined,
): Promise<AuditEntry[]> {
  const ofAccount = db
    .select(shownOf(auditEntries))
    .from(auditEntries)
    .where(
      and(
        whose.ownerId === null ? sql`false` : eq(auditEntries.ownerId, whose.ownerId),
        before === undefined ? undefined : lt(auditEntries.id, before),
      ),
    )
    .orderBy(desc(auditEntries.id))
    .limit(perPage)
  const ofPerson = db
    .select(shownOf(personEntries))
    .from(personEntries)
    .where(and(eq(personEntries.personId, whose.person), before === undefined ? undefined : lt(personEntries.id, before)))
    .orderBy(desc(personEntries.id))
    .limit(perPage)
  const found = await unionAll(ofAccount, ofPerson).orderBy(desc(auditEntries.id)).limit(perPage)
  return found.map(({ id, at, kind, about, address, userAgent }) => ({
    _id: id,
    at: at.toString(),
    kind,
    text: auditText(kind, about ?? ''),
    device: userAgent === '' ? '' : deviceOf(userAgent),
    address,
  }))
}
