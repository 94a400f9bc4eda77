/** Texts of the components that all screens share. */
export const texts = {
  advice: {
    address: 'Check the client’s email address on the invoice.',
    mailbox: 'The client’s mailbox isn’t accepting mail right now. Try another channel, or try again tomorrow.',
    policy: 'The mail server rejected this email. Ask your mail provider, or contact the client yourself.',
    refused: 'Check the client’s email address on the invoice, or ask your mail provider.',
    time: 'The invoice is fine. The next run emails this client again.',
  },
  copy: 'Copy',
  copied: 'Copied',
  copyThis: (text: string) => `Your browser blocked copying. Please copy this manually: ${text}`,
  tabBlocked: 'Your browser blocked the new tab. Allow pop-ups for this site and try again.',
  cannotCopy: 'Your browser blocked copying. Select the text and copy it manually.',
  cancel: 'Cancel',
  close: 'Close',
  closeMessage: 'Close message',
  currencies: { used: 'In use', others: 'All others' },
  dates: { shape: 'dd/mm/yyyy', open: 'Open the calendar', today: 'today', yesterday: 'yesterday', tomorrow: 'tomorrow' },
  late: {
    today: 'due today',
    late: (days: number) => `${count(days, 'day')} late`,
    ahead: (days: number) => `due in ${count(days, 'day')}`,
    lateBetween: (least: number, most: number) => `${least} to ${most} days late`,
    aheadBetween: (least: number, most: number) => `due in ${least} to ${most} days`,
    /** A group that spans today. */
    across: (early: number, late: number) =>
      `${early === 0 ? 'due today' : `due in ${count(early, 'day')}`} to ${late === 0 ? 'today' : `${count(late, 'day')} late`}`,
  },
  dueLine: {
    today: 'today',
    asLine: 'As a line',
    asTable: 'As a list',
    key: 'Dot size',
    dueIn: (days: string) => `due in ${days} days`,
    overdue: (days: string) => `${days} days overdue`,
    several: (n: number) => `${n} invoices`,
    smaller: (n: number) => `and ${n} smaller ones; search for a client to find them.`,
  },
  dueList: {
    several: (clients: number) =>
      `${count(clients, 'client')} will get several emails. Turn on “One email per client” in Reminder Control to combine them.`,
  },
  dueTable: {
    caption: 'Open invoices, the most overdue first',
    client: 'Client',
    due: 'Due',
    amount: 'Amount',
    showAll: (n: number) => `Show all ${n}`,
    showFirst: (n: number) => `Show the first ${n}`,
    more: (n: number) => `and ${n} more; search for a client to find them.`,
  },
  failed: { again: 'Try again', busy: 'Trying again...' },
  notLoaded: 'Couldn’t load this part. Check your connection and reload the page.',
  password: { show: 'Show password', hide: 'Hide password' },
  undo: 'Undo',
  unsaved: {
    title: 'Leave without saving?',
    text: 'You have unsaved changes. They will be lost if you leave.',
    leave: 'Leave',
    leaving: 'Leaving...',
    stay: 'Stay here',
  },
}

/** Made once, with the page: the first one takes a browser as long as drawing a screen. */
const numbers = new Intl.NumberFormat('en-IN')

/** `1 email`, `1,204 emails`; `count(2, 'reply', 'replies')`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${numbers.format(n)} ${n === 1 ? one : many}`
}

/**
 * Advice on an email that could not be delivered, from the codes in the mail server's answer: the enhanced code first (RFC 3463: x.1
 * address, x.2 mailbox, x.7 policy), then the three digits (RFC 5321). An answer without codes is Duely's own: the email was not sent in
 * time.
 */
export function adviceFor(answer: string): string {
  const [, code, subject] = /^(\d{3})(?:[ -]\d\.(\d{1,3})\.\d{1,3})?(?:\s|$)/.exec(answer) ?? []
  if (subject === '1') return texts.advice.address
  if (subject === '2') return texts.advice.mailbox
  if (subject === '7') return texts.advice.policy
  if (code === undefined || code.startsWith('4')) return texts.advice.time
  return texts.advice.refused
}
