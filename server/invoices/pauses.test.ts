import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { anInvoice, aPerson } from '#test/factories.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { endPauses } from './pauses.ts'
import { clientPauses, invoices } from './tables.ts'

test('a pause that is extended while others end stays', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:30:00Z' })
  const asha = await aPerson(app)
  const scopes = { a: 'invoice', b: 'invoice', c: 'client', d: 'client' } as const
  for (const [name, scope] of Object.entries(scopes)) {
    const { _id: id } = await anInvoice(app, { owner: asha, reference: name, clientEmail: `${name}@example.com` })
    await ask(app, asha, invoiceCalls.pause, { params: { id }, body: { paused: true, until: '2026-03-05', promised: true, scope } })
  }
  app.clock.set('2026-03-05T18:31:00Z')
  const pausedUntil = '2026-03-20'
  let ended = 0
  await endPauses({
    ...app.deps,
    // The owner extends the next one at this moment.
    async sayNext(tx) {
      ended += 1
      if (ended === 1) await tx.update(invoices).set({ pausedUntil }).where(eq(invoices.reference, 'b'))
      else await tx.update(clientPauses).set({ pausedUntil }).where(eq(clientPauses.clientKey, 'd@example.com'))
      return { runs: false, next: 'Daily reminders are off.' }
    },
    onAnswerLapsed: async () => undefined,
  })
  const { reply } = await ask(app, asha, invoiceCalls.list, { query: {} })
  expect(reply.map(({ reference, pause }) => [reference, pause?.until ?? null])).toEqual([
    ['d', pausedUntil],
    ['c', null],
    ['b', pausedUntil],
    ['a', null],
  ])
  expect(ended).toBe(2)
  const { reply: clients } = await ask(app, asha, clientCalls.list)
  expect(clients.flatMap(({ email, pause }) => (pause === null ? [] : [email]))).toEqual(['d@example.com'])
})

test('a pause that fails does not delay the others, and is ended by the next call', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:30:00Z' })
  const [asha, ravi] = [await aPerson(app), await aPerson(app)]
  for (const [owner, scope] of [
    [ravi, 'invoice'],
    [ravi, 'client'],
    [asha, 'invoice'],
    [asha, 'client'],
  ] as const) {
    const { _id: id } = await anInvoice(app, { owner, clientEmail: `${scope}@example.com` })
    // Those of Ravi come first.
    const until = owner === ravi ? '2026-03-04' : '2026-03-05'
    await ask(app, owner, invoiceCalls.pause, { params: { id }, body: { paused: true, until, promised: true, scope } })
  }
  app.clock.set('2026-03-05T18:31:00Z')
  const end = (failing: string | null) =>
    endPauses({
      ...app.deps,
      sayNext: async (_tx, { id }) => {
        if (id === failing) throw new Error('What comes next is not known.')
        return { runs: false, next: 'Daily reminders are off.' }
      },
      onAnswerLapsed: async () => undefined,
    })
  const paused = async (owner: typeof asha) =>
    (await ask(app, owner, invoiceCalls.list, { query: {} })).reply.filter(({ pause }) => pause !== null).length
  await expect(end(ravi.id)).rejects.toThrow(AggregateError)
  expect([await paused(ravi), await paused(asha)]).toEqual([2, 0])
  await end(null)
  expect(await paused(ravi)).toBe(0)
})
