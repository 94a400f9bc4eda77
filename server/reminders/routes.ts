import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { type RunAnswer, reminderCalls } from '#contract/reminders.ts'
import { type Account, type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invoiceHistory, readMail } from './history.ts'
import { answerOf, findRun, refuseTotalFailure, toRun } from './progress.ts'
import {
  changeSettings,
  listRuns,
  nothingDue,
  previewReminders,
  reminderStatus,
  retryRun,
  sendNow,
  startReminders,
  stopReminders,
  stopRun,
} from './reminders.ts'

/** How long a call waits for its run; afterwards the screen follows it. */
const longestWaitMilliseconds = 20_000

export function reminderRoutes(app: App, deps: Deps): void {
  const { db, clock, queue, config } = deps
  answer(app, reminderCalls.status, (_parts, { account }) => reminderStatus(db, account, clock.now()))
  answer(app, reminderCalls.preview, (_parts, { account }) => previewReminders(deps, account, clock.now()))
  answer(app, reminderCalls.start, async (_parts, { account }, { reply }) =>
    follow(deps, account, await startReminders({ db, queue, account, now: clock.now(), config }), reply),
  )
  answer(app, reminderCalls.sendNow, async (_parts, { account }, { reply }) =>
    follow(deps, account, await sendNow({ db, queue, account, now: clock.now() }), reply),
  )
  answer(app, reminderCalls.stop, async (_parts, { account }) => ({
    isActive: false,
    cancelled: await stopReminders({ db, account, now: clock.now() }),
  }))
  answer(app, reminderCalls.runs, ({ query }, { account }) => listRuns(db, account, query.limit, clock.now()))
  answer(app, reminderCalls.settings, async (_parts, { account }) => ({ groupByClient: account.groupByClient }))
  answer(app, reminderCalls.changeSettings, ({ body }, { account }) => changeSettings(db, account, body))
  answer(app, reminderCalls.cancelRun, ({ params }, { account }) => stopRun({ db, account, now: clock.now() }, params.id))
  answer(app, reminderCalls.retryRun, async ({ params }, { account }, { reply }) =>
    follow(deps, account, await retryRun({ db, queue, account, now: clock.now() }, params.id), reply),
  )
  answer(app, reminderCalls.history, ({ params }, { account }) => invoiceHistory(deps, account, params.id, clock.now()))
  answer(app, reminderCalls.mail, ({ params }, { account }) => readMail(db, account, params.id))
  answer(app, reminderCalls.run, async ({ params }, { account }) => toRun(db, await findRun(db, account.id, params.id), clock.now()))
}

/** Answers when nothing of the run is left to try at this moment, or after 20 s with 202. */
async function follow({ db, clock }: Deps, account: Account, runId: string | null, reply: FastifyReply): Promise<RunAnswer> {
  if (runId === null) return nothingDue
  const began = performance.now()
  for (let wait = 25; ; wait = Math.min(wait * 1.5, 250)) {
    const { settled, answer } = await answerOf(db, account.id, runId, clock.now())
    if (settled) refuseTotalFailure(answer)
    const late = performance.now() - began > longestWaitMilliseconds
    if (late) reply.status(202)
    if (settled || late) return answer
    await pause(wait)
  }
}
