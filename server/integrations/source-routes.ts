import { sourceCalls } from '#contract/sources.ts'
import { originOf, refuseUnproven } from '#server/accounts/accounts.ts'
import type { AfterChange } from '#server/invoices/tables.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { WebhookNetwork } from './http-client.ts'
import { addSource, changeSource, listSources, pullByHand, removeSource, sourceReach } from './sources.ts'

/** Addresses that invoices are imported from every day. `network` is for tests. */
export function sourceRoutes(app: App, deps: Deps, onChange: AfterChange, network: Partial<WebhookNetwork> = {}): void {
  const { db, clock, config } = deps
  const usual = sourceReach(config)
  const reach = { ...usual, network: { ...usual.network, ...network } }
  answer(app, sourceCalls.list, (_parts, { account, role }) => listSources(db, account.id, role))
  answer(app, sourceCalls.create, async ({ body }, principal, { request }) => {
    const now = clock.now()
    await refuseUnproven(deps, principal, body, now, 'access')
    return addSource(deps, principal.account, body, originOf(request), now)
  })
  answer(app, sourceCalls.update, async ({ params, body }, principal, { request }) => {
    const now = clock.now()
    if (body.url !== undefined) await refuseUnproven(deps, principal, body, now, 'access')
    return changeSource(deps, principal.account, params.id, body, originOf(request), now)
  })
  answer(app, sourceCalls.remove, ({ params }, { account }, { request }) =>
    removeSource(db, account.id, params.id, originOf(request), clock.now()),
  )
  answer(app, sourceCalls.pull, async ({ params, body }, { account }, { enterHeavy }) => {
    await enterHeavy()
    return pullByHand({ ...deps, onChange }, account, { id: params.id, ...body }, reach)
  })
}
