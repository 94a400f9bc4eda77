import { invoicesOf } from './texts.ts'

/** Every word of doing something with many invoices at once. */
export const bulkTexts = {
  label: 'Selected invoices',
  selected: (count: number) => (count === 1 ? '1 selected' : `${count.toLocaleString('en-IN')} selected`),
  all: (count: number) => `Select all ${count.toLocaleString('en-IN')}`,
  clear: 'Clear the selection',
  paid: 'Mark as paid',
  pause: 'Pause',
  remove: 'Delete',
  working: 'Saving...',
  marked: (count: number) => `${invoicesOf(count)} marked as paid.`,
  paused: (count: number, until: string | null) => `${invoicesOf(count)} paused${until === null ? '' : ` until ${until}`}.`,
  removed: (count: number) => `${invoicesOf(count)} deleted.`,
  undone: (count: number) => `${invoicesOf(count)} put back as before.`,
  partly: (failed: number, message: string) => `${invoicesOf(failed)} could not be changed. ${message}`,
  failed: (message: string) => `Nothing was changed. ${message}`,
  undoFailed: (message: string) => `This could not be undone. ${message}`,
  nothingOpen: 'The selected invoices are all paid already.',
  removeTitle: (count: number) => `Delete ${invoicesOf(count)}?`,
  removeText: (amount: string) => `Together ${amount}. No more reminders go out for them. You can undo this right afterwards.`,
  removeBusy: 'Deleting...',
  pauseTitle: (count: number) => `Pause reminders of ${invoicesOf(count)}`,
  paidLeftOut: (count: number) =>
    count === 1
      ? 'One of the selected is paid already and left out.'
      : `${count.toLocaleString('en-IN')} of the selected are paid already and left out.`,
}
