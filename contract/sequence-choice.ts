import { z } from 'zod'

/* Apart from the calls of sequences, whose texts most pages do not need. */

export const tone = z.enum(['friendly', 'firm', 'final'], 'Please choose friendly, firm or final.')
export type Tone = z.infer<typeof tone>

/** Sequences that every account has: one email a day from the day after the due date on, and none. */
export const builtInSequences = ['every_day', 'never'] as const

/** Of a sequence. */
export const mostSteps = 30

export function isBuiltIn(sequence: string): boolean {
  return builtInSequences.some((one) => one === sequence)
}

/** Which sequence: one of the account by its id, or a built-in one. */
export const sequenceChoice = z
  .string('Please choose a sequence.')
  .max(40, 'Please choose a sequence.')
  .meta({ description: 'The id of a sequence, `every_day` or `never`.' })

/** Of a client, or of an invoice. */
export const smartOne = z
  .boolean('Please choose whether Duely may move steps.')
  .meta({ description: 'Whether smart reminders may move its steps, where the account has them on.' })

/** The plan that a change was looked at with: where it has changed meanwhile, the change is refused with `plan_changed`. */
export const fingerprint = z.string().max(100).optional().meta({
  description: 'From `POST /reminder/simulate`: the change is refused if the plan has changed since. Without it, it is not compared.',
})
