import { evidenceCalls } from '#contract/evidence.ts'
import { insightCalls } from '#contract/insights.ts'
import { refuseWithout } from '#server/billing/billing.ts'
import { localDate, long, sizeOfList } from '#server/invoices/invoices.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { attachment } from '#server/platform/headers.ts'
import { streamed } from '#server/platform/stream-json.ts'
import { openEvidence } from './evidence.ts'
import { exportFigures } from './export.ts'
import { openInsight } from './insight.ts'
import { analyticsName } from './texts.ts'

export function insightRoutes(app: App, { db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>): void {
  const insight = openInsight(db)
  const refuse = (ownerId: string) => refuseWithout({ ability: 'advancedAnalytics', what: analyticsName }, db, ownerId, clock.now(), config)
  /** Figures of many invoices are a heavy call. */
  const enter = async (ownerId: string, enterHeavy: () => Promise<void>) => {
    const size = await sizeOfList(db, ownerId)
    if (size > long) await enterHeavy()
  }
  answer(app, insightCalls.read, async (_parts, { account }, { enterHeavy }) => {
    await enter(account.id, enterHeavy)
    return insight.read(account, clock.now())
  })
  answer(app, insightCalls.advanced, async (_parts, { account }, { enterHeavy }) => {
    await refuse(account.id)
    await enter(account.id, enterHeavy)
    return insight.advanced(account, clock.now())
  })
  answer(app, insightCalls.clients, async (_parts, { account }, { enterHeavy }) => {
    await refuse(account.id)
    await enter(account.id, enterHeavy)
    return insight.clients(account, clock.now())
  })
  answer(app, insightCalls.export, async ({ query }, { account }, { reply, enterHeavy }) => {
    await refuse(account.id)
    await enterHeavy()
    const now = clock.now()
    const file = await exportFigures(insight, query.what, account, now)
    const name = `duely-${query.what}-${localDate(now, account.timezone)}.csv`
    reply.headers({ 'content-type': 'text/csv; charset=utf-8', 'content-disposition': `attachment; filename="${name}"` })
    return streamed(once(file))
  })
  answer(app, evidenceCalls.download, async ({ params }, { account }, { reply, enterHeavy }) => {
    await enterHeavy()
    const { name, parts } = await openEvidence({ db, config }, account, params.id, clock.now())
    reply.headers({ 'content-type': 'application/zip', 'content-disposition': attachment(name, 'evidence.zip') })
    return streamed(parts)
  })
}

async function* once(text: string): AsyncGenerator<string> {
  yield text
}
