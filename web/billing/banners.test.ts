import { expect, test } from 'vitest'
import type { Subscription } from '#contract/billing.ts'
import { bannersOn } from './banners.ts'

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
  entitlements: { plan: 'pro', by: 'trial', invoicesPerMonth: null, abilities: ['scheduling'], until: '2026-12-16T09:00:00Z' },
  usage: { month: '2026-12', invoicesCreated: 70, invoicesPerMonth: null, invoicesLeft: null },
}
const used = (invoicesCreated: number): Subscription => ({
  ...free,
  usage: { month: '2026-12', invoicesCreated, invoicesPerMonth: 50, invoicesLeft: Math.max(0, 50 - invoicesCreated) },
})
const on = (path: string, subscription: Subscription, remindersActive = false) =>
  bannersOn({ subscription, path, remindersActive, now: new Date('2026-12-02T10:00:00Z'), day: (instant) => instant.slice(0, 10) })
const control = '/dashboard/reminder-control'

test('from the 40th invoice of the month, screens that create invoices show how many are left', () => {
  for (const path of ['/dashboard', '/dashboard/new-invoice']) {
    expect(on(path, used(39))).toEqual([])
    expect(on(path, used(40)).map(({ title, tone, action }) => [title, tone, action])).toEqual([
      ['40 of 50 invoices this month', 'info', 'pro'],
    ])
    expect(on(path, trial)).toEqual([])
  }
  expect(on('/dashboard/profile', used(50))).toEqual([])
})

test('the limit in December names 1 January as the day it ends', () => {
  expect(on('/dashboard', used(49))[0]?.text).toContain('You can create 1 more invoice this month')
  const [full] = on('/dashboard/new-invoice', used(50))
  expect([full?.tone, full?.text]).toEqual([
    'warn',
    'You’ve reached the monthly limit of Free. You can create invoices again from 01/01/2027, or now with Pro, which has no limit.',
  ])
})

test('invoices above the limit, created in the trial, are not shown as a share of it', () => {
  const [over] = on('/dashboard', used(70))
  expect([over?.title, over?.text]).toEqual([
    '70 invoices this month',
    'You’re over the monthly limit of Free. You can create invoices again from 01/01/2027, or now with Pro, which has no limit.',
  ])
})

test('Reminder Control shows one banner about daily reminders and the plan', () => {
  expect(on(control, free).map(({ title }) => title)).toEqual(['Daily reminders are part of Pro'])
  expect(on(control, free, true).map(({ title, tone }) => [title, tone])).toEqual([['Your daily reminders are on hold', 'warn']])
  expect(on(control, trial).map(({ title }) => title)).toEqual(['14 days left in your free trial'])
  const over: Subscription = {
    ...free,
    notices: [{ kind: 'trial_ended', at: '2026-11-30T09:00:00Z', daysLeft: 0, message: 'Your free trial of Pro ended.' }],
  }
  expect(on(control, over).map(({ title }) => title)).toEqual(['Daily reminders are part of Pro'])
  expect(on('/dashboard/profile', over).map(({ title }) => title)).toEqual(['Your free trial has ended'])
  const ending: Subscription = {
    ...trial,
    notices: [{ kind: 'trial_ending', at: '2026-12-04T09:00:00Z', daysLeft: 2, message: 'Your free trial of Pro ends.' }],
  }
  expect(on(control, ending).map(({ title }) => title)).toEqual(['Your free trial ends soon'])
})

test('urgent notices cannot be dismissed', () => {
  const notices = (['confirming', 'past_due', 'period_ending'] as const).map((kind) => ({
    kind,
    at: '2026-12-04T09:00:00Z',
    daysLeft: 2,
    message: kind,
  }))
  expect(on('/dashboard/mail-settings', { ...free, notices }).map(({ key, dismissible }) => [key.split(' ')[0], dismissible])).toEqual([
    ['confirming', false],
    ['past_due', false],
    ['period_ending', true],
  ])
})

test('without payments there are no banners', () => {
  for (const path of ['/dashboard', control]) expect(on(path, { ...used(50), checkout: null })).toEqual([])
})
