import type { Deps } from '#server/platform/deps.ts'
import { openProvider } from '#server/platform/openid.ts'
import { openGmailMailer } from './gmail.ts'
import { type Mailer, openSmtpMailer } from './mailer.ts'
import { outcomes } from './texts.ts'

/** Sends from every kind of mailbox: by SMTP, or by Gmail's call where Google is set up. */
export function openMailer({ db, config, log }: Pick<Deps, 'db' | 'config' | 'log'>): Mailer {
  const { secretKey, google } = config
  const smtp = openSmtpMailer({ secretKey, allowPrivateHosts: config.allowPrivateSmtpHosts, log })
  const gmail = google && openGmailMailer({ provider: openProvider(google), apiUrl: google.gmailApiUrl, secretKey, db, log })
  return {
    send(sender, take) {
      if (sender.provider === 'smtp') return smtp.send(sender, take)
      if (gmail) return gmail.send(sender, take)
      // The operator has removed the Google settings since.
      return Promise.resolve({
        kind: 'login_refused',
        reply: outcomes.gmailRemoved,
      })
    },
    closeIdle(sender) {
      if (sender.provider === 'smtp') smtp.closeIdle(sender)
    },
    async close() {
      await Promise.all([smtp.close(), gmail?.close()])
    },
  }
}
