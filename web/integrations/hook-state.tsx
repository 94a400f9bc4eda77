import type { ReactNode } from 'react'
import type { Webhook } from '#contract/integrations.ts'
import { Pill, type PillTone } from '#web/ui/panel.tsx'
import { texts } from './texts.ts'

const tones = { on: 'paid', by_hand: 'unpaid', failing: 'overdue', zapier_unsubscribed: 'unpaid' } satisfies Record<string, PillTone>

/** Whether a webhook is called, and if not why. */
export function HookState({ webhook }: { webhook: Webhook }): ReactNode {
  const state = webhook.pausedBecause ?? 'on'
  return <Pill tone={tones[state]}>{texts.webhooks.states[state]}</Pill>
}
