import { z } from 'zod'
import type { OauthServer } from '#server/platform/openid.ts'
import { type Answered, callApi, jsonOf, type MailApi } from './api-mailer.ts'
import type { Mail, Outcome } from './mailer.ts'
import { oneLine } from './smtp-errors.ts'
import { outcomes } from './texts.ts'

/** Sends email and reads nothing: a sensitive scope, where SMTP would need the restricted one over the whole mailbox. */
export const gmailScope = 'https://www.googleapis.com/auth/gmail.send'

/** Google APIs that are off for this server: no owner can fix that. */
const forOperator = new Set(['accessNotConfigured', 'SERVICE_DISABLED'])

/** Gmail's users.messages.send. */
export function gmailApi(oauth: Pick<OauthServer, 'refresh'>, apiUrl: string): MailApi {
  return { oauth, hand: (token, mail) => hand(apiUrl, token, mail), classify, words: outcomes.gmail }
}

const apiAnswer = z.object({
  id: z.string().optional(),
  error: z
    .object({
      message: z.string().optional(),
      status: z.string().optional(),
      errors: z.array(z.object({ reason: z.string().optional() })).optional(),
    })
    .optional(),
})

const sendPath = '/gmail/v1/users/me/messages/send'
/** How long Gmail may take over one email, in ms. */
const sendDeadline = 60_000
/** A longer message, in bytes, is uploaded: a JSON body has room for few attachments. */
const longestInJson = 1024 * 1024

function hand(apiUrl: string, token: string, mail: Mail): Promise<Answered> {
  const uploads = mail.raw.length > longestInJson
  return callApi(
    uploads ? `${apiUrl}/upload${sendPath}?uploadType=media` : `${apiUrl}${sendPath}`,
    {
      headers: { authorization: `Bearer ${token}`, 'content-type': uploads ? 'message/rfc822' : 'application/json' },
      body: uploads ? new Uint8Array(mail.raw) : JSON.stringify({ raw: mail.raw.toString('base64url') }),
    },
    sendDeadline,
  )
}

/** Gmail's reasons for a used-up daily quota; every other limit ends within minutes. */
const dayUsedUp = new Set(['dailyLimitExceeded', 'quotaExceeded'])
const tooFast = new Set(['userRateLimitExceeded', 'rateLimitExceeded', 'RESOURCE_EXHAUSTED'])
/** "Mail service not enabled": the account has no Gmail. */
const noMailbox = new Set(['failedPrecondition', 'FAILED_PRECONDITION'])

/** By status and reason (Gmail API, "Resolve errors"), never by message text. */
function classify({ status, body, reached }: Answered): Outcome {
  const said = apiAnswer.safeParse(jsonOf(body)).data ?? {}
  const reason = said.error?.errors?.[0]?.reason ?? said.error?.status ?? ''
  const words = oneLine(said.error?.message ?? (said.id ? outcomes.gmailAccepted(said.id) : ''))
  const reply = words === '' ? outcomes.status('Gmail', status) : words
  if (status >= 200 && status < 300) return { kind: 'accepted', reply }
  if (status === 0) return { kind: 'temporary', reply: outcomes.silent('Gmail'), unknown: reached }
  if (dayUsedUp.has(reason)) return { kind: 'quota', reply }
  if (status === 429 || tooFast.has(reason)) return { kind: 'temporary', reply: outcomes.later(reply), unknown: false, ofMailbox: true }
  if (status === 403 && forOperator.has(reason)) return { kind: 'temporary', reply, unknown: false }
  if (status === 401 || status === 403)
    return { kind: 'login_refused', reply: outcomes.says(outcomes.gmail.reconnect, 'Gmail', reply).slice(0, 500) }
  if (noMailbox.has(reason)) return { kind: 'login_refused', reply: outcomes.says(outcomes.gmail.noMailbox, 'Google', reply).slice(0, 500) }
  if (status >= 500) return { kind: 'temporary', reply, unknown: true }
  return { kind: 'permanent', reply: outcomes.refused(reply) }
}
