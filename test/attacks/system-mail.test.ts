import PostalMime from 'postal-mime'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { openMailServer } from '#test/faults/environment.ts'
import { row, seconds, type Trial } from '#test/faults/row.ts'
import { Browser, openTarget, overdueInvoice, password, signUp, systemMailEnv } from './browser.ts'

const victim = 'victim@example.com'
const canary = 'Call +91 555 0199 about your refund'

function sentTo(post: FakeSmtp, address: string) {
  return post.mails.filter(({ envelope }) => envelope.to.includes(address))
}

/** Opens the link in the confirmation email of an account. */
async function confirmEmail(trial: Trial, post: FakeSmtp, browser: Browser): Promise<void> {
  const email = await trial.until('the confirmation link arrives', () => sentTo(post, browser.email)[0], { seconds: 60 })
  const { text = '' } = await PostalMime.parse(email.raw)
  const [, token = ''] = /#token=([\w-]+)/.exec(text) ?? []
  const { status } = await browser.ask('POST /auth/confirm-email', { body: { token } })
  if (status !== 200) throw new Error(`Confirming ${browser.email}: ${status}`)
}

/** Creates and deletes API keys with a name: each is one email to the account. */
async function makeKeys(browser: Browser, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    const made = await browser.ask('POST /api-keys', { body: { name: canary, scopes: ['read'], expiresInDays: null, ...browser.proof } })
    if (made.status !== 201) throw new Error(`Creating a key: ${made.status} ${made.text}`)
    await browser.ask(`DELETE /api-keys/${(made.body as { _id: string })._id}`)
  }
}

/** Sends reminders through a mail server of the attacker that refuses the login in words of its own. */
async function refuseLogins(browser: Browser, mailbox: FakeSmtp, count: number): Promise<void> {
  await browser.ask('POST /invoice', { body: overdueInvoice({ clientName: canary }) })
  for (let nth = 0; nth < count; nth += 1) {
    mailbox.answer({})
    await browser.saveMailbox(mailbox)
    mailbox.hangUp()
    mailbox.answer({ auth: () => `535 5.7.8 ${canary}` })
    await browser.ask('POST /reminder/send-immediate')
  }
}

/** What a person sees of an email. */
async function wordsOf(raw: Buffer): Promise<string> {
  const { subject = '', text = '', html = '' } = await PostalMime.parse(raw)
  return `${subject} ${text} ${html}`
}

/** Once no email has arrived for two seconds. */
async function untilQuiet(trial: Trial, post: FakeSmtp): Promise<void> {
  let [count, since] = [-1, 0]
  await trial.until('no more emails arrive', () => {
    if (post.mails.length !== count) [count, since] = [post.mails.length, performance.now()]
    return performance.now() - since > 2_000
  })
}

async function changePasswords(browser: Browser, count: number): Promise<void> {
  let current = password
  for (let nth = 0; nth < count; nth += 1) {
    const newPassword = `${password} ${nth}`
    const { status } = await browser.ask('PATCH /user/change-password', { body: { currentPassword: current, newPassword } })
    if (status !== 200) throw new Error(`Changing the password: ${status}`)
    current = newPassword
  }
}

row('86', 'emails of Duely itself to a stranger and to oneself, with the words of an attacker', async (trial) => {
  trial.mustHold('at most 3 to an unconfirmed address; at most 20 of a kind to a confirmed one; foreign words 0; the same answers')
  const [post, mailbox] = [await openMailServer(trial), await openMailServer(trial)]
  const { url } = await openTarget(trial, { ...systemMailEnv(post), RATE_LIMIT: 'on' })
  const [keys, passwords] = [60, 40]
  const forgot = async (email: string) => {
    const { status, text } = await new Browser(url).ask('POST /auth/forgot-password', { body: { email } })
    return `${status} ${text}`
  }
  // Sign-up and deletion in turn, then everything that an account can do to cause an email.
  for (let nth = 0; nth < 8; nth += 1) await (await signUp(url, { email: victim, displayName: canary })).ask('DELETE /user/account')
  const squatter = await signUp(url, { email: victim, displayName: canary })
  const answers = new Set([await forgot(victim), await forgot('unknown@example.com')])
  await makeKeys(squatter, keys)
  await refuseLogins(squatter, mailbox, 3)
  await changePasswords(squatter, passwords)
  const attacker = await signUp(url, { email: 'attacker@example.com', displayName: canary })
  await confirmEmail(trial, post, attacker)
  await makeKeys(attacker, keys)
  await refuseLogins(attacker, mailbox, 3)
  await changePasswords(attacker, passwords)
  await untilQuiet(trial, post)
  const own = Object.values(Object.groupBy(sentTo(post, attacker.email), ({ subject }) => subject ?? '')).map((all) => all?.length ?? 0)
  const words = await Promise.all(post.mails.map(({ raw }) => wordsOf(raw)))
  const foreign = words.filter((text) => text.includes('555 0199')).length
  const strangers = sentTo(post, victim).length
  return {
    figure: `${strangers} to the unconfirmed address, at most ${Math.max(...own)} of a kind to the confirmed one, foreign words in ${foreign}; ${answers.size} different ${answers.size === 1 ? 'answer' : 'answers'}`,
    holds: strangers <= 3 && Math.max(...own) <= 20 && foreign === 0 && answers.size === 1,
  }
})

row('87', "notices queued by the accounts of an attacker before another person's password link", { short: true }, async (trial) => {
  trial.mustHold('the link arrives within 5 s; in the short selection, beside other tests, before the notices are sent')
  const each = 20
  const delayMs = 400
  const post = await openMailServer(trial, { delayMs })
  const { url } = await openTarget(trial, systemMailEnv(post))
  const owner = await signUp(url, { email: 'owner@example.com' })
  await confirmEmail(trial, post, owner)
  const accounts = []
  for (let nth = 0; nth < (trial.short ? 3 : 12); nth += 1) accounts.push(await signUp(url))
  for (const account of accounts) await confirmEmail(trial, post, account)
  await Promise.all(accounts.map((account) => makeKeys(account, each)))
  const began = performance.now()
  const before = sentTo(post, owner.email).length
  await new Browser(url).ask('POST /auth/forgot-password', { body: { email: owner.email } })
  await trial.until('the link arrives', () => sentTo(post, owner.email).length > before)
  const took = performance.now() - began
  const notices = post.mails.filter(({ subject }) => subject === 'New access to your Duely account').length
  return {
    figure: `${accounts.length * each} notices queued, ${delayMs} ms each; the link arrived after ${seconds(took)}, behind ${notices} of them`,
    holds: trial.short ? notices < accounts.length * each : took <= 5_000,
  }
})
