import { accountCalls } from '#contract/accounts.ts'
import type { PlanNotice, Subscription } from '#contract/billing.ts'
import { type PlanName, planOf, planThatLifts } from '#contract/plans.ts'
import { screens } from '#contract/screens.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { bannerTexts } from './banner-texts.ts'

/** A banner about the plan, above a screen. */
export interface Banner {
  /** Must change when the message does, because a dismissed key stays hidden. */
  key: string
  tone: 'info' | 'warn' | 'bad'
  title: string
  text: string
  /** The plan to choose; `current`: view the current plan. */
  action: PlanName | 'current' | null
  dismissible: boolean
}

interface BannerContext {
  subscription: Subscription
  path: string
  /** Daily reminders are on; null while unknown. */
  remindersActive: boolean | null
  now: Date
  /** The date of an instant in the account’s time zone. */
  day: (instant: string) => string
}

/** Screens from which invoices are created. */
const creating: string[] = [screens.dashboard, screens.newInvoice]
/** Reminder Control has a banner of its own for these. */
const coveredBySchedule: PlanNotice['kind'][] = ['trial_ended', 'plan_ended']
/** The share of the month’s invoices from which on the remaining ones are shown. */
const warnFrom = 0.8

/** Most urgent first. None where payments are not set up. */
export function bannersOn(context: BannerContext): Banner[] {
  const { subscription, path } = context
  if (!subscription.checkout) return []
  if (path === screens.reminderControl)
    return [...subscription.notices.filter(({ kind }) => !coveredBySchedule.includes(kind)).map(noticeBanner), ...scheduling(context)]
  return [...subscription.notices.map(noticeBanner), ...(creating.includes(path) ? invoiceLimit(subscription) : [])]
}

function noticeBanner({ kind, at, message }: PlanNotice): Banner {
  const lifts = planThatLifts('scheduling').name
  const shared = { key: `${kind} ${at}`, title: bannerTexts.titles[kind], text: message }
  switch (kind) {
    case 'confirming':
      return { ...shared, tone: 'info', action: null, dismissible: false }
    case 'past_due':
      return { ...shared, tone: 'bad', action: 'current', dismissible: false }
    case 'period_ending':
      return { ...shared, tone: 'warn', action: 'current', dismissible: true }
    case 'trial_ending':
    case 'trial_ended':
    case 'plan_ended':
      return { ...shared, tone: 'warn', action: lifts, dismissible: true }
  }
}

function invoiceLimit({ entitlements, usage }: Subscription): Banner[] {
  const { invoicesPerMonth: of, invoicesCreated: used, invoicesLeft: left, month } = usage
  if (of === null || left === null || used < of * warnFrom) return []
  const [plan, lifts] = [planOf(entitlements.plan).title, planThatLifts('invoicesPerMonth')]
  return [
    {
      key: `room ${month}`,
      tone: left === 0 ? 'warn' : 'info',
      title: bannerTexts.limits.title(used, of),
      text:
        left === 0
          ? bannerTexts.limits.none(plan, lifts.title, showDate(monthAfter(month)), used > of ? 'more' : 'all')
          : bannerTexts.limits.left(left, plan, lifts.title),
      action: lifts.name,
      dismissible: false,
    },
  ]
}

/** Whether the plan includes daily reminders, and until when. */
function scheduling({ subscription, remindersActive, now, day }: BannerContext): Banner[] {
  const { entitlements, notices } = subscription
  const lifts = planThatLifts('scheduling')
  if (!entitlements.abilities.includes('scheduling')) {
    const { title, text } = remindersActive
      ? bannerTexts.limits.waiting
      : { ...bannerTexts.limits.byHand, title: bannerTexts.limits.byHand.title(lifts.title) }
    const shared = { key: 'scheduling', title, text: text(planOf(entitlements.plan).title, lifts.title), dismissible: false }
    return [{ ...shared, tone: remindersActive ? 'warn' : 'info', action: lifts.name }]
  }
  // Near its end the trial has a notice of its own.
  if (entitlements.by !== 'trial' || entitlements.until === null || notices.some(({ kind }) => kind === 'trial_ending')) return []
  return [
    {
      key: `trial ${entitlements.until}`,
      tone: 'info',
      title: bannerTexts.limits.trial.title(daysUntil(entitlements.until, now)),
      text: bannerTexts.limits.trial.text(lifts.title, day(entitlements.until)),
      action: null,
      dismissible: true,
    },
  ]
}

/** Whole days, rounded up; 0 when past. */
export function daysUntil(instant: string, now: Date): number {
  return Math.max(0, Math.ceil((Date.parse(instant) - now.getTime()) / 86_400_000))
}

/** The first day of the month after `2026-11`. */
function monthAfter(month: string): string {
  const [year = 0, nth = 0] = month.split('-').map(Number)
  return nth === 12 ? `${year + 1}-01-01` : `${year}-${String(nth + 1).padStart(2, '0')}-01`
}

/** Formats the date of an instant in the account’s time zone, or the browser’s until that is known. */
export function useDay(): (instant: string) => string {
  const profile = useApiQuery(accountCalls.profile, {}, { staleTime: 60_000 })
  return (instant) => showDate(dateIn(profile.data?.timezone, new Date(instant)))
}
