import { mailCalls } from '#contract/mail.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { countMailTry, findSender, removeMailConfig, storeSmtp, toMailConfig, trySmtp } from './mail.ts'
import { type Outside, usualOutside } from './session.ts'

export interface MailHandDowns {
  /** In the transaction that saves or removes a mailbox: what waits for one, or counts on one, is told. */
  onSenderChange(tx: Database, ownerId: string, now: Instant): Promise<void>
}

/** `outside` and `patience` are for tests: the real world and 10 s otherwise. */
export function mailRoutes(
  app: App,
  { db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>,
  { onSenderChange }: MailHandDowns,
  world: { outside?: Partial<Outside>; patience?: { wholeMs: number; probeMs: number } } = {},
): void {
  const outside: Outside = { ...usualOutside, allowPrivateHosts: config.allowPrivateSmtpHosts, ...world.outside }

  answer(app, mailCalls.config, async (_parts, { account }) => toMailConfig(await findSender(db, account.id)))

  answer(app, mailCalls.configureSmtp, async ({ body }, { account }) => {
    if (config.rateLimit) await countMailTry(db, account.id, clock.now())
    // Outside of any transaction: a mail server takes its time.
    await trySmtp(body, outside, world.patience)
    const now = clock.now()
    return db.transaction(async (tx) => {
      const sender = await storeSmtp(tx, config.secretKey, account.id, body, now)
      await onSenderChange(tx, account.id, now)
      return toMailConfig(sender)
    })
  })

  answer(app, mailCalls.remove, async (_parts, { account }) => {
    const now = clock.now()
    await db.transaction(async (tx) => {
      await removeMailConfig(tx, account.id)
      await onSenderChange(tx, account.id, now)
    })
    return undefined
  })
}
