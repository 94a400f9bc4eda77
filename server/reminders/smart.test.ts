import { expect, test } from 'vitest'
import { compareSmart, type Effect, type Habit, madeReady } from '#test/paying-clients.ts'
import { times } from '#test/thorough.ts'
import { learnHazard, type Watched } from './hazard.ts'
import { chooseDay, isCompared } from './smart.ts'

const paidOn = (client: string, days: number[], from = -14): Watched[] => days.map((to) => ({ client, from, to, paid: true }))

/** An account with 20 paid invoices of others, most of them late. */
const others = paidOn('other', [1, 2, 8, 9, 12, 15, 16, 18, 20, 22, 25, 27, 30, 31, 33, 35, 38, 40, 44, 50])

const choose = (watched: Watched[], about: Partial<Parameters<typeof chooseDay>[1]> = {}, credit = 1) =>
  chooseDay(
    { hazard: learnHazard([...others, ...watched]), credit },
    { invoiceId: 'i1', client: 'asha', today: 2, planned: 7, latest: 12, ...about },
  )

test('a reminder to a client who pays without one by day 6 waits, and the reason names the invoices', () => {
  const found = choose(paidOn('asha', [5, 6, 5, 6, 4, 6, 5, 6]))
  expect(found).toMatchObject({ day: 12, reason: { kind: 'waits', by: 6, count: 8, of: 8 } })
  expect(found.p).toBeGreaterThan(0.8)
  expect(found.credit).toBeGreaterThan(0)
})

test('a reminder to a client who does not pay without one leaves when the window opens, as far as the credit covers it', () => {
  const forgetful = paidOn('asha', [40, 55, 60, 61, 70])
  const found = choose(forgetful)
  expect(found).toMatchObject({ day: 2, reason: { kind: 'earlier', days: 5 } })
  expect(found.credit).toBeLessThan(0)
  expect(choose(forgetful, {}, 0)).toMatchObject({ day: 7, reason: { kind: 'nothing' }, credit: 0 })
})

test('with 3 paid invoices of the client, or 19 of the account, a reminder leaves as planned', () => {
  expect(choose(paidOn('asha', [5, 6, 5]))).toMatchObject({ day: 7, reason: { kind: 'learning', paid: 3, needed: 4 }, credit: 0 })
  const hazard = learnHazard([...others.slice(0, 14), ...paidOn('asha', [5, 6, 5, 6, 4])])
  expect(chooseDay({ hazard, credit: 1 }, { invoiceId: 'i1', client: 'asha', today: 2, planned: 7, latest: 12 })).toMatchObject({
    day: 7,
    reason: { kind: 'learning', paid: 19, needed: 20 },
  })
})

test('payments within three days of an email are no habit', () => {
  const asked = paidOn('asha', [5, 6, 5, 6, 4, 6, 5, 6]).map((one) => ({ ...one, without: [3, 4, 5, 6] }))
  const found = choose(asked)
  expect(found.reason.kind).not.toBe('waits')
  expect(found.p).toBeLessThan(0.5)
})

test('no more than three emails are saved before they are spent', () => {
  const punctual = paidOn('asha', [5, 6, 5, 6, 4, 6, 5, 6])
  expect(choose(punctual, {}, 2.9).reason.kind).toBe('waits')
  expect(choose(punctual, {}, 3).reason.kind).toBe('nothing')
})

test('every fifth invoice keeps the plan, and which one is known by its id', () => {
  const ids = Array.from(
    { length: 10_000 },
    (_none, nth) => `0190b7c8-${nth.toString(16).padStart(4, '0')}-7000-8000-${(nth * 7919).toString(16)}`,
  )
  const compared = ids.filter(isCompared)
  expect(compared.length).toBeGreaterThan(1_800)
  expect(compared.length).toBeLessThan(2_200)
  const [invoiceId = ''] = compared
  expect(choose(paidOn('asha', [5, 6, 5, 6, 4]), { invoiceId })).toMatchObject({ day: 7, reason: { kind: 'compared' }, credit: 0 })
})

// Takes three seconds; `npm run simulate-smart` measures more mixes, and the other sequence.
test('invented clients pay sooner by "Gentle" with smart reminders, and get no more emails', () => {
  const mix: Habit[] = ['punctual', 'friday', 'slow', 'forgetful']
  const seeds = Array.from({ length: times(3, 100) }, (_none, nth) => nth + 1)
  const change = ([without, with_]: [number, number]) => (100 * (with_ - without)) / without
  const most: [Effect, daysLate: number, emails: number][] = [
    ['multiply', -1, 0.5],
    ['add', -4, 0.5],
    ['none', 0, 0],
  ]
  for (const [effect, later, more] of most) {
    const { daysLate, emails } = compareSmart({ mix, effect, seeds, sequence: madeReady.gentle })
    expect(change(daysLate), effect).toBeLessThanOrEqual(later)
    expect(change(emails), effect).toBeLessThanOrEqual(more)
  }
})
