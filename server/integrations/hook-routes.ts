import { integrationCalls } from '#contract/integrations.ts'
import { originOf } from '#server/accounts/accounts.ts'
import { type App, answer, type Who } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { listHookDeliveries, resendHook, testHook } from './hook-delivery.ts'
import { sampleEvents } from './hook-samples.ts'
import { type HookOutside, usualOutside } from './hook-target.ts'
import { addWebhook, addZap, changeWebhook, listWebhooks, removeWebhook, removeZap, replaceSecret } from './hooks.ts'

/** Who is told of what happens. `outside` is for tests: the real world otherwise. */
export function hookRoutes(app: App, deps: Deps, outside: Partial<HookOutside> = {}): void {
  const { db, clock, config } = deps
  const world = { ...usualOutside(config), ...outside }

  answer(app, integrationCalls.addHook, ({ body }, who) => addZap(deps, askerOf(who), body, clock.now()))
  answer(app, integrationCalls.removeHook, ({ params }, who) => removeZap(db, askerOf(who), params.id))
  answer(app, integrationCalls.sample, ({ params }, { account }) => sampleEvents(db, account.id, params.event))

  answer(app, integrationCalls.webhooks, (_parts, { account }) => listWebhooks(deps, account.id))
  answer(app, integrationCalls.addWebhook, ({ body }, { account }, { request }) =>
    addWebhook(deps, account.id, body, originOf(request), clock.now()),
  )
  answer(app, integrationCalls.changeWebhook, ({ params, body }, { account }, { request }) =>
    changeWebhook(deps, account.id, params.id, body, originOf(request), clock.now()),
  )
  answer(app, integrationCalls.removeWebhook, ({ params }, { account }, { request }) =>
    removeWebhook(db, account.id, params.id, originOf(request), clock.now()),
  )
  answer(app, integrationCalls.replaceSecret, ({ params }, { account }) => replaceSecret(deps, account.id, params.id))
  answer(app, integrationCalls.testWebhook, ({ params }, { account }) => testHook(deps, account.id, params.id, world))
  answer(app, integrationCalls.hookDeliveries, ({ params }, { account }) => listHookDeliveries(deps, account.id, params.id))
  answer(app, integrationCalls.resend, ({ params }, { account }) => resendHook(deps, account.id, params, world))
}

/** An application asks by the permission that it was given; its hooks go with it. */
function askerOf({ account, program }: Who): { ownerId: string; grantId: string | null } {
  return { ownerId: account.id, grantId: program?.kind === 'application' ? program.id : null }
}
