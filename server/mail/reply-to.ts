import { randomInt } from 'node:crypto'
import { businessCalls } from '#contract/business.ts'
import { screens } from '#contract/screens.ts'
import { countTry, lockAsSeen, originOf, refuseUnproven, writeAudit } from '#server/accounts/accounts.ts'
import { codeTries, confirmReplyTo, readReplyTo, saveReplyTo } from '#server/accounts/brand.ts'
import { reportMade } from '#server/accounts/made.ts'
import { emailKey } from '#server/accounts/throttle.ts'
import { type App, answer } from '#server/platform/answer.ts'
import { newId } from '#server/platform/columns.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid } from '#server/platform/problem-error.ts'
import { deriveKey, hmac } from '#server/platform/secrets.ts'
import type { SendTest } from './mail.ts'
import { composeText } from './test-mail.ts'
import { replyToTexts as texts } from './texts.ts'

const codesOfAccount = { limit: 5, seconds: 3600 }
/** The address may be that of a stranger. */
const codesToAddress = { limit: 3, seconds: 3600 }
const codeLasts = { minutes: 15 }

/** The address that clients answer to: it applies once a code was entered that was sent there from the mailbox of the business. */
export function replyToRoutes(app: App, deps: Deps, send: SendTest): void {
  const { db, clock, config } = deps
  const hashOf = (ownerId: string, address: string, code: string) =>
    hmac(deriveKey(config.secretKey, 'reply-to'), `${ownerId} ${address.toLowerCase()} ${code}`)

  answer(app, businessCalls.askReplyTo, async ({ body }, principal) => {
    const now = clock.now()
    const { account } = principal
    const { email } = body
    await refuseUnproven(deps, principal, body, now, 'access')
    await countTry(db, `reply-to:${account.id}`, codesOfAccount, now)
    await countTry(db, emailKey('reply-to', email), codesToAddress, now)
    const code = String(randomInt(1_000_000)).padStart(6, '0')
    const { displayName: name } = account
    const text = texts.text(name, code, codeLasts.minutes, codeTries)
    const mail = { to: { name: '', address: email }, subject: texts.subject(name), text, id: `code.${newId()}`, at: now }
    await send(account, (address) => composeText({ name, address }, mail), email)
    await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const asked = { address: email, codeHash: hashOf(account.id, email, code), expiresAt: now.add(codeLasts) }
      await saveReplyTo(tx, account.id, { asked }, now)
    })
    return undefined
  })

  answer(app, businessCalls.confirmReplyTo, async ({ body: { code } }, { account }, { request }) => {
    const now = clock.now()
    const confirmed = await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      const { asked } = await readReplyTo(tx, account.id)
      const address = await confirmReplyTo(tx, account.id, asked === null ? '' : hashOf(account.id, asked, code), now)
      if (address === null) return null
      await writeAudit(tx, { ownerId: account.id, kind: 'reply_to_changed', about: address }, originOf(request), now)
      const made = { kind: 'reply_to', id: account.id, name: address, link: `${screens.business}?tab=brand` } as const
      await reportMade(tx, deps, account, made, now)
      return address
    })
    // After the transaction, which counts the try.
    if (confirmed === null) throw invalid('code', texts.wrong)
    return { replyTo: confirmed }
  })

  answer(app, businessCalls.removeReplyTo, async (_parts, { account }, { request }) => {
    const now = clock.now()
    await db.transaction(async (tx) => {
      await lockAsSeen(tx, account)
      await saveReplyTo(tx, account.id, { replyTo: null, asked: null }, now)
      await writeAudit(tx, { ownerId: account.id, kind: 'reply_to_changed' }, originOf(request), now)
    })
    return undefined
  })
}
