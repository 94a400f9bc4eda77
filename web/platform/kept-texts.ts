import type { LayoutKind } from '#contract/file-layouts.ts'
import { count } from '#web/ui/texts.ts'

/** Texts of answers about files that are kept. */
export const keptTexts = {
  kept: 'Your answers are kept for files with these headings.',
  open: 'Kept layouts',
  title: 'Kept layouts',
  hint: {
    bank: 'Your answers about bank files. A file with the headings, or of the account, of one of these is read with them.',
    invoices: 'Your answers about lists of invoices. A file with the headings of one of these is read with them.',
  } satisfies Record<LayoutKind, string>,
  none: 'No layouts are kept yet. Answers are kept once you have imported a file with them.',
  name: 'Name',
  about: (answers: number, day: string) => `${count(answers, 'answer')}, kept on ${day}`,
  remove: 'Delete',
  removeName: (name: string) => `Delete ${name}`,
  notKept: (message: string) => `The answers to this file were not kept. ${message}`,
}
