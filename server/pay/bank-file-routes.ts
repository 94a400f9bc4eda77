import { bankFileCalls } from '#contract/bank-file.ts'
import { originOf } from '#server/accounts/accounts.ts'
import type { AfterChange } from '#server/invoices/tables.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { importBankFile, matchBankFile, undoBankFile } from './bank-file.ts'

/** More lines than this are a heavy call. */
const few = 50

export function bankFileRoutes(app: App, { db, clock }: Pick<Deps, 'db' | 'clock'>, afterChange: AfterChange): void {
  answer(app, bankFileCalls.match, async ({ body }, { account }, { enterHeavy }) => {
    await enterHeavy({ counted: body.lines.length > few })
    return matchBankFile(db, { id: account.id, currency: body.currency ?? account.currency }, body.lines)
  })
  answer(app, bankFileCalls.import, async ({ body }, { account }, { enterHeavy }) => {
    if (body.lines.length > few) await enterHeavy()
    return importBankFile(db, { id: account.id, currency: body.currency ?? account.currency }, body.lines, clock.now(), afterChange)
  })
  answer(app, bankFileCalls.undo, async ({ params }, { account }, { request }) =>
    undoBankFile(db, { ownerId: account.id, importId: params.id, from: originOf(request) }, clock.now(), afterChange),
  )
}
