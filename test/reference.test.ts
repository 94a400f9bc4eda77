import { readFileSync } from 'node:fs'
import path from 'node:path'
import { validate } from '@scalar/openapi-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Call } from '#contract/call.ts'
import { everyCall } from '#contract/index.ts'
import { integrationCalls, isOpenTo } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { leavingCalls } from '#contract/leaving.ts'
import { paymentCalls } from '#contract/payments.ts'
import { problem, problemStatus } from '#contract/problem.ts'
import { explainedCalls, explainedEvents } from '#contract/reference.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls, sequenceDraft } from '#contract/sequences.ts'
import { templateCalls } from '#contract/templates.ts'
import { accounts } from '#server/accounts/tables.ts'
import { makeReference, refusalsOf } from '#server/platform/reference.ts'
import { anInvoice, anOffice } from './factories.ts'
import { ask } from './harness.ts'
import { aKey, connect, zapier, zapierItself } from './programs.ts'

type Office = Awaited<ReturnType<typeof anOffice>>

const written = path.join(import.meta.dirname, '../docs/openapi.json')
const reference = makeReference('http://localhost:3000')

test('the reference has every call that API clients may make, and no other', () => {
  const open = everyCall.filter((call) => isOpenTo('application', call) || isOpenTo('key', call))
  expect(new Set(explainedCalls.map(({ call }) => call))).toEqual(new Set(open))
  expect(explainedCalls).toHaveLength(open.length)
})

test('docs/openapi.json matches the contract; if not: npm run reference', () => {
  expect(JSON.parse(readFileSync(written, 'utf8'))).toEqual(reference)
})

test('docs/openapi.json is valid OpenAPI 3.1', async () => {
  const { valid, version, errors } = await validate(readFileSync(written, 'utf8'))
  expect({ valid, version, errors: errors ?? [] }).toEqual({ valid: true, version: '3.1', errors: [] })
})

test('the server serves the reference with its own address', async () => {
  await using office = await anOffice({ now: today })
  const answered = await office.app.app.inject('/openapi.json')
  expect(answered.statusCode).toBe(200)
  expect(answered.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(answered.json()).toEqual(makeReference(office.app.deps.config.publicUrl))
})

/** As much of an operation as is looked at here. */
const operation = z.object({
  operationId: z.string().min(3),
  summary: z.string().min(3),
  parameters: z
    .array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean().optional(), description: z.string().min(5) }))
    .default([]),
  requestBody: z
    .object({ content: z.record(z.string(), z.object({ schema: z.unknown().optional(), example: z.unknown().optional() })) })
    .optional(),
  responses: z.record(
    z.string(),
    z
      .object({ $ref: z.string() })
      .or(z.looseObject({ description: z.string().min(5), content: z.record(z.string(), z.unknown()).optional() })),
  ),
})

function operationOf({ method, path: place }: Call): z.output<typeof operation> {
  const paths = z.record(z.string(), z.record(z.string(), z.unknown())).parse(reference.paths)
  return operation.parse(paths[place.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()])
}

const json = 'application/json'
const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema({ ...reference, $id: 'reference' })

/** The errors of a value by the schema at this place of the reference; none: []. */
function wrongBy(place: string[], value: unknown): unknown[] {
  const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
  const validate = ajv.compile({ $ref: `reference#/${pointer}` })
  return validate(value) ? [] : (validate.errors ?? [])
}

function placeOf({ method, path: place }: Call): string[] {
  return ['paths', place.replace(/:(\w+)/g, '{$1}'), method.toLowerCase()]
}

test.each(explainedCalls)('$name has a summary, an example of all that is sent and answered, and its errors', (explained) => {
  const { call, example } = explained
  const { parameters, requestBody, responses } = operationOf(call)
  expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(
    [...call.path.matchAll(/:(\w+)/g)].map(([, name]) => name),
  )
  expect(requestBody?.content[json]?.example).toEqual(call.body ? example.body : undefined)
  if (call.body) {
    expect(example.body).toBeDefined()
    expect(wrongBy([...placeOf(call), 'requestBody', 'content', json, 'schema'], example.body)).toEqual([])
  }
  expect(Object.keys(requestBody?.content ?? {})).toEqual(explained.pdf === 'sent' ? ['application/pdf'] : call.body ? [json] : [])
  if (call.reply && !explained.file) {
    expect(example.reply).toBeDefined()
    expect(wrongBy([...placeOf(call), 'responses', String(call.status), 'content', json, 'schema'], example.reply)).toEqual([])
  }
  for (const code of Object.keys(refusalsOf(explained)))
    expect(JSON.stringify(responses[problemStatus[problem.shape.code.parse(code)]]), code).toContain(code)
})

test.each(explainedEvents)('$example.type has an example that its schema allows', ({ example }) => {
  expect(wrongBy(['webhooks', example.type, 'post', 'requestBody', 'content', json, 'schema'], example)).toEqual([])
})

test('a value that a schema does not allow is reported', () => {
  const invoices = [...placeOf(invoiceCalls.read), 'responses', '200', 'content', json, 'schema']
  expect(wrongBy(invoices, { ...z.record(z.string(), z.unknown()).parse(exampleOf('getInvoice')), amount: '5' })).not.toEqual([])
})

function exampleOf(name: string): unknown {
  return explainedCalls.find((one) => one.name === name)?.example.reply
}

/** Ten o'clock in India, as in the examples. */
const today = '2026-03-02T04:30:00Z'
const kaveri = { amount: 12250.5, dueDate: '2026-02-20' }

/** What has to be there for an example to be true; answers what stands for the parameters in its path. */
type Given = (office: Office, program: { token: string }) => Promise<Record<string, string>>

const anInvoiceThere = async ({ app, asha }: Office) => ({ id: (await anInvoice(app, { owner: asha, ...kaveri }))._id })
const nothing: Given = async () => ({})
const anInvoiceOnly: Given = async (office) => {
  await anInvoiceThere(office)
  return {}
}
const aPaymentThere: Given = async (office, program) => {
  const { id } = await anInvoiceThere(office)
  const body = { amount: 5000, paidOn: '2026-03-01', method: 'upi' as const, reference: '606012345678' }
  const { reply } = await ask(office.app, program, paymentCalls.record, { params: { id }, body })
  return { id, pid: reply.payment._id }
}
const aSequenceThere: Given = async ({ app }, program) => {
  const body = sequenceDraft.parse(explainedCalls.find(({ name }) => name === 'createSequence')?.example.body)
  return { id: (await ask(app, program, sequenceCalls.create, { body })).reply._id }
}
/** The daily run of this moment, whose emails wait. */
async function aHeldRun(office: Office): Promise<string> {
  const { app, asha } = office
  await anInvoiceThere(office)
  await app.db
    .update(accounts)
    .set({ holdMinutes: 10, remindersActive: true, nextRunAt: app.clock.now(), nextRunFrom: '2026-03-02' })
    .where(eq(accounts.id, asha.id))
  await app.runJobs()
  return (await ask(app, asha, reminderCalls.runs, { query: {} })).reply[0]?._id ?? ''
}
async function aDayAhead(office: Office): Promise<{ date: string }> {
  const { app, asha } = office
  await anInvoiceThere(office)
  const nextRunAt = app.clock.now().add({ hours: 23 })
  await app.db.update(accounts).set({ remindersActive: true, nextRunAt, nextRunFrom: '2026-03-03' }).where(eq(accounts.id, asha.id))
  return { date: '2026-03-03' }
}
async function aRun(office: Office): Promise<string> {
  await anInvoiceThere(office)
  const { reply } = await office.app.whileJobsRun(ask(office.app, office.asha, reminderCalls.sendNow))
  return reply.runId ?? ''
}

const givens: Record<string, Given> = {
  getAccount: nothing,
  listInvoices: async (office) => {
    await anInvoiceThere(office)
    return anInvoiceThere(office)
  },
  createInvoice: nothing,
  getInvoice: anInvoiceThere,
  updateInvoice: anInvoiceThere,
  putInvoice: async () => ({ reference: 'INV-0001' }),
  deleteInvoice: anInvoiceThere,
  restoreInvoice: async (office) => {
    const { id } = await anInvoiceThere(office)
    await ask(office.app, office.asha, invoiceCalls.remove, { params: { id } })
    return { id }
  },
  pauseInvoice: anInvoiceThere,
  createPayLink: anInvoiceThere,
  revokePayLink: anInvoiceThere,
  putInvoiceFile: anInvoiceThere,
  getInvoiceFile: async (office, program) => {
    const given = await anInvoiceThere(office)
    const headers = { authorization: `Bearer ${program.token}`, 'content-type': 'application/pdf' }
    await office.app.app.inject({ method: 'PUT', url: `/invoice/${given.id}/file`, headers, payload: aPdf(200) })
    return given
  },
  deleteInvoiceFile: anInvoiceThere,
  getInvoiceEvidence: anInvoiceThere,
  getInvoiceHistory: async (office) => {
    const given = await anInvoiceThere(office)
    await office.app.whileJobsRun(ask(office.app, office.asha, reminderCalls.start))
    return given
  },
  listPayments: aPaymentThere,
  listNotes: anInvoiceThere,
  addNote: anInvoiceThere,
  recordPayment: anInvoiceThere,
  voidPayment: aPaymentThere,
  triggerReminders: anInvoiceOnly,
  reportBounce: async (office) => {
    await anInvoiceThere(office)
    await office.app.whileJobsRun(ask(office.app, office.asha, reminderCalls.start))
    const { messageId } = z
      .object({ messageId: z.string() })
      .parse(explainedCalls.find(({ name }) => name === 'reportBounce')?.example.body)
    await office.app.db.execute(sql`UPDATE deliveries SET message_id = ${messageId}`)
    return {}
  },
  sendReminders: anInvoiceOnly,
  startReminders: anInvoiceOnly,
  draftReminder: nothing,
  tryAddress: async (office) => {
    await anInvoiceThere(office)
    office.smtp.answer({ rcpt: () => '550 5.1.1 No such user' })
    await office.app.whileJobsRun(ask(office.app, office.asha, reminderCalls.sendNow))
    office.smtp.answer({})
    return {}
  },
  stopReminders: nothing,
  getReminderStatus: async (office) => {
    await anInvoiceThere(office)
    await office.app.whileJobsRun(ask(office.app, office.asha, reminderCalls.start))
    return {}
  },
  previewReminders: anInvoiceOnly,
  listRuns: async (office) => {
    await aRun(office)
    return {}
  },
  getRun: async (office) => ({ id: await aRun(office) }),
  cancelRun: async (office) => {
    await anInvoiceThere(office)
    office.smtp.answer({ rcpt: () => '450 4.2.1 Please try again later' })
    const { reply } = await office.app.whileJobsRun(ask(office.app, office.asha, reminderCalls.sendNow))
    return { id: reply.runId ?? '' }
  },
  retryRun: async (office) => {
    await anInvoiceThere(office)
    office.smtp.answer({ rcpt: () => '550 5.7.1 Not accepted' })
    await office.app.whileJobsRun(ask(office.app, office.asha, reminderCalls.sendNow))
    office.smtp.answer({})
    const { reply } = await ask(office.app, office.asha, reminderCalls.runs, { query: { limit: 1 } })
    return { id: reply[0]?._id ?? '' }
  },
  listLeaving: async (office) => ({ id: await aHeldRun(office) }),
  leaveOut: async (office) => ({ id: await aHeldRun(office) }),
  takeBack: async (office) => {
    const id = await aHeldRun(office)
    await ask(office.app, office.asha, leavingCalls.leaveOut, { params: { id }, body: {} })
    return { id }
  },
  leaveOutOnDay: aDayAhead,
  takeBackOnDay: async (office) => {
    const params = await aDayAhead(office)
    await ask(office.app, office.asha, leavingCalls.leaveOutOnDay, { params, body: {} })
    return params
  },
  sendRunNow: async (office) => ({ id: await aHeldRun(office) }),
  getSentMail: async (office) => {
    const { app, asha } = office
    const wording = { useCustomTemplate: true, customSubject: 'Invoice {{invoiceId}}' }
    const customContent = 'Dear {{clientName}},\n\n{{amount}} was due on {{dueDate}}.\n\n{{userName}}'
    await ask(app, asha, templateCalls.save, { body: { ...wording, customContent } })
    const { id } = await anInvoiceThere(office)
    await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
    const { reply } = await ask(app, asha, reminderCalls.history, { params: { id } })
    return { id: reply.mails[0]?._id ?? '' }
  },
  getReminderSettings: nothing,
  getSmartReminders: nothing,
  updateReminderSettings: nothing,
  listSequences: nothing,
  getSequence: aSequenceThere,
  createSequence: nothing,
  replaceSequence: aSequenceThere,
  deleteSequence: aSequenceThere,
  testSequence: aSequenceThere,
  chooseSequence: anInvoiceThere,
  getHolidays: nothing,
  replaceOwnDays: nothing,
  getPlan: nothing,
  simulateReminders: nothing,
  subscribe: nothing,
  unsubscribe: async ({ app }, zap) => {
    const body = { hookUrl: 'https://hooks.zapier.com/hooks/standard/1042/abc/', event: 'invoice.paid' as const }
    return { id: (await ask(app, zap, integrationCalls.addZap, { body })).reply.id }
  },
  getSample: async (office) => {
    await anInvoiceThere(office)
    return { event: 'invoice.created' }
  },
  resumeDeliveries: nothing,
  pauseDeliveries: nothing,
  getDeliveries: async ({ app, asha }) => {
    await ask(app, asha, integrationCalls.subscribe)
    return {}
  },
}

const aPdf = (size: number) => Buffer.from('%PDF-1.7\n%%EOF\n'.padEnd(size), 'latin1')

test.each(explainedCalls)('$name: the example works, and is answered as it says', async ({ name, call, example, pdf, file }) => {
  await using office = await anOffice({ now: today, person: { email: 'asha@example.com' }, config: { zapier } })
  const { app, asha } = office
  const given = givens[name]
  if (!given) throw new Error(`What has to be there for the example of ${name}?`)
  const program = isOpenTo('key', call) ? await aKey(app, asha) : await connect(app, asha, zapierItself)
  const params = await given(office, program)
  const answered = await app.whileJobsRun(
    app.app.inject({
      method: call.method,
      url: call.path.replace(/:(\w+)/g, (_all, part: string) => params[part] ?? ''),
      query: z.record(z.string(), z.coerce.string()).parse(example.query ?? {}),
      headers: {
        authorization: `Bearer ${program.token}`,
        ...example.headers,
        ...(pdf === 'sent' ? { 'content-type': 'application/pdf' } : {}),
      },
      ...(pdf === 'sent' ? { payload: aPdf(48_213) } : {}),
      ...(example.body === undefined ? {} : { payload: z.record(z.string(), z.unknown()).parse(example.body) }),
    }),
  )
  if (file) return expect([answered.statusCode, answered.headers['content-type']]).toEqual([200, file])
  const reply: unknown = answered.body === '' ? undefined : answered.json()
  expect({ status: answered.statusCode, reply: withIdsByOrder(reply) }).toEqual({
    status: call.status,
    reply: withIdsByOrder(example.reply),
  })
  if (call.reply) expect(wrongBy([...placeOf(call), 'responses', String(call.status), 'content', json, 'schema'], reply)).toEqual([])
})

/** Ids differ on each run; only which of them are equal matters. */
function withIdsByOrder(value: unknown): unknown {
  const seen: string[] = []
  return JSON.parse(
    (JSON.stringify(value) ?? 'null')
      .replace(/https?:\/\/[^/"]+\/pay\/[\w-]{43}/g, 'a pay page')
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
        if (!seen.includes(id)) seen.push(id)
        return `id ${seen.indexOf(id)}`
      }),
  )
}
