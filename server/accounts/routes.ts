import { eq } from 'drizzle-orm'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { accountCalls } from '#contract/accounts.ts'
import type { CallReply } from '#contract/call.ts'
import { type Account, type App, answer, answerOpen, type Principal } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import {
  changePassword,
  changeProfile,
  deletePerson,
  type EndKeysOf,
  type OnAccountCreated,
  type OnEmailConfirmed,
  type OnProfileChange,
  type PersonDeletionHandDowns,
  readProfile,
  refuseWrongPassword,
  serverAbilities,
  signIn,
  signUp,
  toUser,
} from './accounts.ts'
import { listAudit, originOf, writePersonEntry } from './audit.ts'
import { deviceOf } from './device.ts'
import { exportAccount } from './export.ts'
import { googleRoutes } from './google-routes.ts'
import { knownBrowsers } from './known-browser.ts'
import { lockPersonAsSeen } from './lock.ts'
import { hintAt } from './password-hint.ts'
import {
  askForNewPassword,
  confirmEmail,
  lookAtEmailLink,
  type RejectionHandDowns,
  rejectEmail,
  resetPassword,
  sendConfirmLinkAgain,
} from './recovery.ts'
import { refuseBelow, roleOf } from './roles.ts'
import { refuseOtherSites } from './same-origin.ts'
import {
  endOtherSessions,
  endSession,
  endSessions,
  listSessions,
  type RefreshToken,
  recordAuthentication,
  refreshSession,
  refuseOldSignIn,
  signAccessToken,
} from './sessions.ts'
import { memberships, people } from './tables.ts'
import type { Takeover } from './takeover.ts'
import { refusals, replies } from './texts.ts'
import { countTry } from './throttle.ts'
import { confirmTwoFactor, refuseWithoutCode, removeTwoFactor, renewRecoveryCodes, startTwoFactor } from './two-factor.ts'

/** What accounts are handed of the slices above them. */
interface Handed extends OnProfileChange, PersonDeletionHandDowns, RejectionHandDowns {
  /** What the profile counts: invoices that are not deleted, what was paid by currency, whether a mailbox is connected. */
  stats(db: Database, account: Account, now: Instant): Promise<CallReply<typeof accountCalls.stats>>
  onEmailConfirmed: OnEmailConfirmed
  onAccountCreated: OnAccountCreated
  endKeysOf: EndKeysOf
}

const refreshCookie = 'refreshToken'
const exports = { limit: 5, seconds: 3600 }

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
  /** A browser has one session: the one that it had before ends with it (ASVS 7.2.4). */
  const keepNewSession = async (request: FastifyRequest, reply: FastifyReply, refreshToken: RefreshToken, now: Instant) => {
    await endSessions(deps, request, request.cookies[refreshCookie], now)
    keepRefreshToken(reply, refreshToken)
  }
  const known = knownBrowsers(config)

  answerOpen(app, accountCalls.server, async () => serverAbilities(config))

  answerOpen(app, accountCalls.signUp, async ({ body }, { request }) => {
    const person = await signUp(deps, body, handed.onAccountCreated, originOf(request), clock.now())
    return { _id: String(person.id), displayName: person.displayName, email: person.email, createdAt: person.createdAt.toString() }
  })

  answerOpen(app, accountCalls.signIn, async ({ body }, { request, reply }) => {
    refuseOtherSites(request, config.publicUrl)
    const now = clock.now()
    const { person, refreshToken } = await signIn(deps, body, originOf(request), known.read(request, now), now)
    await keepNewSession(request, reply, refreshToken, now)
    known.keep(request, reply, person.id, now)
    return { foundUser: toUser(person), accessToken: signAccessToken(config.secretKey, refreshToken.sessionId, now) }
  })

  const google = googleRoutes(app, deps, handed)

  answerOpen(app, accountCalls.exchangeGoogleCode, async ({ body }, { request, reply }) => {
    refuseOtherSites(request, config.publicUrl)
    const now = clock.now()
    const { person, refreshToken, taken } = await google.signIn(request, reply, body, now)
    await keepNewSession(request, reply, refreshToken, now)
    const accessToken = signAccessToken(config.secretKey, refreshToken.sessionId, now)
    return { accessToken, refreshToken: 'cookie-based' as const, user: toUser(person), ...shown(taken) }
  })

  answerOpen(app, accountCalls.refresh, async (_parts, { request, reply }) => {
    refuseOtherSites(request, config.publicUrl)
    const now = clock.now()
    const refreshed = await refreshSession(deps, request.cookies[refreshCookie], request.ip, now)
    keepRefreshToken(reply, refreshed)
    return { accessToken: signAccessToken(config.secretKey, refreshed.sessionId, now) }
  })

  answerOpen(app, accountCalls.signOut, async (_parts, { request, reply }) => {
    refuseOtherSites(request, config.publicUrl)
    await endSessions(deps, request, request.cookies[refreshCookie], clock.now())
    reply.clearCookie(refreshCookie, cookieRules)
    return undefined
  })

  answerOpen(app, accountCalls.hintAtPassword, async ({ body }) => hintAt(body.password))

  answerOpen(app, accountCalls.forgotPassword, async ({ body }, { request }) => {
    await askForNewPassword(deps, body, originOf(request), clock.now())
    return { message: replies.resetRequested }
  })

  answerOpen(app, accountCalls.resetPassword, async ({ body }, { request }) => {
    const taken = await resetPassword(deps, body, handed, originOf(request), clock.now())
    return { message: replies.passwordReset(taken), ...shown(taken) }
  })

  answerOpen(app, accountCalls.lookAtEmailLink, async ({ body }, { request }) =>
    lookAtEmailLink(deps, body, originOf(request), clock.now()),
  )

  answer(app, accountCalls.confirmEmail, async ({ body }, { account }, { request }) => ({
    email: await confirmEmail(deps, account.person, body, handed, originOf(request), clock.now()),
    message: replies.emailConfirmed,
  }))

  answerOpen(app, accountCalls.rejectEmail, async ({ body }, { request }) => {
    const { changes, kept } = await rejectEmail(deps, body, handed, originOf(request), clock.now())
    return { message: replies.emailRejected(changes, kept), kept }
  })

  answer(app, accountCalls.sendConfirmation, async (_parts, { account: { person } }) => {
    await sendConfirmLinkAgain(deps, person, clock.now())
    return { message: replies.confirmationSent(person.email) }
  })

  answer(app, accountCalls.profile, async (_parts, principal) => readProfile(db, principal, clock.now()))

  answer(app, accountCalls.changeProfile, async ({ body }, principal, { request }) => {
    const { account } = principal
    const ofBusiness = body.timezone !== undefined || body.reminderHour !== undefined || body.currency !== undefined
    if (ofBusiness) await refuseBelow(db, principal, 'admin')
    const now = clock.now()
    const changed = await changeProfile(deps, account, body, handed, originOf(request), now)
    return readProfile(db, { ...roleOf(principal), account: changed }, now)
  })

  answer(app, accountCalls.changePassword, async ({ body }, { account, sessionId }, { request }) => {
    await changePassword(deps, account.person, sessionId, body, handed.endKeysOf, originOf(request), clock.now())
    return { message: replies.passwordChanged }
  })

  answer(app, accountCalls.startTwoFactor, async ({ body }, { account: { person } }) => {
    if (person.googleSub) throw new ProblemError('not_allowed', refusals.twoFactorWithGoogle)
    await refuseWrongPassword(deps, person, body.currentPassword, clock.now())
    return startTwoFactor(deps, person)
  })

  answer(app, accountCalls.confirmTwoFactor, async ({ body }, { account }, { request }) => ({
    recoveryCodes: await confirmTwoFactor(deps, account.person, body.code, originOf(request), clock.now()),
  }))

  answer(app, accountCalls.renewRecoveryCodes, async ({ body }, { account }, { request }) => {
    await refuseWrongPassword(deps, account.person, body.currentPassword, clock.now())
    return { recoveryCodes: await renewRecoveryCodes(deps, account.person, body.code, originOf(request), clock.now()) }
  })

  answer(app, accountCalls.removeTwoFactor, async ({ body }, { account }, { request }) => {
    await refuseWrongPassword(deps, account.person, body.currentPassword, clock.now())
    await removeTwoFactor(deps, account.person, body.code, originOf(request), clock.now())
  })

  answer(app, accountCalls.sessions, async (_parts, { account, sessionId }) => listSessions(db, account.person.id, sessionId, clock.now()))

  answer(app, accountCalls.endSession, async ({ params }, { account }, { request }) => {
    const now = clock.now()
    await db.transaction(async (tx) => {
      const userAgent = await endSession(tx, account.person.id, params.id)
      if (userAgent === undefined) throw new ProblemError('not_found', refusals.sessionGone)
      await writePersonEntry(tx, { person: account.person.id, kind: 'sessions_ended', about: deviceOf(userAgent) }, originOf(request), now)
    })
  })

  answer(app, accountCalls.endOtherSessions, async (_parts, { account, sessionId }, { request }) => {
    const now = clock.now()
    await db.transaction(async (tx) => {
      await endOtherSessions(tx, account.person.id, sessionId)
      await writePersonEntry(tx, { person: account.person.id, kind: 'sessions_ended' }, originOf(request), now)
    })
  })

  answer(app, accountCalls.accessReviewed, async (_parts, { account: { person } }, { request }) => {
    const now = clock.now()
    await db.transaction(async (tx) => {
      await lockPersonAsSeen(tx, person)
      await tx.update(people).set({ reviewAccessSince: null }).where(eq(people.id, person.id))
      await writePersonEntry(tx, { person: person.id, kind: 'access_reviewed' }, originOf(request), now)
    })
  })

  answer(app, accountCalls.audit, async ({ query }, { account }) => {
    // What others did in a business is in the log of that business.
    const alone = (await db.$count(memberships, eq(memberships.ownerId, account.id))) === 1
    return listAudit(db, { ownerId: alone ? account.id : null, person: account.person.id }, query.before)
  })

  answer(app, accountCalls.exportData, async (_parts, { account, role }, { request, reply, enterHeavy }) => {
    const now = clock.now()
    await enterHeavy()
    if (config.rateLimit) await countTry(db, `export:${account.person.id}`, exports, now)
    await writePersonEntry(db, { person: account.person.id, kind: 'data_exported' }, originOf(request), now)
    const date = now.toZonedDateTimeISO(account.timezone).toPlainDate()
    reply.header('content-type', 'application/zip').header('content-disposition', `attachment; filename="duely-${date}.zip"`)
    return exportAccount(db, { ownerId: role === 'owner' ? account.id : null, person: account.person.id })
  })

  answer(app, accountCalls.stats, async (_parts, { account }) => handed.stats(db, account, clock.now()))

  answer(app, accountCalls.reauthenticate, async ({ body }, { account, sessionId }) => {
    const now = clock.now()
    await refuseWrongPassword(deps, account.person, body.currentPassword, now)
    await refuseWithoutCode(deps, account.person, body.code, now)
    await recordAuthentication(db, sessionId, now)
  })

  const leave = async ({ account, sessionId }: Principal, reply: FastifyReply) => {
    const now = clock.now()
    await refuseOldSignIn(db, sessionId, now)
    await deletePerson(deps, account.person, handed, now)
    reply.clearCookie(refreshCookie, cookieRules)
  }

  answer(app, accountCalls.deleteMe, async (_parts, principal, { reply }) => leave(principal, reply))

  answer(app, accountCalls.deleteById, async ({ params }, principal, { reply }) => {
    if (params.id !== String(principal.account.person.id)) throw new ProblemError('not_found', refusals.noAccount)
    await leave(principal, reply)
  })
}

/** Nothing where nothing was taken over. */
function shown({ removed, left }: Takeover): Partial<Pick<Takeover, 'removed' | 'left'>> {
  return { ...(removed.length > 0 ? { removed } : {}), ...(left.length > 0 ? { left } : {}) }
}
