import { z } from 'zod'
import { call } from './call.ts'
import { invoice } from './invoices.ts'
import { country, ownDays, quietSettings, region, smartSettings } from './quiet-days.ts'
import { fingerprint, isBuiltIn, mostSteps, sequenceChoice, smartOne, tone } from './sequence-choice.ts'
import { inLanguage, languageTag } from './speech.ts'
import { groupVariables, hasVariable, templateVariables, wordingProblems } from './templates.ts'
import { entered } from './text.ts'
import { wordingContent, wordingSubject } from './wordings.ts'

export { builtInSequences, mostSteps, type Tone } from './sequence-choice.ts'

/** Sequences that an account may have. */
export const mostSequences = 20
/** Characters that the texts of a sequence may have together: the list of sequences has them all. */
const mostText = 200_000
/** Days that a plan looks ahead, unless fewer are asked for. */
export const planDays = 30
/** Emails that a plan or a list of changes has; beyond them only their number is known. */
export const mostPlanned = 1_000

const day = (least: number, most: number, message: string) => z.number(message).int(message).min(least, message).max(most, message)
const offset = day(-60, 365, 'Please enter −60 to 365 days.').meta({
  description: 'Days from the due date: negative before it, 0 on it, at most 365 after it.',
})

const sequenceStep = z.strictObject({
  offset,
  tone: tone.meta({ description: 'Emails about invoices of one client are sent together only where their tone is the same.' }),
  subject: wordingSubject.meta({ description: 'Of the email about one invoice, with the variables of the template.' }),
  content: wordingContent.meta({ description: 'Its text.' }),
  groupSubject: wordingSubject.meta({ description: 'Of the email about several invoices, with the variables of its template.' }),
  groupContent: wordingContent.meta({ description: 'Its text.' }),
  copyToMe: z.boolean().default(false).meta({ description: 'A copy goes to the email of the account.' }),
  copyToSecondContact: z.boolean().default(false).meta({ description: 'A copy goes to the second contact of the client.' }),
})
export type SequenceStep = z.output<typeof sequenceStep>

const stepsFit = z.check<SequenceStep[]>(({ value: steps, issues }) => {
  const offsets = new Set<number>()
  for (const [nth, step] of steps.entries()) {
    const report = (path: keyof SequenceStep, message: string) => issues.push({ code: 'custom', input: step, path: [nth, path], message })
    if (offsets.has(step.offset)) report('offset', 'Two steps leave on the same day.')
    offsets.add(step.offset)
    for (const { path, message } of stepProblems(step)) report(path, message)
  }
  const texts = steps.flatMap(({ subject, content, groupSubject, groupContent }) => [subject, content, groupSubject, groupContent])
  if (texts.reduce((sum, { length }) => sum + length, 0) > mostText)
    issues.push({ code: 'custom', input: steps, path: [], message: 'Please shorten the texts: together they may have 200,000 characters.' })
})

const stepText = sequenceStep.pick({ subject: true, content: true, groupSubject: true, groupContent: true })
export type StepText = z.output<typeof stepText> & Pick<SequenceStep, 'offset'>

/** What is wrong with the texts of a step, by field. */
export function stepProblems(step: StepText): { path: keyof SequenceStep; message: string }[] {
  const kinds = [
    { subject: 'subject', content: 'content', names: templateVariables },
    { subject: 'groupSubject', content: 'groupContent', names: groupVariables },
  ] as const
  return kinds.flatMap(({ subject, content, names }) => {
    const wording = { subject: step[subject], content: step[content] }
    const empty = (['subject', 'content'] as const).find((path) => wording[path].trim() === '')
    if (empty) return [{ path: empty === 'subject' ? subject : content, message: 'Please enter a subject and a text.' }]
    const problems: { path: keyof SequenceStep; message: string }[] = wordingProblems(wording, names).map(({ path, message }) => ({
      path: path === 'subject' ? subject : content,
      message,
    }))
    for (const path of [subject, content])
      if (step.offset <= 0 && hasVariable(step[path], 'daysOverdue'))
        problems.push({ path, message: 'This step leaves before the invoice is overdue: please take out {{daysOverdue}}.' })
    return problems
  })
}

const sequenceFields = {
  name: entered('Please enter a name.')
    .min(1, 'Please enter a name.')
    .max(80, 'Please enter a name of at most 80 characters.')
    .refine((text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text), 'Please enter the name on one line.'),
  steps: z
    .array(sequenceStep)
    .min(1, 'Please keep at least one step.')
    .max(mostSteps, `Please enter at most ${mostSteps} steps.`)
    .check(stepsFit)
    .meta({ description: 'By their offset; no two have the same.' }),
  everyDays: day(1, 90, 'Please enter 1 to 90 days.')
    .nullable()
    .default(null)
    .meta({ description: 'After the last step its email is repeated every so many days; null: it is not.' }),
  atMost: day(1, 100, 'Please enter 1 to 100 emails.')
    .nullable()
    .default(null)
    .meta({ description: 'The most emails about one invoice; null: no limit.' }),
  atLeast: day(1, 14, 'Please enter 1 to 14 days.').default(1).meta({ description: 'Days between two emails, at least.' }),
}

export const sequenceDraft = z
  .strictObject({ ...sequenceFields, fingerprint })
  .meta({ id: 'SequenceDraft', description: 'A new sequence, or what a sequence becomes.' })
export type SequenceDraft = z.output<typeof sequenceDraft>

export const sequence = z
  .object({
    _id: z.string().meta({ description: 'Of a sequence of yours its id; else `every_day` or `never`.' }),
    ...sequenceFields,
    steps: z
      .array(sequenceStep.meta({ id: 'SequenceStep', description: 'One email of a sequence.' }))
      .meta({ description: 'By their offset; none where it sends nothing.' }),
    version: z.number().int().meta({ description: 'Raised by every change. The ETag names it.' }),
    builtIn: z.boolean().meta({ description: 'Whether every account has it, and it cannot be changed.' }),
    invoices: z.number().int().meta({ description: 'How many open invoices have it by a choice of their own.' }),
    clients: z.number().int().meta({ description: 'How many clients have it by a choice of their own.' }),
    isDefault: z.boolean().meta({ description: 'Whether it is that of the account.' }),
  })
  .meta({ id: 'Sequence', description: 'Which emails a client gets about an invoice, and when.' })
export type Sequence = z.infer<typeof sequence>

/** What the ETag of a sequence names. */
export function versionOfSequence({ _id, version }: Pick<Sequence, '_id' | 'version'>): string {
  return `${_id}.${version}`
}

const ownSequence = sequenceChoice.refine((id) => !isBuiltIn(id), 'Please choose a sequence of yours.')

const sequenceAssignment = z.strictObject({
  sequence: sequenceChoice.nullable().meta({ description: 'The id of a sequence, `every_day` or `never`; null: the one of the client.' }),
  fingerprint,
})

const invoiceChange = z
  .strictObject({
    sequence: sequenceAssignment.shape.sequence.optional(),
    smart: smartOne.optional(),
    fingerprint,
  })
  .refine(({ sequence, smart }) => sequence !== undefined || smart !== undefined, 'Please choose a sequence.')

const plannedMail = z
  .object({
    at: z.string().meta({ format: 'date-time', description: 'When it is to be sent.' }),
    localDate: z.string().meta({ format: 'date', description: 'The local date of the account.' }),
    clientName: z.string(),
    clientEmail: z.string(),
    invoiceIds: z.array(z.string()).meta({ description: 'The invoices that it lists.' }),
    sequence: z.string().meta({ description: 'The id of its sequence, or `every_day`.' }),
    offset: z.number().int().meta({ description: 'Of its step, in days from the due date.' }),
    tone,
    subject: z.string(),
    why: z.string().nullable().meta({ description: 'Why it leaves on another day than its step, in a sentence.' }),
    movedFrom: z.string().nullable().meta({ format: 'date', description: 'The date of its step, where it leaves on another one.' }),
  })
  .meta({ id: 'PlannedMail', description: 'An email that leaves if its invoices stay unpaid and every email is accepted.' })
export type PlannedMail = z.infer<typeof plannedMail>

const mails = z.array(plannedMail)
/** Nothing leaves while daily reminders are off or on hold, but what would can be asked for. */
const suppose = z.enum(['started'], 'Please enter started.').optional().meta({
  description:
    'With `started`, while daily reminders are off or on hold, the emails that would leave if they were started now. Without it none.',
})
const count = z.number().int()
const reminderPlan = z
  .object({
    mails: mails.meta({ description: `The first ${mostPlanned}, by time.` }),
    count: count.meta({ description: 'How many emails there are.' }),
    clients: count.meta({ description: 'How many clients they go to.' }),
    fingerprint: z.string().meta({ description: 'Changes with the plan.' }),
  })
  .meta({ id: 'ReminderPlan', description: 'The emails of the next days.' })
export type ReminderPlan = z.infer<typeof reminderPlan>

const simulationRequest = z
  .strictObject({
    settings: z
      .strictObject({
        sequence: sequenceChoice,
        groupByClient: z.boolean(),
        timezone: z.string().max(64),
        reminderHour: z.number().int().min(6).max(17),
        ...quietSettings,
        ...smartSettings,
      })
      .partial()
      .optional()
      .meta({ description: 'Settings as they would be.' }),
    sequences: z
      .array(z.strictObject({ ...sequenceFields, _id: ownSequence, version: z.number().int().optional() }))
      .max(mostSequences)
      .optional()
      .meta({ description: 'Sequences as they would be; one with an unknown id would be new, and assignments can name it.' }),
    assignments: z
      .array(
        z
          .strictObject({
            invoiceId: z.string(),
            clientId: z.string(),
            sequence: sequenceChoice.nullable(),
            smart: smartOne,
            country: country.nullable(),
            region: region.nullable(),
            timezone: z.string().max(64).nullable(),
          })
          .partial(),
      )
      .max(1_000)
      .optional()
      .meta({
        description:
          'What would be chosen for an invoice or a client: its sequence, whether smart reminders may move its steps, and of a client its country, region and time zone. What is not named stays.',
      }),
    language: languageTag.optional().meta({ description: 'The language of the texts in `sequences`: `en` unless another one is given.' }),
    ownDays: ownDays.optional().meta({ description: 'Own days as they would be.' }),
    days: day(1, 90, 'Please enter 1 to 90 days.').default(planDays),
    suppose,
  })
  .meta({ id: 'SimulationRequest', description: 'A change that is not made.' })
export type SimulationRequest = z.output<typeof simulationRequest>

export const simulation = z
  .object({
    before: mails.meta({ description: `The first ${mostPlanned} emails without the change, by time.` }),
    after: mails.meta({ description: `The first ${mostPlanned} emails with it.` }),
    added: mails,
    removed: mails,
    moved: z.array(plannedMail.extend({ from: z.string().meta({ format: 'date', description: 'The date without the change.' }) })),
    reworded: mails.meta({ description: 'Those that leave at the same time with another subject or text.' }),
    counts: z
      .object({ before: count, after: count, added: count, removed: count, moved: count, reworded: count })
      .meta({ description: 'How many emails each list would have.' }),
    most: z
      .object({ emails: count, clientName: z.string(), clientEmail: z.string() })
      .nullable()
      .meta({ description: 'The client with the most emails after the change.' }),
    fingerprint: z.string().meta({ description: 'To be sent with the change.' }),
  })
  .meta({ id: 'Simulation', description: 'What a change would add, remove, move and reword in the next days.' })
export type Simulation = z.infer<typeof simulation>

const byId = z.object({ id: z.string() })

export const sequenceCalls = {
  list: call({
    method: 'GET',
    path: '/reminder/sequences',
    by: 'viewer',
    summary: 'My sequences, by name, and those that every account has.',
    query: inLanguage,
    reply: z.array(sequence),
  }),
  read: call({
    method: 'GET',
    path: '/reminder/sequences/:id',
    by: 'viewer',
    summary: 'One sequence.',
    params: byId,
    query: inLanguage,
    reply: sequence,
  }),
  create: call({
    method: 'POST',
    path: '/reminder/sequences',
    by: 'admin',
    summary: 'Create a sequence.',
    query: inLanguage,
    body: sequenceDraft,
    reply: sequence,
    status: 201,
  }),
  replace: call({
    method: 'PUT',
    path: '/reminder/sequences/:id',
    by: 'admin',
    summary: 'Change a sequence. Emails that are being sent at this moment may still leave as they were.',
    params: byId,
    query: inLanguage,
    body: sequenceDraft,
    reply: sequence,
  }),
  remove: call({
    method: 'DELETE',
    path: '/reminder/sequences/:id',
    by: 'admin',
    summary: 'Delete a sequence.',
    params: byId,
    query: z.strictObject({
      use: sequenceChoice.optional().meta({ description: 'The sequence that takes its place. Needed where it is in use.' }),
    }),
  }),
  test: call({
    method: 'POST',
    path: '/reminder/sequences/:id/test',
    by: 'admin',
    summary: 'Send an email of a sequence to myself, with made-up values.',
    params: byId,
    query: inLanguage,
    body: z
      .strictObject({
        offset: offset.meta({ description: 'Which step.' }),
        group: z.boolean().default(false).meta({ description: 'Its email about several invoices.' }),
        text: stepText.optional().meta({ description: 'Text that is not saved. Without it, the saved text of the step.' }),
      })
      .check(({ value: { offset, text }, issues }) => {
        if (!text) return
        for (const { path, message } of stepProblems({ ...text, offset }))
          issues.push({ code: 'custom', input: text, path: ['text', path], message })
      }),
    reply: z.object({ to: z.string().meta({ description: 'The address that it was sent to.' }) }),
  }),
  assign: call({
    method: 'PATCH',
    path: '/invoice/:id/sequence',
    by: 'member',
    summary: 'Choose the sequence of an invoice, or whether smart reminders may move its steps.',
    params: byId,
    body: invoiceChange,
    reply: invoice,
  }),
  plan: call({
    method: 'GET',
    path: '/reminder/plan',
    by: 'viewer',
    summary: 'The emails of the next days, if the invoices stay unpaid.',
    query: z.strictObject({
      days: z.coerce
        .number('Please enter 1 to 90 days.')
        .int('Please enter 1 to 90 days.')
        .min(1, 'Please enter 1 to 90 days.')
        .max(90, 'Please enter 1 to 90 days.')
        .default(planDays)
        .meta({ description: 'How many days, from today on.' }),
      invoice: z
        .string()
        .optional()
        .meta({ format: 'uuid', description: 'Only the emails about this invoice; the fingerprint is of these.' }),
      suppose,
    }),
    reply: reminderPlan,
  }),
  simulate: call({
    method: 'POST',
    path: '/reminder/simulate',
    by: 'viewer',
    summary: 'What a change of sequences or settings would do in the next days. Changes nothing.',
    body: simulationRequest,
    reads: true,
    reply: simulation,
  }),
}
