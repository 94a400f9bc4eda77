import { integrationCalls } from '#contract/integrations.ts'
import { originOf, refuseUnproven } from '#server/accounts/accounts.ts'
import type { AfterChange } from '#server/invoices/tables.ts'
import { type Account, type App, answer } from '#server/platform/answer.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { recordBounce } from '#server/reminders/bounces.ts'
import { follow, triggerReminders } from '#server/reminders/reminders.ts'
import { allow, readQuestion } from './consent.ts'
import { disconnect, isConnectedToZapier, listConnections, subscribeToZapier } from './integrations.ts'
import { addKey, listKeys, removeKey } from './keys.ts'
import { oauthRoutes } from './oauth-routes.ts'
import { sourceRoutes } from './source-routes.ts'
import { webhookRoutes } from './webhook-routes.ts'

/** What API clients may do with an account, and how a person gives them access. */
export async function integrationRoutes(app: App, deps: Deps, onChange: AfterChange): Promise<void> {
  const { db, clock, queue, config } = deps
  await oauthRoutes(app, deps)
  webhookRoutes(app, deps)
  sourceRoutes(app, deps, onChange)

  answer(app, integrationCalls.consent, ({ query }) => readQuestion(deps, query, clock.now()))
  answer(app, integrationCalls.allow, async ({ body }, principal, { request }) => ({
    redirect: await allow(deps, principal, body, originOf(request), clock.now()),
  }))
  answer(app, integrationCalls.connections, (_parts, { account }) => listConnections(db, account, config))
  answer(app, integrationCalls.disconnect, ({ params }, { account }, { request }) =>
    disconnect(deps, account.id, params.id, originOf(request), clock.now()),
  )

  answer(app, integrationCalls.me, async (_parts, { account: { person, ...business } }) => ({
    id: String(person.id),
    email: person.email,
    displayName: person.displayName,
    businessId: business.id,
    businessName: business.displayName,
  }))
  answer(app, integrationCalls.trigger, async ({ body }, { account }, { reply }) => {
    const { runId, skipped } = await triggerReminders({ db, queue, account, now: clock.now(), config }, body?.invoiceIds)
    return follow(deps, account, runId, reply, skipped)
  })
  answer(app, integrationCalls.bounce, ({ body }, { account }) => recordBounce(db, account, body.messageId, clock.now()))

  const settings = async ({ id }: Account, sendReminders: boolean) => ({
    sendReminders,
    available: config.zapier !== null,
    connected: await isConnectedToZapier(db, id, config),
  })
  const changeSettings = async (tx: Database, account: Account, sendReminders: boolean) => {
    await subscribeToZapier(tx, account.id, sendReminders)
    return settings(account, sendReminders)
  }
  answer(app, integrationCalls.subscribe, (_parts, { account }) => changeSettings(db, account, true))
  answer(app, integrationCalls.unsubscribe, (_parts, { account }) => changeSettings(db, account, false))
  answer(app, integrationCalls.subscription, async (_parts, { account }) => settings(account, account.sendReminders))

  answer(app, integrationCalls.keys, (_parts, { account }) => listKeys(db, account.id))
  answer(app, integrationCalls.addKey, async ({ body }, principal, { request }) => {
    const now = clock.now()
    await refuseUnproven(deps, principal, body, now, 'access')
    return addKey(deps, principal.account, body, originOf(request), now)
  })
  answer(app, integrationCalls.removeKey, ({ params }, { account }, { request }) =>
    removeKey(db, account.id, params.id, originOf(request), clock.now()),
  )
}
