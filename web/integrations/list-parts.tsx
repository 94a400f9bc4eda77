import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { integrationCalls, type Webhook } from '#contract/integrations.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { Pill, type PillTone } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import { texts } from './texts.ts'

/** Items shown before "Show all". */
const few = 10

export function ShowAll<T>({ list, children }: { list: T[]; children: (shown: T[]) => ReactNode }): ReactNode {
  const [all, setAll] = useState(false)
  return (
    <>
      {children(all ? list : list.slice(0, few))}
      {!all && list.length > few && (
        <Button variant="default" mt={16} onClick={() => setAll(true)}>
          {texts.showAll(list.length)}
        </Button>
      )}
    </>
  )
}

const t = texts.zapier

/** Resumes deliveries to Zapier. */
export function SubscribeButton(): ReactNode {
  const subscribe = useApiMutation(zapierCalls.subscribe, {
    invalidates: [zapierCalls.subscription, integrationCalls.connections, integrationCalls.webhooks],
    onSuccess: () => toast('good', t.subscribed),
  })
  return (
    <>
      <BusyButton variant="default" busy={subscribe.isPending} busyText={t.subscribing} onClick={() => subscribe.mutate({})}>
        {t.subscribe}
      </BusyButton>
      <FormError message={subscribe.isError ? t.failed(errorMessage(subscribe.error)) : null} />
    </>
  )
}

const tones = { on: 'paid', by_hand: 'unpaid', failing: 'overdue', unverified: 'unpaid', zapier_unsubscribed: 'unpaid' } satisfies Record<
  string,
  PillTone
>

export function WebhookState({ webhook }: { webhook: Webhook }): ReactNode {
  const state = webhook.pausedBecause ?? 'on'
  return <Pill tone={tones[state]}>{texts.webhooks.states[state]}</Pill>
}
