import { bankFileCalls, bankMatch } from '#contract/bank-file.ts'
import { originOf } from '#server/accounts/accounts.ts'
import { readIdempotencyKey } from '#server/invoices/idempotency.ts'
import type { AfterChange } from '#server/invoices/tables.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { jsonList, streamed } from '#server/platform/stream-json.ts'
import { importBankFile, matchBankFile, recordedPayments, undoBankFile } from './bank-file.ts'

/** More lines than this are a heavy call. */
const few = 50
/** Matches that are written at a time: each may name a hundred invoices. */
const ofPage = 20

async function* pagesOf<T>(all: T[]): AsyncGenerator<T[]> {
  for (let at = 0; at < all.length; at += ofPage) yield all.slice(at, at + ofPage)
}

export function bankFileRoutes(app: App, { db, clock }: Pick<Deps, 'db' | 'clock'>, afterChange: AfterChange): void {
  answer(app, bankFileCalls.match, async ({ body }, { account }, { enterHeavy }) => {
    await enterHeavy()
    const matches = await matchBankFile(db, { id: account.id, currency: body.currency ?? account.currency }, body.lines)
    return streamed(jsonList(bankMatch, pagesOf(matches)))
  })
  answer(app, bankFileCalls.import, async ({ body }, { account }, { enterHeavy, request }) => {
    if (body.lines.length > few) await enterHeavy()
    const key = readIdempotencyKey(request.headers['idempotency-key'])
    const owner = { id: account.id, currency: body.currency ?? account.currency, key, from: originOf(request) }
    return importBankFile(db, owner, body, clock.now(), afterChange)
  })
  answer(app, bankFileCalls.recorded, ({ query }, { account }) => recordedPayments(db, account.id, query))
  answer(app, bankFileCalls.undo, async ({ params }, { account }, { request }) =>
    undoBankFile(db, { ownerId: account.id, importId: params.id, from: originOf(request) }, clock.now(), afterChange),
  )
}
