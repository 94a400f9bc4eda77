import type { FastifyReply, FastifyRequest } from 'fastify'
import { tagOfVersion } from '#contract/call.ts'
import { leavingCalls } from '#contract/leaving.ts'
import { ownerLinkCalls } from '#contract/owner-links.ts'
import { quietDayCalls } from '#contract/quiet-days.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { type Sequence, sequenceCalls, versionOfSequence } from '#contract/sequences.ts'
import { originOf } from '#server/accounts/accounts.ts'
import { long, sizeOfList, toInvoice } from '#server/invoices/invoices.ts'
import { readClients } from '#server/invoices/pauses.ts'
import type { SendTest } from '#server/mail/mail.ts'
import { type Account, type App, answer, answerOpen } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { streamed } from '#server/platform/stream-json.ts'
import { readCompared } from './compared.ts'
import { changeDay } from './days.ts'
import { actOnEvening, lookAtEvening, openEvening } from './evening.ts'
import { invoiceHistory, readMail } from './history.ts'
import { leaveOutOfRun, readLeaving, sendRunNow, takeBackInRun } from './leaving.ts'
import { readAllowance } from './mailbox-pauses.ts'
import { findRun, toRun } from './progress.ts'
import { readHolidays, replaceOwnDays } from './quiet-days.ts'
import {
  changeSettings,
  draftReminder,
  follow,
  listRuns,
  previewJson,
  previewPage,
  previewReminders,
  readSettings,
  reminderStatus,
  retryRun,
  sendNow,
  startReminders,
  stopReminders,
  stopRun,
  tryAddress,
} from './reminders.ts'
import { localDate } from './schedule.ts'
import {
  assignToInvoice,
  composeTest,
  createSequence,
  listSequences,
  readSequence,
  removeSequence,
  replaceSequence,
  stepToTest,
} from './sequences.ts'
import { readPlan, simulate } from './simulate.ts'
import { endSummaries } from './summary.ts'

/** A draft of more than this is a heavy call. */
const few = 1_000

export function reminderRoutes(app: App, deps: Deps): void {
  const { db, clock, queue, config } = deps
  const asking = (account: Account) => ({ db, queue, config, account, now: clock.now() })
  answer(app, reminderCalls.status, (_parts, { account }) => reminderStatus(deps, account, clock.now()))
  answer(app, reminderCalls.preview, async ({ query: { limit, cursor } }, { account }, { reply, enterHeavy }) => {
    const now = clock.now()
    const size = await sizeOfList(db, account.id)
    if (size > long) await enterHeavy()
    const allowance = await readAllowance(deps.db, account.id, now)
    if (limit === undefined)
      return size > long
        ? streamed(previewJson(deps, account, now, { allowance }))
        : { ...(await previewReminders(deps, account, now)), allowance }
    const { preview, next } = await previewPage(deps, account, now, { limit, cursor })
    const query = new URLSearchParams({ limit: String(limit), cursor: next ?? '' })
    if (next) reply.header('link', `<${reminderCalls.preview.path}?${query}>; rel="next"`)
    return { ...preview, allowance }
  })
  answer(app, reminderCalls.start, async ({ body }, { account }, { reply }) =>
    follow(deps, account, await startReminders(asking(account), body ?? {}), reply),
  )
  answer(app, reminderCalls.sendNow, async ({ body }, { account }, { reply }) =>
    follow(deps, account, await sendNow(asking(account), body ?? {}), reply),
  )
  answer(app, reminderCalls.draft, async ({ body }, { account }, { enterHeavy }) => {
    if (body.invoiceIds.length > few) await enterHeavy()
    return draftReminder({ ...asking(account), log: deps.log }, body)
  })
  answer(app, reminderCalls.tryAddress, async ({ body }, { account }, { reply }) =>
    follow(deps, account, await tryAddress(asking(account), body.clientEmail), reply),
  )
  answer(app, reminderCalls.stop, async (_parts, { account }) => ({
    isActive: false,
    cancelled: await stopReminders(asking(account)),
  }))
  answer(app, reminderCalls.runs, ({ query }, { account }) => listRuns(db, account, query.limit))
  answer(app, reminderCalls.smart, (_parts, { account }) =>
    readCompared(db, { id: account.id, today: localDate(clock.now(), account.timezone) }),
  )
  answer(app, reminderCalls.settings, async (_parts, { account }, { reply }) => {
    const settings = readSettings(account)
    reply.header('etag', tagOfVersion(settings))
    return settings
  })
  answer(app, reminderCalls.changeSettings, async ({ body }, { account }, { request, reply }) => {
    const about = { from: originOf(request), ifMatch: request.headers['if-match'] }
    const settings = await changeSettings({ ...asking(account), ...about }, body)
    reply.header('etag', tagOfVersion(settings))
    return settings
  })
  answer(app, reminderCalls.cancelRun, ({ params }, { account }) => stopRun(asking(account), params.id))
  answer(app, reminderCalls.retryRun, async ({ params }, { account }, { reply }) =>
    follow(deps, account, await retryRun(asking(account), params.id), reply),
  )
  answer(app, leavingCalls.mails, ({ params }, { account }) => readLeaving(db, account, params.id))
  answer(app, leavingCalls.leaveOut, ({ params, body }, { account }) => leaveOutOfRun(asking(account), params.id, body))
  answer(app, leavingCalls.takeBack, ({ params, body }, { account }) => takeBackInRun(asking(account), params.id, body))
  const changingDay = async (account: Account, enterHeavy: () => Promise<void>) => {
    if ((await sizeOfList(db, account.id)) > long) await enterHeavy()
    return asking(account)
  }
  answer(app, leavingCalls.leaveOutOnDay, async ({ params, body }, { account }, { enterHeavy }) =>
    changeDay(await changingDay(account, enterHeavy), params.date, 'leave_out', body.clientEmails),
  )
  answer(app, leavingCalls.takeBackOnDay, async ({ params, body }, { account }, { enterHeavy }) =>
    changeDay(await changingDay(account, enterHeavy), params.date, 'take_back', body.clientEmails),
  )
  answer(app, leavingCalls.sendNow, ({ params }, { account }) => sendRunNow(asking(account), params.id))
  answer(app, reminderCalls.history, ({ params }, { account }) => invoiceHistory(deps, account, params.id, clock.now()))
  answer(app, reminderCalls.mail, ({ params }, { account }) => readMail(db, account, params.id))
  answer(app, reminderCalls.run, async ({ params }, { account }) => toRun(db, await findRun(db, account.id, params.id)))
}

/** What owners do by a link of an email, without a session. */
export function ownerLinkRoutes(app: App, deps: Deps): void {
  const open = async (token: string, reply: FastifyReply) => {
    reply.headers({ 'x-robots-tag': 'noindex, nofollow', 'referrer-policy': 'no-referrer' })
    const opened = await openEvening(deps, token)
    await app.callLimits.enter(opened.account.id, reply)
    if ((await sizeOfList(deps.db, opened.account.id)) > long) await app.callLimits.enterHeavy(opened.account.id, reply)
    return opened
  }
  answerOpen(app, ownerLinkCalls.lookAtEvening, async ({ body }, { reply }) =>
    lookAtEvening(deps, await open(body.token, reply), body.token),
  )
  answerOpen(app, ownerLinkCalls.leaveOutOfEvening, async ({ body }, { request, reply }) =>
    actOnEvening(deps, await open(body.token, reply), { ...body, act: 'leave_out' }, originOf(request)),
  )
  answerOpen(app, ownerLinkCalls.takeBackInEvening, async ({ body }, { request, reply }) =>
    actOnEvening(deps, await open(body.token, reply), { ...body, act: 'take_back' }, originOf(request)),
  )
  app.register((forms, _options, done) => {
    // Mail providers send a form, of either kind; the token is in the address.
    forms.addContentTypeParser(
      ['application/x-www-form-urlencoded', 'multipart/form-data'],
      { parseAs: 'string' },
      (_request, _body, parsed) => parsed(null),
    )
    answerOpen(forms, ownerLinkCalls.endSummaries, ({ query }, { request }) => endSummaries(deps, query.token, originOf(request)))
    done()
  })
}

/** The calls of sequences, of what they will send, and of changes that are not made. */
export function sequenceRoutes(app: App, { db, clock, config }: Deps, sendTest: SendTest): void {
  const changing = (account: Account, request: FastifyRequest) => ({ db, config, account, from: originOf(request), now: clock.now() })
  answer(app, sequenceCalls.list, ({ query }, { account }) => listSequences(db, account, query.language))
  const tagged = (reply: FastifyReply, found: Sequence) => {
    reply.header('etag', tagOfVersion({ version: versionOfSequence(found) }))
    return found
  }
  answer(app, sequenceCalls.read, async ({ params, query }, { account }, { reply }) =>
    tagged(reply, await readSequence(db, account, params.id, query.language)),
  )
  answer(app, sequenceCalls.create, ({ body, query }, { account }, { request }) =>
    createSequence(changing(account, request), body, query.language),
  )
  answer(app, sequenceCalls.replace, async ({ params, body, query }, { account }, { request, reply }) => {
    const change = { ...changing(account, request), ifMatch: request.headers['if-match'] }
    return tagged(reply, await replaceSequence(change, params.id, body, query.language))
  })
  answer(app, sequenceCalls.remove, ({ params, query }, { account }, { request }) =>
    removeSequence(changing(account, request), params.id, query.use),
  )
  answer(app, sequenceCalls.test, async ({ params, body, query: { language } }, { account }) => {
    const step = await stepToTest(db, account, params.id, { ...body, language })
    await sendTest(account, (from) => composeTest(step, { account, from, group: body.group, language, now: clock.now() }))
    return { to: account.person.email }
  })
  answer(app, sequenceCalls.assign, async ({ params, body }, { account }, { request }) => {
    const row = await assignToInvoice(changing(account, request), params.id, body)
    return toInvoice(row, await readClients(db, account.id, [row]))
  })
  answer(app, quietDayCalls.read, ({ query }, { account }) => readHolidays({ db, config, account, now: clock.now() }, query))
  answer(app, quietDayCalls.replaceOwnDays, ({ body }, { account }, { request }) =>
    replaceOwnDays({ db, config, account, now: clock.now(), from: originOf(request) }, body),
  )
  answer(app, sequenceCalls.plan, async ({ query }, { account }, { enterHeavy }) => {
    const isWhole = query.invoice === undefined || account.smart
    if (isWhole && (await sizeOfList(db, account.id)) > long) await enterHeavy()
    return readPlan({ db, config, account, now: clock.now() }, query)
  })
  answer(app, sequenceCalls.simulate, async ({ body }, { account }, { enterHeavy }) => {
    if ((await sizeOfList(db, account.id)) > long) await enterHeavy()
    return simulate({ db, config, account, now: clock.now() }, body)
  })
}
