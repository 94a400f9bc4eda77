import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import PostalMime from 'postal-mime'
import { type FakeGoogle, openFakeGoogle } from '#test/fakes/google.ts'
import { type FakeMicrosoft, openFakeMicrosoft } from '#test/fakes/microsoft.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { freePort, someoneAt, startProgram } from '#test/program.ts'
import { test as base, expect } from './duely.ts'

export { expect } from './duely.ts'

interface Outside {
  /** The fake Google that the program uses. */
  google: FakeGoogle
  /** The fake Microsoft, likewise. */
  microsoft: FakeMicrosoft
  /** The mail server for the program's own emails. */
  post: FakeSmtp
}

/** As `test`, for a server with Google, a mailbox of its own and an address for support. */
export const test = base.extend<{ freshGoogle: null }, Outside>({
  // Tests count what Google received and direct what it answers, so each starts with a Google that received nothing.
  freshGoogle: [
    async ({ google }, use) => {
      google.answer({})
      for (const received of [google.mails, google.authorizations, google.revoked]) received.length = 0
      await use(null)
    },
    { auto: true },
  ],
  google: [
    async ({}, use) => {
      await using google = await openFakeGoogle()
      await use(google)
    },
    { scope: 'worker' },
  ],
  microsoft: [
    async ({}, use) => {
      await using microsoft = await openFakeMicrosoft()
      await use(microsoft)
    },
    { scope: 'worker' },
  ],
  post: [
    async ({}, use) => {
      await using post = await openFakeSmtp()
      await use(post)
    },
    { scope: 'worker' },
  ],
  program: [
    async ({ google, microsoft, post }, use) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'duely-browser-'))
      const port = String(await freePort())
      const program = await startProgram({
        DATA_DIR: folder,
        PORT: port,
        PUBLIC_URL: `http://127.0.0.1:${port}`,
        GOOGLE_CLIENT_ID: google.client.clientId,
        GOOGLE_CLIENT_SECRET: google.client.clientSecret,
        GOOGLE_ISSUER: google.url,
        GMAIL_API_URL: google.url,
        MICROSOFT_CLIENT_ID: microsoft.config.clientId,
        MICROSOFT_CLIENT_SECRET: microsoft.config.clientSecret,
        MICROSOFT_LOGIN_URL: microsoft.config.loginUrl,
        GRAPH_API_URL: microsoft.config.graphApiUrl,
        SYSTEM_SMTP_URL: `smtp://${encodeURIComponent(post.login.user)}:${post.login.pass}@${post.host}:${post.port}`,
        SYSTEM_MAIL_FROM: 'Duely <post@duely.example>',
        SUPPORT_URL: 'https://help.duely.example/',
        TERMS_URL: 'https://duely.example/terms',
      })
      await use(program)
      await program.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
    { scope: 'worker', timeout: 300_000 },
  ],
})

/** The link in the newest email to this address with this subject. */
export async function linkIn(post: FakeSmtp, to: string, subject: string): Promise<string> {
  let text = ''
  await expect
    .poll(async () => {
      const mail = post.mails.findLast((one) => one.envelope.to.includes(to) && one.subject === subject)
      text = mail ? ((await PostalMime.parse(mail.raw)).text ?? '') : ''
      return text
    })
    .toContain('#token=')
  return /http\S+#token=\S+/.exec(text)?.[0] ?? ''
}

/** Confirms the email of a new account, without which it can't send reminders here. */
export async function confirmEmail(url: string, post: FakeSmtp, email: string): Promise<void> {
  const [, token = ''] = (await linkIn(post, email, 'Confirm your email for Duely')).split('#token=')
  await (await someoneAt(url, email)).send('POST', '/auth/confirm-email', { token })
}
