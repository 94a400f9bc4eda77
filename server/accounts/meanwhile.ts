import { createHash } from 'node:crypto'
import { and, desc, eq, sql } from 'drizzle-orm'
import type { AuditKind } from '#contract/accounts.ts'
import { tagOfVersion } from '#contract/call.ts'
import type { Problem } from '#contract/problem.ts'
import { actorNow } from '#server/platform/actor.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { nameActors } from './audit.ts'
import { type AccountRow, auditEntries } from './tables.ts'
import { actors, changedMeanwhileText, type Shared } from './texts.ts'

/** Whether If-Match names a tag; without the header each is meant. A proxy that compresses makes tags weak. */
export function isMeant(ifMatch: string | undefined, tag: string): boolean {
  const named = ifMatch?.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return named === undefined || named.includes('*') || named.includes(tag)
}

/** The version of a record of an account that keeps none: other content has another one. */
export function versionOf(ownerId: string, ...content: unknown[]): string {
  return `${ownerId}.${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 12)}`
}

/** Who made a change, as a row has it. */
export interface Change {
  personId: PersonId | null
  program: string | null
  at: Instant
}

/** Refuses a change because of this one before it. `change` undefined: it was not recorded. */
export async function changedMeanwhile(
  tx: Database,
  { timezone }: Pick<AccountRow, 'timezone'>,
  { what, version, change }: { what: Shared; version: NonNullable<Problem['meanwhile']>['version']; change: Change | undefined },
  now: Instant,
): Promise<ProblemError> {
  const by = change ? (await nameActors(tx, [change]))(change) : actors.duely
  const self = change !== undefined && change.personId !== null && change.program === null && change.personId === actorNow().personId
  const at = change?.at ?? now
  const time = at.toZonedDateTimeISO(timezone).toPlainTime().toString({ smallestUnit: 'minute' })
  return new ProblemError('changed_meanwhile', changedMeanwhileText(what, by, time), {
    meanwhile: { version, by, at: at.toString(), self },
  })
}

/** Refuses with `changed_meanwhile` what is meant for another version; the log says who changed it, in entries of this kind. Must hold a lock. */
export async function refuseStale(
  tx: Database,
  account: Pick<AccountRow, 'id' | 'timezone'>,
  { ifMatch, ...record }: { ifMatch: string | undefined; what: Shared; version: string; kind: AuditKind; about?: string | undefined },
  now: Instant,
): Promise<void> {
  const { kind, about, version, what } = record
  if (isMeant(ifMatch, tagOfVersion({ version }))) return
  const [change] = await tx
    .select()
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.ownerId, account.id),
        eq(auditEntries.kind, kind),
        sql`${auditEntries.about} IS NOT DISTINCT FROM ${about ?? null}::text`,
      ),
    )
    .orderBy(desc(auditEntries.id))
    .limit(1)
  throw await changedMeanwhile(tx, account, { what, version, change }, now)
}
