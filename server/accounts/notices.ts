import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { type Notice, noticeCalls } from '#contract/notices.ts'
import { type Account, type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { queueSystemMail } from '#server/platform/system-mail.ts'
import { notices } from './tables.ts'
import { refusals } from './texts.ts'

const mostShown = 50

/** Must run in the transaction of the event it is about. */
export async function notify(
  db: Database,
  ownerId: string,
  about: Pick<Notice, 'kind' | 'title' | 'text' | 'link'>,
  now: Instant,
): Promise<void> {
  await db.insert(notices).values({ ownerId, ...about, createdAt: now })
}

/** The same, and by system email where the server sends email. */
export async function notifyOwner(
  tx: Database,
  deps: Deps,
  account: Pick<Account, 'id' | 'email'>,
  about: Pick<Notice, 'kind' | 'title' | 'text' | 'link'>,
  now: Instant,
): Promise<void> {
  await notify(tx, account.id, about, now)
  const text = `${about.text}\n\n${deps.config.publicUrl}${about.link ?? ''}\n`
  await queueSystemMail(tx, deps, { to: account.email, subject: about.title, text, expiresIn: { hours: 24 } }, now)
}

/** Removes notices whose reason is over. */
export async function withdrawNotices(db: Database, ownerId: string, kinds: Notice['kind'][]): Promise<void> {
  await db.delete(notices).where(and(eq(notices.ownerId, ownerId), inArray(notices.kind, kinds)))
}

export function noticeRoutes(app: App, { db }: Deps): void {
  answer(app, noticeCalls.list, async (_parts, { account }) => {
    const found = await db.select().from(notices).where(eq(notices.ownerId, account.id)).orderBy(desc(notices.createdAt)).limit(mostShown)
    return found.map(({ id, kind, title, text, link, createdAt }) => ({
      _id: id,
      kind,
      title,
      text,
      link,
      createdAt: createdAt.toString(),
    }))
  })
  answer(app, noticeCalls.dismiss, async ({ params }, { account }) => {
    const gone = await db
      .delete(notices)
      .where(and(eq(notices.ownerId, account.id), sql`${notices.id}::text = ${params.id}`))
      .returning({ id: notices.id })
    if (gone.length === 0) throw new ProblemError('not_found', refusals.noNotice)
  })
}
