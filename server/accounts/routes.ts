import type { FastifyReply, FastifyRequest } from 'fastify'
import { accountCalls } from '#contract/accounts.ts'
import { type App, answer, answerOpen } from '#server/platform/answer.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { Refusal } from '#server/platform/refusal.ts'
import {
  changePassword,
  changeProfile,
  deleteAccount,
  type OnScheduleChange,
  type Origin,
  signIn,
  signUp,
  toProfile,
  toUser,
} from './accounts.ts'
import { refuseOtherSites } from './same-origin.ts'
import { endSessions, type RefreshToken, refreshSession, signAccessToken } from './sessions.ts'

/** What accounts are handed of the slices above them. */
interface Handed {
  /** What the profile counts: invoices that are not deleted, rupees that were paid, whether a mailbox is connected. */
  stats(db: Database, ownerId: string): Promise<{ totalInvoices: number; totalRevenue: number; hasMailConfig: boolean }>
  onScheduleChange: OnScheduleChange
}

const refreshCookie = 'refreshToken'

export function accountRoutes(app: App, deps: Deps, handed: Handed): void {
  const { db, clock, config } = deps
  // Only these calls read it, so only these are sent it; Lax would hand it to a link from anywhere.
  const cookieRules = {
    path: '/auth',
    httpOnly: true,
    sameSite: 'strict',
    secure: new URL(config.publicUrl).protocol === 'https:',
  } as const
  const keepRefreshToken = (reply: FastifyReply, { token, maxAgeSeconds }: RefreshToken) =>
    reply.setCookie(refreshCookie, token, { ...cookieRules, maxAge: maxAgeSeconds })

  answerOpen(app, accountCalls.server, async () => ({
    google: false,
    payments: false,
    systemMail: config.systemSmtpUrl !== null,
    supportUrl: config.supportUrl,
    passwordMinLength: config.passwordMinLength,
  }))

  answerOpen(app, accountCalls.signUp, async ({ body }, { request }) => {
    const account = await signUp(deps, body, originOf(request), clock.now())
    return { _id: account.id, displayName: account.displayName, email: account.email, createdAt: account.createdAt.toString() }
  })

  answerOpen(app, accountCalls.signIn, async ({ body }, { request, reply }) => {
    refuseOtherSites(request, config.publicUrl)
    const now = clock.now()
    const { account, refreshToken } = await signIn(deps, body, originOf(request), now)
    keepRefreshToken(reply, refreshToken)
    return { foundUser: toUser(account), accessToken: await signAccessToken(config.secretKey, refreshToken.sessionId, now) }
  })

  answerOpen(app, accountCalls.refresh, async (_parts, { request, reply }) => {
    refuseOtherSites(request, config.publicUrl)
    const now = clock.now()
    const refreshed = await refreshSession(deps, request.cookies[refreshCookie], now)
    keepRefreshToken(reply, refreshed)
    return { accessToken: await signAccessToken(config.secretKey, refreshed.sessionId, now) }
  })

  answerOpen(app, accountCalls.signOut, async (_parts, { request, reply }) => {
    refuseOtherSites(request, config.publicUrl)
    await endSessions(deps, request, request.cookies[refreshCookie], clock.now())
    reply.clearCookie(refreshCookie, cookieRules)
    return undefined
  })

  answer(app, accountCalls.profile, async (_parts, { account }) => toProfile(account))

  answer(app, accountCalls.changeProfile, async ({ body }, { account }) =>
    toProfile(await changeProfile(deps, account, body, handed.onScheduleChange, clock.now())),
  )

  answer(app, accountCalls.changePassword, async ({ body }, { account, sessionId }) => {
    await changePassword(deps, account, sessionId, body, clock.now())
    return { message: 'Password changed successfully!' }
  })

  answer(app, accountCalls.stats, async (_parts, { account }) => handed.stats(db, account.id))

  answer(app, accountCalls.deleteMe, async (_parts, { account }, { reply }) => {
    await deleteAccount(db, account.id)
    reply.clearCookie(refreshCookie, cookieRules)
    return undefined
  })

  answer(app, accountCalls.deleteById, async ({ params }, { account }, { reply }) => {
    if (params.id !== account.id) throw new Refusal('not_found', 'There is no such account of yours.')
    await deleteAccount(db, account.id)
    reply.clearCookie(refreshCookie, cookieRules)
    return undefined
  })
}

function originOf(request: FastifyRequest): Origin {
  return { address: request.ip, userAgent: request.headers['user-agent'] ?? '' }
}
