import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatPrice, type PlanName, planRank, plans, yearlySaving } from '#contract/plans.ts'
import { priceOf } from './checkout.ts'
import {
  creditOf,
  creditOfAll,
  currentOf,
  entitlementsAt,
  type PlanPeriod,
  type Purchase,
  periodAfter,
  planPeriods,
} from './entitlements.ts'

const at = (text: string) => Temporal.Instant.from(text)
const march = at('2026-03-01T09:00:00Z')

const order = (about: Partial<Purchase>): Purchase => ({
  id: 'a',
  ownerId: 'asha',
  paymentType: 'onetime',
  plan: 'pro',
  billingPeriod: 'monthly',
  priceMinor: 400,
  amountMinor: 400,
  creditMinor: 0,
  creditUntil: null,
  createdAt: march,
  providerId: 'order_1',
  claimedAt: null,
  paidAt: march,
  paidMinor: 400,
  refundedMinor: 0,
  providerStatus: null,
  authorised: false,
  startAt: null,
  currentEnd: null,
  paidFrom: null,
  paidThrough: null,
  cancelAtPeriodEnd: false,
  endedAt: null,
  cancelWanted: false,
  nextCheckAt: null,
  wakes: 0,
  failures: 0,
  asked: 0,
  heard: 0,
  ...about,
})
const subscription = (about: Partial<Purchase>): Purchase =>
  order({ paymentType: 'subscription', providerId: 'sub_1', paidAt: null, paidMinor: null, providerStatus: 'created', ...about })

const april = periodAfter(march, 'monthly')
const paid = { paidFrom: march, paidThrough: april, currentEnd: april, authorised: true }

test('the catalogue says what the plans cost and what a year saves', () => {
  expect(plans.map(({ name, price }) => [name, price.monthly, price.yearly])).toEqual([
    ['free', 0, 0],
    ['pro', 400, 4000],
    ['enterprise', 900, 9000],
  ])
  expect(plans.map((plan) => formatPrice(yearlySaving(plan)))).toEqual(['₹0', '₹8', '₹18'])
  expect(formatPrice(387)).toBe('₹3.87')
})

test('every plan can what the one before it can', () => {
  for (const [nth, plan] of plans.entries()) {
    expect(planRank(plan.name)).toBe(nth)
    for (const ability of plans[nth - 1]?.abilities ?? []) expect(plan.abilities).toContain(ability)
  }
})

const standings: [what: string, bought: Purchase, plan: PlanName, status: string | null, ends: boolean | null][] = [
  ['an unpaid order', order({ paidAt: null, paidMinor: null }), 'free', null, null],
  ['an order that is paid', order({}), 'pro', 'active', true],
  ['a subscription without agreement', subscription({}), 'free', null, null],
  ['a subscription before its first charge', subscription({ providerStatus: 'authenticated', startAt: april }), 'pro', 'trialing', false],
  ['a subscription that is charged', subscription({ providerStatus: 'active', ...paid }), 'pro', 'active', false],
  [
    'a subscription in arrears',
    subscription({ providerStatus: 'pending', ...paid, paidThrough: at('2026-03-10T09:00:00Z') }),
    'pro',
    'past_due',
    false,
  ],
  [
    'a subscription given up, its last period over',
    subscription({ providerStatus: 'halted', ...paid, paidThrough: at('2026-03-10T09:00:00Z') }),
    'free',
    null,
    null,
  ],
  ['a subscription given up within what is paid for', subscription({ providerStatus: 'halted', ...paid }), 'pro', 'active', true],
  ['a subscription that pauses within what is paid for', subscription({ providerStatus: 'paused', ...paid }), 'pro', 'active', true],
  ['a subscription cancelled within what is paid for', subscription({ providerStatus: 'cancelled', ...paid }), 'pro', 'active', true],
  [
    'a subscription cancelled at the period’s end',
    subscription({ providerStatus: 'active', cancelAtPeriodEnd: true, ...paid }),
    'pro',
    'active',
    true,
  ],
  ['a subscription that ran its whole course', subscription({ providerStatus: 'completed', ...paid }), 'pro', 'active', true],
  ['a subscription cancelled before its first charge', subscription({ providerStatus: 'cancelled', authorised: true }), 'free', null, null],
  ['a subscription that expired', subscription({ providerStatus: 'expired' }), 'free', null, null],
  ['a plan that its owner ended', order({ endedAt: at('2026-03-10T09:00:00Z') }), 'free', null, null],
]
test.each(standings)('%s counts for what it is on the fifteenth', (_what, bought, plan, status, ends) => {
  const current = currentOf(planPeriods([bought]), at('2026-03-15T09:00:00Z'))
  expect([current?.plan ?? 'free', current?.status ?? null, current?.ends ?? null]).toEqual([plan, status, ends])
})

test('a plan that was paid once runs for exactly its period', () => {
  const periods = planPeriods([order({})])
  expect(currentOf(periods, march)?.plan).toBe('pro')
  expect(currentOf(periods, at('2026-04-01T08:59:59Z'))?.plan).toBe('pro')
  expect(currentOf(periods, at('2026-04-01T09:00:00Z'))).toBeNull()
  expect(planPeriods([order({ paidAt: at('2026-01-31T09:00:00Z') })])[0]?.to?.toString()).toBe('2026-02-28T09:00:00Z')
})

test('the same plan paid from two windows runs twice as long', () => {
  const both = [order({}), order({ id: 'b', providerId: 'order_2', paidAt: march.add({ minutes: 1 }) })]
  expect(planPeriods(both).map(({ to }) => to?.toString())).toEqual(['2026-04-01T09:00:00Z', '2026-05-01T09:00:00Z'])
  expect(currentOf(planPeriods(both), march.add({ hours: 1 }))?.to?.toString()).toBe('2026-05-01T09:00:00Z')
})

const charged = (about: Partial<Purchase> = {}) => subscription({ id: 's', providerStatus: 'active', ...paid, ...about })
const ends = (bought: Purchase[], now = march.add({ hours: 1 })) => {
  const current = currentOf(planPeriods(bought), now)
  return [current?.paymentType ?? null, current?.to?.toString() ?? null, current?.endsIfCancelled?.toString() ?? null]
}

test.each([
  ['after', march.add({ minutes: 1 }), ['2026-05-01T09:00:00Z', '2026-06-01T09:00:00Z']],
  // The minute that was over is not given again; the others are, all of March’s 31 days.
  ['before', march.subtract({ minutes: 1 }), ['2026-05-02T08:59:00Z', '2026-06-01T08:59:00Z']],
])(
  'what was paid once just %s a subscription to the same plan began waits behind what that has paid for',
  (_when, paidAt, [first, then]) => {
    const once = order({ paidAt })
    const may = at('2026-05-01T09:00:00Z')
    expect(ends([once, charged()])).toEqual(['subscription', null, first])
    expect(ends([once, charged({ paidFrom: april, paidThrough: may, currentEnd: may })])).toEqual(['subscription', null, then])
    expect(ends([once, charged({ providerStatus: 'cancelled' })])).toEqual(['subscription', first, first])
    expect(ends([once, charged({ providerStatus: 'cancelled' })], at('2026-04-10T09:00:00Z'))[0]).toBe('onetime')
  },
)

test('what waits behind a subscription keeps its worth, and ends with it where its owner switches to Free', () => {
  const once = order({ paidAt: march.subtract({ hours: 24 }) })
  const [before, running, rest] = planPeriods([once, charged()])
  expect([before?.to, running?.from]).toEqual([march, march])
  const day = 24 * 3_600_000
  // February has 28 days: one of them is over.
  expect((rest?.to?.epochMilliseconds ?? 0) - (rest?.from.epochMilliseconds ?? 0)).toBe(27 * day)
  expect(rest && creditOf(rest, march)).toBe(Math.floor((400 * 27) / 28))
  const endedAt = at('2026-03-10T09:00:00Z')
  expect(currentOf(planPeriods([{ ...once, endedAt }, charged({ endedAt, providerStatus: 'cancelled' })]), endedAt)).toBeNull()
})

// What the account may do

const trialEnd = at('2026-03-15T09:00:00Z')

test('a new account has every Pro feature to the second of its fourteenth day, then 50 invoices and Send Now', () => {
  const during = entitlementsAt({ current: null, trialEnd, sells: true }, at('2026-03-15T08:59:59Z'))
  expect(during).toMatchObject({ plan: 'pro', by: 'trial', invoicesPerMonth: null, until: trialEnd })
  expect(during.abilities).toContain('scheduling')
  const after = entitlementsAt({ current: null, trialEnd, sells: true }, trialEnd)
  expect(after).toEqual({ plan: 'free', by: 'plan', invoicesPerMonth: 50, abilities: [], until: null })
})

/** A purchase of any kind in any state: what the provider might make of it. */
const anyPurchase = fc
  .record({
    id: fc.uuid(),
    paymentType: fc.constantFrom('onetime' as const, 'subscription' as const),
    plan: fc.constantFrom('pro' as const, 'enterprise' as const),
    billingPeriod: fc.constantFrom('monthly' as const, 'yearly' as const),
    providerStatus: fc.constantFrom(
      null,
      'created' as const,
      'authenticated' as const,
      'active' as const,
      'pending' as const,
      'halted' as const,
      'paused' as const,
      'cancelled' as const,
      'completed' as const,
      'expired' as const,
    ),
    created: fc.integer({ min: 0, max: 400 }),
    paidAfter: fc.option(fc.integer({ min: 0, max: 48 })),
    ended: fc.option(fc.integer({ min: 0, max: 400 })),
    credit: fc.constantFrom(0, 0, 150),
    cancelAtPeriodEnd: fc.boolean(),
  })
  .map(({ created, paidAfter, ended, credit, ...about }): Purchase => {
    const createdAt = march.add({ hours: created * 24 })
    const price = plans.find(({ name }) => name === about.plan)?.price[about.billingPeriod] ?? 0
    const shared = {
      ...about,
      createdAt,
      priceMinor: price,
      endedAt: ended === null ? null : createdAt.add({ hours: ended }),
      creditMinor: credit,
    }
    if (about.paymentType === 'onetime')
      return order({
        ...shared,
        providerStatus: null,
        amountMinor: price - credit,
        paidAt: paidAfter === null ? null : createdAt.add({ hours: paidAfter }),
        paidMinor: paidAfter === null ? null : price - credit,
      })
    const wasPaid = paidAfter !== null
    const end = periodAfter(createdAt, about.billingPeriod)
    return subscription({
      ...shared,
      amountMinor: price,
      authorised: wasPaid,
      startAt: end,
      currentEnd: wasPaid ? end : null,
      paidFrom: wasPaid ? createdAt : null,
      paidThrough: wasPaid ? end : null,
      creditUntil: credit > 0 ? createdAt.add({ hours: 240 }) : null,
    })
  })
const purchaseList = fc.uniqueArray(anyPurchase, { maxLength: 6, selector: ({ id }) => id })
const moment = fc.integer({ min: -10, max: 800 }).map((days) => march.add({ hours: days * 24 + 7 }))

test('what runs does not depend on the order in which purchases became known', () => {
  fc.assert(
    fc.property(
      purchaseList.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
      ([list, shuffled]) => {
        expect(planPeriods(shuffled)).toEqual(planPeriods(list))
      },
    ),
  )
})

test('without a provider nothing is limited; with one every account has at least Free, and a paid plan all its abilities', () => {
  fc.assert(
    fc.property(purchaseList, moment, (list, now) => {
      const current = currentOf(planPeriods(list), now)
      const free = entitlementsAt({ current, trialEnd, sells: false }, now)
      expect(free.invoicesPerMonth).toBeNull()
      expect(free.abilities).toEqual(plans[2]?.abilities)
      const sold = entitlementsAt({ current, trialEnd, sells: true }, now)
      expect(sold.invoicesPerMonth === null || sold.invoicesPerMonth >= 50).toBe(true)
      if (current) expect(sold.plan).toBe(current.plan)
      for (const ability of plans.find(({ name }) => name === sold.plan)?.abilities ?? []) expect(sold.abilities).toContain(ability)
    }),
  )
})

test('no period begins before its purchase counted or is worth more than was paid for it', () => {
  fc.assert(
    fc.property(purchaseList, moment, (list, now) => {
      const money = new Map(list.map((one) => [one.id, Math.max(one.priceMinor, one.amountMinor) + one.creditMinor]))
      for (const one of planPeriods(list)) {
        expect(one.to === null || Temporal.Instant.compare(one.from, one.to) <= 0).toBe(true)
        expect(creditOf(one, now)).toBeGreaterThanOrEqual(0)
        expect(creditOf(one, now)).toBeLessThanOrEqual(one.worth.minor)
        expect(money.has(one.purchaseId)).toBe(true)
      }
    }),
  )
})

// Changing plans in the middle of a period

const running = (bought: Purchase[]): PlanPeriod[] => planPeriods(bought)
const half = at('2026-03-16T21:00:00Z')

test('what is left of Pro comes off the price of Enterprise, to the paisa', () => {
  const price = priceOf(
    { plan: 'enterprise', billingPeriod: 'monthly', paymentType: 'onetime' },
    { periods: running([order({})]), trialEnd: march },
    half,
  )
  expect(price).toMatchObject({ priceMinor: 900, creditMinor: 200, dueMinor: 700 })
  expect(price.endsAt?.toString()).toBe('2026-04-16T21:00:00Z')
})

test('what is left exceeds the price: one rupee is paid and the rest makes the period longer', () => {
  const yearly = order({ billingPeriod: 'yearly', priceMinor: 4000, amountMinor: 4000, paidMinor: 4000 })
  const price = priceOf(
    { plan: 'enterprise', billingPeriod: 'monthly', paymentType: 'onetime' },
    { periods: running([yearly]), trialEnd: march },
    march,
  )
  expect(price).toMatchObject({ priceMinor: 900, creditMinor: 4000, dueMinor: 100 })
  // 41 rupees at 9 a month.
  const days = ((price.endsAt?.epochMilliseconds ?? 0) - march.epochMilliseconds) / 86_400_000
  expect(days).toBeCloseTo((31 * 4100) / 900, 3)
})

test('for a subscription what is left puts the first charge off, behind a trial that still runs', () => {
  const buying = { plan: 'enterprise', billingPeriod: 'monthly', paymentType: 'subscription' } as const
  const later = priceOf(buying, { periods: running([order({})]), trialEnd: march }, half)
  expect(later).toMatchObject({ dueMinor: 0, creditMinor: 200 })
  expect(((later.firstChargeAt?.epochMilliseconds ?? 0) - half.epochMilliseconds) / 86_400_000).toBeCloseTo((31 * 200) / 900, 3)
  const inTrial = priceOf(buying, { periods: [], trialEnd }, march)
  expect(inTrial).toMatchObject({ dueMinor: 0, creditMinor: 0, firstChargeAt: trialEnd })
  expect(priceOf(buying, { periods: [], trialEnd }, trialEnd)).toMatchObject({ dueMinor: 900, firstChargeAt: null })
})

test('the plan that replaces another one begins at once, and the old one ends there', () => {
  const bought = [
    order({}),
    order({
      id: 'b',
      plan: 'enterprise',
      priceMinor: 900,
      amountMinor: 700,
      paidMinor: 700,
      creditMinor: 200,
      createdAt: half,
      paidAt: half,
    }),
  ]
  const periods = running(bought)
  expect(periods.map(({ plan, from, to }) => [plan, from.toString(), to?.toString()])).toEqual([
    ['pro', '2026-03-01T09:00:00Z', '2026-03-16T21:00:00Z'],
    ['enterprise', '2026-03-16T21:00:00Z', '2026-04-16T21:00:00Z'],
  ])
})

test('an order that is paid after another plan was bought counts what is left of that, also where nothing was left when it was made', () => {
  const late = { id: 'b', plan: 'enterprise', priceMinor: 900, amountMinor: 900, paidMinor: 900 } as const
  const paidAt = half.add({ minutes: 5 })
  const once = order({ createdAt: half, paidAt: half })
  const [, enterprise] = running([once, order({ ...late, createdAt: march, paidAt })])
  expect(enterprise?.worth.minor).toBe(900 + 399)
  const april16 = periodAfter(half, 'monthly')
  const charged = { paidFrom: half, paidThrough: april16, currentEnd: april16, authorised: true, providerStatus: 'active' } as const
  const yearly = subscription({ id: 's', createdAt: half, priceMinor: 9_000, plan: 'enterprise', ...charged })
  const [, pro] = running([yearly, order({ createdAt: march.add({ hours: 370 }), paidAt })])
  expect(pro?.worth.minor).toBe(400 + 8_998)
})

test('what a replaced subscription is charged once more before it is cancelled is not lost', () => {
  const upgrade = { id: 'b', plan: 'enterprise', priceMinor: 900, amountMinor: 700, paidMinor: 700, creditMinor: 200 } as const
  const paidAt = april.subtract({ minutes: 1 })
  const may = periodAfter(april, 'monthly')
  const renewed = subscription({ id: 's', providerStatus: 'cancelled', ...paid, paidFrom: april, paidThrough: may })
  const [, enterprise] = running([renewed, order({ ...upgrade, createdAt: paidAt, paidAt })])
  expect(enterprise?.worth.minor).toBe(900 + 400)
})

test('refunded money gives no credit', () => {
  expect(creditOf(running([order({ refundedMinor: 100 })])[0] as PlanPeriod, march)).toBe(300)
  expect(creditOf(running([subscription({ providerStatus: 'active', ...paid, refundedMinor: 400 })])[0] as PlanPeriod, march)).toBe(0)
  // The plan itself stays what it was.
  expect(currentOf(running([order({ refundedMinor: 400 })]), half)?.to).toEqual(april)
})

test('a one-time purchase never shortens existing periods, however late it is paid', () => {
  const anOrder = fc.record({
    id: fc.uuid(),
    plan: fc.constantFrom('pro' as const, 'enterprise' as const),
    billingPeriod: fc.constantFrom('monthly' as const, 'yearly' as const),
    made: fc.integer({ min: 0, max: 96 }),
    paidAfter: fc.integer({ min: 0, max: 72 }),
  })
  fc.assert(
    fc.property(fc.uniqueArray(anOrder, { minLength: 1, maxLength: 6, selector: ({ id }) => id }), (drafts) => {
      let bought: Purchase[] = []
      for (const { made, paidAfter, ...about } of drafts.toSorted((a, b) => a.made + a.paidAfter - b.made - b.paidAfter)) {
        const [createdAt, paidAt] = [march.add({ hours: made }), march.add({ hours: made + paidAfter, minutes: bought.length })]
        const then = running(bought.filter((one) => one.paidAt && Temporal.Instant.compare(one.paidAt, createdAt) <= 0))
        const price = priceOf({ ...about, paymentType: 'onetime' }, { periods: then, trialEnd: march }, createdAt)
        const money = {
          priceMinor: price.priceMinor,
          creditMinor: price.creditMinor,
          amountMinor: price.dueMinor,
          paidMinor: price.dueMinor,
        }
        const before = creditOfAll(running(bought), paidAt)
        bought = [...bought, order({ ...about, ...money, createdAt, paidAt })]
        // A paisa is what rounding may take of each period.
        expect(creditOfAll(running(bought), paidAt)).toBeGreaterThanOrEqual(before + price.dueMinor - bought.length)
      }
    }),
  )
})

test('money that was taken off once is not taken off twice', () => {
  const upgrade = (id: string, minutes: number) =>
    order({
      id,
      plan: 'enterprise',
      priceMinor: 900,
      amountMinor: 700,
      paidMinor: 700,
      creditMinor: 200,
      createdAt: half,
      paidAt: half.add({ minutes }),
    })
  const [, first, second] = running([order({}), upgrade('b', 0), upgrade('c', 5)])
  const length = (one: PlanPeriod | undefined) => (one?.to?.epochMilliseconds ?? 0) - (one?.from.epochMilliseconds ?? 0)
  expect(length(first)).toBe(31 * 86_400_000)
  expect(second?.from).toEqual(first?.to)
  expect(length(second) / length(first)).toBeCloseTo((700 / 900) * (30 / 31), 3)
})
