import { and, desc, eq, lt } from 'drizzle-orm'
import type { FastifyRequest } from 'fastify'
import type { AuditEntry, AuditKind } from '#contract/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { deviceOf } from './device.ts'
import { auditEntries } from './tables.ts'
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
  await tx.insert(auditEntries).values(
    entries.map(({ ownerId, kind, about }) => ({
      ownerId,
      kind,
      about: about?.slice(0, 300) ?? null,
      at: now,
      address: from?.address ?? '',
      userAgent: from?.userAgent.slice(0, 300) ?? '',
    })),
  )
}

/** The account's entries, newest first, those older than the entry `before`. */
export async function listAudit(db: Database, ownerId: string, before: string | undefined): Promise<AuditEntry[]> {
  const found = await db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.ownerId, ownerId), before === undefined ? undefined : lt(auditEntries.id, before)))
    .orderBy(desc(auditEntries.id))
    .limit(perPage)
  return found.map(({ id, at, kind, about, address, userAgent }) => ({
    _id: id,
    at: at.toString(),
    kind,
    text: auditText(kind, about ?? ''),
    device: userAgent === '' ? '' : deviceOf(userAgent),
    address,
  }))
}
