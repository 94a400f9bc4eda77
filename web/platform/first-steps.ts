import { useCallback, useSyncExternalStore } from 'react'
import { billingCalls } from '#contract/billing.ts'
import type { CallReply } from '#contract/call.ts'
import { mailCalls } from '#contract/mail.ts'
import { type PreviewLine, reminderCalls } from '#contract/reminders.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { useApiQuery } from './query.ts'
import { useSession } from './session.ts'

/** What leads to the first reminder, in this order. */
export const firstSteps = ['invoice', 'mailbox', 'preview', 'start'] as const
export type FirstStep = (typeof firstSteps)[number]

export interface FirstSteps {
  status: CallReply<typeof reminderCalls.status>
  /** The unpaid invoices. */
  lines: PreviewLine[]
  /** Null while no mailbox is connected. */
  mailbox: string | null
  done: Record<FirstStep, boolean>
  /** The first that is missing; null once only the mail server has to accept an email. */
  next: FirstStep | null
  /** Where each step is done. */
  to: Record<FirstStep, string>
  /** The plan includes daily reminders: else the last step is to send by hand. */
  daily: boolean
}

/** How far the account is with its first reminder; `accepted` once a mail server has accepted one, undefined until it is known. */
export function useFirstSteps(): FirstSteps | 'accepted' | undefined {
  const status = useApiQuery(reminderCalls.status).data
  // Never from the cache alone: a step that was done on the screen before must not be named as missing.
  const missing = { enabled: status?.lastReminderSent === null, staleTime: 0 }
  const mailbox = useApiQuery(mailCalls.config, {}, missing).data
  const preview = useApiQuery(reminderCalls.preview, {}, missing).data
  const subscription = useApiQuery(billingCalls.subscription, {}, missing)
  const previewed = usePreviewed()
  if (status && status.lastReminderSent !== null) return 'accepted'
  if (!status || !mailbox || !preview || subscription.isPending) return undefined
  const daily = subscription.data?.entitlements.abilities.includes('scheduling') ?? true
  const started = status.isActive && daily
  const done = { invoice: preview.lines.length > 0, mailbox: mailbox.configured, preview: previewed || started, start: started }
  return {
    status,
    lines: preview.lines,
    mailbox: mailbox.user,
    done,
    next: firstSteps.find((step) => !done[step]) ?? null,
    to: {
      invoice: screens.newInvoice,
      mailbox: withQuery(screens.mailSettings, { connect: '' }),
      preview: withQuery(screens.reminderControl, { preview: '' }),
      start: withQuery(screens.reminderControl, daily ? { start: '' } : { send: '' }),
    },
    daily,
  }
}

/** The id of the account whose first emails were looked at in this browser. */
const previewedKey = 'duely-previewed'
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function usePreviewed(): boolean {
  const account = useSession()?.user._id
  const seen = useSyncExternalStore(
    subscribe,
    () => localStorage.getItem(previewedKey),
    () => null,
  )
  return account !== undefined && seen === account
}

/** Marks the third step as done. */
export function useMarkPreviewed(): () => void {
  const account = useSession()?.user._id
  return useCallback(() => {
    if (account === undefined) return
    localStorage.setItem(previewedKey, account)
    for (const listener of listeners) listener()
  }, [account])
}
