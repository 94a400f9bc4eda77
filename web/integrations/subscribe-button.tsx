import type { ReactNode } from 'react'
import { integrationCalls } from '#contract/integrations.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import { texts } from './texts.ts'

const words = texts.zapier

/** Lets deliveries to Zapier go on. */
export function SubscribeButton(): ReactNode {
  const subscribe = useApiMutation(zapierCalls.subscribe, {
    invalidates: [zapierCalls.subscription, integrationCalls.connections, integrationCalls.webhooks],
    onSuccess: () => toast('good', words.subscribed),
  })
  return (
    <>
      <BusyButton variant="default" busy={subscribe.isPending} busyText={words.subscribing} onClick={() => subscribe.mutate({})}>
        {words.subscribe}
      </BusyButton>
      <FormError message={subscribe.isError ? words.failed(errorMessage(subscribe.error)) : null} />
    </>
  )
}
