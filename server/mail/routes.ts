import { mailCalls } from '#contract/mail.ts'
import { lockAsSeen, type OnAccountDeleted, type OnAccountTakeover, originOf, writeAudit } from '#server/accounts/accounts.ts'
import { type Account, type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { openProvider } from '#server/platform/openid.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { gmailRoutes, revokeGrant } from './gmail-routes.ts'
import {
  countMailTry,
  countTestMail,
  findSender,
  hasMailConfig,
  removeMailConfig,
  resumeAfterLogin,
  type SaveSender,
  type Sender,
  type SendTest,
  storeSmtp,
  toMailConfig,
  trySmtp,
} from './mail.ts'
import { microsoftRoutes } from './microsoft-routes.ts'
import { defaultNetwork, type NetworkDeps } from './session.ts'
import { sendTestMail, sendToOwner } from './test-mail.ts'
import { refusals } from './texts.ts'
import { openMailer } from './transports.ts'

export interface MailHandDowns {
  /** Runs in the transaction that saves or removes a mailbox. */
  onSenderChange(tx: Database, ownerId: string, now: Instant): Promise<void>
}

/** Revokes the Google grant after the account is deleted. */
export function mailOnAccountDeleted({ db, config, log }: Pick<Deps, 'db' | 'config' | 'log'>): OnAccountDeleted {
  const provider = config.google && openProvider(config.google)
  return async (within, ownerId) => {
    const sender = await findSender(within, ownerId)
    return async () => {
      if (sender) await revokeGrant({ db, config, log }, provider, sender)
    }
  }
}

/** Removes the mailbox, and revokes its Google grant. */
export function mailOnAccountTakeover(deps: Pick<Deps, 'db' | 'config' | 'log'>): OnAccountTakeover {
  const endGrant = mailOnAccountDeleted(deps)
  return async (tx, ownerId) => {
    if (!(await hasMailConfig(tx, ownerId))) return { removed: [] }
    const afterwards = await endGrant(tx, ownerId)
    await removeMailConfig(tx, ownerId)
    return { removed: ['mailbox'], afterwards }
  }
}

/** `world` is for tests. */
export function mailRoutes(
  app: App,
  { db, clock, config, log }: Pick<Deps, 'db' | 'clock' | 'config' | 'log'>,
  { onSenderChange }: MailHandDowns,
  world: { network?: Partial<NetworkDeps>; patience?: { wholeMs: number; probeMs: number }; testPatienceMs?: number } = {},
): SendTest {
  const network: NetworkDeps = { ...defaultNetwork, allowPrivateHosts: config.allowPrivateSmtpHosts, ...world.network }

  answer(app, mailCalls.config, async (_parts, { account }) => toMailConfig(await findSender(db, account.id)))

  const provider = config.google && openProvider(config.google)
  const save: SaveSender = async (account, request, store) => {
    const before = await findSender(db, account.id)
    const now = clock.now()
    const stored = await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const sender = await store(tx, now)
      await writeAudit(tx, { ownerId: account.id, kind: 'sender_connected', about: sender.address }, originOf(request), now)
      await onSenderChange(tx, account.id, now)
      return sender
    })
    if (before) await revokeGrant({ db, config, log }, provider, before)
    return toMailConfig(stored)
  }
  gmailRoutes(app, { db, clock, config, log }, provider, save)
  microsoftRoutes(app, { db, clock, config, log }, save)

  answer(app, mailCalls.configureSmtp, async ({ body }, { account }, { request }) => {
    if (config.rateLimit) await countMailTry(db, account.id, clock.now())
    // NetworkDeps of any transaction: a mail server takes its time.
    await trySmtp(body, network, world.patience)
    return save(account, request, (tx, now) => storeSmtp(tx, config.secretKey, account.id, body, now))
  })

  // A process that only serves has no other mailer.
  const post = openMailer({ db, config, log })
  app.addHook('onClose', () => post.close())

  const tested = async (account: Account, send: (sender: Sender) => Promise<string>): Promise<string> => {
    const sender = await findSender(db, account.id)
    if (!sender) throw new ProblemError('mail_not_configured', refusals.notConfigured)
    if (config.rateLimit) await countTestMail(db, account.id, clock.now())
    const reply = await send(sender)
    if (sender.pauseReason === 'login_refused')
      await db.transaction(async (tx) => {
        if (await resumeAfterLogin(tx, sender)) await onSenderChange(tx, account.id, clock.now())
      })
    return reply
  }

  answer(app, mailCalls.test, async (_parts, { account }) => {
    const mail = { id: newId(), name: account.displayName, to: account.email, at: clock.now() }
    const reply = await tested(account, (sender) => sendTestMail(post, sender, mail, world.testPatienceMs))
    return { to: account.email, reply }
  })

  answer(app, mailCalls.remove, async (_parts, { account }, { request }) => {
    const now = clock.now()
    const before = await findSender(db, account.id)
    await db.transaction(async (tx) => {
      await removeMailConfig(tx, account.id)
      if (before) await writeAudit(tx, { ownerId: account.id, kind: 'sender_removed', about: before.address }, originOf(request), now)
      await onSenderChange(tx, account.id, now)
    })
    if (before) await revokeGrant({ db, config, log }, provider, before)
    return undefined
  })

  return (account, compose) =>
    tested(account, async (sender) =>
      sendToOwner(post, sender, { raw: await compose(sender.address), to: account.email }, world.testPatienceMs),
    )
}
