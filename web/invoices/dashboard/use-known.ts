import { useMemo } from 'react'
import type { CallReply } from '#contract/call.ts'
import type { Invoice } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import type { Known } from '#web/invoices/invoice-state.ts'
import { useToday } from '#web/platform/account.tsx'
import { useAttention } from '#web/platform/attention.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { type NextRun, nextRun } from './list-data.ts'

interface Around {
  known: Known
  today: string
  /** Undefined until it is known. */
  status: CallReply<typeof reminderCalls.status> | undefined
  next: NextRun | null | undefined
}

/** In ms: the preview lists every unpaid invoice, and changes that matter invalidate it. */
const previewStaleTime = 60_000

/** What the dashboard knows about its invoices besides them: today, broken promises, and what is sent next. */
export function useKnown(invoices: Invoice[]): Around {
  const { zone, now, today } = useToday()
  const { items } = useAttention()
  const status = useApiQuery(reminderCalls.status)
  const settings = useApiQuery(reminderCalls.settings, {}, { staleTime: previewStaleTime })
  const preview = useApiQuery(reminderCalls.preview, {}, { staleTime: previewStaleTime })
  const lines = preview.data?.lines
  const next = useMemo(() => lines && new Map(lines.map((line) => [line.invoiceId, line])), [lines])
  const broken = useMemo(
    () => new Set(items?.flatMap(({ kind, clients }) => (kind === 'promise' ? clients.map(({ invoiceId }) => invoiceId) : []))),
    [items],
  )
  const known = useMemo((): Known => ({ zone, now, broken, next }), [zone, now, broken, next])
  const grouped = settings.data?.groupByClient
  const run = useMemo(
    () => (next === undefined || grouped === undefined ? undefined : nextRun(invoices, known, grouped)),
    [invoices, known, next, grouped],
  )
  return { known, today, status: status.data, next: run }
}
