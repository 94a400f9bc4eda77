import net from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import PostalMime from 'postal-mime'
import { openMailServer } from '#test/faults/environment.ts'
import { row } from '#test/faults/row.ts'
import { Browser, enableTwoFactor, newestLink, openTarget, overdueInvoice, signIn, signUp, systemMailEnv } from './browser.ts'

const newPassword = 'a password that the owner chose'
const foreign = 'our bank has changed'

/** Sends a request whose body is only finished later, and answers the status line of the response. */
async function openSlowly(browser: Browser, call: string, body: unknown): Promise<() => Promise<number>> {
  const [method, path] = call.split(' ')
  const { hostname, port, host } = new URL(browser.url)
  const socket = net.connect(Number(port), hostname)
  const text = JSON.stringify(body)
  const head = [`${method} ${path} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${browser.token}`, 'content-type: application/json']
  socket.write([...head, `content-length: ${text.length}`, 'connection: close', '', text.slice(0, 1)].join('\r\n'))
  let answer = ''
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      answer += String(chunk)
    })
    socket.on('close', () => resolve())
    socket.on('error', () => resolve())
  })
  return async () => {
    socket.write(text.slice(1))
    await ended
    return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
  }
}

row(
  '88',
  'an account created with another person’s email, which the owner takes over by a password link',
  { short: true },
  async (trial) => {
    trial.mustHold(
      'nothing leaves before the email is confirmed; the owner can sign in and is told; emails by the stranger’s mailbox or with the stranger’s words 0',
    )
    const systemMail = await openMailServer(trial)
    const [theirs, own] = [await openMailServer(trial), await openMailServer(trial)]
    const { url } = await openTarget(trial, systemMailEnv(systemMail))
    const template = { useCustomTemplate: true, customSubject: foreign, customContent: foreign }
    const takeOver = async (email: string, guarded: boolean) => {
      const stranger = await signUp(url, { email, displayName: foreign })
      await stranger.saveMailbox(theirs)
      await stranger.ask('PUT /mail-config/template', { body: template })
      await stranger.ask('POST /invoice', { body: overdueInvoice() })
      if (guarded) await enableTwoFactor(stranger)
      const early = [(await stranger.ask('POST /reminder/send-immediate')).status, (await stranger.ask('POST /reminder/start')).status]
      const slow = await openSlowly(stranger, 'PUT /mail-config/template', template)
      // Longer than the time within which a body counts as sent with its headers.
      await pause(1_100)
      await new Browser(url).ask('POST /auth/forgot-password', { body: { email } })
      const token = await newestLink(trial, systemMail, email, 'reset-password')
      await new Browser(url).ask('POST /auth/reset-password', { body: { token, newPassword } })
      const late = await slow()
      const owner = await signIn(url, email, newPassword)
      if (!owner) return { early, late, signedIn: 0, told: 0 }
      const notices = (await owner.ask('GET /user/notices')).body as { kind: string }[]
      await owner.ask('POST /reminder/send-immediate')
      await owner.saveMailbox(own)
      await owner.ask('POST /reminder/send-immediate')
      return { early, late, signedIn: 1, told: notices.filter(({ kind }) => kind === 'taken_over').length }
    }
    const tries = [await takeOver('owner@example.com', false), await takeOver('guarded@example.com', true)]
    const sent = await Promise.all([...own.mails, ...theirs.mails].map(({ raw }) => PostalMime.parse(raw)))
    const words = sent.filter(({ subject, text, from }) => [subject, text, from?.name].join().includes(foreign)).length
    const sum = (of: (one: (typeof tries)[number]) => number) => tries.reduce((total, one) => total + of(one), 0)
    const figure = [
      `Send Now and Start before: ${tries.flatMap(({ early }) => early).join(', ')}`,
      `slow requests of the stranger: ${tries.map(({ late }) => late).join(', ')}`,
      `the owner signed in ${sum(({ signedIn }) => signedIn)} of 2 and was told ${sum(({ told }) => told)} of 2`,
      `emails by the owner’s mailbox ${own.mails.length}, by the stranger’s ${theirs.mails.length}, with the stranger’s words ${words}`,
    ].join('; ')
    const right = tries.every(({ early, late }) => early.every((status) => status === 403) && late === 401)
    return {
      figure,
      holds: right && sum((one) => one.signedIn + one.told) === 4 && own.mails.length === 2 && theirs.mails.length + words === 0,
    }
  },
)
