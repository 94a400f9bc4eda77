import type { Instant } from '#server/platform/clock.ts'
import type { Deps } from '#server/platform/deps.ts'
import { openProvider } from '#server/platform/openid.ts'
import { inSpan } from '#server/platform/traces.ts'
import { openApiMailer } from './api-mailer.ts'
import { gmailApi } from './gmail.ts'
import { graphApi, openMicrosoft } from './graph.ts'
import { type Mailer, type Outcome, openSmtpMailer } from './mailer.ts'
import type { Sender } from './sender.ts'
import { ehloOf } from './session.ts'
import { replyCode } from './smtp-errors.ts'
import { outcomes, providerNames } from './texts.ts'

/** How long keys may take to be rotated: so long a process waits for a key that it does not have, before the mailbox is paused. */
const rotation = { minutes: 30 }

/** Sends from every kind of mailbox: by SMTP, or by the calls of Gmail and Microsoft Graph where these are set up. */
export function openMailer({ db, config, log, clock }: Pick<Deps, 'db' | 'config' | 'log' | 'clock'>): Mailer {
  const { secretKey, google, microsoft } = config
  const options = { secretKey, db, log }
  const mailers: Record<Sender['provider'], Mailer | null> = {
    smtp: openSmtpMailer({ secretKey, allowPrivateHosts: config.allowPrivateSmtpHosts, log, ehlo: ehloOf(config.publicUrl) }),
    gmail: google && openApiMailer(gmailApi(openProvider(google), google.gmailApiUrl), options),
    microsoft: microsoft && openApiMailer(graphApi(openMicrosoft(microsoft), microsoft.graphApiUrl), options),
  }
  /** Since when this process lacks the key of a mailbox. */
  const lacking = new Map<string, Instant>()
  const orRefused = (outcome: Outcome | null, { senderId }: Sender): Outcome | null => {
    if (outcome?.kind !== 'temporary' || outcome.unopened === undefined) {
      lacking.delete(senderId)
      return outcome
    }
    const now = clock.now()
    const since = lacking.get(senderId) ?? now
    lacking.set(senderId, since)
    log.warn(
      { senderId, since: since.toString() },
      'A mailbox was stored with another SECRET_KEY. Restart this process if the key is being rotated.',
    )
    return Temporal.Instant.compare(since.add(rotation), now) <= 0 ? { kind: 'login_refused', reply: outcome.unopened } : outcome
  }
  return {
    send(sender, take) {
      const mailer = mailers[sender.provider]
      if (mailer) return traced(sender, async () => orRefused(await mailer.send(sender, take), sender))
      // The operator has removed the settings since.
      return Promise.resolve({ kind: 'login_refused', reply: outcomes.removed(providerNames[sender.provider]) })
    },
    closeIdle: (sender) => mailers[sender.provider]?.closeIdle(sender),
    async close() {
      await Promise.all(Object.values(mailers).map((mailer) => mailer?.close()))
    },
  }
}

/** From whom and to whom an email is, and what its server replied, is not recorded: a reply may quote addresses. */
function traced({ provider, host }: Sender, send: () => Promise<Outcome | null>): Promise<Outcome | null> {
  const attributes = { 'duely.mail.provider': provider, ...(host === null ? {} : { 'server.address': host.toLowerCase() }) }
  return inSpan({ name: 'send email', attributes }, async (said) => {
    const outcome = await send()
    said['duely.mail.outcome'] = outcome?.kind ?? 'not_wanted'
    if (outcome) said['duely.mail.reply_code'] = replyCode(outcome.reply)
    return outcome
  })
}
