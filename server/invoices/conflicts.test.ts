import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { teamCalls } from '#contract/business.ts'
import { businessHeader } from '#contract/call.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { type InvoiceChange, invoiceCalls, noteCalls, tagOfInvoice } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { templateCalls } from '#contract/templates.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { invoiceNotes } from './tables.ts'

const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2026-03-02' }

/** An owner and a colleague, who both change one invoice. */
async function twoPeople(app: TestApp) {
  const owner = await aPerson(app, { displayName: 'Asha Rao' })
  const vikram = await aPerson(app, { displayName: 'Vikram Menon' })
  const { reply } = await ask(app, owner, teamCalls.invite, { body: { email: vikram.email, role: 'member' } })
  await ask(app, vikram, teamCalls.acceptInvitation, { body: { token: reply.link.split('#token=')[1] ?? '' } })
  const within = { [businessHeader]: owner.id }
  const created = (await ask(app, owner, invoiceCalls.create, { body: draft }, within)).reply
  const change = (by: Person | { token: string }, body: InvoiceChange, tag?: string) =>
    ask(
      app,
      by,
      invoiceCalls.update,
      { params: { id: created._id }, body },
      { ...within, ...(tag === undefined ? {} : { 'if-match': tag }) },
    )
  const read = () => ask(app, owner, invoiceCalls.read, { params: { id: created._id } }, within)
  return { owner, vikram, within, created, change, read }
}

test('PATCH with the ETag of an earlier version answers 409 with who changed it and when; without one the last wins', async () => {
  await using app = await openTestApp({ now: '2026-03-01T06:12:00Z' })
  const { vikram, owner, created, change, read } = await twoPeople(app)
  const first = await read()
  expect(first.headers.etag).toBe(tagOfInvoice(created))
  const theirs = await change(vikram, { dueDate: '2026-03-20' }, String(first.headers.etag))
  expect(theirs).toMatchObject({ status: 200, reply: { version: created.version + 1 } })
  expect(theirs.headers.etag).toBe(tagOfInvoice(theirs.reply))
  for (const body of [{ amount: 6000 }, {}])
    expect(await change(owner, body, tagOfInvoice(created))).toMatchObject({
      status: 409,
      problem: {
        code: 'changed_meanwhile',
        message: 'Vikram Menon changed this invoice at 11:42.',
        meanwhile: { version: theirs.reply.version, by: 'Vikram Menon', at: '2026-03-01T06:12:00Z', self: false },
      },
    })
  expect((await read()).reply).toMatchObject({ amount: 5000, dueDate: '2026-03-20' })
  expect((await change(vikram, { amount: 1 }, 'nonsense')).problem?.meanwhile).toMatchObject({ by: 'Vikram Menon', self: true })
  // A proxy makes tags weak, and a list of them is enough.
  for (const tag of [`W/${tagOfInvoice(theirs.reply)}`, `"old", ${tagOfInvoice({ ...created, version: 3 })}`, '*', undefined])
    expect((await change(owner, { amount: tag === undefined ? 5000 : 6000 }, tag)).status).toBe(200)
  // Of a change that changes nothing the version stays, and the third request above was one.
  expect((await read()).reply).toMatchObject({ amount: 5000, version: created.version + 3 })
})

test('email templates and reminder settings have an ETag too: another If-Match answers 409, without it the last one wins', async () => {
  await using app = await openTestApp({ now: '2026-03-01T06:12:00Z' })
  const { owner, vikram, within } = await twoPeople(app)
  await ask(app, owner, teamCalls.changeMember, { params: { personId: String(vikram.personId) }, body: { role: 'admin' } }, within)
  const matching = (tag: unknown) => ({ ...within, 'if-match': String(tag) })
  const refused = (what: string, version: string) => ({
    status: 409,
    problem: {
      code: 'changed_meanwhile',
      message: `Vikram Menon changed ${what} at 11:42.`,
      meanwhile: { version, by: 'Vikram Menon', at: '2026-03-01T06:12:00Z', self: false },
    },
  })

  const german = { query: { language: 'de' } }
  const template = await ask(app, owner, templateCalls.read, german, within)
  const tag = template.headers.etag
  const save = (by: Person, customSubject: string, headers = within) =>
    ask(app, by, templateCalls.save, { ...german, body: { customSubject } }, headers)
  const theirs = await save(vikram, 'Von Vikram', matching(tag))
  expect(theirs).toMatchObject({ status: 200, headers: { etag: `"${theirs.reply.version}"` } })
  await ask(app, owner, templateCalls.saveGroup, { ...german, body: { customSubject: 'Alle' } }, within)
  expect(await save(owner, 'Von Asha', matching(tag))).toMatchObject(refused('this email', theirs.reply.version))
  expect((await save(vikram, 'Noch einmal', matching(tag))).problem?.meanwhile).toMatchObject({ self: true })
  expect((await save(owner, 'Von Asha')).reply).toMatchObject({ customSubject: 'Von Asha' })

  const { headers } = await ask(app, owner, reminderCalls.settings, {}, within)
  const set = (by: Person, holdMinutes: 5 | 10, sent = within) =>
    ask(app, by, reminderCalls.changeSettings, { body: { holdMinutes } }, sent)
  const settings = await set(vikram, 5, matching(headers.etag))
  expect(settings).toMatchObject({ status: 200, headers: { etag: `"${settings.reply.version}"` } })
  expect(await set(owner, 10, matching(headers.etag))).toMatchObject(refused('these settings', settings.reply.version))
  expect((await set(owner, 10, matching(settings.headers.etag))).reply).toMatchObject({ holdMinutes: 10 })
  expect((await set(vikram, 5)).reply).toMatchObject({ holdMinutes: 5 })
})

test('midnight, emails, pauses and their ends leave the version of an open form; a payment raises it', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:00:00Z' })
  const { owner, within, created, change, read } = await twoPeople(app)
  await ask(app, owner, invoiceCalls.pause, { params: { id: created._id }, body: { paused: true } }, within)
  app.clock.set('2026-03-02T18:31:00Z')
  await app.runJobs()
  expect((await read()).reply).toMatchObject({ status: 'overdue', version: created.version })
  expect((await change(owner, { amount: 6000 }, tagOfInvoice(created))).reply).toMatchObject({ amount: 6000, status: 'overdue' })
  const { version } = (await read()).reply
  await change(owner, { status: 'unpaid' })
  await change(owner, { status: 'overdue' })
  await change(owner, { status: 'paid' })
  expect((await read()).reply.version).toBe(version + 3)
})

test('the history names who changed what: a person as long as they have an account, and a program in a person’s name', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:00:00Z' })
  const { owner, vikram, within, created, change } = await twoPeople(app)
  await change(vikram, { dueDate: '2026-03-20', amount: 5500 })
  const key = await ask(app, owner, integrationCalls.addKey, { body: { name: 'Robot', scopes: ['read', 'write'] } }, within)
  await change({ token: key.reply.key }, { reference: 'R-1' })
  const history = async () =>
    (await ask(app, owner, reminderCalls.history, { params: { id: created._id } }, within)).reply.changes.map(
      ({ by, field, before, after }) => [by, field, before, after],
    )
  expect(await history()).toEqual([
    ['Robot (Asha Rao)', 'reference', 'INV-0001', 'R-1'],
    ['Vikram Menon', 'due_date', '2026-03-02', '2026-03-20'],
    ['Vikram Menon', 'amount', '5000', '5500'],
    ['Asha Rao', 'created', null, null],
  ])
  await ask(app, owner, teamCalls.removeMember, { params: { personId: String(vikram.personId) }, body: {} }, within)
  expect((await history())[1]).toEqual(['Vikram Menon', 'due_date', '2026-03-02', '2026-03-20'])
  await ask(app, vikram, accountCalls.deleteMe)
  expect((await history())[1]).toEqual(['a former member', 'due_date', '2026-03-02', '2026-03-20'])
})

test('notes are kept with their author, never edited, and only the business itself reads them', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:00:00Z' })
  const { owner, vikram, within, created } = await twoPeople(app)
  const about = { params: { id: created._id } }
  const add = (by: Person, text: string) => ask(app, by, noteCalls.add, { ...about, body: { text } }, within)
  expect((await add(owner, ' Called Kaveri. ')).reply).toMatchObject({ by: 'Asha Rao', text: 'Called Kaveri.', at: '2026-03-02T06:00:00Z' })
  expect((await add(vikram, 'They\npay on Friday.')).status).toBe(201)
  for (const text of ['', 'a'.repeat(2001), 'bell\u0007'])
    expect((await add(owner, text)).problem?.errors).toMatchObject([{ path: 'text' }])
  await expect(app.db.update(invoiceNotes).set({ text: 'Something else' })).rejects.toThrow()
  const notes = [
    { by: 'Vikram Menon', text: 'They\npay on Friday.' },
    { by: 'Asha Rao', text: 'Called Kaveri.' },
  ]
  expect((await ask(app, owner, noteCalls.list, about, within)).reply).toMatchObject(notes)
  expect((await ask(app, vikram, reminderCalls.history, about, within)).reply.notes).toMatchObject(notes)
  expect((await ask(app, await aPerson(app), noteCalls.list, about)).status).toBe(404)
  await ask(app, owner, invoiceCalls.remove, about, within)
  expect((await add(owner, 'Too late.')).status).toBe(404)
})

test('an invoice has at most 200 notes', async () => {
  await using app = await openTestApp()
  const { owner, _id } = await anInvoice(app)
  const add = () => ask(app, owner, noteCalls.add, { params: { id: _id }, body: { text: 'Called Kaveri.' } })
  expect((await add()).status).toBe(201)
  const more = sql`INSERT INTO invoice_notes SELECT owner_id, gen_random_uuid(), invoice_id, at, person_id, program, text FROM invoice_notes, generate_series(1, 198)`
  await app.db.execute(more)
  expect((await Promise.all([add(), add()])).map(({ status }) => status).toSorted()).toEqual([201, 409])
  expect((await add()).problem).toEqual({ code: 'conflict', message: 'An invoice can have 200 notes, and this one has that many.' })
})
