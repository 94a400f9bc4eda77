import type { ReactNode } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import type { PlanNotice, Subscription } from '#contract/billing.ts'
import { type PlanName, planOf, planThatLifts } from '#contract/plans.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { type AttentionItem, plainItem } from '#web/platform/attention.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { dateIn, showDate } from '#web/ui/dates.ts'
import { Notice } from '#web/ui/notice.tsx'
import { bannerTexts } from './banner-texts.ts'

/** Its key must change when the message does, because a dismissed key stays hidden. */
type PlanItem = Omit<AttentionItem, 'dismiss'> & { dismissible: boolean }

interface PlanContext {
  subscription: Subscription
  /** Daily reminders are on; null while unknown. */
  remindersActive: boolean | null
  /** The date of an instant in the account’s time zone. */
  day: (instant: string) => string
}

/** The share of the month’s invoices from which on the remaining ones are shown. */
const warnFrom = 0.8
const { dismiss: _, ...plain } = { ...plainItem, kind: 'plan' as const }

/** What there is to know about the plan, the most urgent first. Nothing where payments are not set up. */
export function planItems(context: PlanContext): PlanItem[] {
  const { subscription } = context
  if (!subscription.checkout) return []
  const onHold = held(context)
  const notices = subscription.notices
    // Held reminders say the same, and what follows from it.
    .filter(({ kind }) => onHold.length === 0 || (kind !== 'trial_ended' && kind !== 'plan_ended'))
    .map((notice) => noticeItem(notice, subscription))
  return [...onHold, ...notices, ...invoiceLimit(subscription), ...trial(context)]
}

function choose(plan: PlanName): AttentionItem['action'] {
  return { text: bannerTexts.choose(planOf(plan).title), to: withQuery(screens.pricing, { plan }), reload: true }
}

/** Whether the current plan can be bought again now. */
export function isOpen(renewableFrom: string | null): boolean {
  return renewableFrom !== null && Date.parse(renewableFrom) <= Date.now()
}

/** Opens the dialog in which the current plan is bought again. */
export function renewPath(plan: PlanName): string {
  return withQuery(screens.pricing, { plan, renew: '' })
}

const current = { text: bannerTexts.viewPlan, to: withQuery(screens.profile, { tab: 'subscription' }), reload: false }

function noticeItem({ kind, at, message }: PlanNotice, { plan, renewableFrom }: Subscription): PlanItem {
  const title = bannerTexts.titles[kind]
  const shared = { ...plain, key: `${kind} ${at}`, summary: title, title, text: message, needsOwner: false }
  switch (kind) {
    case 'confirming':
      return { ...shared, tone: 'info', dismissible: false }
    case 'past_due':
      return { ...shared, tone: 'bad', needsOwner: true, action: current, dismissible: false }
    case 'period_ending':
      return {
        ...shared,
        tone: 'warn',
        action: renewableFrom === null ? current : { text: bannerTexts.renew(planOf(plan).title), to: renewPath(plan), reload: true },
        dismissible: true,
      }
    case 'trial_ending':
    case 'trial_ended':
    case 'plan_ended':
      return { ...shared, tone: 'warn', action: choose(planThatLifts('scheduling').name), dismissible: true }
  }
}

function invoiceLimit({ entitlements, usage }: Subscription): PlanItem[] {
  const { invoicesPerMonth: of, invoicesCreated: used, invoicesLeft: left, month } = usage
  if (of === null || left === null || used < of * warnFrom) return []
  const [plan, lifts] = [planOf(entitlements.plan).title, planThatLifts('invoicesPerMonth')]
  const title = bannerTexts.limits.title(used, of)
  return [
    {
      ...plain,
      key: `room ${month}`,
      tone: left === 0 ? 'warn' : 'info',
      needsOwner: false,
      summary: title,
      title,
      text:
        left === 0
          ? bannerTexts.limits.none(plan, lifts.title, showDate(monthAfter(month)), used > of ? 'more' : 'all')
          : bannerTexts.limits.left(left, plan, lifts.title),
      action: choose(lifts.name),
      dismissible: false,
    },
  ]
}

/** The schedule is on, and the plan doesn’t include it. */
function held({ subscription, remindersActive }: PlanContext): PlanItem[] {
  if (!remindersActive || subscription.entitlements.abilities.includes('scheduling')) return []
  const lifts = planThatLifts('scheduling')
  const title = bannerTexts.waiting.title(lifts.title)
  return [
    {
      ...plain,
      key: 'scheduling',
      tone: 'warn',
      needsOwner: false,
      summary: title,
      title,
      text: bannerTexts.waiting.text,
      action: choose(lifts.name),
      dismissible: false,
    },
  ]
}

/** Until when the trial includes daily reminders. Near its end the trial has a notice of its own. */
function trial({ subscription, day }: PlanContext): PlanItem[] {
  const { entitlements, notices, state } = subscription
  if (entitlements.by !== 'trial' || entitlements.until === null || notices.some(({ kind }) => kind === 'trial_ending')) return []
  return [
    {
      ...plain,
      key: `trial ${entitlements.until}`,
      tone: 'info',
      needsOwner: false,
      summary: state,
      title: state,
      text: bannerTexts.trial.text(day(entitlements.until)),
      action: choose(planThatLifts('scheduling').name),
      dismissible: true,
    },
  ]
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

/** What the owner must know beside the plan: a payment that failed, or is being confirmed. */
export function UrgentNotices({ notices }: { notices: Subscription['notices'] }): ReactNode {
  return notices
    .filter(({ kind }) => kind === 'confirming' || kind === 'past_due')
    .map((notice) => (
      <Notice key={notice.kind} tone={notice.kind === 'past_due' ? 'bad' : 'info'} title={bannerTexts.titles[notice.kind]}>
        {notice.message}
      </Notice>
    ))
}

const messageKey = 'duely-said'

/** Keeps a message for the next screen of the dashboard, because loading a page discards its toasts. */
export function setFlashMessage(message: string): void {
  sessionStorage.setItem(messageKey, message)
}

/** Returns the message once. */
export function takeFlashMessage(): string | null {
  const message = sessionStorage.getItem(messageKey)
  sessionStorage.removeItem(messageKey)
  return message
}
