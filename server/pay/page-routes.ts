import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readTypedAmount, toMinor } from '#contract/money.ts'
import { addressKey, countOne, secondsUntil } from '#server/accounts/throttle.ts'
import { balanceMinor } from '#server/invoices/balance.ts'
import type { AfterChange, InvoiceRow } from '#server/invoices/tables.ts'
import { type App, problemOf } from '#server/platform/answer.ts'
import { lastOfEach, readForm } from '#server/platform/body.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Deps } from '#server/platform/deps.ts'
import { linkedPageHeaders } from '#server/platform/headers.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { answerInvoice, readAnswer, takeBackAnswer } from './answers.ts'
import { readBrandLogo } from './brand-logo.ts'
import { pdfHeaders, readFile, type StoredFile } from './files.ts'
import { isConfirming, onlineRoutes } from './online-routes.ts'
import {
  copyScript,
  copyScriptPath,
  type InvoicePage,
  invoicePage,
  isFilled,
  leavingPage,
  noncePlace,
  plainPage,
  statementPage,
} from './page.ts'
import { paymentLogos } from './tables.ts'
import { pageTexts } from './texts.ts'
import { type Opened, openLink, readInvoicePage, readStatementPage } from './view.ts'

const views = { limit: 120, seconds: 60 }
const unknownTokens = { limit: 20, seconds: 600 }
const startsOfLink = { limit: 20, seconds: 24 * 3600 }
const answersOfLink = { limit: 10, seconds: 24 * 3600 }
/** Making one takes a tenth of a second of a core. */
const statementsOfLink = { limit: 10, seconds: 600 }

interface Params {
  token: string
  invoiceId?: string
}

/**
 * The pages that clients open by a link. GET and HEAD change nothing but counts, so that a scanner of emails may follow every address; acts are
 * POSTs, permitted by the link alone: browsers send `Origin: null` from a page without referrer.
 */
export function payPageRoutes(app: App, deps: Deps, afterChange: AfterChange): void {
  const { db, clock, config } = deps

  /** Sends a page with its headers; over its limits an address gets `too many` instead of any page. */
  const send = (reply: FastifyReply, status: number, html: string): FastifyReply => {
    const nonce = randomBytes(16).toString('base64')
    return reply
      .status(status)
      .headers(linkedPageHeaders(nonce, ["script-src 'self'", "img-src 'self' data:"]))
      .send(html.replace(noncePlace, nonce))
  }
  const sendPdf = (reply: FastifyReply, { name, file }: StoredFile) =>
    reply.headers({ ...pdfHeaders(name), 'x-robots-tag': 'noindex, nofollow', 'referrer-policy': 'no-referrer' }).send(file)
  const tooMany = (reply: FastifyReply, until: Instant, now: Instant) =>
    send(reply.header('retry-after', secondsUntil(until, now)), 429, plainPage(pageTexts.tooMany))

  /** Whether a count is over its limit, and until when. */
  const over = async (key: string, rule: typeof views, now: Instant): Promise<Instant | null> => {
    if (!config.rateLimit) return null
    const { count, until } = await countOne(db, key, rule.seconds, now)
    return count > rule.limit ? until : null
  }

  /** Opens the link of a request, or answers for it. */
  const opened = async (request: FastifyRequest<{ Params: Params }>, reply: FastifyReply, now: Instant): Promise<Opened | null> => {
    const often = await over(addressKey('pay-view', request.ip), views, now)
    if (often) {
      await tooMany(reply, often, now)
      return null
    }
    const { token, invoiceId = null } = request.params
    const found = await openLink(db, token, invoiceId, now)
    if (found) return found
    const guessing = await over(addressKey('pay-unknown', request.ip), unknownTokens, now)
    await (guessing ? tooMany(reply, guessing, now) : send(reply, 404, plainPage(pageTexts.gone)))
    return null
  }
  const pathOf = ({ token, invoiceId }: Params) =>
    `/pay/${encodeURIComponent(token)}${invoiceId === undefined ? '' : `/${encodeURIComponent(invoiceId)}`}`

  const show = async (
    request: FastifyRequest<{ Params: Params }>,
    reply: FastifyReply,
    link: Opened,
    about: { asked: number | null; error: InvoicePage['error']; status?: number },
    now: Instant,
  ) => {
    const path = pathOf(request.params)
    const { invoice } = link
    const confirming = await isConfirming(db, link, request.query as Record<string, unknown>)
    const { status = about.error ? 400 : 200, ...shown } = about
    const html = invoice
      ? await readInvoicePage(deps, { ...link, invoice }, { path, confirming, ...shown }, now).then((page) => page && invoicePage(page))
      : await readStatementPage(deps, link, { path, confirming, error: shown.error }, now).then((page) => page && statementPage(page))
    return html === null ? send(reply, 404, plainPage(pageTexts.gone)) : send(reply, status, html)
  }

  app.register((pages: App, _options, done) => {
    pages.setErrorHandler((error, request, reply) => {
      if (error instanceof ProblemError && error.retryAfter !== undefined)
        return send(reply.header('retry-after', error.retryAfter), error.status, plainPage(pageTexts.tooMany))
      const { status, problem } = problemOf(error, request)
      if (status < 500) return send(reply, status, plainPage({ title: pageTexts.unread, text: problem.message }))
      request.log.error({ err: error }, 'A pay page failed.')
      return send(reply, 503, plainPage(pageTexts.failed))
    })
    pages.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, async (_request: FastifyRequest, body: string) =>
      lastOfEach(readForm(body)),
    )
    const hidden = { schema: { hide: true } } as const

    pages.get(copyScriptPath, hidden, (_request, reply) =>
      reply.headers({ 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' }).send(copyScript),
    )

    pages.get<{ Params: Params }>('/pay/:token/statement.pdf', hidden, async (request, reply) => {
      const now = clock.now()
      const link = await opened(request, reply, now)
      if (!link) return reply
      const page = link.invoice ? null : await readStatementPage(deps, link, { path: '', confirming: false, error: null }, now)
      if (!page) return send(reply, 404, plainPage(pageTexts.gone))
      const often = await over(`pay-statement:${link.linkId}`, statementsOfLink, now)
      if (often) return tooMany(reply, often, now)
      // Of all links of an account together: one has as many as clients.
      await app.callLimits.enterHeavy(link.ownerId, reply)
      const { statementName, statementPdf } = await import('./statement-pdf.ts')
      const file = await statementPdf(page, { logo: await readBrandLogo(db, link.ownerId), fonts: config.pdfFonts })
      return sendPdf(reply, { name: statementName(page), file })
    })
    for (const url of ['/pay/:token', '/pay/:token/:invoiceId']) {
      onlineRoutes(pages, url, deps, {
        opened,
        pathOf,
        async tooMany(reply, { linkId }, now) {
          const often = await over(`pay-online:${linkId}`, startsOfLink, now)
          if (often) await tooMany(reply, often, now)
          return often !== null
        },
        showError: (request, reply, link, error, now) =>
          show(
            request,
            reply,
            link,
            {
              asked: null,
              error: {
                form: 'online',
                message: pageTexts.errors[error === 'failed' ? 'online' : error],
                ...(error === 'filled' ? { typed: request.body ?? {} } : {}),
              },
              status: error === 'failed' ? 502 : 400,
            },
            now,
          ),
        showLeaving: (reply, about) => send(reply, 200, leavingPage(about)),
      })
      pages.get<{ Params: Params; Querystring: Record<string, unknown> }>(url, hidden, async (request, reply) => {
        const now = clock.now()
        const link = await opened(request, reply, now)
        if (!link) return reply
        return show(request, reply, link, askedOf(link.invoice, request.query.amount), now)
      })
      pages.get<{ Params: Params }>(`${url}/logo`, hidden, async (request, reply) => {
        const link = await opened(request, reply, clock.now())
        if (!link) return reply
        const [logo] = await db.select().from(paymentLogos).where(eq(paymentLogos.ownerId, link.ownerId))
        if (!logo) return send(reply, 404, plainPage(pageTexts.gone))
        return reply
          .headers({ 'content-type': logo.type, 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow' })
          .send(logo.image)
      })
      pages.get<{ Params: Params }>(`${url}/invoice.pdf`, hidden, async (request, reply) => {
        const link = await opened(request, reply, clock.now())
        if (!link) return reply
        const found = link.invoice && (await readFile(db, link.invoice))
        return found ? sendPdf(reply, found) : send(reply, 404, plainPage(pageTexts.gone))
      })
      pages.post<{ Params: Params; Body: Record<string, string> | null }>(`${url}/answer`, hidden, async (request, reply) => {
        const now = clock.now()
        const link = await opened(request, reply, now)
        if (!link) return reply
        const { invoice } = link
        if (!invoice) return send(reply, 404, plainPage(pageTexts.gone))
        const path = pathOf(request.params)
        const page = await readInvoicePage(deps, { ...link, invoice }, { path, asked: null, error: null, confirming: false }, now)
        const typed = request.body ?? {}
        const answer = page && readAnswer(typed, page.today, page.owed)
        if (!page || !answer) return reply.redirect(path, 303)
        const refuse = (message: string) =>
          send(reply, 400, invoicePage({ ...page, answer: null, error: { form: answer.kind, message, typed } }))
        if (isFilled(typed)) return refuse(pageTexts.errors.filled)
        if ('wrong' in answer) return refuse(answer.wrong)
        const often = await over(`pay-answer:${link.linkId}`, answersOfLink, now)
        if (often) return tooMany(reply, often, now)
        await answerInvoice(deps, { invoiceId: invoice.id, ownerId: link.ownerId }, answer, afterChange, now)
        return reply.redirect(path, 303)
      })
      pages.post<{ Params: Params; Body: Record<string, string> | null }>(`${url}/take-back`, hidden, async (request, reply) => {
        const now = clock.now()
        const link = await opened(request, reply, now)
        if (!link) return reply
        const typed = request.body ?? {}
        if (isFilled(typed)) {
          const error = { form: 'take_back', message: pageTexts.errors.filled, typed } as const
          return show(request, reply, link, { asked: null, error }, now)
        }
        if (link.invoice) await takeBackAnswer(deps, { invoiceId: link.invoice.id, ownerId: link.ownerId }, now)
        return reply.redirect(pathOf(request.params), 303)
      })
    }
    done()
  })
}

/** Reads `?amount=`: from 1 to the balance. */
function askedOf(invoice: InvoiceRow | null, given: unknown): { asked: number | null; error: InvoicePage['error'] } {
  if (!invoice || typeof given !== 'string' || given === '') return { asked: null, error: null }
  const amount = readTypedAmount(given, invoice.currency)
  const amountMinor = amount === null ? null : toMinor(amount, invoice.currency)
  const isPart = amount !== null && amountMinor !== null && amount >= 1 && amountMinor <= balanceMinor(invoice)
  return isPart ? { asked: amount, error: null } : { asked: null, error: { form: 'amount', message: pageTexts.errors.amountRange } }
}
