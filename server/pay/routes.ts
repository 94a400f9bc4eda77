import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { businessCalls } from '#contract/business.ts'
import { payAnswerCalls } from '#contract/pay-answers.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import { originOf, refuseUnproven } from '#server/accounts/accounts.ts'
import { readInvoice } from '#server/invoices/invoices.ts'
import { type AfterChange, clients } from '#server/invoices/tables.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { streamed } from '#server/platform/stream-json.ts'
import { bankFileRoutes } from './bank-file-routes.ts'
import { readBrandLogo, saveBrandLogo } from './brand-logo.ts'
import { decideAnswer, listAnswers } from './decide.ts'
import { fileRoutes, only, pdfHeaders } from './files.ts'
import { payLinksFor, revokePayLink } from './links.ts'
import { paymentHookRoutes } from './online-routes.ts'
import { payPageRoutes } from './page-routes.ts'
import { connectRazorpay, disconnectRazorpay, readPaymentSettings, saveLogo, savePaymentSettings, tryRazorpay } from './pay.ts'
import { texts } from './texts.ts'
import { readStatementPage, toStatement } from './view.ts'

const uuid = z.uuid()

/** `afterChange`: what higher slices do about an invoice that a client's answer pauses. */
export function payRoutes(app: App, deps: Deps, afterChange: AfterChange): void {
  const { db, clock, config } = deps
  answer(app, paymentSettingsCalls.read, async (_parts, { account }) => readPaymentSettings(db, config, account.id))
  answer(app, paymentSettingsCalls.save, async ({ body }, { account, sessionId }, { request }) => {
    const now = clock.now()
    await refuseUnproven(deps, { account, sessionId }, body, now)
    return savePaymentSettings({ deps, account, from: originOf(request), now }, body)
  })
  answer(app, paymentSettingsCalls.saveLogo, async ({ body }, { account, sessionId }, { request }) => {
    const now = clock.now()
    await refuseUnproven(deps, { account, sessionId }, body, now)
    return saveLogo({ deps, account, from: originOf(request), now }, Buffer.from(body.image, 'base64'))
  })
  answer(app, paymentSettingsCalls.removeLogo, async (_parts, { account }, { request }) =>
    saveLogo({ deps, account, from: originOf(request), now: clock.now() }, null),
  )
  answer(app, businessCalls.saveLogo, async ({ body }, { account }, { request }) => {
    await saveBrandLogo({ deps, account, from: originOf(request), now: clock.now() }, Buffer.from(body.image, 'base64'))
    return undefined
  })
  answer(app, businessCalls.removeLogo, async (_parts, { account }, { request }) => {
    await saveBrandLogo({ deps, account, from: originOf(request), now: clock.now() }, null)
    return undefined
  })
  answer(app, paymentSettingsCalls.connectRazorpay, async ({ body }, { account, sessionId }, { request }) => {
    const now = clock.now()
    await refuseUnproven(deps, { account, sessionId }, body, now)
    return connectRazorpay({ deps, account, from: originOf(request), now }, body)
  })
  answer(app, paymentSettingsCalls.disconnectRazorpay, async ({ body }, { account, sessionId }, { request }) => {
    const now = clock.now()
    await refuseUnproven(deps, { account, sessionId }, body ?? {}, now)
    return disconnectRazorpay({ deps, account, from: originOf(request), now })
  })
  answer(app, paymentSettingsCalls.tryRazorpay, async (_parts, { account }) => tryRazorpay({ deps, account, now: clock.now() }))
  const linkOf = async (ownerId: string, id: string) => {
    const row = await readInvoice(db, ownerId, id)
    return { ownerId, invoiceId: row.id, clientKey: row.clientEmail.toLowerCase() }
  }
  answer(app, payLinkCalls.create, async ({ params }, { account }) => {
    const [url = ''] = await payLinksFor(deps, [await linkOf(account.id, params.id)], clock.now())
    return { url }
  })
  answer(app, payLinkCalls.revoke, async ({ params }, { account }) => revokePayLink(db, await linkOf(account.id, params.id), clock.now()))
  const statementOf = async (ownerId: string, id: string) => {
    const its = uuid.safeParse(id).success ? and(eq(clients.ownerId, ownerId), eq(clients.id, id)) : undefined
    const [client] = its ? await db.select().from(clients).where(its) : []
    if (!client) throw new ProblemError('not_found', texts.noClient)
    return { ownerId, invoiceId: null, clientKey: client.emailKey }
  }
  answer(app, payLinkCalls.createStatement, async ({ params }, { account }) => {
    const [url = ''] = await payLinksFor(deps, [await statementOf(account.id, params.id)], clock.now())
    return { url }
  })
  answer(app, payLinkCalls.revokeStatement, async ({ params }, { account }) =>
    revokePayLink(db, await statementOf(account.id, params.id), clock.now()),
  )
  answer(app, payLinkCalls.readStatement, async ({ params, query }, { account }, { reply, enterHeavy }) => {
    const its = await statementOf(account.id, params.id)
    const page = await readStatementPage(deps, its, { path: '', confirming: false, error: null }, clock.now())
    if (!page) throw new ProblemError('not_found', texts.noClient)
    if (query.format === 'json') return toStatement(page)
    await enterHeavy()
    // Loaded with its fonts only when one is wanted.
    const { statementPdf, statementName } = await import('./statement-pdf.ts')
    reply.headers(pdfHeaders(statementName(page)))
    return streamed(only(await statementPdf(page, { logo: await readBrandLogo(db, account.id), fonts: deps.config.pdfFonts })))
  })
  fileRoutes(app, deps)
  bankFileRoutes(app, deps, afterChange)
  answer(app, payAnswerCalls.list, async (_parts, { account }) => listAnswers(db, account.id))
  answer(app, payAnswerCalls.accept, async ({ params, body }, { account }) =>
    decideAnswer(db, { ownerId: account.id, id: params.id, accept: body }, afterChange, clock.now()),
  )
  answer(app, payAnswerCalls.decline, async ({ params }, { account }) =>
    decideAnswer(db, { ownerId: account.id, id: params.id, accept: null }, afterChange, clock.now()),
  )
  payPageRoutes(app, deps, afterChange)
  paymentHookRoutes(app, deps)
}
