import type { ReactNode } from 'react'
import { type HookDelivery, integrationCalls } from '#contract/integrations.ts'
import { inWords } from '#web/platform/problem.ts'
import { useCall } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/busy-button.tsx'
import { FormError } from '#web/ui/form-error.tsx'
import { Notice } from '#web/ui/notice.tsx'
import look from './connections.module.css'
import { texts } from './texts.ts'

const words = texts.webhook

/** Sends a test event, and says below the buttons what the receiver made of it. */
export function useTestEvent(id: string): { button: ReactNode; outcome: ReactNode } {
  const send = useCall(integrationCalls.testWebhook, { refreshes: [integrationCalls.hookDeliveries, integrationCalls.webhooks] })
  const button = (
    <BusyButton variant="default" busy={send.isPending} busyText={words.testing} onClick={() => send.mutate({ params: { id } })}>
      {words.test}
    </BusyButton>
  )
  const outcome = (
    <>
      {send.isSuccess && <Outcome delivery={send.data} />}
      <FormError message={send.isError ? words.testNotSent(inWords(send.error)) : null} />
    </>
  )
  return { button, outcome }
}

function Outcome({ delivery }: { delivery: HookDelivery }): ReactNode {
  const { state, status, words: said } = delivery
  return (
    <div className={look.outcome}>
      <Notice tone={state === 'delivered' ? 'good' : 'bad'} title={state === 'delivered' ? words.tested : words.testFailed}>
        {status === null ? (
          said
        ) : said ? (
          <>
            {words.answered(status)} <q>{said}</q>
          </>
        ) : (
          words.answeredOnly(status)
        )}
      </Notice>
    </div>
  )
}
