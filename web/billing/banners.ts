import type { PlanNotice, Subscription } from '#contract/billing.ts'
import { type PlanName, planOf, planThatLifts } from '#contract/plans.ts'
import { showDate } from '#web/ui/dates.ts'
import { bannerTexts } from './banner-texts.ts'

/** What stands above a screen about the plan. */
export interface Banner {
  /** Names it as long as it says the same: what was put away stays away. */
  key: string
  tone: 'info' | 'warn' | 'bad'
  title: string
  text: string
  /** The plan to choose; `current`: a look at the plan that runs; null: there is nothing to do. */
  action: PlanName | 'current' | null
  /** It can be put away. */
  dismissible: boolean
}

interface About {
  subscription: Subscription
  /** Of the address. */
  path: string
  /** Daily reminders are switched on; null while that is not known. */
  remindersActive: boolean | null
  now: Date
  /** The day of an instant where the account lives. */
  day: (instant: string) => string
}

const control = '/dashboard/reminder-control'
/** Screens from which invoices are created. */
const creating = ['/dashboard', '/dashboard/new-invoice']
/** What Reminder Control says in its own words. */
const saysSo: PlanNotice['kind'][] = ['trial_ended', 'plan_ended']
/** From this share of the month's invoices on, how many are left is said. */
const nearly = 0.8

/** What there is to know of the plan on a screen, most urgent first. Nothing where this server sells nothing. */
export function bannersOn(about: About): Banner[] {
  const { subscription, path } = about
  if (!subscription.checkout) return []
  if (path === control) return [...subscription.notices.filter(({ kind }) => !saysSo.includes(kind)).map(noticed), ...scheduling(about)]
  return [...subscription.notices.map(noticed), ...(creating.includes(path) ? room(subscription) : [])]
}

function noticed({ kind, at, message }: PlanNotice): Banner {
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

/** How many invoices are left of the month, once they become few. */
function room({ entitlements, usage }: Subscription): Banner[] {
  const { invoicesPerMonth: of, invoicesCreated: used, invoicesLeft: left, month } = usage
  if (of === null || left === null || used < of * nearly) return []
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

/** Whether daily reminders are open, and how long. */
function scheduling({ subscription, remindersActive, now, day }: About): Banner[] {
  const { entitlements, notices } = subscription
  const lifts = planThatLifts('scheduling')
  if (!entitlements.abilities.includes('scheduling')) {
    const { title, text } = remindersActive
      ? bannerTexts.limits.waiting
      : { ...bannerTexts.limits.byHand, title: bannerTexts.limits.byHand.title(lifts.title) }
    const shared = { key: 'scheduling', title, text: text(planOf(entitlements.plan).title, lifts.title), dismissible: false }
    return [{ ...shared, tone: remindersActive ? 'warn' : 'info', action: lifts.name }]
  }
  // The end of the trial is told by a notice of its own when it is near.
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

/** Whole days, rounded up; 0 once it is past. */
export function daysUntil(instant: string, now: Date): number {
  return Math.max(0, Math.ceil((Date.parse(instant) - now.getTime()) / 86_400_000))
}

/** The first day of the month after `2026-11`. */
function monthAfter(month: string): string {
  const [year = 0, nth = 0] = month.split('-').map(Number)
  return nth === 12 ? `${year + 1}-01-01` : `${year}-${String(nth + 1).padStart(2, '0')}-01`
}
