import type { ReactNode } from 'react'
import type { WebhookDelivery } from '#contract/integrations.ts'
import { texts } from './texts.ts'

const words = texts.log

/** What became of the last try: the receiver's own words quoted, or a sentence of ours where none of its came. null before the first try. */
export function ReceiverWords({ status, words: said }: Pick<WebhookDelivery, 'status' | 'words'>): ReactNode {
  if (status === null) return said
  // Of one that leads elsewhere Duely itself says what to do.
  if (status >= 300 && status < 400) return `${words.answered(status)} ${said ?? ''}`
  if (said === null || said === '') return words.saidNothing(status)
  return (
    <>
      {words.said(status)} <q>{said}</q>
    </>
  )
}
