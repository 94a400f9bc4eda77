import { and, eq } from 'drizzle-orm'
import type { EveningDay } from '#contract/owner-links.ts'
import { screens } from '#contract/screens.ts'
import { type AccountRow, findAccount, lockAccount, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { countTry } from '#server/accounts/throttle.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { deriveKey, hmac } from '#server/platform/secrets.ts'
import { queueSystemMail } from '#server/platform/system-mail.ts'
import { changeClients, type DayMail, keysOf, readDay, toDay } from './days.ts'
import { eachDue } from './due-accounts.ts'
import { addOwnerLink, findOwnerLink } from './owner-links.ts'
import { dailyDeadline, dayAfter, localDate, nextEvening } from './schedule.ts'
import { ownerLinks } from './tables.ts'
import { texts } from './texts.ts'

/** Lines of the email. */
const mostListed = 20
/** Characters of a name, or of all references, in a line. */
const longest = 60
/** Of one link: enough for a person. */
const actsOfLink = { limit: 30, seconds: 3_600 }

/** Sends the evening lists that are due. */
export async function sendEveningLists(deps: Deps, progressed = async () => {}): Promise<void> {
  await eachDue(deps, accounts.nextEveningAt, (account, now) => sendList(deps, account, now), progressed)
}

async function sendList(deps: Deps, seen: AccountRow, now: Instant): Promise<void> {
  const today = localDate(now, seen.timezone)
  const date = dayAfter(today)
  // A server that was down sends it as long as it is the evening of that day.
  const isEvening = seen.nextEveningAt !== null && localDate(seen.nextEveningAt, seen.timezone) === today && seen.emailVerifiedAt !== null
  const found = isEvening ? await readDay({ ...deps, account: seen, now }, date) : []
  const mails = found.filter(({ state }) => state === 'leaves')
  await deps.db.transaction(async (tx) => {
    const account = await lockAccount(tx, seen.id)
    // Another process was first, or its owner has changed it meanwhile.
    if (!account?.nextEveningAt || Temporal.Instant.compare(account.nextEveningAt, now) > 0) return
    await tx
      .update(accounts)
      .set({ nextEveningAt: nextEvening(account.timezone, now) })
      .where(eq(accounts.id, account.id))
    // After a change of zone the evening of the same day may come twice.
    if (mails.length === 0 || (await hasList(tx, account.id, date))) return
    const expiresAt = dailyDeadline(date, account.timezone)
    const token = await addOwnerLink(tx, { ownerId: account.id, purpose: 'evening', localDate: date, expiresAt })
    const t = texts.evening
    const lines = mails.slice(0, mostListed).map((mail) => t.line(short(mail.clientName), short(mail.references.join(', '))))
    const more = mails.length > mostListed ? [t.more(mails.length - mostListed)] : []
    await queueSystemMail(
      tx,
      deps,
      {
        kind: 'evening_list',
        to: account,
        subject: t.subject(hourOf(account), mails.length),
        before: [t.intro, [...lines, ...more].join('\n')],
        button: { label: t.button, path: `${screens.evening}#token=${token}` },
        expiresIn: now.until(expiresAt),
      },
      now,
    )
  })
}

async function hasList(tx: Database, ownerId: string, date: string): Promise<boolean> {
  const [found] = await tx
    .select({ id: ownerLinks.id })
    .from(ownerLinks)
    .where(and(eq(ownerLinks.ownerId, ownerId), eq(ownerLinks.purpose, 'evening'), eq(ownerLinks.localDate, date)))
  return found !== undefined
}

/** Of one line: a name may be anything that a client or an import has written. */
function short(text: string): string {
  const characters = [...text.replaceAll(/\s+/g, ' ').trim()]
  return characters.length <= longest ? characters.join('') : `${characters.slice(0, longest - 1).join('')}…`
}

function hourOf({ reminderHour }: AccountRow): string {
  return `${reminderHour}:00`
}

/** The date of a link. Refuses with `not_found` a link that does not work. */
export async function openEvening(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  token: string,
): Promise<{ id: string; date: string; until: Instant; account: AccountRow }> {
  const link = await findOwnerLink(db, token, 'evening', clock.now())
  const account = link && (await findAccount(db, link.ownerId))
  if (!link?.localDate || !account) throw new ProblemError('not_found', texts.deadLink)
  return { id: link.id, date: link.localDate, until: link.expiresAt, account }
}

type Opened = Awaited<ReturnType<typeof openEvening>>

export async function lookAtEvening(deps: Deps, opened: Opened, token: string): Promise<EveningDay> {
  const { account, date } = opened
  return toEvening(deps, opened, token, await readDay({ ...deps, account, now: deps.clock.now() }, date))
}

/** Leaves out or takes back clients of the date of the link, or all of it. Refuses with `too_many` more than 30 acts an hour. */
export async function actOnEvening(
  deps: Deps,
  opened: Opened,
  asked: { token: string; act: 'leave_out' | 'take_back'; clients?: string[] | undefined; clientEmails?: string[] | undefined },
  from: Origin,
): Promise<EveningDay> {
  const { db, config, clock } = deps
  const { token, act, clients, clientEmails } = asked
  const { date, id } = opened
  const now = clock.now()
  if (config.rateLimit) await countTry(db, `evening:${id}`, actsOfLink, now)
  const mails = await readDay({ ...deps, account: opened.account, now }, date)
  const named = clients && new Set(clients)
  const keys = keysOf(mails, clientEmails).filter((key) => named?.has(nameOf(deps, token, key)) ?? true)
  const names = new Map(mails.map(({ clientEmail, clientName }) => [clientEmail.toLowerCase(), clientName]))
  const account = await db.transaction(async (tx) => {
    const locked = await lockAccount(tx, opened.account.id)
    if (!locked) throw new ProblemError('not_found', texts.deadLink)
    await changeClients({ ...deps, db: tx, account: locked, now }, date, act, keys)
    const about = texts.evening.audited(
      keys.map((key) => names.get(key) ?? ''),
      date,
    )
    const kind = act === 'leave_out' ? 'left_out_by_link' : 'taken_back_by_link'
    if (keys.length > 0) await writeAudit(tx, { ownerId: locked.id, kind, about }, from, now)
    return { ...locked, leftOutUntil: date }
  })
  return toEvening(deps, opened, token, await readDay({ ...deps, account, now }, date))
}

/** What a client is called by one link: the page shows no addresses. */
function nameOf({ config }: Pick<Deps, 'config'>, token: string, clientKey: string): string {
  return hmac(deriveKey(config.secretKey, 'evening-client'), `${token} ${clientKey}`).slice(0, 22)
}

function toEvening(deps: Pick<Deps, 'config'>, { account, date, until }: Opened, token: string, mails: DayMail[]): EveningDay {
  const { clients, ...day } = toDay(date, mails)
  return {
    ...day,
    hour: hourOf(account),
    until: until.toString(),
    clients: clients.map(({ clientEmail, ...client }) => ({ key: nameOf(deps, token, clientEmail.toLowerCase()), ...client })),
  }
}
