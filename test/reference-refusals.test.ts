// Also on PostgreSQL: unique indexes and locks refuse.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import type { Call, CallInput } from '#contract/call.ts'
import { evidenceCalls } from '#contract/evidence.ts'
import { integrationCalls, isOpenTo, type Scope, scopeFor } from '#contract/integrations.ts'
import { invoiceCalls, noteCalls } from '#contract/invoices.ts'
import { leavingCalls } from '#contract/leaving.ts'
import { mailCalls } from '#contract/mail.ts'
import { invoiceFileCalls, payLinkCalls } from '#contract/pay-links.ts'
import { paymentCalls } from '#contract/payments.ts'
import { problem, problemStatus } from '#contract/problem.ts'
import { quietDayCalls } from '#contract/quiet-days.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { type Example, explainedCalls, limitHeaders } from '#contract/reference.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls, sequenceDraft } from '#contract/sequences.ts'
import { addKey } from '#server/integrations/keys.ts'
import { invoiceFiles } from '#server/pay/tables.ts'
import { newId } from '#server/platform/columns.ts'
import { aMailbox, anInvoice, anOffice, aPerson, aSequence, changePerson, type Person, seenBy, signedInAgain } from './factories.ts'
import { type Answered, ask, type TestApp } from './harness.ts'
import { aKey, connect, zapier, zapierItself } from './programs.ts'
import { openShop } from './shop.ts'
import { copyZap } from './webhooks.ts'

/*
 * Whatever the reference says a call may be refused for can really happen to it.
 */
const now = '2026-03-02T04:30:00Z'
type Office = Awaited<ReturnType<typeof anOffice>>
type Refused = (office: Office) => Promise<Answered<Call>>

const nothing = { params: undefined, query: undefined, body: undefined }
const kaveri = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 12250.5, dueDate: '2026-02-20' }

/** Nothing that is asked for exists. */
function findsNothing(call: Call, given?: object): Refused {
  return async ({ app, asha }) => {
    const program = await programFor(app, asha, call)
    const body = given ?? (call === invoiceCalls.pause ? { paused: true } : call.body && {})
    return ask(app, program, call, { params: { id: newId(), pid: newId() }, query: undefined, body })
  }
}

const anyInvoice = async ({ app, asha }: Office) => (await anInvoice(app, { owner: asha }))._id

function fileFor(invoice: (office: Office) => Promise<string>, bytes: string): Refused {
  return async (office) => {
    const given = { params: { id: await invoice(office) }, query: undefined, body: Buffer.from(bytes) }
    return ask(office.app, office.asha, invoiceFileCalls.save as Call, given, { 'content-type': 'application/pdf' })
  }
}

const takenReference = (again: (office: Office, ids: { one: string; other: string }) => Promise<Answered<Call>>): Refused => {
  return async (office) => {
    const { app, asha } = office
    const one = await anInvoice(app, { owner: asha, reference: 'A-1' })
    const other = await anInvoice(app, { owner: asha, reference: 'A-2' })
    return again(office, { one: one._id, other: other._id })
  }
}

const withoutMailbox =
  (call: Call): Refused =>
  async ({ app }) =>
    ask(app, await aPerson(app), call, nothing)

const allRefused =
  (call: Call): Refused =>
  async ({ app, asha, smtp }) => {
    await anInvoice(app, { owner: asha })
    smtp.answer({ rcpt: () => '550 5.1.1 No such user' })
    return app.whileJobsRun(ask(app, asha, call, nothing))
  }

const aClient = { clientEmail: kaveri.clientEmail }

const retryAfter =
  (change: (office: Office) => Promise<unknown>): Refused =>
  async (office) => {
    const { app, asha, smtp } = office
    await anInvoice(app, { owner: asha })
    smtp.answer({ rcpt: () => '550 5.7.1 Not accepted' })
    await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
    const { reply } = await ask(app, asha, reminderCalls.runs, { query: {} })
    await change(office)
    return app.whileJobsRun(ask(app, asha, reminderCalls.retryRun, { params: { id: reply[0]?._id ?? '' } }))
  }

/** The run was made by hand. */
const notDaily =
  (call: Call): Refused =>
  async ({ app, asha }) => {
    await anInvoice(app, { owner: asha })
    const { reply } = await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
    return ask(app, asha, call, { params: { id: reply.runId ?? '' }, query: undefined, body: call.body && {} })
  }

const onPastDay =
  (call: Call): Refused =>
  ({ app, asha }) =>
    ask(app, asha, call, { params: { date: '2026-03-01' }, query: undefined, body: {} })

/** The server can send email of its own, and the owner has not opened the link. */
const unconfirmed =
  (call: typeof reminderCalls.sendNow | typeof reminderCalls.start | typeof integrationCalls.trigger): Refused =>
  async ({ app, asha }) => {
    await unconfirm(app, asha)
    return ask(app, asha, call)
  }

async function unconfirm(app: TestApp, person: Person): Promise<void> {
  Object.assign(app.deps.config, { systemSmtpUrl: 'smtp://127.0.0.1:1', systemMailFrom: 'hello@duely.example' })
  await changePerson(app, person, { emailVerifiedAt: null })
}

/** An account on Free whose trial of Pro is over, where plans are sold. */
const onFree =
  (then: (app: TestApp, person: Person) => Promise<Answered<Call>>): Refused =>
  async ({ smtp }) => {
    await using shop = await openShop({ now })
    const person = await aPerson(shop.app)
    await aMailbox(shop.app, person, smtp)
    shop.app.clock.advance({ hours: 15 * 24 })
    return await then(shop.app, await signedInAgain(shop.app, person))
  }

const closed = { date: '2026-12-24', name: 'Office party', open: false }
const aDraft = { name: 'Ours', steps: [newStep(1, 'friendly')] }

/** Choosing a sequence. */
function choosing(choose: (app: TestApp, person: Person, body: { sequence: string; fingerprint?: string }) => Promise<Answered<Call>>) {
  return {
    not_found: ({ app, asha }: Office) => choose(app, asha, { sequence: newId() }),
    plan_limit: onFree((app, person) => choose(app, person, { sequence: 'never' })),
    plan_changed: ({ app, asha }: Office) => choose(app, asha, { sequence: 'never', fingerprint: 'older' }),
  }
}

const refusedBy: Record<string, Record<string, Refused>> = {
  createInvoice: {
    conflict: takenReference(({ app, asha }) => ask(app, asha, invoiceCalls.create, { body: { ...kaveri, reference: 'A-1' } })),
    plan_limit: onFree(async (app, person) => {
      await ask(app, person, invoiceCalls.import, { body: { lines: Array(50).fill(kaveri), keepDuplicates: true } })
      return ask(app, person, invoiceCalls.create, { body: kaveri })
    }),
  },
  getInvoice: { not_found: findsNothing(invoiceCalls.read) },
  updateInvoice: {
    not_found: findsNothing(invoiceCalls.update),
    changed_meanwhile: async ({ app, asha }: Office) => {
      const { _id } = await anInvoice(app, { owner: asha })
      return ask(app, asha, invoiceCalls.update, { params: { id: _id }, body: {} }, { 'if-match': '"earlier"' })
    },
    conflict: takenReference(({ app, asha }, { other }) =>
      ask(app, asha, invoiceCalls.update, { params: { id: other }, body: { reference: 'A-1' } }),
    ),
  },
  putInvoice: {
    conflict: async ({ app, asha }) => {
      await anInvoice(app, { owner: asha, reference: 'A-1' })
      return ask(app, asha, invoiceCalls.put, { params: { reference: 'A-1' }, body: { ...kaveri, currency: 'EUR' } })
    },
    plan_limit: onFree(async (app, person) => {
      await ask(app, person, invoiceCalls.import, { body: { lines: Array(50).fill(kaveri), keepDuplicates: true } })
      return ask(app, person, invoiceCalls.put, { params: { reference: 'A-1' }, body: kaveri })
    }),
  },
  deleteInvoice: { not_found: findsNothing(invoiceCalls.remove) },
  restoreInvoice: {
    not_found: findsNothing(invoiceCalls.restore),
    conflict: takenReference(async ({ app, asha }, { one, other }) => {
      await ask(app, asha, invoiceCalls.remove, { params: { id: one } })
      await ask(app, asha, invoiceCalls.update, { params: { id: other }, body: { reference: 'A-1' } })
      return ask(app, asha, invoiceCalls.restore, { params: { id: one } })
    }),
  },
  pauseInvoice: { not_found: findsNothing(invoiceCalls.pause) },
  createPayLink: { not_found: findsNothing(payLinkCalls.create) },
  revokePayLink: { not_found: findsNothing(payLinkCalls.revoke) },
  putInvoiceFile: {
    not_found: fileFor(async () => newId(), '%PDF-1.7 %%EOF'),
    invalid: fileFor(anyInvoice, '<html>'),
    too_large: fileFor(anyInvoice, '%PDF-1.7 %%EOF'.padEnd(3 * 1024 * 1024 + 1)),
    conflict: fileFor(async (office) => {
      const id = await anyInvoice(office)
      await fileFor(async () => id, '%PDF-1.7 %%EOF')(office)
      await office.app.db.update(invoiceFiles).set({ size: 200 * 1024 * 1024 })
      return anyInvoice(office)
    }, '%PDF-1.7 %%EOF'),
  },
  getInvoiceFile: { not_found: findsNothing(invoiceFileCalls.read) },
  deleteInvoiceFile: { not_found: findsNothing(invoiceFileCalls.remove) },
  getInvoiceEvidence: { not_found: findsNothing(evidenceCalls.download) },
  getInvoiceHistory: { not_found: findsNothing(reminderCalls.history) },
  listPayments: { not_found: findsNothing(paymentCalls.list) },
  listNotes: { not_found: findsNothing(noteCalls.list) },
  addNote: {
    not_found: findsNothing(noteCalls.add, { text: 'Called.' }),
    conflict: async ({ app, asha }) => {
      const note = { params: { id: (await anInvoice(app, { owner: asha }))._id }, body: { text: 'Called.' } }
      await ask(app, asha, noteCalls.add, note)
      await app.db.execute(
        sql`INSERT INTO invoice_notes SELECT owner_id, gen_random_uuid(), invoice_id, at, person_id, program, text FROM invoice_notes, generate_series(1, 199)`,
      )
      return ask(app, asha, noteCalls.add, note)
    },
  },
  recordPayment: {
    not_found: findsNothing(paymentCalls.record, { amount: 5 }),
    conflict: async ({ app, asha }) => {
      const key = { 'idempotency-key': 'utr-1' }
      const params = { id: (await anInvoice(app, { owner: asha }))._id }
      await ask(app, asha, paymentCalls.record, { params, body: { amount: 5 } }, key)
      return ask(app, asha, paymentCalls.record, { params, body: { amount: 6 } }, key)
    },
  },
  voidPayment: {
    not_found: findsNothing(paymentCalls.takeBack),
    conflict: async ({ app, asha }) => {
      const params = { id: (await anInvoice(app, { owner: asha }))._id }
      const { reply } = await ask(app, asha, paymentCalls.record, { params, body: { amount: 5 } })
      await ask(app, asha, paymentCalls.record, { params, body: { kind: 'refund', amount: 5 } })
      return ask(app, asha, paymentCalls.takeBack, { params: { ...params, pid: reply.payment._id } })
    },
  },
  triggerReminders: {
    mail_not_configured: withoutMailbox(integrationCalls.trigger),
    email_not_confirmed: unconfirmed(integrationCalls.trigger),
    mail_refused: allRefused(integrationCalls.trigger),
  },
  reportBounce: { not_found: findsNothing(integrationCalls.bounce, { messageId: '<rem.1@example.com>' }) },
  sendReminders: {
    mail_not_configured: withoutMailbox(reminderCalls.sendNow),
    email_not_confirmed: unconfirmed(reminderCalls.sendNow),
    mail_refused: allRefused(reminderCalls.sendNow),
    conflict: async ({ app, asha }) => ask(app, asha, reminderCalls.sendNow, { body: { invoiceIds: [newId()] } }),
  },
  tryAddress: {
    email_not_confirmed: async ({ app, asha }) => {
      await unconfirm(app, asha)
      return ask(app, asha, reminderCalls.tryAddress, { body: aClient })
    },
    mail_not_configured: async ({ app }) => ask(app, await aPerson(app), reminderCalls.tryAddress, { body: aClient }),
    mail_refused: async (office) => {
      await allRefused(reminderCalls.sendNow)(office)
      return office.app.whileJobsRun(ask(office.app, office.asha, reminderCalls.tryAddress, { body: aClient }))
    },
    not_found: async ({ app, asha }) => ask(app, asha, reminderCalls.tryAddress, { body: aClient }),
  },
  startReminders: {
    mail_not_configured: withoutMailbox(reminderCalls.start),
    email_not_confirmed: unconfirmed(reminderCalls.start),
    mail_refused: allRefused(reminderCalls.start),
    plan_limit: onFree((app, person) => ask(app, person, reminderCalls.start)),
  },
  getRun: { not_found: findsNothing(reminderCalls.run) },
  cancelRun: { not_found: findsNothing(reminderCalls.cancelRun) },
  listLeaving: { not_found: findsNothing(leavingCalls.mails) },
  leaveOut: { not_found: findsNothing(leavingCalls.leaveOut), conflict: notDaily(leavingCalls.leaveOut) },
  takeBack: { not_found: findsNothing(leavingCalls.takeBack), conflict: notDaily(leavingCalls.takeBack) },
  leaveOutOnDay: { conflict: onPastDay(leavingCalls.leaveOutOnDay) },
  takeBackOnDay: { conflict: onPastDay(leavingCalls.takeBackOnDay) },
  sendRunNow: { not_found: findsNothing(leavingCalls.sendNow), conflict: notDaily(leavingCalls.sendNow) },
  retryRun: {
    not_found: findsNothing(reminderCalls.retryRun),
    mail_not_configured: retryAfter(({ app, asha }) => ask(app, asha, mailCalls.remove)),
    email_not_confirmed: retryAfter(({ app, asha }) => unconfirm(app, asha)),
    mail_refused: retryAfter(async () => {}),
  },
  getSentMail: { not_found: findsNothing(reminderCalls.mail) },
  updateReminderSettings: {
    ...choosing((app, person, body) => ask(app, person, reminderCalls.changeSettings, { body })),
    changed_meanwhile: ({ app, asha }) => ask(app, asha, reminderCalls.changeSettings, { body: {} }, { 'if-match': '"earlier"' }),
  },
  chooseSequence: choosing(async (app, person, body) => {
    const { _id: id } = await anInvoice(app, { owner: person })
    return ask(app, person, sequenceCalls.assign, { params: { id }, body })
  }),
  getSequence: { not_found: findsNothing(sequenceCalls.read) },
  replaceOwnDays: {
    plan_limit: onFree((app, person) => ask(app, person, quietDayCalls.replaceOwnDays, { body: { days: [closed] } })),
    plan_changed: ({ app, asha }) => ask(app, asha, quietDayCalls.replaceOwnDays, { body: { days: [closed], fingerprint: 'older' } }),
  },
  createSequence: {
    plan_limit: onFree((app, person) => ask(app, person, sequenceCalls.create, { body: aDraft })),
    conflict: async ({ app, asha }) => {
      for (let nth = 0; nth < 20; nth += 1) await ask(app, asha, sequenceCalls.create, { body: aDraft })
      return ask(app, asha, sequenceCalls.create, { body: aDraft })
    },
  },
  replaceSequence: {
    not_found: findsNothing(sequenceCalls.replace, aDraft),
    plan_limit: onFree(async (app, person) => {
      const id = await aSequence(app, person, sequenceDraft.parse(aDraft))
      return ask(app, person, sequenceCalls.replace, { params: { id }, body: aDraft })
    }),
    plan_changed: async ({ app, asha }) => {
      const { reply } = await ask(app, asha, sequenceCalls.create, { body: aDraft })
      return ask(app, asha, sequenceCalls.replace, { params: { id: reply._id }, body: { ...aDraft, fingerprint: 'older' } })
    },
    changed_meanwhile: async ({ app, asha }) => {
      const params = { id: await aSequence(app, asha, sequenceDraft.parse(aDraft)) }
      const { headers } = await ask(app, asha, sequenceCalls.read, { params })
      await ask(app, asha, sequenceCalls.replace, { params, body: { ...aDraft, name: 'Gently' } })
      return ask(app, asha, sequenceCalls.replace, { params, body: aDraft }, { 'if-match': String(headers.etag) })
    },
    conflict: async ({ app, asha }) => {
      const params = { id: await aSequence(app, asha, sequenceDraft.parse(aDraft)) }
      await app.db.execute(
        sql`INSERT INTO step_texts (owner_id, sequence_id, "offset", language, subject, content, group_subject, group_content)
            SELECT owner_id, sequence_id, "offset", 'de-a' || 1000 + n, subject, content, group_subject, group_content FROM step_texts, generate_series(1, 19) n`,
      )
      return ask(app, asha, sequenceCalls.replace, { params, query: { language: 'it' }, body: aDraft })
    },
  },
  deleteSequence: {
    not_found: findsNothing(sequenceCalls.remove),
    conflict: async ({ app, asha }) => {
      const id = await aSequence(app, asha, sequenceDraft.parse(aDraft))
      return ask(app, asha, sequenceCalls.remove, { params: { id }, query: {} })
    },
  },
  testSequence: {
    not_found: findsNothing(sequenceCalls.test, { offset: 3 }),
    mail_not_configured: async ({ app }) => {
      const person = await aPerson(app)
      const { reply } = await ask(app, person, sequenceCalls.create, { body: aDraft })
      return ask(app, person, sequenceCalls.test, { params: { id: reply._id }, body: { offset: 1 } })
    },
    mail_refused: async ({ app, asha, smtp }) => {
      const { reply } = await ask(app, asha, sequenceCalls.create, { body: aDraft })
      smtp.answer({ rcpt: () => '550 5.7.1 Not accepted' })
      return ask(app, asha, sequenceCalls.test, { params: { id: reply._id }, body: { offset: 1 } })
    },
  },
  subscribe: {
    conflict: async ({ app, asha }) => {
      const zap = await connect(app, asha, zapierItself)
      const hook = (nth: number) => ({ body: { hookUrl: `https://hooks.zapier.com/${nth}`, event: 'invoice.paid' as const } })
      await ask(app, zap, integrationCalls.addZap, hook(0))
      await copyZap(app, 99)
      return ask(app, zap, integrationCalls.addZap, hook(100))
    },
  },
  unsubscribe: { not_found: findsNothing(integrationCalls.removeZap) },
  getSample: {
    invalid: async ({ app, asha }) => {
      const zap = await connect(app, asha, zapierItself)
      const { statusCode, headers, ...said } = await app.app.inject({
        url: '/zapier/hooks/sample/invoice.lost',
        headers: { authorization: `Bearer ${zap.token}` },
      })
      return { status: statusCode, reply: undefined, problem: problem.parse(said.json()), headers }
    },
  },
}

const claims = explainedCalls.flatMap(({ name, refusals }) =>
  Object.keys(refusals).map((code) => [name, problem.shape.code.parse(code)] as const),
)

test('every tried refusal is in the reference', () => {
  const tried = Object.entries(refusedBy).flatMap(([name, codes]) => Object.keys(codes).map((code) => [name, code]))
  expect(tried.map(String).toSorted()).toEqual(claims.map(String).toSorted())
})

test.each(claims)('%s can be refused with %s', async (name, code) => {
  await using office = await anOffice({ now, config: { zapier } })
  const answered = await refusedBy[name]?.[code]?.(office)
  expect({ status: answered?.status, code: answered?.problem?.code }).toEqual({ status: problemStatus[code], code })
})

test('the scope read changes nothing, and the scope write reads nothing', async () => {
  await using office = await anOffice({ now, config: { zapier } })
  const { app, asha } = office
  const wrong: string[] = []
  const keys = { read: await aKey(app, asha, ['read']), write: await aKey(app, asha, ['write']) }
  for (const { name, call, example } of explainedCalls) {
    const scope: Scope = scopeFor(call) === 'read' ? 'write' : 'read'
    const program = isOpenTo('key', call) ? keys[scope] : await connect(app, asha, zapierItself, [scope])
    const { status, problem } = await ask(app, program, call, partsOf(example))
    if (status !== 403 || problem?.code !== 'not_allowed') wrong.push(`${name}: ${status} ${problem?.code}`)
  }
  expect(wrong).toEqual([])
})

// The trigger had no body once, and programs send it what they like.
test('unknown and oversized input is refused', async () => {
  await using office = await anOffice({ now, config: { zapier } })
  const { app, asha } = office
  const wrong: string[] = []
  for (const { name, call, example } of explainedCalls.filter(({ call }) => call.body || call.query)) {
    const program = await programFor(app, asha, call)
    const tell = async (body: object, status: number, code: string) => {
      const parts = call.body ? { ...partsOf(example), body } : { ...partsOf(example), query: { unknown: 'true' } }
      const answered = await ask(app, program, call, parts)
      if (answered.status !== status || answered.problem?.code !== code) wrong.push(`${name}: ${answered.status} ${answered.problem?.code}`)
    }
    if (call !== integrationCalls.trigger) await tell({ unknown: true }, 400, 'invalid')
    if (call.body) await tell({ unknown: 'long '.repeat(250_000) }, 413, 'too_large')
  }
  expect(wrong).toEqual([])
})

test('a key needs a plan with API access where plans are sold, an OAuth app does not', async () => {
  await using shop = await openShop({ now, config: { zapier } })
  const { app } = shop
  const asha = await aPerson(app)
  // Made while nothing was sold here yet.
  const unsold = { ...app.deps, config: { ...app.deps.config, razorpay: null } }
  const draft = { name: 'Nightly job', scopes: ['read' as const], expiresInDays: null }
  const { key } = await addKey(unsold, await seenBy(app, asha), draft, { address: '127.0.0.1', userAgent: '' }, app.clock.now())
  const wrong: string[] = []
  for (const { name, call, example } of explainedCalls.filter(({ call }) => isOpenTo('key', call) && scopeFor(call) === 'read')) {
    const { status, problem } = await ask(app, { token: key }, call, partsOf(example))
    if (status !== 402 || problem?.code !== 'plan_limit') wrong.push(`${name}: ${status} ${problem?.code}`)
  }
  expect(wrong).toEqual([])
  expect((await ask(app, await connect(app, asha, zapierItself), integrationCalls.me)).status).toBe(200)
})

test('too many calls get the time to wait, and every reply has the limit', async () => {
  await using office = await anOffice({ now, config: { rateLimit: true } })
  const { app, asha } = office
  const key = await aKey(app, asha)
  const { headers } = await ask(app, key, integrationCalls.me)
  for (const { name, example } of limitHeaders.slice(0, 2)) expect([name, String(headers[name.toLowerCase()])]).toEqual([name, example])
  for (let left = 119; left > 0; left -= 1) await ask(app, key, integrationCalls.me)
  const refused = await ask(app, key, integrationCalls.me)
  expect({ status: refused.status, code: refused.problem?.code }).toEqual({ status: 429, code: 'too_many' })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
})

/** An API client that may make this call. */
function programFor(app: TestApp, person: Person, call: Call): Promise<{ token: string }> {
  return isOpenTo('key', call) ? aKey(app, person) : connect(app, person, zapierItself)
}

/** The parts of an example as they are sent. */
function partsOf({ params, query, body }: Example): CallInput<Call> {
  return { params, query, body }
}
