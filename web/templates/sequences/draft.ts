import { textsIn } from '#contract/language-texts.ts'
import { stepTexts as englishTexts, newStep, readySequences } from '#contract/ready-sequences.ts'
import { type SequenceDraft, type SequenceStep, sequenceDraft, type Tone } from '#contract/sequences.ts'
import { isLanguage } from '#contract/speech.ts'

export interface DraftStep extends SequenceStep {
  /** Stays the same while its day changes. */
  key: number
  /** Its day as it was saved; null: it is new. */
  was: number | null
}

/** A sequence while it is edited: its steps ascend by their day, and may be wrong. */
export interface Draft extends Omit<SequenceDraft, 'steps' | 'fingerprint'> {
  steps: DraftStep[]
}

export const leastDay = -60
export const mostDay = 365

/** The texts of steps in a language; in English where it has none. */
function stepTextsIn(language: string): typeof englishTexts {
  return isLanguage(language) && language !== 'en' ? textsIn(language) : englishTexts
}

/** What a new sequence begins as: a ready one by its place in the address, else one friendly step. */
export function startOf(from: string | null, language = 'en'): Draft {
  const ready = readySequences.find(({ name }) => slugOf(name) === from)
  const start = ready ?? { name: '', steps: [newStep(1, 'friendly')], everyDays: null, atMost: null, atLeast: 3 }
  const steps = start.steps.map((step) => ({ ...step, ...stepTextsIn(language)[kindOf(step)] }))
  return toDraft({ ...start, steps }, ready === undefined)
}

/** `Friendly to final` as `friendly-to-final` */
export function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}

export function toDraft({ name, steps, everyDays, atMost, atLeast }: Omit<SequenceDraft, 'fingerprint'>, isNew = false): Draft {
  return {
    name,
    everyDays,
    atMost,
    atLeast,
    steps: ascending(steps.map((step, key) => ({ ...step, key, was: isNew ? null : step.offset }))),
  }
}

export function toBody({ steps, ...draft }: Draft): Omit<SequenceDraft, 'fingerprint'> {
  return { ...draft, steps: steps.map(({ key: _, was: __, ...step }) => step) }
}

function ascending(steps: DraftStep[]): DraftStep[] {
  return steps.toSorted((one, other) => one.offset - other.offset)
}

function kindOf({ offset, tone }: Pick<SequenceStep, 'offset' | 'tone'>): keyof typeof englishTexts {
  return offset < 0 ? 'before' : offset === 0 ? 'due' : tone
}

/** Changes a step. Texts that were not rewritten become those for its new day and tone. */
export function changeStep(draft: Draft, key: number, change: Partial<SequenceStep>, language = 'en'): Draft {
  const stepTexts = stepTextsIn(language)
  const steps = draft.steps.map((step) => {
    if (step.key !== key) return step
    const after = { ...step, ...change }
    const [old, fresh] = [stepTexts[kindOf(step)], stepTexts[kindOf(after)]]
    for (const field of ['subject', 'content', 'groupSubject', 'groupContent'] as const)
      if (after[field] === old[field]) after[field] = fresh[field]
    return after
  })
  return { ...draft, steps: ascending(steps) }
}

/** Adds a step a week after the last one, or on the next free day; its key is one more than the largest. */
export function addStep(draft: Draft, language = 'en'): { draft: Draft; key: number } {
  const last = draft.steps.at(-1)
  const taken = new Set(draft.steps.map(({ offset }) => offset))
  let offset = Math.min(mostDay, Math.max(1, (last?.offset ?? -6) + 7))
  while (taken.has(offset)) offset -= 1
  const key = Math.max(-1, ...draft.steps.map((step) => step.key)) + 1
  const begins = newStep(offset, last?.tone ?? 'friendly')
  const step = { ...begins, ...stepTextsIn(language)[kindOf(begins)], key, was: null }
  return { draft: { ...draft, steps: ascending([...draft.steps, step]) }, key }
}

export function removeStep(draft: Draft, key: number): Draft {
  return { ...draft, steps: draft.steps.filter((step) => step.key !== key) }
}

const tones: Tone[] = ['friendly', 'firm', 'final']

/** The tone above or below in the score. */
export function toneBeside(tone: Tone, by: 1 | -1): Tone {
  return tones[tones.indexOf(tone) + by] ?? tone
}

export interface Faults {
  /** Of the fields of the sequence, by name. */
  fields: Partial<Record<'name' | 'steps' | 'everyDays' | 'atMost' | 'atLeast', string>>
  /** Of each step, by its key and field. */
  steps: Map<number, Partial<Record<keyof SequenceStep, string>>>
  /** The first one. */
  first: string | null
}

/** What is wrong with a draft; the sentences are those of the call. */
export function faultsOf(draft: Draft): Faults {
  const faults: Faults = { fields: {}, steps: new Map(), first: null }
  const checked = sequenceDraft.safeParse(toBody(draft))
  for (const { path, message } of checked.error?.issues ?? []) {
    faults.first ??= message
    const [field, place, part] = path
    const step = typeof place === 'number' ? draft.steps[place] : undefined
    if (step && typeof part === 'string') {
      const its = faults.steps.get(step.key) ?? {}
      its[part as keyof SequenceStep] ??= message
      faults.steps.set(step.key, its)
    } else if (typeof field === 'string') faults.fields[field as keyof Faults['fields']] ??= message
  }
  return faults
}
