import { and, eq, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { textsIn } from '#contract/language-texts.ts'
import { stepTexts as englishTexts } from '#contract/ready-sequences.ts'
import type { SequenceStep, Tone } from '#contract/sequences.ts'
import { firstLanguage, isLanguage } from '#contract/speech.ts'
import type { Wording } from '#contract/templates.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { refuseMoreLanguages } from '#server/templates/templates.ts'
import { sequenceSteps, stepTexts } from './tables.ts'

const textsOfStep = z.object({ subject: z.string(), content: z.string(), groupSubject: z.string(), groupContent: z.string() })
type StepTexts = z.output<typeof textsOfStep>

/** A step as it is stored: its texts in a language, null where none were written. */
export const storedStep = z.object({ offset: z.number(), tone: z.enum(['friendly', 'firm', 'final']), texts: textsOfStep.nullable() })

/** That of a step `c` that matches, with its texts in this language. */
export const stepIn = (language: SQL, which: SQL) => sql`(SELECT json_build_object('offset', c."offset", 'tone', c.tone, 'texts', (
    SELECT json_build_object('subject', t.subject, 'content', t.content, 'groupSubject', t.group_subject, 'groupContent', t.group_content)
    FROM step_texts t WHERE t.sequence_id = c.sequence_id AND t."offset" = c."offset" AND t.language = ${language}))
  FROM sequence_steps c WHERE ${which})`

/** The texts of a step where none were written in its language; null where there are none. */
function usualTexts({ offset, tone }: { offset: number; tone: Tone }, language: string): StepTexts | null {
  if (!isLanguage(language)) return null
  const all = language === 'en' ? englishTexts : textsIn(language)
  return offset < 0 ? all.before : offset === 0 ? all.due : all[tone]
}

/** What an email of a step says; null: what the template does, in a language that has no texts of its own. */
export function inStep({ texts, ...step }: StoredStep, language: string): { one: Wording; group: Wording } | null {
  const its = texts ?? usualTexts(step, language)
  return its && { one: { subject: its.subject, content: its.content }, group: { subject: its.groupSubject, content: its.groupContent } }
}

/** What an email of that day says: a repetition says what the last step does. Null: what the template does. */
export function wordingsAt(steps: StoredStep[] = [], offset: number, language: string): { one: Wording; group: Wording } | null {
  const step = steps
    .filter((one) => one.offset <= offset && one.offset > 0 === offset > 0)
    .toSorted((one, other) => one.offset - other.offset)
    .at(-1)
  return step ? inStep(step, language) : null
}

const stepRow = z.object({ sequenceId: z.string(), copyToMe: z.boolean(), copyToSecondContact: z.boolean(), step: storedStep })
export type StoredStep = z.output<typeof storedStep>

/** The steps of the sequences of an account, ascending, with the texts that were written in a language. */
async function readStored(db: Database, ownerId: string, language: string): Promise<z.output<typeof stepRow>[]> {
  return rows(
    db,
    stepRow,
    sql`SELECT s.sequence_id AS "sequenceId", s.copy_to_me AS "copyToMe", s.copy_to_second_contact AS "copyToSecondContact",
          ${stepIn(sql`${language}::text`, sql`c.sequence_id = s.sequence_id AND c."offset" = s."offset"`)} AS step
        FROM sequence_steps s WHERE s.owner_id = ${ownerId}::uuid ORDER BY s.sequence_id, s."offset"`,
  )
}

/** The same by sequence. */
export async function readStoredSteps(db: Database, ownerId: string, language: string): Promise<Map<string, StoredStep[]>> {
  const found = await readStored(db, ownerId, language)
  return new Map([...Map.groupBy(found, ({ sequenceId }) => sequenceId)].map(([id, of]) => [id, of.map(({ step }) => step)] as const))
}

/** The steps of the sequences of an account, by sequence, ascending. Where nothing was written in the language there are the usual texts, else those in English. */
export async function readSteps(db: Database, ownerId: string, language: string): Promise<Map<string, SequenceStep[]>> {
  const found = await readStored(db, ownerId, language)
  const english = isLanguage(language) ? found : await readStored(db, ownerId, firstLanguage)
  const steps = found.map(({ sequenceId, step: { texts, offset, tone }, ...copies }, nth) => {
    const its = texts ?? usualTexts({ offset, tone }, language) ?? english[nth]?.step.texts ?? usualTexts({ offset, tone }, firstLanguage)
    if (!its) throw new Error('A step has no texts.')
    return { sequenceId, step: { offset, tone, ...its, ...copies } }
  })
  return new Map([...Map.groupBy(steps, ({ sequenceId }) => sequenceId)].map(([id, of]) => [id, of.map(({ step }) => step)] as const))
}

/**
 * Replaces the steps of a sequence with their texts in one language. Those in others stay with the steps that have the same day and tone. The account's
 * row must be locked. Refuses with `conflict` texts in too many languages.
 */
export async function writeSteps(
  tx: Database,
  { ownerId, sequenceId, language }: { ownerId: string; sequenceId: string; language: string },
  steps: SequenceStep[],
): Promise<void> {
  const have = await tx.selectDistinct({ language: stepTexts.language }).from(stepTexts).where(eq(stepTexts.ownerId, ownerId))
  refuseMoreLanguages(have, language)
  const mine = and(eq(sequenceSteps.ownerId, ownerId), eq(sequenceSteps.sequenceId, sequenceId))
  const before = await tx
    .select()
    .from(sequenceSteps)
    .innerJoin(stepTexts, and(eq(stepTexts.sequenceId, sequenceSteps.sequenceId), eq(stepTexts.offset, sequenceSteps.offset)))
    .where(mine)
  const others = before.flatMap(({ sequence_steps: old, step_texts: texts }) =>
    texts.language !== language && steps.some(({ offset, tone }) => offset === old.offset && tone === old.tone) ? texts : [],
  )
  await tx.delete(sequenceSteps).where(mine)
  await tx.insert(sequenceSteps).values(
    steps.map(({ offset, tone, copyToMe, copyToSecondContact }) => ({
      ownerId,
      sequenceId,
      offset,
      tone,
      copyToMe,
      copyToSecondContact,
    })),
  )
  await tx.insert(stepTexts).values([
    ...steps.map(({ offset, subject, content, groupSubject, groupContent }) => ({
      ownerId,
      sequenceId,
      offset,
      language,
      subject,
      content,
      groupSubject,
      groupContent,
    })),
    ...others,
  ])
}
