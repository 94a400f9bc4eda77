import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Deps } from '#server/platform/deps.ts'
import { beginning, openProvider, type Provider, ProviderError } from '#server/platform/openid.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { sealedCookie } from '#server/platform/sealed-cookie.ts'
import { readProfile, refuseWrongPassword } from './accounts.ts'
import { originOf } from './audit.ts'
import {
  type GoogleHandDowns,
  googleFailed,
  keepReturn,
  linkGoogle,
  reauthenticateWithGoogle,
  refuseLinked,
  refuseNotLinked,
  signInWithGoogle,
  unlinkGoogle,
} from './google.ts'
import { roleOf } from './roles.ts'
import { refuseOtherSites } from './same-origin.ts'
import type { PersonRow } from './tables.ts'
import { refusals } from './texts.ts'
import { addressKey, countTry } from './throttle.ts'
import { refuseWithoutCode } from './two-factor.ts'

/** What a browser keeps between going to Google and coming back. `linkFor`: the person that Google is to be linked to, or unlinked from. */
const began = beginning.extend({ linkFor: z.string().nullable(), unlinks: z.boolean() })

const returnCookie = 'googleReturn'
const beganSeconds = 600
const returnSeconds = { sign: 60, unlink: 600 }
const path = '/auth/google'
const scopes = ['openid', 'email', 'profile']
const fromOneAddress = { limit: 60, seconds: 600 }

interface GoogleSignIn {
  signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    given: { code: string; timezone?: string | undefined },
    now: Instant,
  ): ReturnType<typeof signInWithGoogle>
}

/** Where Google is not set up, the log reports it and browsers are redirected back with an error. */
export function googleRoutes(app: App, deps: Deps, handed: GoogleHandDowns): GoogleSignIn {
  const { db, clock, config, log } = deps
  const provider = config.google && openProvider(config.google)
  if (!provider) log.info('Sign-in with Google is off: GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET are not set.')
  const redirectUri = `${config.publicUrl}${path}/callback`
  // Lax, both of them: the browser comes back from Google's pages, and brings them along.
  const beganCookie = sealedCookie(began, { name: 'googleSignIn', path, sameSite: 'lax', seconds: beganSeconds }, config)
  const cookieRules = { path, httpOnly: true, sameSite: 'lax', secure: new URL(config.publicUrl).protocol === 'https:' } as const

  const begin = async (
    provider: Provider,
    reply: FastifyReply,
    about: Pick<z.output<typeof began>, 'linkFor' | 'unlinks'>,
  ): Promise<string> => {
    const { url, beginning } = await provider.begin({ redirectUri, scopes })
    beganCookie.keep(reply, { ...beginning, ...about }, clock.now())
    return url
  }
  /** What the browser kept of its return, at most once. */
  const takeReturned = (request: FastifyRequest, reply: FastifyReply): string => {
    reply.clearCookie(returnCookie, cookieRules)
    return request.cookies[returnCookie] ?? ''
  }
  const explain = (error: unknown): string => {
    if (error instanceof ProblemError) return error.code
    if (!(error instanceof ProviderError)) throw error
    if (error.kind === 'denied') {
      log.info({ err: error }, 'The user declined at Google.')
      return 'access_denied'
    }
    log.warn({ err: error }, 'Google sign-in failed.')
    return error.kind === 'away' ? 'google_unreachable' : 'google_failed'
  }
  const goTo = (reply: FastifyReply, page: string, query: Record<string, string>) =>
    reply.header('cache-control', 'no-store').redirect(`${config.publicUrl}${page}?${new URLSearchParams(query)}`, 303)

  // Not a call of the contract: the browser navigates here and is redirected.
  app.get(path, { schema: { summary: 'Go to Google to sign in.' } }, async (request, reply) => {
    if (!provider) return goTo(reply, '/signin', { error: 'google_not_configured' })
    try {
      if (config.rateLimit) await countTry(db, addressKey('google', request.ip), fromOneAddress, clock.now())
      return reply.header('cache-control', 'no-store').redirect(await begin(provider, reply, { linkFor: null, unlinks: false }), 303)
    } catch (error) {
      return goTo(reply, '/signin', { error: explain(error) })
    }
  })

  // Not a call of the contract: Google redirects the browser here.
  app.get(`${path}/callback`, { schema: { summary: 'Come back from Google.' } }, async (request, reply) => {
    const kept = beganCookie.read(request, clock.now())
    beganCookie.forget(reply)
    const page = kept?.linkFor ? '/dashboard/profile' : '/signin'
    if (!provider || !kept) return goTo(reply, page, { error: 'google_failed' })
    try {
      // The cookie can be replayed, and each return costs a request to Google.
      if (config.rateLimit) await countTry(db, addressKey('google-return', request.ip), fromOneAddress, clock.now())
      const cameBack = new URL(redirectUri)
      cameBack.search = new URL(request.url, config.publicUrl).search
      const { identity } = await provider.finish(cameBack, kept)
      const { code, browser } = await keepReturn(db, identity, kept, clock.now())
      reply.setCookie(returnCookie, browser, { ...cookieRules, maxAge: kept.unlinks ? returnSeconds.unlink : returnSeconds.sign })
      return goTo(reply, page, { code })
    } catch (error) {
      return goTo(reply, page, { error: explain(error) })
    }
  })

  /** For a signed-in person: answers the URL to redirect to. */
  const beginFor = async (person: PersonRow, reply: FastifyReply, what: 'link' | 'unlink'): Promise<{ url: string }> => {
    if (!provider) throw notSetUp()
    try {
      return { url: await begin(provider, reply, { linkFor: String(person.id), unlinks: what === 'unlink' }) }
    } catch (error) {
      if (explain(error) === 'google_unreachable') throw new ProblemError('not_ready', refusals.googleUnreachable)
      throw googleFailed()
    }
  }

  answer(app, accountCalls.startGoogleLink, async ({ body }, { account: { person } }, { reply }) => {
    if (!provider) throw notSetUp()
    refuseLinked(person)
    await refuseWrongPassword(deps, person, body.currentPassword, clock.now())
    await refuseWithoutCode(deps, person, body.code, clock.now())
    return beginFor(person, reply, 'link')
  })

  answer(app, accountCalls.startGoogleUnlink, async (_parts, { account: { person } }, { reply }) => {
    if (!provider) throw notSetUp()
    refuseNotLinked(person)
    return beginFor(person, reply, 'unlink')
  })

  answer(app, accountCalls.reauthenticateWithGoogle, async ({ body }, { account: { person }, sessionId }, { request, reply }) => {
    refuseOtherSites(request, config.publicUrl)
    await reauthenticateWithGoogle(deps, { person, sessionId }, { code: body.code, browser: takeReturned(request, reply) }, clock.now())
  })

  answer(app, accountCalls.unlinkGoogle, async ({ body }, principal, { request, reply }) => {
    const { account, sessionId } = principal
    refuseOtherSites(request, config.publicUrl)
    const now = clock.now()
    const browser = request.cookies[returnCookie] ?? ''
    const person = await unlinkGoogle(deps, { person: account.person, sessionId }, { ...body, browser }, originOf(request), now)
    takeReturned(request, reply)
    return readProfile(db, { ...roleOf(principal), account: { ...account, person } }, now)
  })

  answer(app, accountCalls.linkGoogle, async ({ body }, principal, { request, reply }) => {
    const { account, sessionId } = principal
    refuseOtherSites(request, config.publicUrl)
    const now = clock.now()
    const browser = takeReturned(request, reply)
    const person = await linkGoogle(
      deps,
      { person: account.person, sessionId },
      { code: body.code, browser },
      handed,
      originOf(request),
      now,
    )
    return readProfile(db, { ...roleOf(principal), account: { ...account, person } }, now)
  })

  return {
    signIn: async (request, reply, { code, timezone }, now) => {
      if (config.rateLimit) await countTry(db, addressKey('google-exchange', request.ip), fromOneAddress, now)
      return signInWithGoogle(deps, { code, browser: takeReturned(request, reply), timezone }, handed, originOf(request), now)
    },
  }
}

function notSetUp(): ProblemError {
  return new ProblemError('not_ready', refusals.googleNotSetUp)
}
