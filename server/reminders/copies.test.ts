// Also on PostgreSQL: the claim compares the recipients.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { clientCalls } from '#contract/clients.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { accounts } from '#server/accounts/tables.ts'
import { clients } from '#server/invoices/tables.ts'
import { anInvoice, anOffice, aSequence } from '#test/factories.ts'
import { ask } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'

/** Asha with a client whose invoice is overdue; `run`: to whom the daily run of a date writes. */
async function withClient(about: { sequence?: Parameters<typeof aSequence>[2] } = {}) {
  const all = await anOffice({ now: '2026-03-11T02:00:00Z' })
  const { app, asha, smtp } = all
  if (about.sequence) await aSequence(app, asha, about.sequence)
  const nextRunAt = Temporal.Instant.from('2026-03-11T03:30:00Z')
  await app.db.update(accounts).set({ remindersActive: true, nextRunAt, nextRunFrom: '2026-03-11' }).where(eq(accounts.id, asha.id))
  const invoice = await anInvoice(app, { owner: asha, dueDate: '2026-03-10', clientEmail: 'kaveri@example.com' })
  const client = (await ask(app, asha, clientCalls.list)).reply[0]?._id ?? ''
  const change = (body: object) => ask(app, asha, clientCalls.update, { params: { id: client }, body })
  const run = async (date: string) => {
    const before = smtp.mails.length
    app.clock.set(`${date}T03:30:00Z`)
    await app.runJobs()
    return smtp.mails.slice(before)
  }
  return Object.assign(all, { invoice, change, run })
}

test('a further recipient gets every reminder in Cc of the one email, Every day included', async () => {
  await using all = await withClient()
  const copies = [{ email: 'Accounts <ap@kaveri.example>' }, { email: 'boss@kaveri.example', gets: 'never' }]
  const saved = await all.change({ copies })
  expect(saved.reply.copies).toEqual([
    { email: 'ap@kaveri.example', gets: 'every', step: null },
    { email: 'boss@kaveri.example', gets: 'never', step: null },
  ])
  const [mail, ...more] = await all.run('2026-03-11')
  expect(more).toEqual([])
  expect(mail?.envelope.to).toEqual(['kaveri@example.com', 'ap@kaveri.example'])
  expect((await readEmail(mail?.raw ?? Buffer.of())).cc?.map(({ address }) => address)).toEqual(['ap@kaveri.example'])
  await all.change({ copies: [] })
  expect((await all.run('2026-03-12'))[0]?.envelope.to).toEqual(['kaveri@example.com'])
})

test('from a step on a further recipient gets copies, and a second contact those of the ticked steps', async () => {
  const steps = [newStep(1, 'friendly'), { ...newStep(2, 'firm'), copyToSecondContact: true }, newStep(3, 'final')]
  await using all = await withClient({ sequence: { name: 'Three', steps, everyDays: null, atMost: null, atLeast: 1 } })
  await all.change({ secondContact: 'second@kaveri.example' })
  const kept = (await all.change({})).reply.copies
  expect(kept).toEqual([{ email: 'second@kaveri.example', gets: 'ticked_steps', step: null }])
  const saved = await all.change({ copies: [...kept, { email: 'boss@kaveri.example', gets: 'from_step', step: 3 }] })
  expect(saved.reply.secondContact).toBe('second@kaveri.example')
  const sent = [await all.run('2026-03-11'), await all.run('2026-03-12'), await all.run('2026-03-13')]
  expect(sent.map(([mail]) => mail?.envelope.to.slice(1))).toEqual([[], ['second@kaveri.example'], ['boss@kaveri.example']])
})

test('a copy that is refused, or whose address is on hold, keeps no email from the client', async () => {
  await using all = await withClient()
  const { app, asha, smtp, invoice } = all
  await all.change({ copies: [{ email: 'gone@kaveri.example' }, { email: 'held@kaveri.example' }, { email: 'ap@kaveri.example' }] })
  await app.db.execute(sql`INSERT INTO address_holds (owner_id, client_key, held_since, reply)
    VALUES (${asha.id}::uuid, 'held@kaveri.example', now(), '550 5.1.1 No such user')`)
  smtp.answer({ rcpt: (to) => (to === 'gone@kaveri.example' ? '550 5.1.1 No such user' : undefined) })
  const [mail] = await all.run('2026-03-11')
  expect(mail?.envelope.to).toEqual(['kaveri@example.com', 'ap@kaveri.example'])
  expect((await ask(app, asha, reminderCalls.history, { params: { id: invoice._id } })).reply.mails).toMatchObject([
    { state: 'sent', copiesRefused: 'The copy to gone@kaveri.example was refused: address doesn’t exist' },
  ])
  expect((await ask(app, asha, clientCalls.list)).reply[0]).toMatchObject({ addressHold: null, notDelivered: null })
})

test('recipients that are too many, twice there, or the client itself are refused by their field', async () => {
  await using all = await withClient()
  const many = Array.from({ length: 6 }, (_, nth) => ({ email: `one${nth}@kaveri.example` }))
  for (const [copies, path, message] of [
    [many, 'copies', 'A client can have up to 5 further recipients.'],
    [[many[0], many[0]], 'copies.1.email', 'This address is there twice.'],
    [[{ email: 'Kaveri@example.com' }], 'copies.0.email', 'This is the client’s own address.'],
    [[{ email: 'ap@kaveri.example', gets: 'from_step' }], 'copies.0.step', 'Please choose from which step on.'],
    [[{ email: 'nothing' }], 'copies.0.email', 'Please enter an email address like name@example.com.'],
  ] as const)
    expect((await all.change({ copies })).problem).toMatchObject({ code: 'invalid', errors: [{ path, message }] })
  expect(await all.app.db.select({ copies: clients.copies }).from(clients)).toEqual([{ copies: null }])
})
