import { expect, test } from 'vitest'
import { businessCalls } from '#contract/business.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { brands } from '#server/accounts/tables.ts'
import { anInvoice, anOffice, signedInAgain } from '#test/factories.ts'
import { ask } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'

test('clients reply to another address once a code was entered that the mailbox sent there', async () => {
  await using office = await anOffice({ now: '2026-03-02T03:30:00Z' })
  const { app, asha, smtp } = office
  const email = 'accounts@neem.example'
  const want = async (address = email) => ask(app, await signedInAgain(app, asha), businessCalls.askReplyTo, { body: { email: address } })
  const enter = (code: string) => ask(app, asha, businessCalls.confirmReplyTo, { body: { code } })
  const lastCode = async () => {
    const mail = smtp.mails.at(-1)
    return [mail?.envelope.to, /\n(\d{6})\n/.exec((await readEmail(mail?.raw)).text ?? '')?.[1] ?? ''] as const
  }
  const replyTo = async () => (await ask(app, asha, businessCalls.read)).reply.replyTo
  const wrong = 'This code is wrong or has expired. Ask for a new one.'
  expect((await enter('123456')).problem?.message).toBe(wrong)

  expect((await want()).status).toBe(204)
  const [to, first] = await lastCode()
  expect(to).toEqual([email])
  const stored = await app.db.select().from(brands)
  expect(JSON.stringify(stored)).not.toContain(first)
  expect(await replyTo()).toBeNull()
  // Five wrong ones, and then the right one is too late.
  const other = first === '000000' ? '111111' : '000000'
  for (let nth = 0; nth < 5; nth += 1) expect((await enter(other)).problem).toMatchObject({ code: 'invalid', message: wrong })
  expect((await enter(first)).status).toBe(400)

  await want()
  const [, second] = await lastCode()
  app.clock.set('2026-03-02T03:45:00Z')
  expect((await enter(second)).status).toBe(400)
  await want()
  const [, third] = await lastCode()
  expect((await enter(third)).reply).toEqual({ replyTo: email })
  // Each code is used once, and an address gets three in an hour.
  expect((await enter(third)).status).toBe(400)
  expect((await want()).problem?.code).toBe('too_many')

  await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  const sent = await readEmail(smtp.mails.at(-1)?.raw)
  expect([sent.replyTo?.map(({ address }) => address), sent.from?.address]).toEqual([[email], smtp.login.user])
  expect((await ask(app, asha, businessCalls.removeReplyTo)).status).toBe(204)
  expect(await replyTo()).toBeNull()
  smtp.answer({ rcpt: () => '550 5.1.1 No such user' })
  expect((await want('nobody@neem.example')).problem?.code).toBe('mail_refused')
  expect((await ask(app, asha, businessCalls.read)).reply.pendingReplyTo).toBeNull()
})
