import { mailCalls } from '#contract/mail.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { Provider } from '#server/platform/openid.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { type ConnectByConsent, type ConnectDeps, connectingBy } from './connect.ts'
import { gmailScope } from './gmail.ts'
import { type SaveSender, sendsByGmail, storeGranted, toMailConfig } from './mail.ts'
import { openRefreshToken, type Sender } from './sender.ts'
import { refusals } from './texts.ts'

export function gmailRoutes(app: App, deps: ConnectDeps, provider: Provider | null, save: SaveSender): ConnectByConsent {
  const { db, config, log } = deps
  const connecting = connectingBy(deps, {
    server: provider,
    name: 'gmailConnect',
    path: '/mail-config/gmail',
    ask: {
      scopes: ['openid', 'email', gmailScope],
      // A lasting permission comes with a forced consent only; the mailbox may be another one than the one signed in with.
      parameters: { access_type: 'offline', prompt: 'consent select_account' },
    },
    refuse: {
      notSetUp: refusals.gmailNotSetUp,
      unreachable: refusals.googleUnreachable,
      failed: () => new ProblemError('google_failed', refusals.gmailFailed),
    },
  })

  const connect: ConnectByConsent['connect'] = async (who, body, which) => {
    const { account, request } = who
    const { identity, scopes, refreshToken } = await connecting.finish(who, body, which === 'default' ? 'default' : 'further')
    if (!scopes.includes(gmailScope)) {
      // A grant without the scope is useless.
      if (refreshToken && provider)
        await revoke({ db, log }, provider, { ownerId: account.id, address: identity.email ?? '', token: () => refreshToken })
      throw new ProblemError('google_failed', refusals.gmailNotAllowed)
    }
    if (!refreshToken || !identity.email) throw new ProblemError('google_failed', refusals.gmailNotLasting)
    const granted = { provider: 'gmail' as const, address: identity.email, refreshToken }
    return save(account, request, which, granted, (tx, place, now) => storeGranted(tx, config.secretKey, account.id, granted, now, place))
  }

  answer(app, mailCalls.configureGmail, async ({ body }, { account, sessionId }, { request, reply }) =>
    toMailConfig(await connect({ account, sessionId, request, reply }, body, 'default')),
  )
  return { connect, start: connecting.start }
}

/**
 * Revokes a Google grant; a failure is only logged. The grant is kept where an account sends by the same mailbox: revoking one token at
 * Google revokes every grant of that person to Duely.
 */
export async function revokeGrant(
  { db, config, log }: Pick<Deps, 'db' | 'config' | 'log'>,
  provider: Provider | null,
  sender: Pick<Sender, 'ownerId' | 'place' | 'provider' | 'address' | 'sealedRefreshToken'>,
): Promise<void> {
  // Microsoft has no call that revokes a grant.
  if (!provider || sender.provider !== 'gmail') return
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
