import { and, asc, eq, type InferSelectModel, sql } from 'drizzle-orm'
import { textsIn } from '#contract/language-texts.ts'
import { firstLanguage, isLanguage, type Language, languages } from '#contract/speech.ts'
import {
  defaultContent,
  defaultGroupContent,
  defaultGroupSubject,
  defaultSubject,
  groupValues,
  groupVariables,
  reminderValues,
  sampleGroupInvoices,
  sampleValues,
  type Template,
  type TemplateChange,
  templateVariables,
  type Wording,
  wordingProblems,
} from '#contract/templates.ts'
import { type OnAccountTakeover, versionOf } from '#server/accounts/accounts.ts'
import { removeBrand } from '#server/accounts/brand.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database } from '#server/platform/database.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { speechOf } from '#server/platform/speech.ts'
import { templates } from './tables.ts'

type TemplateRow = InferSelectModel<typeof templates>
type Own = Pick<TemplateRow, 'useCustom' | 'customSubject' | 'customContent'>

/** The email about one invoice, or the one that lists several of one client. */
export type TemplateKind = TemplateRow['kind']
type Both = Record<TemplateKind, Wording>

const english: Both = {
  one: { subject: defaultSubject, content: defaultContent },
  group: { subject: defaultGroupSubject, content: defaultGroupContent },
}
const nothingOwn: Own = { useCustom: false, customSubject: '', customContent: '' }

const defaults = new Map<Language, Both>([['en', english]])

/** The texts of a language where its business has none of its own; null where there are none. */
function defaultsIn(language: string): Both | null {
  if (!isLanguage(language)) return null
  const known = defaults.get(language)
  if (known || language === 'en') return known ?? english
  const { subject, content, groupSubject, groupContent } = textsIn(language).friendly
  const made = { one: { subject, content }, group: { subject: groupSubject, content: groupContent } }
  defaults.set(language, made)
  return made
}

/** Whose template it is: that of a business, for emails of one kind in one language. */
interface Which {
  id: string
  kind: TemplateKind
  language: string
}

/** The account's template; texts of its own are '' until some were saved. */
export async function readTemplate(db: Database, which: Which): Promise<Template> {
  const [row = nothingOwn] = await db.select().from(templates).where(its(which))
  return toTemplate(row, which)
}

function its({ id, kind, language }: Which) {
  return and(eq(templates.ownerId, id), eq(templates.kind, kind), eq(templates.language, language))
}

/** The wordings of an account: `one` and `group` in English, and those of any language. */
export interface Wordings extends Both {
  /** Its own where they are switched on, else the default ones; English where the language has neither. */
  in(language: string): Both
}

/** The wordings that the emails of accounts are made of, by account. `wanted`: besides English, only these languages are asked for. */
export async function readWordings(db: Database, ownerIds: string[], wanted?: string[]): Promise<Map<string, Wordings>> {
  const languages = wanted ? sql`AND ${templates.language} = ANY(${arrayText([firstLanguage, ...wanted])}::text[])` : sql``
  const own = await db
    .select()
    .from(templates)
    .where(sql`${templates.ownerId} = ANY(${arrayText(ownerIds)}::uuid[]) AND ${templates.useCustom} ${languages}`)
  const byOwner = Map.groupBy(own, ({ ownerId }) => ownerId)
  return new Map(ownerIds.map((ownerId) => [ownerId, wordingsOf(byOwner.get(ownerId) ?? [])]))
}

function wordingsOf(own: TemplateRow[]): Wordings {
  const inLanguage = (language: string): Both => {
    const both = { ...(defaultsIn(language) ?? english) }
    for (const row of own) if (row.language === language) both[row.kind] = { subject: row.customSubject, content: row.customContent }
    return both
  }
  return { ...inLanguage(firstLanguage), in: inLanguage }
}

/** Languages that emails can be written in: those with texts of ours, and those with own texts of both emails. */
export async function readLanguages(db: Database, ownerId: string): Promise<string[]> {
  const own = await db
    .select({ language: templates.language })
    .from(templates)
    .where(and(eq(templates.ownerId, ownerId), eq(templates.useCustom, true)))
    .orderBy(asc(templates.language))
  const both = own.map(({ language }) => language).filter((language, nth, all) => all.indexOf(language) !== nth && !isLanguage(language))
  return [...languages, ...both]
}

/** Refuses with `invalid` any other one. */
export async function refuseLanguages(db: Database, ownerId: string, wanted: (string | null | undefined)[]): Promise<void> {
  const others = [...new Set(wanted)].flatMap((one) => (typeof one === 'string' && !isLanguage(one) ? one : []))
  if (others.length === 0) return
  const known = await readLanguages(db, ownerId)
  const missing = others.find((language) => !known.includes(language))
  if (missing === undefined) return
  throw invalid('language', `Please save the texts of both emails in ${missing} under Email Templates first.`)
}

/** Many calls read all own texts of an account. */
const mostLanguages = 20

/** Refuses with `conflict` own texts in one more language than an account may have; `have`: the languages of those that it has. */
export function refuseMoreLanguages(have: { language: string }[], language: string): void {
  if (have.length < mostLanguages || have.some((one) => one.language === language)) return
  throw new ProblemError(
    'conflict',
    `You have texts in ${mostLanguages} languages, the most there can be. Please clear those in another language first.`,
  )
}

/**
 * Changes the parts that are given. The first switch-on without texts starts from the default's. The account's row must be locked.
 * Refuses with `invalid`, by field, what would leave the account's own template switched on without a subject or a text, and with `conflict` texts in
 * too many languages.
 */
export async function saveTemplate(db: Database, which: Which, change: TemplateChange, now: Instant): Promise<Template> {
  const { id: ownerId, kind, language } = which
  const mine = its(which)
  return db.transaction(async (tx) => {
    const have = await tx.selectDistinct({ language: templates.language }).from(templates).where(eq(templates.ownerId, ownerId))
    refuseMoreLanguages(have, language)
    // The row is there before it is locked, so two changes of different parts take turns from the first one on.
    await tx
      .insert(templates)
      .values({ ownerId, kind, language, ...nothingOwn, updatedAt: now })
      .onConflictDoNothing()
    const [stored = nothingOwn] = await tx.select().from(templates).where(mine).for('update')
    const own = {
      useCustom: change.useCustomTemplate ?? stored.useCustom,
      customSubject: change.customSubject ?? stored.customSubject,
      customContent: change.customContent ?? stored.customContent,
    }
    if (own.useCustom && change.customSubject === undefined && change.customContent === undefined && isBlank(own)) {
      const begins = startIn(which)
      own.customSubject = begins.subject
      own.customContent = begins.content
    }
    refuseWrong(own, kind)
    if (isBlank(own)) await tx.delete(templates).where(mine)
    else
      await tx
        .update(templates)
        .set({ ...own, updatedAt: now })
        .where(mine)
    return toTemplate(own, which)
  })
}

/** What an own template begins as. */
function startIn({ kind, language }: Which): Wording {
  return (defaultsIn(language) ?? english)[kind]
}

/** Removes the account's own texts: its reminders use the default again, in English. */
export const templatesOnAccountTakeover: OnAccountTakeover = async (tx, ownerId) => {
  const gone = await tx.delete(templates).where(eq(templates.ownerId, ownerId)).returning({ kind: templates.kind })
  await tx.update(accounts).set({ language: firstLanguage }).where(eq(accounts.id, ownerId))
  await removeBrand(tx, ownerId)
  return { removed: gone.length === 0 ? [] : ['templates'] }
}

function isBlank(own: Own): boolean {
  return own.customSubject === '' && own.customContent === ''
}

/** A template that is switched off may be blank. */
function refuseWrong(own: Own, kind: TemplateKind): void {
  const wording = { subject: own.customSubject, content: own.customContent }
  const errors = wordingProblems(wording, kind === 'one' ? templateVariables : groupVariables)
    .filter(({ path }) => own.useCustom || wording[path].trim() !== '')
    .map(({ path, message }) => ({ path: path === 'subject' ? 'customSubject' : 'customContent', message }))
  const [first] = errors
  if (first) throw new ProblemError('invalid', first.message, { errors })
}

function toTemplate(own: Own, which: Which): Template {
  const { subject, content } = startIn(which)
  const version = versionOf(which.id, which.kind, which.language, own.useCustom, own.customSubject, own.customContent)
  return {
    useCustomTemplate: own.useCustom,
    customSubject: own.customSubject,
    customContent: own.customContent,
    defaultSubject: subject,
    defaultContent: content,
    ...(which.language === firstLanguage ? {} : sampleIn(which)),
    version,
  }
}

/** What the preview shows: formatted here, because browsers format differently. */
function sampleIn({ kind, language }: Which): Pick<Template, 'sample' | 'dir'> {
  const speech = speechOf(language)
  const { clientName, businessName } = sampleValues
  const [first] = sampleGroupInvoices
  const about = { clientName, userName: businessName, currency: 'INR', speech }
  const total = sampleGroupInvoices.reduce((sum, { amount }) => sum + amount, 0)
  const sample =
    kind === 'one'
      ? reminderValues({ ...about, ...first, invoiceAmount: first.amount, paidAmount: 0 })
      : groupValues({ ...about, invoices: sampleGroupInvoices, count: sampleGroupInvoices.length, total })
  const amounts = sampleGroupInvoices.map(({ amount }) => speech.value(speech.money(amount, 'INR')))
  const dates = sampleGroupInvoices.map(({ dueDate }) => speech.value(speech.date(dueDate)))
  return { sample: { ...sample, amounts, dates }, dir: speech.dir }
}
