import type { Sequence, Simulation, Tone } from '#contract/sequences.ts'
import { count } from '#web/ui/texts.ts'

/** `3 days before the due date`, `On the due date`, `7 days after` */
export function dayOf(offset: number): string {
  if (offset === 0) return 'On the due date'
  return offset < 0 ? `${count(-offset, 'day')} before the due date` : `${count(offset, 'day')} after`
}

const counts = ({ added, removed, moved, reworded }: Simulation['counts']) =>
  [
    added > 0 ? `${added.toLocaleString('en-IN')} more` : '',
    removed > 0 ? `${removed.toLocaleString('en-IN')} fewer` : '',
    moved > 0 ? `${moved.toLocaleString('en-IN')} moved` : '',
    reworded > 0 ? `${reworded.toLocaleString('en-IN')} with new wording` : '',
  ]
    .filter((part) => part !== '')
    .join(', ')

/** Texts of sequences that several screens show. */
export const sequenceTexts = {
  tones: { friendly: 'Friendly', firm: 'Firm', final: 'Final' } satisfies Record<Tone, string>,
  everyDay: 'Every day until paid',
  never: 'Never by itself',
  steps: (name: string, steps: number) => `${name}, ${count(steps, 'step')}`,
  /** What the line of a sequence shows. */
  line: (days: string[], rest: string) => `${days.join(', ')}${rest}`,
  repeating: (days: number) => (days === 1 ? ', then every day' : `, then every ${days} days`),
  dueDate: 'due date',

  choose: {
    account: 'How clients are reminded',
    client: (name: string) => `How ${name} is reminded`,
    invoice: (reference: string) => `How ${reference} is reminded`,
    list: 'Sequences',
    inherit: { account: '', client: 'Same as the account', invoice: 'Same as the client' },
    loading: 'Loading sequences...',
    failed: (message: string) => `Couldn’t load your sequences. ${message}`,
    about: {
      every_day: 'One email a day from the day after the due date.',
      never: 'No emails are sent automatically. You can still send reminders by hand.',
    },
    edit: 'Edit sequences',
    make: 'Create a sequence',
    cancel: 'Cancel',
    save: 'Save',
    saving: 'Saving...',
    saved: 'Sequence chosen.',
    free: (plan: string) => `Sequences are part of ${plan}. Without it, clients can be reminded by hand.`,
    see: (plan: string) => `See ${plan}`,
  },

  /** Chosen with the first sequence of an account. */
  quiet: { title: 'Quiet days', quietWeekends: 'Not on weekends', quietHolidays: 'Not on public holidays' },

  changes: {
    /** Also the name of the strip. */
    title: (emails: number, clients: number) =>
      emails === 0 ? 'No email leaves in the next 30 days.' : `The next 30 days: ${count(emails, 'email')} to ${count(clients, 'client')}`,
    emails: (emails: number) => (emails === 0 ? 'No email leaves in the next 30 days.' : `The next 30 days: ${count(emails, 'email')}`),
    before: (emails: number) => `${emails.toLocaleString('en-IN')} before`,
    checking: 'Checking the next 30 days...',
    failed: (message: string) => `Couldn’t check the next 30 days. ${message}`,
    off: 'Daily reminders are off, so nothing is sent.',
    onHold: (words: string) => `${words}, so nothing is sent.`,
    /** What is shown all the same. */
    supposed: { off: 'These emails leave once you start them.', on_hold: 'These emails leave once this is resolved.' },
    control: 'Open Reminder Control',
    strip: ({ added, removed, moved, reworded }: Simulation['counts']) =>
      `${count(added, 'email')} added, ${removed} removed, ${moved} moved, ${reworded} with new wording`,
    lists: { added: 'Added', removed: 'Removed', moved: 'Moved', reworded: 'New wording' },
    movedFrom: (date: string) => `Moved from ${date}`,
    invoices: (n: number) => count(n, 'invoice'),
    showAll: (listed: number, all: number) => `Show ${listed < all ? 'the first' : 'all'} ${listed.toLocaleString('en-IN')}`,
    more: (n: number) => `and ${n.toLocaleString('en-IN')} more`,
    condition: 'If nobody pays meanwhile and every email is accepted.',
    most: (emails: number, name: string) => `At most ${count(emails, 'email')} to one client (${name}).`,
    save: (counts_: Simulation['counts']) => `Save: ${counts(counts_)}`,
    same: 'Save: nothing changes in 30 days',
    today: (date: string) => `today, ${date}`,
  },
  uses: {
    all: 'Default for all clients',
    some: ({ clients, invoices }: Pick<Sequence, 'clients' | 'invoices'>) =>
      [clients > 0 ? count(clients, 'client') : '', invoices > 0 ? count(invoices, 'invoice') : '']
        .filter((part) => part !== '')
        .join(' and '),
    none: 'Not used yet',
  },
}

type Named = Pick<Sequence, '_id' | 'name'>

/** The name of a sequence on a screen. */
export function nameOf({ _id, name }: Named): string {
  return _id === 'every_day' ? sequenceTexts.everyDay : _id === 'never' ? sequenceTexts.never : name
}

/** `Friendly to final, 5 steps`; of those that every account has the name alone. */
export function nameAndSteps(sequence: Sequence): string {
  return sequence.builtIn ? nameOf(sequence) : sequenceTexts.steps(sequence.name, sequence.steps.length)
}

/** What a sequence does, in a few words: `5 steps, then every 14 days, at most 8 emails`. */
export function summaryOf({ _id, steps, everyDays, atMost }: Sequence): string {
  if (_id === 'every_day' || _id === 'never') return sequenceTexts.choose.about[_id]
  const most = atMost === null ? '' : `, at most ${count(atMost, 'email')}`
  return `${count(steps.length, 'step')}${everyDays === null ? '' : sequenceTexts.repeating(everyDays)}${most}`
}
