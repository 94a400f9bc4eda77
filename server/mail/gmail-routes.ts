import { z } from 'zod'
import { mailCalls } from '#contract/mail.ts'
import { screens } from '#contract/screens.ts'
import { lockAsSeen, originOf, writeAudit } from '#server/accounts/accounts.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { beginning, type Provider, ProviderError } from '#server/platform/openid.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { sealedCookie } from '#server/platform/sealed-cookie.ts'
import { gmailScope } from './gmail.ts'
import { countMailTry, findSender, sendsByGmail, storeGmail, toMailConfig } from './mail.ts'
import { openRefreshToken, type Sender } from './sender.ts'
import { refusals } from './texts.ts'

/** Kept by the browser during consent at Google: account and session that started it. */
const began = beginning.extend({ ownerId: z.string(), sessionId: z.string() })
const path = '/mail-config/gmail'

/** A code is valid only in the browser and account that started, so that a crafted link cannot bind a mailbox. */
export function gmailRoutes(
  app: App,
  { db, clock, config, log }: Pick<Deps, 'db' | 'clock' | 'config' | 'log'>,
  provider: Provider | null,
  onSenderChange: (tx: Database, ownerId: string, now: Instant) => Promise<void>,
): void {
  const redirectUri = `${config.publicUrl}${screens.mailSettings}`
  const cookie = sealedCookie(began, { name: 'gmailConnect', path, sameSite: 'strict', seconds: 600 }, config)
  const setUp = (): Provider => {
    if (!provider) throw new ProblemError('not_ready', refusals.gmailNotSetUp)
    return provider
  }

  answer(app, mailCalls.startGmail, async (_parts, { account, sessionId }, { reply }) => {
    try {
      const { url, beginning } = await setUp().begin({
        redirectUri,
        scopes: ['openid', 'email', gmailScope],
        // A lasting permission comes with a forced consent only; the mailbox may be another one than the one signed in with.
        parameters: { access_type: 'offline', prompt: 'consent select_account' },
      })
      cookie.keep(reply, { ...beginning, ownerId: account.id, sessionId }, clock.now())
      return { url }
    } catch (error) {
      throw explain(error)
    }
  })

  answer(app, mailCalls.configureGmail, async ({ body }, { account, sessionId }, { request, reply }) => {
    const google = setUp()
    const kept = cookie.read(request, clock.now())
    if (!kept || kept.ownerId !== account.id || kept.sessionId !== sessionId) throw failed()
    if (body.state !== undefined && body.state !== kept.state) throw failed()
    cookie.forget(reply)
    if (config.rateLimit) await countMailTry(db, account.id, clock.now())
    const cameBack = new URL(`${redirectUri}?${new URLSearchParams({ code: body.code, state: kept.state })}`)
    const { identity, scopes, refreshToken } = await google.finish(cameBack, kept).catch((error: unknown) => {
      log.warn({ err: error, ownerId: account.id }, 'Connecting Gmail failed.')
      throw explain(error)
    })
    if (!scopes.includes(gmailScope)) {
      // A grant without the scope is useless.
      if (refreshToken) await revoke({ db, log }, google, { ownerId: account.id, address: identity.email ?? '', token: () => refreshToken })
      throw new ProblemError('google_failed', refusals.gmailNotAllowed)
    }
    if (!refreshToken || !identity.email) throw new ProblemError('google_failed', refusals.gmailNotLasting)
    const before = await findSender(db, account.id)
    const now = clock.now()
    const address = identity.email
    const stored = await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const sender = await storeGmail(tx, config.secretKey, account.id, { address, refreshToken }, now)
      await writeAudit(tx, { ownerId: account.id, kind: 'sender_connected', about: address }, originOf(request), now)
      await onSenderChange(tx, account.id, now)
      return sender
    })
    // Only for another mailbox: revoking the old grant of the same one would end the new grant too.
    if (before?.provider === 'gmail' && before.address !== address) await revokeGrant({ db, config, log }, provider, before)
    return toMailConfig(stored)
  })
}

/**
 * Revokes a Google grant; a failure is only logged. The grant is kept where another account sends by the same
 * mailbox: revoking one token at Google revokes every grant of that person to Duely.
 */
export async function revokeGrant(
  { db, config, log }: Pick<Deps, 'db' | 'config' | 'log'>,
  provider: Provider | null,
  sender: Pick<Sender, 'ownerId' | 'address' | 'sealedRefreshToken'>,
): Promise<void> {
  if (!provider || sender.sealedRefreshToken === null) return
  await revoke({ db, log }, provider, { ...sender, token: () => openRefreshToken(config.secretKey, sender) })
}

async function revoke(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  provider: Provider,
  { ownerId, address, token }: { ownerId: string; address: string; token: () => string },
): Promise<void> {
  try {
    if (await sendsByGmail(db, address)) return
    await provider.revoke(token())
  } catch (error) {
    log.warn({ err: error, ownerId }, 'A Google grant could not be revoked.')
  }
}

function failed(): ProblemError {
  return new ProblemError('google_failed', refusals.gmailFailed)
}

function explain(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  return error.kind === 'away' ? new ProblemError('not_ready', refusals.googleUnreachable) : failed()
}
