import type { Deps } from '#server/platform/deps.ts'
import { openProvider } from '#server/platform/openid.ts'
import { openApiMailer } from './api-mailer.ts'
import { gmailApi } from './gmail.ts'
import { graphApi, openMicrosoft } from './graph.ts'
import { type Mailer, openSmtpMailer } from './mailer.ts'
import type { Sender } from './sender.ts'
import { outcomes, providerNames } from './texts.ts'

/** Sends from every kind of mailbox: by SMTP, or by the calls of Gmail and Microsoft Graph where these are set up. */
export function openMailer({ db, config, log }: Pick<Deps, 'db' | 'config' | 'log'>): Mailer {
  const { secretKey, google, microsoft } = config
  const options = { secretKey, db, log }
  const mailers: Record<Sender['provider'], Mailer | null> = {
    smtp: openSmtpMailer({ secretKey, allowPrivateHosts: config.allowPrivateSmtpHosts, log }),
    gmail: google && openApiMailer(gmailApi(openProvider(google), google.gmailApiUrl), options),
    microsoft: microsoft && openApiMailer(graphApi(openMicrosoft(microsoft), microsoft.graphApiUrl), options),
  }
  return {
    send(sender, take) {
      const mailer = mailers[sender.provider]
      if (mailer) return mailer.send(sender, take)
      // The operator has removed the settings since.
      return Promise.resolve({ kind: 'login_refused', reply: outcomes.removed(providerNames[sender.provider]) })
    },
    closeIdle: (sender) => mailers[sender.provider]?.closeIdle(sender),
    async close() {
      await Promise.all(Object.values(mailers).map((mailer) => mailer?.close()))
    },
  }
}
