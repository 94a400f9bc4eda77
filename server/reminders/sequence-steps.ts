import { and, eq, sql } from 'drizzle-orm'
import type { SequenceStep } from '#contract/sequences.ts'
import type { Database } from '#server/platform/database.ts'
import { language } from './pending.ts'
import { sequenceSteps, stepTexts } from './tables.ts'

/** The steps of the sequences of an account, by sequence, ascending. */
export async function readSteps(db: Database, ownerId: string): Promise<Map<string, SequenceStep[]>> {
  const found = await db
    .select()
    .from(sequenceSteps)
    .innerJoin(
      stepTexts,
      and(
        eq(stepTexts.sequenceId, sequenceSteps.sequenceId),
        eq(stepTexts.offset, sequenceSteps.offset),
        sql`${stepTexts.language} = ${language}`,
      ),
    )
    .where(eq(sequenceSteps.ownerId, ownerId))
    .orderBy(sequenceSteps.sequenceId, sequenceSteps.offset)
  const steps = found.map(({ sequence_steps: { sequenceId, offset, tone, copyToMe, copyToSecondContact }, step_texts: texts }) => {
    const { subject, content, groupSubject, groupContent } = texts
    return { sequenceId, step: { offset, tone, subject, content, groupSubject, groupContent, copyToMe, copyToSecondContact } }
  })
  return new Map(
    [...Map.groupBy(steps, ({ sequenceId }) => sequenceId)].map(([sequenceId, of]) => [sequenceId, of.map(({ step }) => step)] as const),
  )
}

/** Replaces the steps of a sequence. */
export async function writeSteps(
  tx: Database,
  { ownerId, sequenceId }: { ownerId: string; sequenceId: string },
  steps: SequenceStep[],
): Promise<void> {
  await tx.delete(sequenceSteps).where(and(eq(sequenceSteps.ownerId, ownerId), eq(sequenceSteps.sequenceId, sequenceId)))
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
  await tx.insert(stepTexts).values(
    steps.map(({ offset, subject, content, groupSubject, groupContent }) => ({
      ownerId,
      sequenceId,
      offset,
      language,
      subject,
      content,
      groupSubject,
      groupContent,
    })),
  )
}
