import { and, eq, inArray } from 'drizzle-orm'
import type { MadeThings } from '#server/accounts/made.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { openProvider } from '#server/platform/openid.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { revokeGrant } from './gmail-routes.ts'
import { dropMailbox, findSenders } from './mail.ts'
import { mailConfigs } from './tables.ts'
import { refusals } from './texts.ts'

/** The mailboxes that people connected. What waits for one is held until it is connected again, which also takes it over: its secret is its provider's. */
export function mailboxesMade(
  { db, config, log }: Pick<Deps, 'db' | 'config' | 'log'>,
  onSenderChange: (tx: Database, ownerId: string, now: Instant) => Promise<void>,
): MadeThings {
  const provider = config.google && openProvider(config.google)
  return {
    kind: 'mailbox',
    async list(tx, ownerId) {
      const found = await findSenders(tx, ownerId)
      return found.map(({ place, address, host, madeBy, offeredTo }) => ({ id: place, name: address, detail: host, madeBy, offeredTo }))
    },
    async offer(tx, ownerId, ids, { to, now }) {
      for (const sender of await findSenders(tx, ownerId))
        if (ids.includes(sender.place))
          await tx
            .update(mailConfigs)
            .set({
              offeredTo: to,
              pauseReason: 'login_refused',
              pauseMessage: refusals.handedOver(sender.address),
              pausedAt: now,
              pausedUntil: null,
            })
            .where(and(eq(mailConfigs.ownerId, ownerId), eq(mailConfigs.place, sender.place)))
    },
    takeOver: () => Promise.reject(new ProblemError('conflict', refusals.connectAgain)),
    async end(tx, ownerId, ids, { from, now }) {
      const gone = await tx
        .select()
        .from(mailConfigs)
        .where(and(eq(mailConfigs.ownerId, ownerId), inArray(mailConfigs.place, ids)))
      for (const sender of gone) await dropMailbox(tx, sender, from, now)
      await onSenderChange(tx, ownerId, now)
      return gone.map((sender) => () => revokeGrant({ db, config, log }, provider, sender))
    },
  }
}
