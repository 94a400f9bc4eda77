import { reminderCalls } from '#contract/reminders.ts'
import { large, long, sizeOfList } from '#server/invoices/invoices.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { streamed } from '#server/platform/stream-json.ts'
import { invoiceHistory, readMail } from './history.ts'
import { findRun, toRun } from './progress.ts'
import {
  changeSettings,
  draftReminder,
  follow,
  listRuns,
  previewJson,
  previewPage,
  previewReminders,
  reminderStatus,
  retryRun,
  sendNow,
  startReminders,
  stopReminders,
  stopRun,
  tryAddress,
} from './reminders.ts'

/** A draft of more than this is a heavy call. */
const few = 1_000

export function reminderRoutes(app: App, deps: Deps): void {
  const { db, clock, queue, config } = deps
  answer(app, reminderCalls.status, (_parts, { account }) => reminderStatus(deps, account, clock.now()))
  answer(app, reminderCalls.preview, async ({ query: { limit, cursor } }, { account }, { reply, enterHeavy }) => {
    const now = clock.now()
    const size = await sizeOfList(db, account.id)
    if (size > long) await enterHeavy({ counted: size > large })
    if (limit === undefined) return size > long ? streamed(previewJson(deps, account, now)) : previewReminders(deps, account, now)
    const { preview, next } = await previewPage(deps, account, now, { limit, cursor })
    const query = new URLSearchParams({ limit: String(limit), cursor: next ?? '' })
    if (next) reply.header('link', `<${reminderCalls.preview.path}?${query}>; rel="next"`)
    return preview
  })
  answer(app, reminderCalls.start, async ({ body }, { account }, { reply }) =>
    follow(deps, account, await startReminders({ db, queue, account, now: clock.now(), config }, body ?? {}), reply),
  )
  answer(app, reminderCalls.sendNow, async ({ body }, { account }, { reply }) =>
    follow(deps, account, await sendNow({ db, queue, account, now: clock.now(), config }, body ?? {}), reply),
  )
  answer(app, reminderCalls.draft, async ({ body }, { account }, { enterHeavy }) => {
    if (body.invoiceIds.length > few) await enterHeavy()
    return draftReminder({ db, account, now: clock.now(), config }, body)
  })
  answer(app, reminderCalls.tryAddress, async ({ body }, { account }, { reply }) =>
    follow(deps, account, await tryAddress({ db, queue, account, now: clock.now(), config }, body.clientEmail), reply),
  )
  answer(app, reminderCalls.stop, async (_parts, { account }) => ({
    isActive: false,
    cancelled: await stopReminders({ db, account, now: clock.now() }),
  }))
  answer(app, reminderCalls.runs, ({ query }, { account }) => listRuns(db, account, query.limit))
  answer(app, reminderCalls.settings, async (_parts, { account }) => ({ groupByClient: account.groupByClient }))
  answer(app, reminderCalls.changeSettings, ({ body }, { account }) => changeSettings(db, account, body))
  answer(app, reminderCalls.cancelRun, ({ params }, { account }) => stopRun({ db, account, now: clock.now() }, params.id))
  answer(app, reminderCalls.retryRun, async ({ params }, { account }, { reply }) =>
    follow(deps, account, await retryRun({ db, queue, account, now: clock.now(), config }, params.id), reply),
  )
  answer(app, reminderCalls.history, ({ params }, { account }) => invoiceHistory(deps, account, params.id, clock.now()))
  answer(app, reminderCalls.mail, ({ params }, { account }) => readMail(db, account, params.id))
  answer(app, reminderCalls.run, async ({ params }, { account }) => toRun(db, await findRun(db, account.id, params.id)))
}
