import { expect, test } from 'vitest'
import { learnHazard, type Watched } from '#server/reminders/hazard.ts'
import { madeReady, payFor } from '#test/paying-clients.ts'
import { times } from '#test/thorough.ts'
import { wilson } from './followed.ts'
import { forecast } from './forecast.ts'

const watched = (client: string, paidOn: number | null, about: Partial<Watched> = {}): Watched => ({
  client,
  from: -14,
  to: paidOn ?? 30,
  paid: paidOn !== null,
  ...about,
})

test('without anything learned, an unpaid invoice is paid on a day with a chance of 3 in 100', () => {
  expect(learnHazard([]).at('a', 5)).toBeCloseTo(0.03, 10)
})

test('a chance is what was paid on three days around it, of the client and, with a weight of six days, of the account', () => {
  const hazard = learnHazard([watched('a', 5), watched('a', 6), watched('b', null)])
  // On days 4, 5 and 6: two payments; nine days less the one after each payment.
  const account = (2 + 0.6) / (3 + 3 + 2 + 20)
  expect(hazard.at('b', 5)).toBeCloseTo((0 + 6 * account) / (3 + 6), 10)
  expect(hazard.at('a', 5)).toBeCloseTo((2 + 6 * account) / (5 + 6), 10)
  expect([hazard.paid(), hazard.paid('a'), hazard.paid('b'), hazard.paid('c')]).toEqual([2, 2, 0, 0])
})

test('days that are left out count neither as a chance nor as a payment', () => {
  const [none, some] = [learnHazard([]), learnHazard([watched('a', 5, { from: 4, without: [4, 5] })])]
  for (const day of [3, 4, 5, 6]) expect(some.at('b', day)).toBe(none.at('b', day))
})

test('days beyond a year have the chance of its last day', () => {
  const hazard = learnHazard([watched('a', null, { to: 900 })])
  expect(hazard.at('a', 900)).toBe(hazard.at('a', 365))
})

test('nothing open is nothing expected, and the same invoices are always forecast alike', () => {
  const hazard = learnHazard([watched('a', 3)])
  expect(forecast([], hazard).total).toEqual({ median: 0, low: 0, high: 0 })
  const open = [{ client: 'a', balance: 500, late: 2 }]
  expect(forecast(open, hazard)).toEqual(forecast(open, hazard))
})

test('an interval of a share is Wilson’s', () => {
  expect(wilson(10, 25)).toEqual([23.4, 59.3])
  expect(wilson(0, 20)).toEqual([0, 16.1])
  expect(wilson(20, 20)).toEqual([83.9, 100])
})

// Takes two seconds: 24 worlds of two years with two forecasts each, because one forecast of 24 is 4 %; 100 worlds in `npm run test:full`.
test('what came in lies between low and high in 80 % ± 8 of the forecasts', () => {
  let [inside, all] = [0, 0]
  for (let seed = 1; seed <= times(24, 100); seed += 1) {
    const effect = seed % 2 === 0 ? 'multiply' : 'add'
    const made = payFor({
      seed,
      mix: ['punctual', 'friday', 'slow', 'forgetful'],
      effect,
      smart: null,
      sequence: madeReady.friendlyToFinal,
    })
    const first = Math.min(...made.map(({ issued }) => issued))
    for (const today of [first + 540, first + 630]) {
      const begun = made.filter(({ issued, paid }) => issued < today && paid > today - 730)
      const hazard = learnHazard(
        begun.map(({ client, issued, due, paid }) => ({
          client,
          from: Math.max(issued, today - 730) - due,
          to: Math.min(paid, today - 1) - due,
          paid: paid < today,
        })),
      )
      const open = begun.filter(({ paid }) => paid >= today)
      const { total } = forecast(
        open.map(({ client, due, amount }) => ({ client, balance: amount, late: today - due })),
        hazard,
      )
      const came = open.filter(({ paid }) => paid < today + 56).reduce((sum, { amount }) => sum + amount, 0)
      inside += came >= total.low && came <= total.high ? 1 : 0
      all += 1
    }
  }
  const share = (100 * inside) / all
  expect(share).toBeGreaterThanOrEqual(72)
  expect(share).toBeLessThanOrEqual(88)
})
