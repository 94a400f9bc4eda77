import type { ReactNode } from 'react'
import { integrationCalls, type WebhookDelivery } from '#contract/integrations.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import styles from './connections.module.css'
import { ReceiverWords } from './receiver-words.tsx'
import { texts } from './texts.ts'

const words = texts.webhook

/** Sends a test event, and says below the buttons what the receiver made of it. */
export function useTestEvent(id: string): { button: ReactNode; outcome: ReactNode } {
  const send = useApiMutation(integrationCalls.testWebhook, {
    invalidates: [integrationCalls.webhookDeliveries, integrationCalls.webhooks],
  })
  const button = (
    <BusyButton variant="default" busy={send.isPending} busyText={words.testing} onClick={() => send.mutate({ params: { id } })}>
      {words.test}
    </BusyButton>
  )
  const outcome = (
    <>
      {send.isSuccess && <Outcome delivery={send.data} />}
      <FormError message={send.isError ? words.testNotSent(errorMessage(send.error)) : null} />
    </>
  )
  return { button, outcome }
}

function Outcome({ delivery }: { delivery: WebhookDelivery }): ReactNode {
  const taken = delivery.state === 'delivered'
  return (
    <div className={styles.outcome}>
      <Notice tone={taken ? 'good' : 'bad'} title={taken ? words.tested : words.testFailed}>
        <ReceiverWords {...delivery} />
      </Notice>
    </div>
  )
}
