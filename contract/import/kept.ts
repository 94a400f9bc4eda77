import type { FileAnswer } from '#contract/file-layouts.ts'
import type { Answers } from './meaning.ts'

/** Answers about the rows of one file, which say nothing about the next one. */
const ofOneFile = (id: string, answer: string) =>
  id === 'direction/rows' || (answer === 'leave' && (id.startsWith('order/') || id === 'direction/unmarked'))

/** Longer words than this are not kept: they are asked about again. */
const longest = 200
const most = 60

/** What of the answers to a file holds for all with its headings. */
export function answersToKeep(answers: Answers): FileAnswer[] {
  return Object.entries(answers)
    .filter(([id, answer]) => !ofOneFile(id, answer) && id.length <= longest && answer.length <= longest)
    .slice(0, most)
    .map(([question, answer]) => ({ question, answer }))
}

export function keptAnswers(kept: readonly FileAnswer[]): Answers {
  return Object.fromEntries(kept.map(({ question, answer }) => [question, answer]))
}

/** Whether two lists of answers say the same, in any order. */
export function isSameAnswers(one: readonly FileAnswer[], other: readonly FileAnswer[]): boolean {
  const answers = keptAnswers(one)
  return one.length === other.length && other.every(({ question, answer }) => answers[question] === answer)
}
