/** What the parts that every screen is built of say. */
export const texts = {
  advice: {
    address: 'Check the client’s email address on the invoice.',
    mailbox: 'The client’s mailbox takes no mail at the moment. Tell them another way, or try again tomorrow.',
    policy: 'The mail server did not want this email. Ask your mail provider, or write to the client yourself.',
    refused: 'Check the client’s email address on the invoice, or ask your mail provider.',
    time: 'Nothing is wrong with the invoice: the next run writes to this client again.',
  },
  copy: 'Copy',
  copied: 'Copied',
  cannotCopy: 'This browser does not let the page copy. Please select the text and copy it yourself.',
  cancel: 'Cancel',
  close: 'Close',
  closeMessage: 'Close message',
  coming: 'coming',
  dates: { shape: 'dd/mm/yyyy', open: 'Open the calendar', today: 'today', yesterday: 'yesterday', tomorrow: 'tomorrow' },
  late: {
    today: 'due today',
    late: (days: number) => `${inDays(days)} late`,
    ahead: (days: number) => `due in ${inDays(days)}`,
    lateBetween: (least: number, most: number) => `${least} to ${most} days late`,
    aheadBetween: (least: number, most: number) => `due in ${least} to ${most} days`,
    /** From what is still to come, or due today, to what is late. */
    across: (early: number, late: number) =>
      `${early === 0 ? 'due today' : `due in ${inDays(early)}`} to ${late === 0 ? 'today' : `${inDays(late)} late`}`,
  },
  dueLine: {
    today: 'today',
    asLine: 'Show as a line',
    asTable: 'Show as a table',
    dueIn: (days: string) => `due in ${days} days`,
    overdue: (days: string) => `${days} days overdue`,
    several: (count: number) => `${count} invoices`,
    smaller: (count: number) => `and ${count} smaller ones; search for a client to find them.`,
  },
  dueList: {
    several: (clients: number) =>
      `${clients === 1 ? '1 client gets' : `${clients.toLocaleString('en-IN')} clients get`} more than one email at once. With “One email per client” in Reminder Control it is a single one.`,
  },
  dueTable: {
    caption: 'Open invoices, the most overdue first',
    client: 'Client',
    due: 'Due',
    amount: 'Amount',
    showAll: (count: number) => `Show all ${count}`,
    showFirst: (count: number) => `Show the first ${count}`,
    more: (count: number) => `and ${count} more; search for a client to find them.`,
  },
  failed: { again: 'Try again', busy: 'Trying again...' },
  notLoaded: 'This could not be loaded. Please check your connection and reload the page.',
  password: { show: 'Show password', hide: 'Hide password' },
  undo: 'Undo',
  unsaved: {
    title: 'Leave without saving?',
    text: 'What you changed on this screen is not saved yet. It is lost when you leave.',
    leave: 'Leave',
    leaving: 'Leaving...',
    stay: 'Stay here',
  },
}

function inDays(days: number): string {
  return days === 1 ? '1 day' : `${days} days`
}

/** `1 email`, `1,204 emails`; `count(2, 'reply', 'replies')`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en-IN')} ${n === 1 ? one : many}`
}
