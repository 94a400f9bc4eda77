import { count } from '#web/ui/texts.ts'

const named = 3

/** `INV-0006, INV-0013 and 2 more` */
function references(all: string[]): string {
  if (all.length <= named) return all.join(', ')
  return `${all.slice(0, named).join(', ')} and ${all.length - named} more`
}

export const texts = {
  label: 'Before emails leave',
  leave: (emails: number, seconds: number) =>
    `${count(emails, 'email')} ${emails === 1 ? 'leaves' : 'leave'} in ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`,
  until: (at: string) => `At ${at}. Until then you can leave some out.`,
  none: 'No email of this run leaves',
  takeBackUntil: 'All are left out today. You can take them back until 18:00.',
  review: 'Review',
  sendNow: 'Send now',
  leaveAllOut: 'Leave all out today',
  list: 'Emails of this run',
  listOf: (client: string) => `Emails to ${client}`,
  emails: (n: number) => count(n, 'email'),
  loading: 'Loading the emails...',
  failed: (message: string) => `Couldn’t load the emails. ${message}`,
  showAll: (n: number) => `Show all ${n.toLocaleString('en-IN')}`,
  about: (all: string[], amount: string, late: string) => [references(all), amount, late].filter((part) => part !== '').join(', '),
  leaveOut: 'Leave out',
  leaveOutFor: (client: string) => `Leave out ${client}`,
  takeBack: 'Take back',
  takeBackFor: (client: string) => `Take back ${client}`,
  leftOut: (client: string) => `${client} is left out today.`,
}

/** Settings of what happens before emails leave. */
export const holdTexts = {
  title: 'Before emails leave',
  label: 'Hold the daily emails for',
  minutes: (n: number) => (n === 0 ? 'Not at all' : `${n} minutes`),
  notSaved: (message: string) => `Couldn’t change the setting. ${message}`,
}
