import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'

/** Milliseconds between two looks at whether a reminder has left: while a run is under way, and otherwise. */
const often = 4_000
const seldom = 60_000

/** All invoices; read again when a reminder has left that they do not know of, so that a card says so without a reload, also at nine in the morning. */
export function useLedger(): UseQueryResult<Invoice[]> {
  const invoices = useApiQuery(invoiceCalls.list)
  const status = useApiQuery(reminderCalls.status, {}, { refetchInterval: seldom })
  useApiQuery(reminderCalls.status, {}, { refetchInterval: status.data?.openRunId == null ? seldom : often })
  const { data, refetch } = invoices
  const left = status.data?.lastReminderSent ?? null
  const looked = useRef<string | null>(null)
  useEffect(() => {
    // Once for each: the invoice that it was for may be gone.
    if (!data || left === null || looked.current === left) return
    looked.current = left
    if (!data.some(({ lastReminderAt }) => lastReminderAt !== null && Date.parse(lastReminderAt) >= Date.parse(left))) void refetch()
  }, [data, left, refetch])
  return invoices
}
