import { templateCalls } from '#contract/templates.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { readTemplate, saveTemplate } from './templates.ts'

export function templateRoutes(app: App, { db, clock }: Deps): void {
  answer(app, templateCalls.read, (_parts, { account }) => readTemplate(db, account.id, 'one'))
  answer(app, templateCalls.save, ({ body }, { account }) => saveTemplate(db, { id: account.id, kind: 'one' }, body, clock.now()))
  answer(app, templateCalls.readGroup, (_parts, { account }) => readTemplate(db, account.id, 'group'))
  answer(app, templateCalls.saveGroup, ({ body }, { account }) => saveTemplate(db, { id: account.id, kind: 'group' }, body, clock.now()))
}
