import { expect, test } from 'vitest'
import type { Subscription } from '#contract/billing.ts'
import { planItems } from './banners.tsx'

const free: Subscription = {
  state: 'Free',
  nextChargeAt: null,
  renewableFrom: null,
  plan: 'free',
  status: 'active',
  paymentType: null,
  billingPeriod: null,
  amount: 0,
  currency: 'INR',
  currentPeriodStart: null,
  currentPeriodEnd: null,
  trialEnd: '2026-03-16T09:00:00Z',
  newUntil: '2026-03-16T09:00:00Z',
  cancelAtPeriodEnd: false,
  endsIfCancelled: null,
  ended: null,
  entitlements: { plan: 'free', by: 'plan', invoicesPerMonth: 50, abilities: [], until: null },
  usage: { month: '2026-12', invoicesCreated: 0, invoicesPerMonth: 50, invoicesLeft: 50 },
  notices: [],
  checkout: { scriptUrl: 'https://checkout.razorpay.com/v1/checkout.js', keyId: 'rzp_test', themeColor: '#2563eb' },
}
const trial: Subscription = {
  ...free,
  state: 'Pro trial, 14 days left',
  entitlements: { plan: 'pro', by: 'trial', invoicesPerMonth: null, abilities: ['scheduling'], until: '2026-12-16T09:00:00Z' },
  usage: { month: '2026-12', invoicesCreated: 70, invoicesPerMonth: null, invoicesLeft: null },
}
const used = (invoicesCreated: number): Subscription => ({
  ...free,
  usage: { month: '2026-12', invoicesCreated, invoicesPerMonth: 50, invoicesLeft: Math.max(0, 50 - invoicesCreated) },
})
const of = (subscription: Subscription, remindersActive = false) =>
  planItems({ subscription, remindersActive, day: (instant) => instant.slice(0, 10) })

test('from the 40th invoice of the month, the remaining ones are shown', () => {
  expect(of(used(39))).toEqual([])
  expect(of(used(40)).map(({ title, tone, action }) => [title, tone, action?.to])).toEqual([
    ['40 of 50 invoices this month', 'info', '/pricing?plan=pro'],
  ])
})

test('the limit in December names 1 January as the day it ends', () => {
  expect(of(used(49))[0]?.text).toContain('You can create 1 more invoice this month')
  const [full] = of(used(50))
  expect([full?.tone, full?.text]).toEqual([
    'warn',
    'You’ve reached the monthly limit of Free. You can create invoices again from 01/01/2027, or now with Pro, which has no limit.',
  ])
})

test('invoices above the limit, created in the trial, are not shown as a share of it', () => {
  const [over] = of(used(70))
  expect([over?.title, over?.text]).toEqual([
    '70 invoices this month',
    'You’re over the monthly limit of Free. You can create invoices again from 01/01/2027, or now with Pro, which has no limit.',
  ])
})

const notice = (kind: Subscription['notices'][number]['kind']) => ({ kind, at: '2026-12-04T09:00:00Z', daysLeft: 2, message: kind })

test('reminders that the plan holds back are shown instead of the end of the plan, and a trial near its end once', () => {
  const over: Subscription = { ...free, notices: [notice('trial_ended')] }
  expect(of(over).map(({ title }) => title)).toEqual(['Your free trial has ended'])
  expect(of(over, true).map(({ title, tone }) => [title, tone])).toEqual([['On hold: daily reminders need Pro', 'warn']])
  expect(of(trial, true).map(({ title }) => title)).toEqual(['Pro trial, 14 days left'])
  expect(of({ ...trial, notices: [notice('trial_ending')] }, true).map(({ title }) => title)).toEqual(['Your free trial ends soon'])
})

test('only a failed payment needs the owner, and what is urgent cannot be dismissed', () => {
  const notices = (['confirming', 'past_due', 'period_ending'] as const).map(notice)
  expect(of({ ...free, notices }).map(({ key, needsOwner, dismissible }) => [key.split(' ')[0], needsOwner, dismissible])).toEqual([
    ['confirming', false, false],
    ['past_due', true, false],
    ['period_ending', false, true],
  ])
})

test('the end of a plan that was paid once leads to its renewal, that of a subscription to the plan', () => {
  const ending: Subscription = { ...free, plan: 'pro', notices: [notice('period_ending')] }
  const actionOf = (renewableFrom: string | null) => of({ ...ending, renewableFrom }).map(({ action }) => [action?.text, action?.to])
  expect(actionOf('2026-11-20T09:00:00Z')).toEqual([['Renew Pro', '/pricing?plan=pro&renew=']])
  expect(actionOf(null)).toEqual([['View your plan', '/dashboard/profile?tab=subscription']])
})

test('without payments nothing is shown about the plan', () => {
  expect(of({ ...used(50), checkout: null }, true)).toEqual([])
})
