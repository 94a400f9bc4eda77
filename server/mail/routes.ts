import { mailCalls } from '#contract/mail.ts'
import { type Farewell, originOf, writeAudit } from '#server/accounts/accounts.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { openProvider } from '#server/platform/openid.ts'
import { gmailRoutes, handBack } from './gmail-routes.ts'
import { countMailTry, findSender, removeMailConfig, storeSmtp, toMailConfig, trySmtp } from './mail.ts'
import { type Outside, usualOutside } from './session.ts'

export interface MailHandDowns {
  /** In the transaction that saves or removes a mailbox: what waits for one, or counts on one, is told. */
  onSenderChange(tx: Database, ownerId: string, now: Instant): Promise<void>
}

/** Hands a permission of Google's back once its account is gone. */
export function mailFarewell({ config, log }: Pick<Deps, 'config' | 'log'>): Farewell {
  const provider = config.google && openProvider(config.google)
  return async (db, ownerId) => {
    const sender = await findSender(db, ownerId)
    return async () => {
      if (sender) await handBack(provider, config.secretKey, sender, log)
    }
  }
}

/** `outside` and `patience` are for tests: the real world and 10 s otherwise. */
export function mailRoutes(
  app: App,
  { db, clock, config, log }: Pick<Deps, 'db' | 'clock' | 'config' | 'log'>,
  { onSenderChange }: MailHandDowns,
  world: { outside?: Partial<Outside>; patience?: { wholeMs: number; probeMs: number } } = {},
): void {
  const outside: Outside = { ...usualOutside, allowPrivateHosts: config.allowPrivateSmtpHosts, ...world.outside }

  answer(app, mailCalls.config, async (_parts, { account }) => toMailConfig(await findSender(db, account.id)))

  const provider = config.google && openProvider(config.google)
  gmailRoutes(app, { db, clock, config, log }, provider, onSenderChange)

  answer(app, mailCalls.configureSmtp, async ({ body }, { account }, { request }) => {
    if (config.rateLimit) await countMailTry(db, account.id, clock.now())
    // Outside of any transaction: a mail server takes its time.
    await trySmtp(body, outside, world.patience)
    const now = clock.now()
    const before = await findSender(db, account.id)
    const stored = await db.transaction(async (tx) => {
      const sender = await storeSmtp(tx, config.secretKey, account.id, body, now)
      await writeAudit(tx, { ownerId: account.id, kind: 'sender_connected', about: body.user }, originOf(request), now)
      await onSenderChange(tx, account.id, now)
      return sender
    })
    if (before) await handBack(provider, config.secretKey, before, log)
    return toMailConfig(stored)
  })

  answer(app, mailCalls.remove, async (_parts, { account }, { request }) => {
    const now = clock.now()
    const before = await findSender(db, account.id)
    await db.transaction(async (tx) => {
      await removeMailConfig(tx, account.id)
      if (before) await writeAudit(tx, { ownerId: account.id, kind: 'sender_removed', about: before.address }, originOf(request), now)
      await onSenderChange(tx, account.id, now)
    })
    if (before) await handBack(provider, config.secretKey, before, log)
    return undefined
  })
}
