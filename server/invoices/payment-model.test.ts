// Also on PostgreSQL: the deferred trigger compares each of these acts.
import { expect, test } from 'vitest'
import { aPerson } from '#test/factories.ts'
import { openTestApp } from '#test/harness.ts'
import { playPaymentActs } from '#test/payment-model.ts'
import { seeded } from '#test/seeded.ts'
import { times } from '#test/thorough.ts'

// Takes 4 s: each act is a transaction, and is compared.
test('after random acts on payments, sums, status and dates are those of a model', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const { id } = await aPerson(app, { timezone: 'UTC' })
  const about = { ownerId: id, acts: times(200, 10_000), invoices: times(8, 40), random: seeded(20_260_302), config: app.deps.config }
  const { differences, refused } = await playPaymentActs(app.db, about)
  expect(differences).toEqual([])
  expect(refused).toBeGreaterThan(10)
})
