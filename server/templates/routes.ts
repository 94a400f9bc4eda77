import { tagOfVersion } from '#contract/call.ts'
import { firstLanguage } from '#contract/speech.ts'
import { templateCalls } from '#contract/templates.ts'
import { lockAsSeen, originOf, refuseStale, writeAudit } from '#server/accounts/accounts.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { readTemplate, saveTemplate } from './templates.ts'

export function templateRoutes(app: App, { db, clock }: Deps): void {
  for (const [read, save, kind] of [
    [templateCalls.read, templateCalls.save, 'one'],
    [templateCalls.readGroup, templateCalls.saveGroup, 'group'],
  ] as const) {
    answer(app, read, async ({ query: { language } }, { account }, { reply }) => {
      const found = await readTemplate(db, { id: account.id, kind, language })
      reply.header('etag', tagOfVersion(found))
      return found
    })
    answer(app, save, async ({ body, query: { language } }, { account }, { request, reply }) => {
      const entry = {
        kind: 'template_changed',
        about: kind === 'one' && language === firstLanguage ? undefined : `${language} ${kind}`,
      } as const
      const saved = await db.transaction(async (tx) => {
        const locked = await lockAsSeen(tx, account)
        const now = clock.now()
        const which = { id: account.id, kind, language }
        const { version } = await readTemplate(tx, which)
        await refuseStale(tx, locked, { ...entry, ifMatch: request.headers['if-match'], what: 'this email', version }, now)
        const after = await saveTemplate(tx, which, body, now)
        if (after.version !== version) await writeAudit(tx, { ownerId: account.id, ...entry }, originOf(request), now)
        return after
      })
      reply.header('etag', tagOfVersion(saved))
      return saved
    })
  }
}
