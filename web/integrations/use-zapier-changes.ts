import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { integrationCalls } from '#contract/integrations.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { invalidate, useApiQuery } from '#web/platform/query.ts'

/** What is shown of Zapier is read anew when somebody subscribes or unsubscribes elsewhere, in the sidebar say. */
export function useZapierChanges(): void {
  const queries = useQueryClient()
  const subscribed = useApiQuery(zapierCalls.subscription).data?.sendReminders
  const before = useRef(subscribed)
  useEffect(() => {
    if (before.current !== undefined && before.current !== subscribed)
      void invalidate(queries, [integrationCalls.connections, integrationCalls.webhooks])
    before.current = subscribed
  }, [subscribed, queries])
}
