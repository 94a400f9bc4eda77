import { formatDate } from '#contract/dates.ts'
import { formatMoney, type Money } from '#contract/money.ts'
import { shortName } from '#contract/notices.ts'
import { planThatLifts } from '#contract/plans.ts'
import type { HoldReason } from '#contract/reminders.ts'
import type { Reason } from './smart.ts'

/** The cheapest plan with daily reminders. */
const schedulingPlan = planThatLifts('scheduling').title

/** What the mail server answered, behind a sentence of ours. */
const replied = (reply: string) => `The mail server replied: ${reply}`

const count = (n: number, noun: string) => `${n.toLocaleString('en-IN')} ${noun}${n === 1 ? '' : 's'}`

/** The sentences that customers read of this slice: refusals, notices and what an invoice's history says of a day. */
export const texts = {
  noMailboxToStart: 'Please configure your email settings first before starting reminders.',
  manyUnsent: (most: number, hours: number) =>
    `${most.toLocaleString('en-IN')} of your emails failed or were cancelled within a day. Find out why under Reminder Control, and try again in ${hours} ${hours === 1 ? 'hour' : 'hours'}.`,
  noMailboxToSend: 'Please configure your email settings first before sending reminders.',
  noRun: 'There is no such run.',
  noInvoice: 'There is no such invoice.',
  noClient: 'There is no such client.',
  planChanged: 'The plan has changed since you looked. Please look again.',
  unknownZone: 'Please choose a time zone such as Asia/Kolkata.',
  nextStep: {
    gap: (until: string, days: number) => `Waiting until ${formatDate(until)}: at least ${days} days between two emails`,
    leftOut: (date: string) => `Left out on ${formatDate(date)}`,
    over: 'All steps are over: nothing more leaves by itself.',
    holiday: (name: string, country: string) => `${name} in ${country}`,
  },
  quietDays: {
    unknownCountry: 'Please choose a country.',
    unknownRegion: 'Please choose a region of that country.',
  },
  sequences: {
    everyDay: 'Every day',
    never: 'Never by itself',
    none: 'There is no such sequence.',
    tooMany: (most: number) => `An account can have ${most} sequences. Delete one that you do not use.`,
    inUse: (invoices: number, clients: number) =>
      `${invoices} ${invoices === 1 ? 'invoice' : 'invoices'} and ${clients} ${clients === 1 ? 'client' : 'clients'} use it. Choose the sequence that takes its place.`,
    itself: 'Choose another sequence than the one that you delete.',
    noStep: 'The sequence has no such step.',
    account: 'all clients',
  },
  /** What an owner does about the emails of a daily run before they leave. */
  leaving: {
    notDaily: 'Only emails of a daily run can be left out.',
    preparing: 'The emails of this run are still being prepared. Please try again in a moment.',
    over: 'This day is over.',
    noDate: 'Please enter a date.',
    tooFar: (days: number) => `Please choose one of the next ${days} days.`,
  },
  noHold: (address: string) => `Reminders to ${address} are not held.`,
  noEmail: 'There is no such email, or it has not been composed yet.',
  noLongerStored:
    'The text of this email is no longer stored. Its subject, time and the mail server’s reply are in the history of its invoice.',
  allRejected: (first: string, others: number) => {
    const more = others === 0 ? '' : ` (and ${others} more ${others === 1 ? 'reply' : 'replies'})`
    return `The mail server rejected every reminder: ${first}${more}`
  },

  /** Why a step leaves on the day that smart reminders chose. */
  smart: {
    name: 'Smart reminders' as const,
    reason(reason: Reason, client: string, date: string): string {
      switch (reason.kind) {
        case 'waits':
          return `${client} usually pays by itself by day ${reason.by} (${reason.count} of ${reason.of} invoices). This reminder waits until ${formatDate(date)}; it may not be needed.`
        case 'earlier':
          return `Without a reminder ${client} pays within these days in about ${reason.inTen} of 10 cases. This reminder leaves ${reason.days} ${reason.days === 1 ? 'day' : 'days'} earlier.`
        case 'learning':
          return `As planned: ${reason.paid} of the ${reason.needed} paid invoices needed to learn from.`
        case 'nothing':
          return 'As planned: nothing speaks for another day.'
        case 'compared':
          return 'As planned: one of those that others are compared with.'
      }
    },
    learning: (paid: number, needed: number) => `Learning: ${paid} of ${needed} paid invoices.`,
    found: (late: { smart: number; planned: number }, invoices: { smart: number; planned: number }) =>
      `${late.smart} days late with smart reminders, ${late.planned} without (${invoices.smart} and ${invoices.planned} invoices).`,
    tooFew: 'Too few to tell',
    noDifference: 'No difference can be seen',
  },

  /** What the daily schedule does next. */
  outlook: {
    active: 'Active',
    off: 'Inactive',
    nextRun: (date: string, hour: string) => `The next daily run is on ${date} at ${hour}.`,
    nextOff: 'Daily reminders are off, so no reminders go out automatically.',
    onHold: {
      plan: {
        words: `On hold: daily reminders need ${schedulingPlan}`,
        next: `Daily reminders are on hold. They need ${schedulingPlan}; Send Now still works.`,
      },
      operator: {
        words: 'On hold by the operator of this server',
        next: 'Daily reminders are on hold by the operator of this server. Contact them to find out why.',
      },
      email_not_confirmed: {
        words: 'On hold: your email is not confirmed',
        next: 'Daily reminders are on hold until you confirm your email.',
      },
      not_configured: {
        words: 'On hold: no mailbox is connected',
        next: 'Daily reminders are on hold until you connect a mailbox.',
      },
      sending_paused: {
        words: 'On hold: sending from your mailbox is paused',
        next: 'Daily reminders are on hold while sending from your mailbox is paused.',
      },
    },
  },

  /** Why a chosen invoice is not reminded now. */
  leftOut: {
    gone: 'This invoice does not exist, or it was deleted.',
    paid: (reference: string) => `${reference} is paid.`,
    notDue: (reference: string) => `${reference} is not past due.`,
    paused: (reference: string) => `Reminders for ${reference} are paused.`,
    held: (address: string) => `${address} doesn’t exist. Correct the address, or try it again.`,
    limit: (reference: string, perDay: number) => `${reference} has had ${perDay} manual reminders today, the most for one day.`,
    more: (invoices: number) => `(and ${invoices} more)`,
  },
  wording: {
    severalEmails: 'A subject or a text can be written for one email only. Choose one client.',
    beingSent: 'An email about this invoice is being sent at this moment, so its text can no longer be changed.',
  },

  /** On the screens and in the health check, while the worker is late. */
  trouble: {
    noWorker: (minutes: number) =>
      `No worker has checked for due reminders for ${minutes} minutes. Reminders are sent once a worker runs again.`,
    lateRuns: (accounts: number, minutes: number) =>
      accounts === 1
        ? `The daily run of 1 account is more than ${minutes} minutes late.`
        : `The daily runs of ${accounts} accounts are more than ${minutes} minutes late.`,
  },

  runMissing: {
    title: 'Duely has not sent your reminders today',
    text: (hour: string, url: string) =>
      `The run of ${hour} has not begun. They leave by themselves if Duely is back before 18:00. Please tell whoever runs ${url}.`,
  },

  noSystemMail: 'This server sends no mail of its own.',
  deadLink: 'This link does not work any more.',
  evening: {
    subject: (hour: string, emails: number) => `Tomorrow at ${hour}: ${count(emails, 'reminder')}`,
    intro: 'These leave tomorrow from your mailbox. Do nothing, and they do.',
    line: (client: string, references: string) => `${client}: ${references}`,
    more: (emails: number) => `and ${emails.toLocaleString('en-IN')} more`,
    button: 'Leave some out',
    audited: (names: string[], date: string) => `${names.length === 1 ? names[0] : count(names.length, 'client')} on ${formatDate(date)}`,
  },
  summary: {
    subject: 'Your weekly summary',
    paid: ({ currency, amount }: Money, invoices: number) => `Paid: ${formatMoney(amount, currency)} for ${count(invoices, 'invoice')}`,
    sent: (emails: number) => `Sent: ${count(emails, 'reminder')}`,
    failed: (emails: number) => `Not delivered: ${count(emails, 'reminder')}`,
    broken: (promises: number) => `Not paid as promised: ${count(promises, 'invoice')}`,
    overdue: (invoices: number) => `Newly overdue: ${count(invoices, 'invoice')}`,
    plan: (emails: number, clients: number) => `This week: ${count(emails, 'reminder')} to ${count(clients, 'client')}`,
    button: 'Open dashboard',
    end: 'Stop weekly summaries',
  },

  day: {
    sent: 'Sent.',
    notSent: 'Not sent.',
    retrying: 'Not accepted yet. We’ll try again automatically.',
    waiting: 'About to be sent.',
    stopped: 'Not sent: reminders were stopped first.',
    notOwed: 'Not sent: it was paid, paused, deleted or no longer due by then.',
    alreadyReminded: 'Skipped: it was already reminded that day, or an email was on its way.',
    paused: (note: string | null) => (note ? `Paused: ${note}` : 'Paused.'),
    addressHeld: (address: string | null) => `Held: ${address ?? 'the address'} doesn’t exist. Correct the address to resume.`,
    leftOut: 'Left out when reminders were started.',
    leftOutByHand: 'Left out by you.',
    notRunning: 'Duely was not running that day.',
    noStep: 'The next step is on a later day.',
    gap: 'Waited for the days between two emails.',
    quiet: 'A quiet day.',
    ended: 'All steps were over.',
    never: 'Its sequence sends no reminders.',
    overtaken: (steps: number[], by: number) =>
      steps.length === 1
        ? `Step ${steps[0]} was left out: step ${by} came due.`
        : `Steps ${steps.slice(0, -1).join(', ')} and ${steps.at(-1)} were left out: step ${by} came due.`,
    addedLater: 'Not in that day’s run: it was added, or became due again, afterwards.',
    replied,
  },

  /** Stored in place of a mail server's reply. */
  tooLarge: 'Not sent: the email would be larger than 1 MB. Shorten your email template.',

  setAside:
    'Not sent: the server stopped three times while it was sending this email, so it is not tried again. Shorten your email template, or contact your client another way.',

  operator: {
    noAccount: (email: string) => `There is no account with the email ${email}.`,
  },

  /** Why a day had no run. They are stored with the day, and the first is looked for there: it must not change. */
  skipped: {
    notRunning: 'Duely was not running between the hour of the reminders and 18:00 that day.',
    zoneChanged: 'The time zone changed: in the new zone it was past 18:00 already, or less than 12 hours after the last run.',
    restored: 'The data was restored from a backup after the hour of the reminders, so they may already have been sent.',
  },

  login: {
    grantTitle: (provider: string) => `${provider} needs to be reconnected`,
    grant: (reply: string) => `Reminders are on hold until you reconnect. ${reply}`,
    of: (title: string, address: string) => `${title}: ${address}`,
    smtpTitle: 'Your mailbox rejected the login',
    smtp: (reply: string) => `Reminders are on hold until you enter a working password. ${replied(reply)}`,
  },
  sender: {
    mayAgain: (address: string) => ({
      subject: 'Your mailbox may send again',
      text: `Your mail server refused emails from ${address}. It has accepted this one, so what was waiting for your clients is being sent.

You don’t need to do anything.
`,
    }),
    title: (address: string) => `Your mail server doesn’t let you send as ${address}`,
    text: (reply: string, advice: string) =>
      `Waiting emails are held, and no client is affected. ${advice} Duely tries again every hour, and sends them as soon as it may. ${replied(reply)}`,
  },
  quota: {
    title: 'Your mailbox reached its sending limit',
    text: (why: string) => `${why} The remaining emails are sent first as soon as the mailbox may send again.`,
    replied,
    allowance: (provider: string | null, most: number, hours: number) =>
      `${provider === null ? 'You allow this mailbox' : `${provider} allows`} ${most.toLocaleString('en-IN')} emails ${hours === 1 ? 'an hour' : `in ${hours} hours`}, and that many have been sent.`,
  },
  restored: {
    title: 'Some reminders need your approval',
    text: 'Your data was restored from a backup, so reminders waiting in it may already have been sent. Approve them to send them.',
  },

  copyRefused: (email: string, words: string) => `The copy to ${email} was refused: ${words}`,
  sequenceEnded: {
    summary: (client: string) => `${shortName(client)} has had all reminders`,
    title: (client: string, reference: string) => `${client} has had all reminders for ${reference}`,
    text: ({ currency, amount }: Money, emails: number) =>
      `${formatMoney(amount, currency)} is still open after ${emails} ${emails === 1 ? 'email' : 'emails'}. Call, or download the evidence.`,
  },

  /** Without a mail server's advice: it is shown as it came. */
  addressRefused: {
    summary: (client: string) => `${shortName(client)}’s address doesn’t exist`,
    title: (address: string) => `${address} doesn’t exist`,
    text: (reply: string) => `Its reminders are on hold. Correct the address to resume, or try it again. ${replied(reply)}`,
  },
  bounced: {
    notFound: 'There is no sent email with this Message-ID.',
    /** Stored in place of a mail server's reply: it has no code, because Duely does not read the returned email. */
    reply: 'Came back: the email was returned to your mailbox.',
    notice: (reference: string, email: string) => ({
      title: `${email} came back`,
      text: `${reference} to ${email} came back. Reminders to this address are on hold.`,
    }),
    summary: (client: string) => `An email to ${shortName(client)} came back`,
  },
  notDelivered: {
    one: (client: string) => `The reminder to ${client} was not delivered`,
    several: (count: number) => `${count.toLocaleString('en-IN')} reminders were not delivered`,
    rejected: (address: string, reply: string) => `Check the address ${address}, or contact your client another way. ${replied(reply)}`,
    late: 'It could not be sent in time.',
    named: (client: string, why: string) => `${client} (${why})`,
    list: (named: string[], more: number) => {
      const last = more > 0 ? `${more.toLocaleString('en-IN')} more` : named.at(-1)
      const others = more > 0 ? named : named.slice(0, -1)
      return `${others.length > 0 ? `${others.join(', ')} and ` : ''}${last}.`
    },
  },
  daysLeftOut: {
    one: (date: string) => `No reminders went out on ${formatDate(date)}`,
    several: (days: number) => `No reminders went out on ${days} days`,
    between: (first: string, last: string) =>
      `From ${formatDate(first)} to ${formatDate(last)} Duely was not running between the hour of the reminders and 18:00.`,
  },
}

/** What a held email waits for, and what is stored as its reply when its time runs out first. */
export const holdTexts: Record<HoldReason, { waits: string; tooLate: string }> = {
  not_configured: { waits: 'Waiting: no mailbox is connected.', tooLate: 'Not sent: no mailbox was connected that day.' },
  sending_paused: { waits: 'Waiting: sending from the mailbox is paused.', tooLate: 'Not sent: sending was paused that day.' },
  email_not_confirmed: { waits: 'Waiting: confirm your email.', tooLate: 'Not sent: your email was not confirmed that day.' },
  plan: {
    waits: 'Waiting: your plan has no daily reminders. Send Now still sends it.',
    tooLate: 'Not sent: the plan had no daily reminders that day.',
  },
  paying: { waits: 'Waiting: the client is paying.', tooLate: 'Not sent: the client was paying online at the time.' },
  address: {
    waits: 'Held: the mail server refused the address. Correct the address to resume.',
    tooLate: 'Not sent: the mail server refused the address that day.',
  },
  restored: {
    waits: 'Needs your approval: restored from a backup, so it may already have been sent.',
    tooLate: 'Not sent: restored from a backup, and not approved in time.',
  },
  operator: {
    waits: 'Waiting: on hold by the operator of this server. Contact them to find out why.',
    tooLate: 'Not sent: sending was on hold by the operator of this server that day.',
  },
}
