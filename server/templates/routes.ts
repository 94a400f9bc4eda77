import { templateCalls } from '#contract/templates.ts'
import { lockAsSeen, originOf, writeAudit } from '#server/accounts/accounts.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { readTemplate, saveTemplate } from './templates.ts'

export function templateRoutes(app: App, { db, clock }: Deps): void {
  for (const [read, save, kind] of [
    [templateCalls.read, templateCalls.save, 'one'],
    [templateCalls.readGroup, templateCalls.saveGroup, 'group'],
  ] as const) {
    answer(app, read, ({ query: { language } }, { account }) => readTemplate(db, { id: account.id, kind, language }))
    answer(app, save, ({ body, query: { language } }, { account }, { request }) =>
      db.transaction(async (tx) => {
        await lockAsSeen(tx, account)
        const now = clock.now()
        const saved = await saveTemplate(tx, { id: account.id, kind, language }, body, now)
        await writeAudit(
          tx,
          { ownerId: account.id, kind: 'template_changed', ...(language === 'en' ? {} : { about: language }) },
          originOf(request),
          now,
        )
        return saved
      }),
    )
  }
}
