import { createContext, useContext, useEffect, useMemo, useRef } from 'react'

/** Something that the owner should know or do, from any slice: an entry behind the header's bell, and part of the dashboard's line. */
export interface AttentionItem {
  key: string
  kind: 'mailbox' | 'address' | 'delivery' | 'promise' | 'answer' | 'payment' | 'approval' | 'webhook' | 'plan' | 'service'
  tone: 'bad' | 'warn' | 'info'
  /** Only the owner can put it right: it is counted. Others are for information. */
  needsOwner: boolean
  /** A few words without a full stop, for a line of several. */
  summary: string
  /** What happened, without a full stop, and what to do. */
  title: string
  text: string
  /** The mail server's own words. */
  reply: string | null
  /** `reload`: the screen is outside the dashboard. */
  action: { text: string; to: string; reload: boolean } | null
  /** The clients it is about, each with one of their invoices. */
  clients: { clientName: string; invoiceId: string; reference: string }[]
  /** When it happened: an ISO instant; null for a lasting state. */
  at: string | null
  dismiss: (() => Promise<unknown> | undefined) | null
}

/** The fields that most items leave empty. */
export const plainItem = { reply: null, action: null, clients: [], at: null, dismiss: null } satisfies Partial<AttentionItem>

export interface Attention {
  /** Those that need the owner first, the most urgent first. Null until they are loaded. */
  items: AttentionItem[] | null
  /** How many of them need the owner. */
  count: number
  /** Opens the list behind the bell. */
  open: () => void
  publish: (source: string, items: AttentionItem[]) => void
}

export const AttentionContext = createContext<Attention | null>(null)

export function useAttention(): Attention {
  const attention = useContext(AttentionContext)
  if (!attention) throw new Error('useAttention needs the dashboard around it.')
  return attention
}

/** The invoices whose client broke a promise to pay. */
export function useBrokenPromises(): ReadonlySet<string> {
  const { items } = useAttention()
  return useMemo(
    () => new Set(items?.flatMap(({ kind, clients }) => (kind === 'promise' ? clients.map(({ invoiceId }) => invoiceId) : []))),
    [items],
  )
}

/** Adds the items of a slice to the list, as long as the calling component is mounted. `source` names the slice. */
export function usePublished(source: string, items: AttentionItem[]): void {
  const { publish } = useAttention()
  const latest = useRef(items)
  latest.current = items
  const content = JSON.stringify(items)
  // biome-ignore lint/correctness/useExhaustiveDependencies: items are equal while their content is.
  useEffect(() => publish(source, latest.current), [publish, source, content])
  useEffect(() => () => publish(source, []), [publish, source])
}
