import { and, desc, eq, gt, inArray, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { type Notice, noticeCalls } from '#contract/notices.ts'
import { screens } from '#contract/screens.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { queueSystemMail, type Recipient } from '#server/platform/system-mail.ts'
import { memberships, notices, people } from './tables.ts'
import { noticeEmails, refusals } from './texts.ts'

const mostShown = 50

/** A notice as its cause describes it. `cause`: what it is about, where a kind has several causes at a time. */
export interface Notification extends Pick<Notice, 'kind' | 'title' | 'text' | 'link'> {
  cause?: string
  /** The title, where that is short enough. */
  summary?: string
  clients?: Notice['clients']
  /** What a client said, for the email too: a reply to it goes to them. */
  quoted?: { words: string; replyTo: string }
}

/** Creates the notice of a cause, or updates it. Must run in the transaction of the event it is about. */
export async function notify(db: Database, ownerId: string, about: Notification, now: Instant): Promise<void> {
  const { kind, cause = '', clients = [], summary = about.title, quoted: _quoted, ...shown } = about
  const values = { ...shown, summary, clients, updatedAt: now }
  await db
    .insert(notices)
    .values({ ownerId, kind, cause, ...values, createdAt: now })
    .onConflictDoUpdate({ target: [notices.ownerId, notices.kind, notices.cause], set: values })
}

/**
 * The same, and by system email where the server sends email: in words of its own, because a notice quotes clients and their mail servers. Only what a
 * client said on a pay page is quoted there.
 */
export async function notifyOwner(tx: Database, deps: Deps, account: { id: string }, about: Notification, now: Instant): Promise<void> {
  await notify(tx, account.id, about, now)
  await emailOwner(tx, deps, account, about, now)
}

/** Only the email about a notice, in its own words or those of `subject` and `before`: to the owner and the admins who get such emails. */
export async function emailOwner(
  tx: Database,
  deps: Deps,
  account: { id: string },
  about: Pick<Notification, 'kind' | 'link' | 'quoted'> & { subject?: string; before?: string[]; expiresIn?: Temporal.DurationLike },
  now: Instant,
): Promise<void> {
  const { label, ...email } = noticeEmails[about.kind]
  const { subject = email.subject, before = email.before, expiresIn = { hours: 24 } } = about
  const { words: quote, replyTo } = about.quoted ?? {}
  for (const { path, ...to } of await warned(tx, account.id, about.link ?? screens.dashboard)) {
    const button = { label, path }
    await queueSystemMail(tx, deps, { ...email, subject, before, kind: about.kind, to, quote, replyTo, button, expiresIn }, now)
  }
}

/** Whom warnings about a business are emailed to, the owner first, each with the link; it names the business where the person has several. */
async function warned(tx: Database, ownerId: string, link: string): Promise<(Recipient & { path: string })[]> {
  const found = await tx
    .select({
      email: people.email,
      emailVerifiedAt: people.emailVerifiedAt,
      hasSeveral: sql<boolean>`(SELECT count(*) FROM memberships o WHERE o.person_id = ${people.id}) > 1`,
    })
    .from(memberships)
    .innerJoin(people, eq(people.id, memberships.personId))
    .where(
      and(eq(memberships.ownerId, ownerId), or(eq(memberships.role, 'owner'), and(eq(memberships.role, 'admin'), memberships.getsMails))),
    )
    .orderBy(desc(eq(memberships.role, 'owner')), memberships.joinedAt)
  return found.map(({ hasSeveral, ...to }) => ({ ...to, id: ownerId, path: hasSeveral ? inBusiness(link, ownerId) : link }))
}

/** A link to a screen for the owner of a business, which names it where they have several. */
export async function linkForOwner(tx: Database, ownerId: string, link: string): Promise<string> {
  const others = alias(memberships, 'others')
  const found = await tx
    .select({ ownerId: others.ownerId })
    .from(memberships)
    .innerJoin(others, eq(others.personId, memberships.personId))
    .where(and(eq(memberships.ownerId, ownerId), eq(memberships.role, 'owner')))
    .limit(2)
  return found.length > 1 ? inBusiness(link, ownerId) : link
}

/** The same for any person. */
export async function linkFor(tx: Database, person: PersonId, ownerId: string, link: string): Promise<string> {
  return (await tx.$count(memberships, eq(memberships.personId, person))) > 1 ? inBusiness(link, ownerId) : link
}

/** A link to a screen that shows one of several businesses. */
function inBusiness(link: string, ownerId: string): string {
  const [path = '', hash] = link.split('#')
  return `${path}${path.includes('?') ? '&' : '?'}business=${ownerId}${hash === undefined ? '' : `#${hash}`}`
}

/** Whether there is a notice of this cause, made or updated since. */
export async function hasNotice(db: Database, ownerId: string, kind: Notice['kind'], cause: string, since: Instant): Promise<boolean> {
  const found = await db
    .select({ id: notices.id })
    .from(notices)
    .where(and(eq(notices.ownerId, ownerId), eq(notices.kind, kind), eq(notices.cause, cause), gt(notices.updatedAt, since)))
  return found.length > 0
}

/** Removes notices whose reason is over: all of these kinds, or those of one cause. */
export async function withdrawNotices(db: Database, ownerId: string, kinds: Notice['kind'][], cause?: string): Promise<void> {
  await db
    .delete(notices)
    .where(and(eq(notices.ownerId, ownerId), inArray(notices.kind, kinds), cause === undefined ? undefined : eq(notices.cause, cause)))
}

export function noticeRoutes(app: App, { db }: Deps): void {
  answer(app, noticeCalls.list, async (_parts, { account }) => {
    const found = await db
      .select()
      .from(notices)
      .where(eq(notices.ownerId, account.id))
      .orderBy(desc(notices.updatedAt), desc(notices.id))
      .limit(mostShown)
    return found.map(({ id, kind, summary, title, text, link, clients, createdAt, updatedAt }) => ({
      _id: id,
      kind,
      summary,
      title,
      text,
      link,
      clients,
      createdAt: createdAt.toString(),
      updatedAt: updatedAt.toString(),
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
