import { integrationCalls } from '#contract/integrations.ts'
import { originOf, refuseUnproven } from '#server/accounts/accounts.ts'
import { type App, answer, type Principal } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { defaultNetwork, type WebhookNetwork } from './http-client.ts'
import { texts } from './texts.ts'
import { listDeliveries, resendDelivery, sendTestEvent } from './webhook-delivery.ts'
import { sampleEvents } from './webhook-samples.ts'
import { addWebhook, addZap, changeWebhook, listWebhooks, removeWebhook, removeZap, replaceSecret } from './webhooks.ts'

/** Webhooks of people and of Zaps. `network` is for tests. */
export function webhookRoutes(app: App, deps: Deps, network: Partial<WebhookNetwork> = {}): void {
  const { db, clock, config } = deps
  const reached = { ...defaultNetwork(config), ...network }

  answer(app, integrationCalls.addZap, ({ body }, who) => addZap(deps, askerOf(who), body, clock.now()))
  answer(app, integrationCalls.removeZap, ({ params }, who) => removeZap(db, askerOf(who), params.id))
  answer(app, integrationCalls.sample, ({ params }, who) => sampleEvents(db, askerOf(who).ownerId, params.event))

  answer(app, integrationCalls.webhooks, (_parts, { account }) => listWebhooks(deps, account.id))
  answer(app, integrationCalls.addWebhook, async ({ body }, principal, { request }) => {
    const now = clock.now()
    await refuseUnproven(deps, principal, body, now, 'access')
    return addWebhook(deps, principal.account, body, originOf(request), now)
  })
  answer(app, integrationCalls.changeWebhook, async ({ params, body }, principal, { request }) => {
    const now = clock.now()
    const { url, events, paused } = body
    if (url !== undefined) await refuseUnproven(deps, principal, body, now, 'access')
    const change = Object.fromEntries(Object.entries({ url, events, paused }).filter(([, value]) => value !== undefined))
    return changeWebhook(deps, principal.account, params.id, change, originOf(request), now)
  })
  answer(app, integrationCalls.removeWebhook, ({ params }, { account }, { request }) =>
    removeWebhook(db, account.id, params.id, originOf(request), clock.now()),
  )
  answer(app, integrationCalls.replaceSecret, async ({ params, body }, principal, { request }) => {
    const now = clock.now()
    await refuseUnproven(deps, principal, body ?? {}, now, 'access')
    return replaceSecret(deps, principal.account, params.id, originOf(request), now)
  })
  answer(app, integrationCalls.testWebhook, ({ params }, { account }) => sendTestEvent(deps, account.id, params.id, reached))
  answer(app, integrationCalls.webhookDeliveries, ({ params }, { account }) => listDeliveries(deps, account.id, params.id))
  answer(app, integrationCalls.resend, ({ params }, { account }) => resendDelivery(deps, account.id, params, reached))
}

/** The webhooks of an app belong to its grant and end with it. Refuses a person with `not_allowed`: they add webhooks of their own. */
function askerOf({ account, apiClient }: Principal): { ownerId: string; grantId: string } {
  if (apiClient?.kind !== 'application') throw new ProblemError('not_allowed', texts.webhook.applicationsOnly)
  return { ownerId: account.id, grantId: apiClient.id }
}
