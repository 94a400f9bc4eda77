import { Button } from '@mantine/core'
import { IconArrowLeft, IconWebhookOff } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link, useParams } from 'react-router'
import { integrationCalls, type Webhook } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { PageHeader } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { DeliveryLog } from './delivery-log.tsx'
import { texts } from './texts.ts'
import { useZapierChanges } from './use-zapier-changes.ts'
import { WebhookCard } from './webhook-card.tsx'

const words = texts.webhook

/** /dashboard/connections/webhooks/{id} */
export default function WebhookScreen(): ReactNode {
  const { id = '' } = useParams()
  const webhooks = useApiQuery(integrationCalls.webhooks)
  useZapierChanges()
  const found = webhooks.data?.find(({ _id }) => _id === id)
  return (
    <>
      <PageHeader
        title={found?.kind === 'zapier' ? words.zap : words.title}
        action={
          <Button component={Link} to={screens.connections} variant="default" leftSection={<IconArrowLeft size={18} aria-hidden />}>
            {words.back}
          </Button>
        }
      />
      <QueryView query={webhooks} loading={texts.webhooks.loading} error={texts.webhooks.failed} empty={null}>
        {() => <Found key={id} webhook={found} />}
      </QueryView>
    </>
  )
}

function Found({ webhook }: { webhook: Webhook | undefined }): ReactNode {
  // One that was just removed stays until its screen is left.
  const [last, setLast] = useState(webhook)
  const [removed, setRemoved] = useState(false)
  if (webhook && webhook !== last) setLast(webhook)
  const shown = webhook ?? (removed ? last : undefined)
  if (!shown)
    return (
      <EmptyState
        icon={<IconWebhookOff />}
        title={words.gone.title}
        text={words.gone.text}
        action={
          <Button component={Link} to={screens.connections}>
            {words.gone.back}
          </Button>
        }
      />
    )
  return (
    <>
      <WebhookCard webhook={shown} onRemoved={() => setRemoved(true)} />
      {!removed && <DeliveryLog webhook={shown} />}
    </>
  )
}
