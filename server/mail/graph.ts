import { z } from 'zod'
import type { Deps } from '#server/platform/deps.ts'
import { type OauthServer, openOauthServer } from '#server/platform/openid.ts'
import { type Answered, callApi, jsonOf, type MailApi } from './api-mailer.ts'
import type { Mail, Outcome } from './mailer.ts'
import { oneLine } from './smtp-errors.ts'
import { outcomes } from './texts.ts'

/** Sends email and reads the person's address; nothing of the mailbox. `offline_access` makes the permission last. */
export const graphScopes = ['offline_access', 'User.Read', 'Mail.Send']

export function openMicrosoft({ clientId, clientSecret, loginUrl }: NonNullable<Deps['config']['microsoft']>): OauthServer {
  const flow = `${loginUrl}/oauth2/v2.0`
  return openOauthServer({ clientId, clientSecret, authorizationUrl: `${flow}/authorize`, tokenUrl: `${flow}/token` })
}

/**
 * Microsoft Graph's `/me/sendMail`, with the message as it is: SMTP is off in organisations made since January 2020. Graph may replace the
 * Message-ID and drop Auto-Submitted (msgraph-sdk-dotnet #2209); X-Reminder-Id stays.
 */
export function graphApi(oauth: Pick<OauthServer, 'refresh'>, apiUrl: string): MailApi {
  return { oauth, hand: (token, mail) => hand(apiUrl, token, mail), classify, words: outcomes.microsoft }
}

/** How long Graph may take over one email, in ms. */
const sendDeadline = 60_000
/** Graph refuses longer requests; the upload of larger messages would need access to the whole mailbox. */
const longestRequest = 4 * 1024 * 1024
const noAnswer = { body: '', headers: new Headers(), reached: false }

async function hand(apiUrl: string, token: string, mail: Mail): Promise<Answered> {
  const body = mail.raw.toString('base64')
  if (body.length > longestRequest) return { ...noAnswer, status: 413 }
  return callApi(
    `${apiUrl}/me/sendMail`,
    { headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' }, body },
    sendDeadline,
  )
}

const apiAnswer = z.object({ error: z.object({ code: z.string().optional(), message: z.string().optional() }).optional() })

/** The mailbox may send no more for a day, or until its owner has confirmed it to Microsoft. */
const dayUsedUp = new Set(['ErrorExceededMessageLimit', 'ErrorMessageSubmissionBlocked'])
/** The account has no mailbox, or one that is not in Microsoft's cloud. */
const noMailbox = new Set(['MailboxNotEnabledForRESTAPI', 'MailboxNotSupportedForRESTAPI', 'ErrorNonExistentMailbox'])
const tooLarge = new Set(['ErrorMessageSizeExceeded', 'RequestEntityTooLarge'])

/** By status and code (Microsoft Graph, "Error responses"), never by message text. */
function classify({ status, body, headers, reached }: Answered): Outcome {
  const { code = '', message = '' } = apiAnswer.safeParse(jsonOf(body)).data?.error ?? {}
  const reply = message === '' ? outcomes.status('Microsoft 365', status) : oneLine(`${code}: ${message}`)
  if (status >= 200 && status < 300) return { kind: 'accepted', reply: outcomes.microsoftAccepted(headers.get('request-id')) }
  if (status === 0) return { kind: 'temporary', reply: outcomes.silent('Microsoft 365'), unknown: reached }
  if (dayUsedUp.has(code)) return { kind: 'quota', reply }
  if (status === 413 || tooLarge.has(code)) return { kind: 'permanent', reply: outcomes.tooLarge }
  if (code === 'ErrorSendAsDenied') return { kind: 'sender_refused', reply }
  const retryAfter = secondsOf(headers.get('retry-after'))
  if (status === 429) return { kind: 'temporary', reply: outcomes.later(reply), unknown: false, ofMailbox: true, ...retryAfter }
  if (status === 401 || status === 403 || noMailbox.has(code))
    return { kind: 'login_refused', reply: outcomes.says(outcomes.microsoft.reconnect, 'Microsoft', reply).slice(0, 500) }
  if (status >= 500) return { kind: 'temporary', reply, unknown: true, ...retryAfter }
  return { kind: 'permanent', reply: outcomes.refused(reply) }
}

/** The longest that Retry-After is obeyed: it must not hold a day's emails by mistake. */
const longestRetryAfter = 3_600

function secondsOf(retryAfter: string | null): { retryAfter?: number } {
  const seconds = Number(retryAfter ?? Number.NaN)
  return Number.isInteger(seconds) && seconds > 0 ? { retryAfter: Math.min(seconds, longestRetryAfter) } : {}
}

const person = z.object({ mail: z.string().nullish(), userPrincipalName: z.string() })

/** The address of the mailbox that a token belongs to; null where it cannot be read. */
export async function readAddress(apiUrl: string, accessToken: string): Promise<string | null> {
  const answered = await fetch(`${apiUrl}/me?$select=mail,userPrincipalName`, {
    headers: { authorization: `Bearer ${accessToken}` },
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
  })
  if (!answered.ok) return null
  const found = person.safeParse(jsonOf(await answered.text())).data
  const address = found?.mail || found?.userPrincipalName
  return address?.includes('@') ? address : null
}
