import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { allClosed, aMailServer, clientsOf, onServer, people, secretKey, send } from '#chaos/place.ts'
import { keptItsWord, type Scenario, tally, until, wordsOf } from '#chaos/scenario.ts'
import { sealedSenders } from '#server/mail/mail.ts'
import { sealMark } from '#server/platform/secrets.ts'
import { openFakeGoogle } from '#test/fakes/google.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { everyAnswer, googleEnv, lateInvoice, signIn, somebody, startAt } from './browser.ts'

/** Rows 74 and 75: secrets, where they lie and where they must not. */
export const secretAttacks: Scenario[] = [
  {
    row: '74',
    name: 'secrets looked for in the log at its most talkative, in a dump of the database and in every answer',
    criterion: 'found 0 times',
    short: true,
    async run(chaos) {
      if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const google = chaos.stack.use(await openFakeGoogle())
      google.client.clientSecret = 'canary-google-client-secret'
      const post = chaos.stack.use(await openFakeSmtp({ login: { user: 'post@duely.example', pass: 'canary-system-mail' } }))
      const smtp = chaos.stack.use(await openFakeSmtp({ login: { user: 'asha@example.com', pass: 'canary-app-password' } }))
      const place = await onServer(chaos, chaos.cluster)
      const program = await startAt(place, {
        ...googleEnv(google),
        LOG_LEVEL: 'trace',
        SYSTEM_SMTP_URL: `smtp://${encodeURIComponent(post.login.user)}:${post.login.pass}@${post.host}:${post.port}`,
        SYSTEM_MAIL_FROM: 'Duely <post@duely.example>',
      })
      const from = everyAnswer.length
      const canaries = new Map([
        ['the password', 'canary-password-1'],
        ['the new password', 'canary-password-2'],
        ['a wrong password', 'canary-password-3'],
        ['the mailbox’s password', smtp.login.pass],
        ['the server’s mailbox’s password', post.login.pass],
        ['Google’s client secret', google.client.clientSecret],
        ['the secret key', secretKey],
      ])
      const asha = await somebody(program.url, { email: 'asha@client.example', secret: 'canary-password-1' })
      canaries.set('the access token', asha.token ?? '')
      const cookie = () => asha.jar.get('refreshToken')?.value ?? ''
      canaries.set('the first refresh token', cookie())
      await asha.ask('POST /auth/refresh')
      canaries.set('its successor', cookie())
      await signIn(program.url, 'asha@client.example', 'canary-password-3')
      await asha.ask('POST /auth/password-hint', { body: { password: 'canary-password-3' } })
      await asha.ask('PATCH /user/change-password', {
        body: { currentPassword: 'canary-password-1', newPassword: 'canary-password-2' },
      })
      const factor = (await asha.ask('POST /user/two-factor/start', { body: { currentPassword: 'canary-password-2' } })).body
      canaries.set('the second factor', (factor as { secret: string }).secret)
      await asha.ask('POST /auth/forgot-password', { body: { email: 'asha@client.example' } })
      const letter = await until('the letter', { seconds: 30, over: chaos.over }, () =>
        post.mails.find(({ subject }) => subject?.includes('new password')),
      )
      canaries.set('the link', /token=3?D?([\w-]{43})/.exec(letter.raw.toString().replace(/=\r\n/g, ''))?.[1] ?? 'no link in the letter')
      for (const pass of ['canary-wrong-app', smtp.login.pass])
        await asha.ask('POST /mail-config/smtp', { body: { host: smtp.host, port: smtp.port, secure: false, user: smtp.login.user, pass } })
      await asha.ask('POST /invoice', { body: lateInvoice() })
      await asha.ask('POST /reminder/send-immediate')
      await until('a mail', { seconds: 30, over: chaos.over }, () => smtp.mails.length > 0)
      const { url } = (await asha.ask('POST /mail-config/gmail/start')).body as { url: string }
      const back = await google.visit(url)
      canaries.set('Google’s code', back.searchParams.get('code') ?? '')
      // Broken in the middle, so that whatever went wrong is logged with all there is.
      await asha.ask('POST /mail-config/smtp', { raw: '{"pass":"canary-broken', headers: { 'content-type': 'application/json' } })
      canaries.set('half a body', 'canary-broken')
      await asha.ask('POST /mail-config/gmail', { body: { code: back.searchParams.get('code') } })

      // The one call that hands the second factor over, and those that hand out the access token, are left out for these two.
      const handsOver: Record<string, string> = { 'the second factor': 'POST /user/two-factor/start', 'the access token': 'POST /auth' }
      const answers = everyAnswer.slice(from)
      const dump = spawnSync(path.join(chaos.cluster.bin, 'pg_dump'), ['--inserts', place.url ?? ''], { maxBuffer: 1e9 }).stdout.toString()
      const found: string[] = []
      for (const [name, secret] of canaries) {
        if (secret.length < 8) found.push(`${name} was never made`)
        if (program.output().includes(secret)) found.push(`${name} in the log`)
        if (dump.includes(secret)) found.push(`${name} in the database`)
        for (const { call, text } of answers)
          if (text.includes(secret) && !call.startsWith(handsOver[name] ?? '-')) found.push(`${name} in the answer of ${call}`)
      }
      return {
        figure: `${canaries.size} secrets in ${Math.round(program.output().length / 1000)} KB of log, ${Math.round(dump.length / 1000)} KB of database, ${answers.length} answers: found ${found.length}${found.length > 0 ? ` (${found.slice(0, 3).join('; ')})` : ''}`,
        holds: found.length === 0 && program.output().length > 1_000 && dump.includes('canary') === false && dump.length > 10_000,
      }
    },
  },
  {
    row: '75',
    name: 'the sealed passwords of two mailboxes exchanged in the database',
    criterion: 'opened 0 times; nothing is sent',
    async run(chaos) {
      if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const place = await onServer(chaos, chaos.cluster)
      const smtp = await aMailServer(chaos)
      const those = await place.prepare((db) => people(db, { count: 2, invoices: 2, smtp }))
      await place.rows(`UPDATE mail_configs a SET sealed_password = b.sealed_password FROM mail_configs b WHERE a.owner_id <> b.owner_id`)
      const program = await place.start()
      for (const person of those) await send(program, person, 'POST /reminder/send-immediate')
      const pauses = await place.rows<{ reason: string | null }>('SELECT pause_reason AS reason FROM mail_configs')
      const paused = pauses.filter(({ reason }) => reason === 'login_refused').length
      return {
        figure: `logins tried ${smtp.authTries}, mails ${smtp.mails.length}; ${paused} of 2 mailboxes paused`,
        holds: smtp.authTries === 0 && smtp.mails.length === 0 && paused === 2,
      }
    },
  },
  {
    row: '75 rotation',
    name: 'the secret key changed while mails are being sent',
    criterion: 'failures 0; secrets under the old key at the end 0',
    async run(chaos) {
      if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const place = await onServer(chaos, chaos.cluster)
      const smtp = await aMailServer(chaos, { delayMs: 10 })
      const count = 10
      const those = await place.prepare((db) => people(db, { count, invoices: 100, smtp, nextRunAt: Temporal.Now.instant() }))
      const newKey = 'another secret key, of 32 characters'
      const first = await place.start()
      await until('mails leave', { seconds: 90, over: chaos.over, everyMs: 10 }, () => smtp.mails.length > 20)
      await first.end('SIGTERM')
      const both = { SECRET_KEY: newKey, SECRET_KEY_BEFORE: secretKey }
      const second = await place.start(both)
      const during = smtp.mails.length
      const duely = path.join(import.meta.dirname, '../server/duely.ts')
      const env = { PATH: process.env.PATH ?? '', ...place.env, ...both }
      const { stdout } = await promisify(execFile)(process.execPath, [duely, 'rotate-keys'], { env })
      const after = smtp.mails.length
      await second.end('SIGTERM')
      await place.start({ SECRET_KEY: newKey })
      await until('all mails', { seconds: 120, over: chaos.over }, () => allClosed(place, 100 * count))
      const counted = tally(smtp.mails, clientsOf(those))
      const old = await place.rows<{ count: number }>(
        'SELECT count(*)::int AS count FROM mail_configs WHERE NOT starts_with(sealed_password, $1)',
        [sealMark(newKey, sealedSenders[0]?.purpose ?? '')],
      )
      const failed = await place.rows<{ count: number }>(`SELECT count(*)::int AS count FROM deliveries WHERE state <> 'sent'`)
      return {
        figure: `${stdout.trim().split('\n')[0]} ${wordsOf(counted)}, ${after - during} of them meanwhile; not sent ${failed[0]?.count}; under the old key ${old[0]?.count}`,
        holds: keptItsWord(counted, 0) && failed[0]?.count === 0 && old[0]?.count === 0,
      }
    },
  },
]
