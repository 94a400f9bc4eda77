import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { CallParts } from '#contract/call.ts'
import { client, clientCalls } from '#contract/clients.ts'
import { fileLayoutCalls } from '#contract/file-layouts.ts'
import { type InvoiceQuery, invoice, invoiceCalls, noteCalls, tagOfInvoice } from '#contract/invoices.ts'
import { paymentCalls } from '#contract/payments.ts'
import { languageTag } from '#contract/speech.ts'
import { type Origin, originOf } from '#server/accounts/accounts.ts'
import { refuseBelow } from '#server/accounts/roles.ts'
import { type Account, type App, answer, type Principal } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { jsonList, streamed } from '#server/platform/stream-json.ts'
import { toPayment } from './balance.ts'
import { changeInvoices } from './bulk.ts'
import { addNote, mostNotes, notesOf } from './changes.ts'
import { changeClient, countClients, listClients, type ReadAnswers, type ReadEmails, readClient } from './clients.ts'
import { exportInvoices, exportName, exportPayments } from './export.ts'
import { keepLayout, listLayouts, removeLayout, renameLayout } from './file-layouts.ts'
import { createIdempotently, readIdempotencyKey, readImported } from './idempotency.ts'
import { importInvoices } from './import.ts'
import { putInvoice, undoImport } from './import-again.ts'
import {
  createInvoice,
  invoicePages,
  listInvoices,
  lockOwnersRow,
  long,
  readInvoice,
  readList,
  removeInvoice,
  restoreInvoice,
  type Shown,
  toInvoice,
  updateInvoice,
  zoneOf,
} from './invoices.ts'
import { type Clients, pauseInvoice, readClients } from './pauses.ts'
import { listPayments, recordPayment, takePaymentBack } from './payments.ts'
import type { AfterChange, InvoiceRow, PaymentRow } from './tables.ts'

/** An import or a bulk change of more than this is a heavy call. */
const few = 50

type ClientChange = CallParts<typeof clientCalls.update>['body']
type Whereabouts = Pick<ClientChange, 'country' | 'region' | 'timezone'>
type Acting = { account: Account; from: Origin; now: Instant }

/** What invoices are handed of the slices above them. */
interface Handed {
  /** What they do about a changed invoice, in the transaction that changes it. */
  onChange: AfterChange
  readEmails: ReadEmails
  readAnswers: ReadAnswers
  /** Refuses with `plan_changed` a change of a client that would do something else than what was looked at. */
  refuseChangedClient(
    tx: Database,
    change: Acting,
    id: string,
    chosen: Whereabouts & Pick<ClientChange, 'fingerprint' | 'sequence' | 'smart'>,
  ): Promise<void>
  /** Chooses the sequence of a client, by its id; null: that of the account. */
  assignToClient(tx: Database, change: Acting, id: string, sequence: string | null): Promise<void>
  /** Sets where a client lives, and by which clock. */
  placeClient(tx: Database, account: Account, id: string, where: Whereabouts): Promise<void>
  /** Refuses with `invalid` a language that emails cannot be written in. */
  refuseLanguages(db: Database, ownerId: string, languages: (string | null | undefined)[]): Promise<void>
  /** Chooses the mailbox that a client is written to from. */
  chooseMailbox(tx: Database, ownerId: string, about: { clientId: string; mailbox: string | null }, now: Instant): Promise<void>
}

export function invoiceRoutes(
  app: App,
  { db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>,
  { onChange: afterChange, refuseChangedClient, assignToClient, placeClient, chooseMailbox, refuseLanguages, ...read }: Handed,
): void {
  answer(app, invoiceCalls.list, async ({ query }, { account }, { request, reply, enterHeavy }) => {
    // The version must not be read after the list: a change in between then makes the list newer than its tag, which costs one reload and
    // hides nothing.
    const whole = Object.keys(query).length === 0
    const known = whole ? knownVersions(account.id, request.headers['if-none-match']) : []
    const { size: all, version, list } = await readList(db, account.id, { most: whole ? long : -1, known })
    const tag = tagOf(account.id, query, version)
    reply.headers({ 'cache-control': 'private, no-cache', etag: tag })
    if (isKnown(tag, request.headers['if-none-match'])) {
      reply.status(304)
      return []
    }
    if (list) return list.rows.map((row) => toInvoice(row, list.clients))
    const size = query.limit ?? all
    if (size > long) await enterHeavy()
    if (size > long && query.limit === undefined) {
      const clients = await readClients(db, account.id)
      return streamed(jsonList(invoice, toInvoices(invoicePages(db, account.id, query), clients)))
    }
    const { page, next } = await listInvoices(db, account.id, query)
    if (next) reply.header('link', `<${invoiceCalls.list.path}?${nextQuery(query, next)}>; rel="next"`)
    const clients = await readClients(db, account.id, page)
    return page.map((row) => toInvoice(row, clients))
  })
  async function* toInvoices(pages: AsyncIterable<InvoiceRow[]>, clients: Clients) {
    for await (const page of pages) yield page.map((row) => toInvoice(row, clients))
  }
  answer(app, fileLayoutCalls.list, (_input, { account }) => listLayouts(db, account.id))
  answer(app, fileLayoutCalls.keep, ({ body }, { account }) => keepLayout(db, account.id, body, clock.now()))
  answer(app, fileLayoutCalls.rename, ({ params, body }, { account }) => renameLayout(db, account.id, params.id, body.name))
  answer(app, fileLayoutCalls.remove, async ({ params }, { account }) => {
    await removeLayout(db, account.id, params.id)
    return undefined
  })
  const shown = async (account: Account, row: InvoiceRow) => toInvoice(row, await readClients(db, account.id, [row]))
  answer(app, invoiceCalls.create, async ({ body }, principal, { request }) => {
    const now = clock.now()
    const { account } = principal
    await refuseLanguages(db, account.id, [body.language])
    const create = (db: Database) => createInvoice(db, account.id, body, now, config, originFor(principal))
    const key = readIdempotencyKey(request.headers['idempotency-key'])
    const { row, clients } = await (key === null ? create(db) : createIdempotently(db, account.id, { key, draft: body }, now, create))
    return toInvoice(row, clients)
  })
  const tagged = ({ row, clients }: Shown, reply: FastifyReply) => {
    reply.header('etag', tagOfInvoice({ _id: row.id, version: row.version }))
    return toInvoice(row, clients)
  }
  answer(app, invoiceCalls.read, async ({ params }, { account }, { reply }) => {
    const row = await readInvoice(db, account.id, params.id)
    return tagged({ row, clients: await readClients(db, account.id, [row]) }, reply)
  })
  answer(app, invoiceCalls.update, async ({ params, body }, { account }, { request, reply }) => {
    await refuseLanguages(db, account.id, [body.language])
    const about = { id: params.id, change: body, ifMatch: request.headers['if-match'] }
    return tagged(await updateInvoice(db, account.id, about, clock.now(), afterChange), reply)
  })
  answer(app, noteCalls.list, async ({ params }, { account }) => {
    const { id } = await readInvoice(db, account.id, params.id)
    return notesOf(db, account.id, id, mostNotes)
  })
  answer(app, noteCalls.add, async ({ params, body }, { account }) =>
    addNote(db, await readInvoice(db, account.id, params.id), body.text, clock.now()),
  )
  answer(app, invoiceCalls.remove, async ({ params }, { account }, { request }) => {
    await removeInvoice(db, account.id, params.id, originOf(request), clock.now(), afterChange)
    return undefined
  })
  answer(app, invoiceCalls.pause, async ({ params, body }, { account }) =>
    shown(account, await pauseInvoice(db, account.id, params.id, body, clock.now(), afterChange)),
  )
  answer(app, invoiceCalls.restore, async ({ params }, { account }) =>
    shown(account, await restoreInvoice(db, account.id, params.id, clock.now(), afterChange)),
  )
  answer(app, invoiceCalls.import, async ({ body }, { account }, { request, enterHeavy }) => {
    if (body.lines.length > few) await enterHeavy()
    await refuseLanguages(db, account.id, body.lines.map(languageOfLine))
    const key = readIdempotencyKey(request.headers['idempotency-key'])
    return importInvoices(db, account.id, { ...body, key }, clock.now(), afterChange, config)
  })
  answer(app, invoiceCalls.undoImport, async ({ params }, { account }, { request, enterHeavy }) => {
    await enterHeavy()
    const about = { ownerId: account.id, id: params.id, from: originOf(request) }
    return undoImport(db, about, clock.now(), afterChange)
  })
  answer(app, invoiceCalls.put, async ({ params, body }, principal) => {
    await refuseLanguages(db, principal.account.id, [body.language])
    const about = { reference: params.reference, draft: body, origin: originFor(principal) }
    return shown(principal.account, await putInvoice(db, principal.account.id, about, clock.now(), afterChange, config))
  })
  answer(app, invoiceCalls.imported, async ({ params }, { account }) => readImported(db, account.id, params.key, clock.now()))
  answer(app, invoiceCalls.bulkChange, async ({ body }, { account }, { request, enterHeavy }) => {
    if (body.ids.length > few) await enterHeavy()
    return changeInvoices(db, account.id, body, originOf(request), clock.now(), afterChange)
  })
  answer(app, clientCalls.list, async (_parts, { account }, { enterHeavy }) => {
    const size = await countClients(db, account.id, long)
    if (size > long) await enterHeavy()
    const all = await listClients(db, account)
    return size > long ? streamed(jsonList(client, inPages(all))) : all
  })
  answer(app, clientCalls.read, ({ params }, { account }) => readClient(db, account, params.id, read))
  answer(
    app,
    clientCalls.update,
    async ({ params, body: { sequence, fingerprint, mailbox, country, region, timezone, ...body } }, principal, { request }) => {
      const { account } = principal
      const { pause: _pause, ...others } = { sequence, mailbox, country, region, timezone, ...body }
      if (Object.values(others).some((one) => one !== undefined)) await refuseBelow(db, principal, 'admin')
      return db.transaction(async (tx) => {
        const now = clock.now()
        const change = { account, from: originOf(request), now }
        await lockOwnersRow(tx, account.id)
        await refuseChangedClient(tx, change, params.id, { fingerprint, sequence, country, region, timezone, smart: body.smart })
        if (sequence !== undefined) await assignToClient(tx, change, params.id, sequence)
        if (country !== undefined || region !== undefined || timezone !== undefined)
          await placeClient(tx, account, params.id, { country, region, timezone })
        await refuseLanguages(tx, account.id, [body.language])
        if (mailbox !== undefined) await chooseMailbox(tx, account.id, { clientId: params.id, mailbox }, now)
        return changeClient(tx, account, params.id, body, now, afterChange)
      })
    },
  )
  answer(app, invoiceCalls.export, async ({ query }, { account }, { reply, enterHeavy }) => {
    await enterHeavy()
    const zone = await zoneOf(db, account.id)
    const name = exportName('invoices', clock.now(), zone)
    reply.headers({ 'content-type': 'text/csv; charset=utf-8', 'content-disposition': `attachment; filename="${name}"` })
    return streamed(exportInvoices(db, account.id, query, zone))
  })
  const withInvoice = async (account: Account, { payment, invoice }: { payment: PaymentRow; invoice: InvoiceRow }) => ({
    payment: toPayment(payment),
    invoice: await shown(account, invoice),
  })
  answer(app, paymentCalls.list, async ({ params }, { account }) => (await listPayments(db, account.id, params.id)).map(toPayment))
  answer(app, paymentCalls.record, async ({ params, body }, principal, { request }) => {
    const { account } = principal
    const key = readIdempotencyKey(request.headers['idempotency-key'])
    const asked = { invoiceId: params.id, draft: body, key, origin: originFor(principal) }
    return withInvoice(account, await recordPayment(db, account.id, asked, clock.now(), afterChange))
  })
  answer(app, paymentCalls.takeBack, async ({ params }, { account }, { request }) => {
    const about = { invoiceId: params.id, paymentId: params.pid, from: originOf(request) }
    return withInvoice(account, await takePaymentBack(db, account.id, about, clock.now(), afterChange))
  })
  answer(app, paymentCalls.export, async (_parts, { account }, { reply, enterHeavy }) => {
    await enterHeavy()
    const zone = await zoneOf(db, account.id)
    const name = exportName('payments', clock.now(), zone)
    reply.headers({ 'content-type': 'text/csv; charset=utf-8', 'content-disposition': `attachment; filename="${name}"` })
    return streamed(exportPayments(db, account.id, zone))
  })
}

/** The language of a line that is not checked yet. */
function languageOfLine(line: unknown): string | undefined {
  return z.object({ language: languageTag }).safeParse(line).data?.language
}

/** Where a payment comes from that is recorded by this call. */
function originFor({ apiClient }: Principal): 'by_hand' | 'program' {
  return apiClient === null ? 'by_hand' : 'program'
}

async function* inPages<T>(all: T[]): AsyncGenerator<T[]> {
  for (let start = 0; start < all.length; start += long) yield all.slice(start, start + long)
}

/** The shape of the answer is part of its tag: a release with another field must not be answered from an old cache. */
const shape = Object.keys(invoice.shape).join()

/** A weak tag (RFC 9110, 8.8.1), because a compressed answer has other bytes. */
function tagOf(accountId: string, query: InvoiceQuery, version: string): string {
  const { status, search, source, limit, cursor } = query
  const asked = createHash('sha256')
    .update(JSON.stringify([shape, status, search, source, limit, cursor]))
    .digest('base64url')
  return `W/"${accountId}.${version}.${asked.slice(0, 12)}"`
}

/** The versions in the tags of whole lists that the caller has. */
function knownVersions(accountId: string, ifNoneMatch: string | undefined): string[] {
  const [before, after] = tagOf(accountId, {}, '?').split('?')
  return (ifNoneMatch ?? '').split(',').flatMap((tag) => {
    const weak = tag.trim().replace(/^(?=")/, 'W/')
    return before && after && weak.startsWith(before) && weak.endsWith(after) ? weak.slice(before.length, -after.length) : []
  })
}

function isKnown(tag: string, ifNoneMatch: string | undefined): boolean {
  return (ifNoneMatch ?? '').split(',').some((known) => known.trim() === tag || `W/${known.trim()}` === tag)
}

function nextQuery(query: InvoiceQuery, cursor: string): URLSearchParams {
  const next = new URLSearchParams()
  if (query.status) next.set('status', query.status)
  if (query.search) next.set('search', query.search)
  if (query.source) next.set('source', query.source)
  if (query.limit !== undefined) next.set('limit', String(query.limit))
  next.set('cursor', cursor)
  return next
}
