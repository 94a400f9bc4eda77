import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { furtherState } from '#contract/mail.ts'
import { screens } from '#contract/screens.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { beginning, type OauthServer, ProviderError, type Tokens } from '#server/platform/openid.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { sealedCookie } from '#server/platform/sealed-cookie.ts'
import { countMailTry, type Which } from './mail.ts'
import type { Sender } from './sender.ts'

/** Kept by the browser during consent: account and session that started it. */
const began = beginning.extend({ ownerId: z.string(), sessionId: z.string() })

type Consent<T extends Tokens> = Pick<OauthServer, 'begin'> & { finish(...about: Parameters<OauthServer['finish']>): Promise<T> }

interface ConnectAbout<T extends Tokens> {
  /** Null where the provider is not set up on this server. */
  server: Consent<T> | null
  name: string
  path: string
  ask: Omit<Parameters<OauthServer['begin']>[0], 'redirectUri'>
  refuse: { notSetUp: string; unreachable: string; failed(error?: unknown): ProblemError }
}

export type ConnectDeps = Pick<Deps, 'db' | 'clock' | 'config' | 'log'>

/** Who connects a mailbox, and from which browser. */
export interface Connecting {
  account: Account
  sessionId: string
  request: FastifyRequest
  reply: FastifyReply
}

/** A provider by whose consent page mailboxes are connected. */
export interface ConnectByConsent {
  /** Answers the page to send the browser to. */
  start(who: Omit<Connecting, 'request'>, purpose: Purpose): Promise<{ url: string }>
  /** Trades the code that a page was given, and saves the mailbox. */
  connect(who: Connecting, body: { code: string; state?: string | undefined }, which: Which): Promise<Sender>
}

/** How the browser is bound: a cookie is sent to the calls that finish what it began, and to no others. */
type Purpose = 'default' | 'further'

/**
 * How a mailbox is connected by a provider's consent page. A code is valid only in the browser and account that started, so that a crafted
 * link cannot bind a mailbox.
 */
export function connectingBy<T extends Tokens>({ db, clock, config, log }: ConnectDeps, about: ConnectAbout<T>) {
  const redirectUri = `${config.publicUrl}${screens.mailSettings}`
  const { name, path, refuse } = about
  const cookieFor = (cookiePath: string) => sealedCookie(began, { name, path: cookiePath, sameSite: 'strict', seconds: 600 }, config)
  const cookies = { default: cookieFor(path), further: cookieFor('/mailboxes') }
  const setUp = (): Consent<T> => {
    if (!about.server) throw new ProblemError('not_ready', refuse.notSetUp)
    return about.server
  }
  const explain = (error: unknown): unknown => {
    if (!(error instanceof ProviderError)) return error
    return error.kind === 'away' ? new ProblemError('not_ready', refuse.unreachable) : refuse.failed(error)
  }
  return {
    /** Answers the page to send the browser to. */
    async start({ account, sessionId, reply }: Omit<Connecting, 'request'>, purpose: Purpose): Promise<{ url: string }> {
      try {
        const statePrefix = `${purpose === 'further' ? furtherState : ''}${about.ask.statePrefix ?? ''}`
        const { url, beginning } = await setUp().begin({ ...about.ask, redirectUri, statePrefix })
        cookies[purpose].keep(reply, { ...beginning, ownerId: account.id, sessionId: sessionId ?? '' }, clock.now())
        return { url }
      } catch (error) {
        throw explain(error)
      }
    },
    /** Trades the code that the page was given. */
    async finish(
      { account, sessionId, request, reply }: Connecting,
      { code, state }: { code: string; state?: string | undefined },
      purpose: Purpose,
    ): Promise<T> {
      const server = setUp()
      const cookie = cookies[purpose]
      const kept = cookie.read(request, clock.now())
      if (!kept || kept.ownerId !== account.id || kept.sessionId !== (sessionId ?? '')) throw refuse.failed()
      if (state !== undefined && state !== kept.state) throw refuse.failed()
      cookie.forget(reply)
      if (config.rateLimit) await countMailTry(db, account.id, clock.now())
      const cameBack = new URL(`${redirectUri}?${new URLSearchParams({ code, state: kept.state })}`)
      return server.finish(cameBack, kept).catch((error: unknown) => {
        log.warn({ err: error, ownerId: account.id }, 'Connecting a mailbox failed.')
        throw explain(error)
      })
    },
  }
}
