import { z } from 'zod'
import { administratorCodes, mailCalls, microsoftState } from '#contract/mail.ts'
import { screens } from '#contract/screens.ts'
import { type App, answer } from '#server/platform/answer.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { type ConnectByConsent, type ConnectDeps, connectingBy } from './connect.ts'
import { graphScopes, openMicrosoft, readAddress } from './graph.ts'
import { type SaveSender, storeGranted, toMailConfig } from './mail.ts'
import { refusals } from './texts.ts'

const tokenError = z.object({ cause: z.object({ cause: z.object({ error_codes: z.array(z.number()) }) }) })

export function microsoftRoutes(app: App, deps: ConnectDeps, save: SaveSender): ConnectByConsent {
  const { config, log } = deps
  const { microsoft } = config
  const failed = (sentence: string) => new ProblemError('microsoft_failed', sentence)
  const connecting = connectingBy(deps, {
    server: microsoft && openMicrosoft(microsoft),
    name: 'microsoftConnect',
    path: '/mail-config/microsoft',
    // The mailbox may be another one than the one signed in with.
    ask: { scopes: graphScopes, statePrefix: microsoftState, parameters: { prompt: 'select_account' } },
    refuse: {
      notSetUp: refusals.microsoftNotSetUp,
      unreachable: refusals.microsoftUnreachable,
      failed: (error) => {
        const codes = tokenError.safeParse(error).data?.cause.cause.error_codes ?? []
        const needed = codes.some((code) => administratorCodes.includes(code))
        return needed ? new ProblemError('administrator_needed', refusals.microsoftAdministrator) : failed(refusals.microsoftFailed)
      },
    },
  })

  const connect: ConnectByConsent['connect'] = async (who, body, which) => {
    const { account, request } = who
    const { scopes, accessToken, refreshToken } = await connecting.finish(who, body, which === 'default' ? 'default' : 'further')
    // Graph's scopes come back with their resource, offline_access does not come back.
    if (!scopes.some((scope) => scope.toLowerCase().endsWith('mail.send'))) throw failed(refusals.microsoftNotAllowed)
    if (!refreshToken || !microsoft) throw failed(refusals.microsoftNotLasting)
    const address = await readAddress(microsoft.graphApiUrl, accessToken).catch((error: unknown) => {
      log.warn({ err: error, ownerId: account.id }, 'The address of a Microsoft mailbox could not be read.')
      throw new ProblemError('not_ready', refusals.microsoftUnreachable)
    })
    if (address === null) throw failed(refusals.microsoftNoAddress)
    const granted = { provider: 'microsoft' as const, address, refreshToken }
    return save(account, request, which, granted, (tx, place, now) => storeGranted(tx, config.secretKey, account.id, granted, now, place))
  }

  answer(app, mailCalls.configureMicrosoft, async ({ body }, { account, sessionId }, { request, reply }) =>
    toMailConfig(await connect({ account, sessionId, request, reply }, body, 'default')),
  )

  answer(app, mailCalls.microsoftApproval, async () => {
    if (!microsoft) throw new ProblemError('not_ready', refusals.microsoftNotSetUp)
    // An administrator belongs to an organisation, so `common` is not accepted here.
    const url = new URL(`${microsoft.loginUrl.replace(/\/common$/, '/organizations')}/v2.0/adminconsent`)
    url.search = new URLSearchParams({
      client_id: microsoft.clientId,
      scope: graphScopes
        .filter((scope) => scope.includes('.'))
        .map((scope) => `https://graph.microsoft.com/${scope}`)
        .join(' '),
      redirect_uri: `${config.publicUrl}${screens.mailSettings}`,
      state: `${microsoftState}approval`,
    }).toString()
    return { url: url.href }
  })
  return { connect, start: connecting.start }
}
