import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { unzipSync } from 'fflate'
import { inject } from 'vitest'
import { sealedSenders } from '#server/mail/mail.ts'
import { sealMark } from '#server/platform/secrets.ts'
import { programFile } from '#test/bundle.ts'
import { openFakeGoogle } from '#test/fakes/google.ts'
import { openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { onPostgres, openMailServer, secretKey, send } from '#test/faults/environment.ts'
import { row } from '#test/faults/row.ts'
import { isDelivered, summarize, tally } from '#test/faults/tally.ts'
import { Browser, confirmEmail, everyAnswer, googleEnv, overdueInvoice, signIn, signUp, startTarget, systemMailEnv } from './browser.ts'

/** Connects Razorpay, first with a wrong secret, and lets a client begin to pay: the attempt keeps a copy of the keys. */
async function payOnline(asha: Browser, invoiceId: string, canaries: Map<string, string>, keys: { keyId: string; keySecret: string }) {
  const connect = (keySecret: string) =>
    asha.ask('PUT /payment-settings/razorpay', { body: { keyId: keys.keyId, keySecret, currentPassword: 'canary-password-2' } })
  await connect('canary-wrong-razorpay')
  canaries.set('a wrong key secret', 'canary-wrong-razorpay')
  canaries.set('the secret of the webhook', ((await connect(keys.keySecret)).body as { webhookSecret: string }).webhookSecret)
  const link = (await asha.ask(`POST /invoice/${invoiceId}/pay-link`)).body as { url: string }
  const { status } = await new Browser(asha.url).ask(`POST ${new URL(link.url).pathname}/online`, {
    raw: new URLSearchParams({ amount: '1200.5', of: '1200.5' }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
  })
  if (status !== 303) throw new Error(`Pay online: ${status}`)
}

row(
  '74',
  'secrets searched for in the log at its most verbose, in a dump of the database, in the export of the account and in every answer',
  async (trial) => {
    trial.mustHold('found 0 times')
    const google = trial.stack.use(await openFakeGoogle())
    google.client.clientSecret = 'canary-google-client-secret'
    const systemMail = await openMailServer(trial, { login: { user: 'post@duely.example', pass: 'canary-system-mail' } })
    const smtp = await openMailServer(trial, { login: { user: 'asha@example.com', pass: 'canary-app-password' } })
    const environment = await onPostgres(trial)
    const razorpay = trial.stack.use(await openFakeRazorpay({ keyId: 'rzp_live_FakeFakeFake01', keySecret: 'canary-razorpay-secret' }))
    const env = { PAY_LINKS: 'on', RAZORPAY_API_URL: razorpay.settings.apiUrl, LOG_LEVEL: 'trace' }
    const program = await startTarget(environment, { ...googleEnv(google), ...systemMailEnv(systemMail), ...env })
    const from = everyAnswer.length
    const canaries = new Map([
      ['the password', 'canary-password-1'],
      ['the new password', 'canary-password-2'],
      ['a wrong password', 'canary-password-3'],
      ['the mailbox’s password', smtp.login.pass],
      ['the server’s mailbox’s password', systemMail.login.pass],
      ['Google’s client secret', google.client.clientSecret],
      ['the secret key', secretKey],
      ['the key secret of Razorpay', razorpay.settings.keySecret],
    ])
    const asha = await signUp(program.url, { email: 'asha@client.example', secret: 'canary-password-1' })
    // A new password ends the link that confirms the email.
    await confirmEmail(trial, systemMail, asha)
    canaries.set('the access token', asha.token ?? '')
    const refreshToken = () => asha.jar.get('refreshToken')?.value ?? ''
    canaries.set('the first refresh token', refreshToken())
    await asha.ask('POST /auth/refresh')
    canaries.set('its successor', refreshToken())
    await signIn(program.url, 'asha@client.example', 'canary-password-3')
    await asha.ask('POST /auth/password-hint', { body: { password: 'canary-password-3' } })
    await asha.ask('PATCH /user/change-password', { body: { currentPassword: 'canary-password-1', newPassword: 'canary-password-2' } })
    const factor = (await asha.ask('POST /user/two-factor/start', { body: { currentPassword: 'canary-password-2' } })).body
    canaries.set('the second factor', (factor as { secret: string }).secret)
    await asha.ask('POST /auth/forgot-password', { body: { email: 'asha@client.example' } })
    const link = await trial.until('the email with the link arrives', () =>
      systemMail.mails
        .map(({ raw }) => /reset-password#token=3?D?([\w-]{43})/.exec(raw.toString().replace(/=\r\n/g, ''))?.[1])
        .find(Boolean),
    )
    canaries.set('the link', link)
    for (const pass of ['canary-wrong-app', smtp.login.pass]) await asha.saveMailbox({ ...smtp, login: { user: smtp.login.user, pass } })
    await asha.ask('POST /invoice', { body: overdueInvoice() })
    // The email about this one waits for its client.
    const invoice = (await asha.ask('POST /invoice', { body: overdueInvoice({ clientEmail: 'pays@online.example' }) })).body as {
      _id: string
    }
    await payOnline(asha, invoice._id, canaries, razorpay.settings)
    const { status, text } = await asha.ask('POST /reminder/send-immediate')
    if (status >= 400) throw new Error(`Send Now: ${status} ${text}`)
    await trial.until('an email arrives', () => smtp.mails.length > 0)
    const { url } = (await asha.ask('POST /mail-config/gmail/start')).body as { url: string }
    const code = (await google.visit(url)).searchParams.get('code') ?? ''
    canaries.set('Google’s code', code)
    // Broken JSON: the error may be logged with the body.
    await asha.ask('POST /mail-config/smtp', { raw: '{"pass":"canary-broken', headers: { 'content-type': 'application/json' } })
    canaries.set('half a body', 'canary-broken')
    await asha.ask('POST /mail-config/gmail', { body: { code } })

    // The calls that hand out a secret may contain it.
    const handsOut: Record<string, string> = {
      'the second factor': 'POST /user/two-factor/start',
      'the access token': 'POST /auth',
      'the secret of the webhook': 'PUT /payment-settings/razorpay',
    }
    const zip = await fetch(`${program.url}/user/export`, { headers: { authorization: `Bearer ${asha.token}` } })
    const exported = Object.values(unzipSync(new Uint8Array(await zip.arrayBuffer()))).map((file) => Buffer.from(file).toString())
    const answers = everyAnswer.slice(from)
    const pgDump = path.join(inject('postgres')?.bin ?? '', 'pg_dump')
    const dump = spawnSync(pgDump, ['--inserts', environment.url], { maxBuffer: 1e9 }).stdout.toString()
    const log = program.output()
    const found: string[] = []
    for (const [name, secret] of canaries) {
      if (secret.length < 8) found.push(`${name} was never made`)
      if (log.includes(secret)) found.push(`${name} in the log`)
      if (dump.includes(secret)) found.push(`${name} in the database`)
      if (exported.some((file) => file.includes(secret))) found.push(`${name} in the export`)
      for (const { call, text } of answers)
        if (text.includes(secret) && !call.startsWith(handsOut[name] ?? '-')) found.push(`${name} in the answer of ${call}`)
    }
    return {
      figure: `${canaries.size} secrets in ${Math.round(log.length / 1000)} KB of log, ${Math.round(dump.length / 1000)} KB of database, ${exported.length} exported files, ${answers.length} answers: found ${found.length}${found.length > 0 ? ` (${found.slice(0, 3).join('; ')})` : ''}`,
      holds: found.length === 0 && log.length > 1_000 && !dump.includes('canary') && dump.length > 10_000 && exported.length > 10,
    }
  },
)

row('75', 'the sealed passwords of two mailboxes exchanged in the database', async (trial) => {
  trial.mustHold('opened 0 times; nothing is sent')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  const accounts = await environment.createAccounts({ count: 2, invoices: 2, smtp })
  await environment.rows(`UPDATE mail_configs a SET sealed_password = b.sealed_password FROM mail_configs b WHERE a.owner_id <> b.owner_id`)
  const program = await environment.start()
  for (const account of accounts) await send(program, account, 'POST /reminder/send-immediate')
  const paused = await environment.rows(`SELECT 1 FROM mail_configs WHERE pause_reason = 'login_refused'`)
  return {
    figure: `logins tried ${smtp.authTries}, emails ${smtp.mails.length}; ${paused.length} of 2 mailboxes paused`,
    holds: smtp.authTries === 0 && smtp.mails.length === 0 && paused.length === 2,
  }
})

row('75 rotation', 'the secret key rotated while emails are being sent', async (trial) => {
  trial.mustHold('failures 0; secrets under the old key at the end 0')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial, { delayMs: 10 })
  const accounts = await environment.createAccounts({ count: 10, invoices: 100, smtp, due: true })
  const newKey = 'another secret key, of 32 characters'
  const first = await environment.start()
  await smtp.received(21)
  await first.end('SIGTERM')
  const both = { SECRET_KEY: newKey, SECRET_KEY_BEFORE: secretKey }
  const second = await environment.start(both)
  const during = smtp.mails.length
  const env = { PATH: process.env.PATH ?? '', ...environment.env, ...both }
  const { stdout } = await promisify(execFile)(process.execPath, [await programFile('duely'), 'rotate-keys'], { env })
  const after = smtp.mails.length
  await second.end('SIGTERM')
  await environment.start({ SECRET_KEY: newKey })
  await environment.untilClosed(1_000)
  const counted = tally(smtp.mails, accounts)
  const old = await environment.rows('SELECT 1 FROM mail_configs WHERE NOT starts_with(sealed_password, $1)', [
    sealMark(newKey, sealedSenders[0]?.purpose ?? ''),
  ])
  const failed = await environment.rows(`SELECT 1 FROM deliveries WHERE state <> 'sent'`)
  return {
    figure: `${stdout.trim().split('\n')[0]} ${summarize(counted)}, ${after - during} of them meanwhile; not sent ${failed.length}; under the old key ${old.length}`,
    holds: isDelivered(counted) && failed.length === 0 && old.length === 0,
  }
})
