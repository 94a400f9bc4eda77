import { and, eq, type InferSelectModel, sql } from 'drizzle-orm'
import {
  defaultContent,
  defaultGroupContent,
  defaultGroupSubject,
  defaultSubject,
  groupVariables,
  overusedVariables,
  type Template,
  type TemplateChange,
  templateVariables,
  type Wording,
} from '#contract/templates.ts'
import type { OnAccountTakeover } from '#server/accounts/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { templates } from './tables.ts'

type TemplateRow = InferSelectModel<typeof templates>
type Own = Pick<TemplateRow, 'useCustom' | 'customSubject' | 'customContent'>

/** The mail about one invoice, or the one that lists several of one client. */
export type TemplateKind = TemplateRow['kind']

const defaults: Record<TemplateKind, Wording> = {
  one: { subject: defaultSubject, content: defaultContent },
  group: { subject: defaultGroupSubject, content: defaultGroupContent },
}
const nothingOwn: Own = { useCustom: false, customSubject: '', customContent: '' }

/** The account's template; texts of its own are '' until some were saved. */
export async function readTemplate(db: Database, ownerId: string, kind: TemplateKind): Promise<Template> {
  return toTemplate(await readOwn(db, ownerId, kind), kind)
}

/** The wordings that the emails of accounts are made of, by account: their own where that is switched on, else the default. */
export async function readWordings(db: Database, ownerIds: string[]): Promise<Map<string, Record<TemplateKind, Wording>>> {
  const own = await db
    .select()
    .from(templates)
    .where(sql`${templates.ownerId} = ANY(${arrayText(ownerIds)}::uuid[]) AND ${templates.useCustom}`)
  const wordings = new Map(ownerIds.map((ownerId) => [ownerId, { ...defaults }]))
  for (const { ownerId, kind, customSubject, customContent } of own) {
    const both = wordings.get(ownerId)
    if (both) both[kind] = { subject: customSubject, content: customContent }
  }
  return wordings
}

/**
 * Changes the parts that are given. The first switch-on without texts starts from the default's.
 * Refuses with `invalid`, by field, what would leave the account's own template switched on without a subject or a text.
 */
export async function saveTemplate(
  db: Database,
  owner: { id: string; kind: TemplateKind },
  change: TemplateChange,
  now: Instant,
): Promise<Template> {
  const { id: ownerId, kind } = owner
  const mine = and(eq(templates.ownerId, ownerId), eq(templates.kind, kind))
  return db.transaction(async (tx) => {
    // The row is there before it is locked, so two changes of different parts take turns from the first one on.
    await tx
      .insert(templates)
      .values({ ownerId, kind, ...nothingOwn, updatedAt: now })
      .onConflictDoNothing()
    const [stored = nothingOwn] = await tx.select().from(templates).where(mine).for('update')
    const own = {
      useCustom: change.useCustomTemplate ?? stored.useCustom,
      customSubject: change.customSubject ?? stored.customSubject,
      customContent: change.customContent ?? stored.customContent,
    }
    if (own.useCustom && change.customSubject === undefined && change.customContent === undefined && isBlank(own)) {
      own.customSubject = defaults[kind].subject
      own.customContent = defaults[kind].content
    }
    if (own.useCustom) refuseEmpty(own)
    refuseOveruse(own, kind)
    await tx
      .update(templates)
      .set({ ...own, updatedAt: now })
      .where(mine)
    return toTemplate(own, kind)
  })
}

/** Removes the account's own texts: its reminders use the default again. */
export const templatesOnAccountTakeover: OnAccountTakeover = async (tx, ownerId) => {
  const gone = await tx.delete(templates).where(eq(templates.ownerId, ownerId)).returning({ kind: templates.kind })
  return { removed: gone.length === 0 ? [] : ['templates'] }
}

async function readOwn(db: Database, ownerId: string, kind: TemplateKind): Promise<Own> {
  const [row] = await db
    .select()
    .from(templates)
    .where(and(eq(templates.ownerId, ownerId), eq(templates.kind, kind)))
  return row ?? nothingOwn
}

function isBlank(own: Own): boolean {
  return own.customSubject === '' && own.customContent === ''
}

function refuseEmpty(own: Own): void {
  const errors = []
  if (own.customSubject.trim() === '') errors.push({ path: 'customSubject', message: 'Please enter a subject.' })
  if (own.customContent.trim() === '') errors.push({ path: 'customContent', message: 'Please enter the text of the email.' })
  const [first] = errors
  if (first) throw new ProblemError('invalid', first.message, { errors })
}

function refuseOveruse(own: Own, kind: TemplateKind): void {
  const wording = { subject: own.customSubject, content: own.customContent }
  const [first] = overusedVariables(wording, kind === 'one' ? templateVariables : groupVariables)
  if (first) throw new ProblemError('invalid', first, { errors: [{ path: 'customContent', message: first }] })
}

function toTemplate(own: Own, kind: TemplateKind): Template {
  return {
    useCustomTemplate: own.useCustom,
    customSubject: own.customSubject,
    customContent: own.customContent,
    defaultSubject: defaults[kind].subject,
    defaultContent: defaults[kind].content,
  }
}
