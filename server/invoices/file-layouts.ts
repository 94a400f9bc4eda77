import { createHash } from 'node:crypto'
import { and, desc, eq } from 'drizzle-orm'
import { z } from 'zod'
import type { CallParts } from '#contract/call.ts'
import { type FileLayout, type fileLayoutCalls, mostLayouts } from '#contract/file-layouts.ts'
import type { OnAccountTakeover } from '#server/accounts/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { lockOwnersRow } from './invoices.ts'
import { fileLayouts } from './tables.ts'
import { texts } from './texts.ts'

/* What a person answered about files with the same headings, of banks and of invoices. */

type Kept = CallParts<typeof fileLayoutCalls.keep>['body']

/** The layouts of an account, the latest first. */
export async function listLayouts(db: Database, ownerId: string): Promise<FileLayout[]> {
  const found = await db
    .select()
    .from(fileLayouts)
    .where(eq(fileLayouts.ownerId, ownerId))
    .orderBy(desc(fileLayouts.usedAt), fileLayouts.id)
  return found.map(toLayout)
}

/** Keeps answers under their headings. A layout that is known keeps the name that a person gave it. Refuses with `conflict` more than an account may have. */
export async function keepLayout(
  db: Database,
  ownerId: string,
  { kind, headings, name, answers }: Kept,
  now: Instant,
): Promise<FileLayout> {
  const hash = createHash('sha256').update(headings).digest('base64url')
  const its = and(eq(fileLayouts.ownerId, ownerId), eq(fileLayouts.kind, kind))
  return db.transaction(async (tx) => {
    await lockOwnersRow(tx, ownerId)
    const [known] = await tx
      .update(fileLayouts)
      .set({ answers, usedAt: now })
      .where(and(its, eq(fileLayouts.hash, hash)))
      .returning()
    if (known) return toLayout(known)
    if ((await tx.$count(fileLayouts, its)) >= mostLayouts) throw new ProblemError('conflict', texts.tooManyLayouts(mostLayouts))
    const [added] = await tx
      .insert(fileLayouts)
      .values({ ownerId, kind, hash, headings, name, answers, createdAt: now, usedAt: now })
      .returning()
    if (!added) throw new Error('A layout was not stored.')
    return toLayout(added)
  })
}

export async function renameLayout(db: Database, ownerId: string, id: string, name: string): Promise<FileLayout> {
  const [renamed] = await db.update(fileLayouts).set({ name }).where(ofId(ownerId, id)).returning()
  if (!renamed) throw new ProblemError('not_found', texts.layoutNotFound)
  return toLayout(renamed)
}

export async function removeLayout(db: Database, ownerId: string, id: string): Promise<void> {
  const removed = await db.delete(fileLayouts).where(ofId(ownerId, id)).returning({ id: fileLayouts.id })
  if (removed.length === 0) throw new ProblemError('not_found', texts.layoutNotFound)
}

/** Answers of someone else would decide how the files of the account’s owner are read. */
export const layoutsOnAccountTakeover: OnAccountTakeover = async (tx, ownerId) => {
  const gone = await tx.delete(fileLayouts).where(eq(fileLayouts.ownerId, ownerId)).returning({ id: fileLayouts.id })
  return { removed: gone.length > 0 ? ['file_layouts'] : [] }
}

function ofId(ownerId: string, id: string) {
  if (!z.uuid().safeParse(id).success) throw new ProblemError('not_found', texts.layoutNotFound)
  return and(eq(fileLayouts.ownerId, ownerId), eq(fileLayouts.id, id))
}

function toLayout({ id: _id, kind, headings, name, answers, usedAt }: typeof fileLayouts.$inferSelect): FileLayout {
  return { _id, kind, headings, name, answers, usedAt: usedAt.toString() }
}
