import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { type Notice, noticeCalls } from '#contract/notices.ts'
import { screens } from '#contract/screens.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { queueSystemMail, type Recipient } from '#server/platform/system-mail.ts'
import { notices } from './tables.ts'
import { noticeEmails, refusals } from './texts.ts'

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

/** The same, and by system email where the server sends email: in words of its own, because a notice quotes clients and their mail servers. */
export async function notifyOwner(
  tx: Database,
  deps: Deps,
  account: Recipient & { id: string },
  about: Pick<Notice, 'kind' | 'title' | 'text' | 'link'>,
  now: Instant,
): Promise<void> {
  await notify(tx, account.id, about, now)
  const { label, ...email } = noticeEmails[about.kind]
  const button = { label, path: about.link ?? screens.dashboard }
  await queueSystemMail(tx, deps, { ...email, kind: about.kind, to: account, button, expiresIn: { hours: 24 } }, now)
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
