import { expect, test } from 'vitest'
import { webhookEvent, webhookPayload } from '../../contract/integrations.ts'
import { invoice } from '../../contract/invoices.ts'
import { recorded } from '../../contract/payments.ts'
import { runAnswer } from '../../contract/reminders.ts'
import app from '../index.js'
import { play, validate } from './platform.ts'

test('the platform accepts the definition of the app', async () => {
  expect(await validate(app)).toEqual([])
})

test('the platform rejects an invalid definition', async () => {
  expect(await validate({ ...app, platformVersion: 'the latest' })).not.toEqual([])
})

const triggers = Object.values(app.triggers)

test('each event of Duely has a trigger', () => {
  expect(triggers.map(({ operation }) => operation.sample.type).sort()).toEqual([...webhookEvent.options].sort())
})

test.each(triggers)('$display.label: the sample matches a webhook payload, and each of its fields has a label', ({ operation }) => {
  const { sample, outputFields } = operation
  expect(webhookPayload.parse(sample)).toEqual(sample)
  // These are null or an object: a sample cannot have both.
  const always = (key: string) => !/(?:pause|notDelivered|addressHold)(?:__|$)/.test(key)
  const labelled = outputFields.map(({ key }) => key).filter(always)
  expect(labelled.toSorted()).toEqual(leaves(sample).filter(always).toSorted())
})

test.each(triggers)('$display.label: a test event from Duely’s screen starts no Zap', async ({ key, operation }) => {
  const test = { id: '019caccf-8f44-7b90-8c3d-2e6a1f95d7c8', type: 'test', timestamp: '2026-03-02T04:30:00Z', data: {} }
  const arrived = (cleanedRequest: object) => play(`triggers.${key}.operation.perform`, { cleanedRequest })
  expect(await arrived(test)).toEqual([])
  expect(await arrived(operation.sample)).toEqual([operation.sample])
})

test('actions and the search return the shape of their samples', () => {
  const { create_invoice, mark_invoice_paid, record_payment, trigger_reminders } = app.creates
  for (const { operation } of [create_invoice, mark_invoice_paid, app.searches.find_invoice])
    expect(invoice.parse(operation.sample)).toEqual(operation.sample)
  const { id: _, ...sample } = record_payment.operation.sample as { id: string }
  expect(recorded.parse(sample)).toEqual(sample)
  expect(runAnswer.parse(trigger_reminders.operation.sample)).toEqual(trigger_reminders.operation.sample)
})

/** The field keys that Zapier derives from an object. */
function leaves(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return leaves(value[0], `${path}[]`)
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, one]) =>
    leaves(one, path === '' || path.endsWith('[]') ? `${path}${key}` : `${path}__${key}`),
  )
}
