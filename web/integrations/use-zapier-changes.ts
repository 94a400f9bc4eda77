import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { integrationCalls } from '#contract/integrations.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { queryKey, useRead } from '#web/platform/query.ts'

/** What is shown of Zapier is read anew when somebody subscribes or unsubscribes elsewhere, in the sidebar say. */
export function useZapierChanges(): void {
  const queries = useQueryClient()
  const subscribed = useRead(zapierCalls.subscription).data?.sendReminders
  const before = useRef(subscribed)
  useEffect(() => {
    if (before.current !== undefined && before.current !== subscribed)
      for (const read of [integrationCalls.connections, integrationCalls.webhooks])
        void queries.invalidateQueries({ queryKey: queryKey(read) })
    before.current = subscribed
  }, [subscribed, queries])
}
