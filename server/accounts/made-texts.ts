import type { MadeKind } from '#contract/business.ts'
import { screens } from '#contract/screens.ts'
import type { SystemMail } from '#server/platform/system-mail.ts'

const named: Record<MadeKind, (name: string) => string> = {
  api_key: (name) => `API key ${name}`,
  webhook: (name) => `webhook of ${name}`,
  source: (name) => `watched address ${name}`,
  mailbox: (name) => `mailbox ${name}`,
  reply_to: (name) => `replies to ${name}`,
  razorpay: (name) => `Razorpay keys ${name}`,
}

/** What someone made that works without them: refusals, notices and emails. */
export const madeTexts = {
  named: (kind: MadeKind, name: string) => named[kind](name),
  choose: 'Choose what happens to what they set up: revoke or take_over.',
  heir: 'Choose an admin or the owner, who stays in the business, to take it over.',
  notThere: 'This was taken over or ended meanwhile.',
  notMine: (name: string) => `${name} was asked to take this over. The owner of the business can do it too.`,
  someone: 'A former member',
  takeOverFirst: 'The person who set this up has left the business. Take it over under Team first.',

  handedOver: {
    title: (from: string, count: number, to: string) =>
      `${from} left ${count === 1 ? 'one connection' : `${count} connections`} for ${to} to take over`,
    text: 'They do nothing until someone takes them over. Take them over or end them under Team.',
    audit: (names: string[], heir: string) => `${new Intl.ListFormat('en-GB').format(names)}, to ${heir}`,
  },
  /** No words of anyone in it: who leaves chose their name, and those of what they made. */
  askHeir: {
    kind: 'handed_over',
    subject: 'Connections for you to take over',
    expiresIn: { hours: 24 },
    before: [
      'Someone has left a business that you work in on Duely, and asks you to take over what they set up there, such as API keys, webhooks or a mailbox.',
      'It does nothing until you decide. What you take over gets a new secret, which only you are shown.',
    ],
    button: { label: 'Review them', path: screens.team },
    after: ['End what you don’t recognise.'],
  } satisfies Omit<SystemMail, 'to' | 'link'>,

  newAdmin: {
    subject: 'Your business has a new admin',
    before: [
      'Someone became an admin of your business. Admins change invoices, mailboxes and the team.',
      'If you don’t expect this, remove them under Team and set a new password.',
    ],
    title: (who: string) => `${who} is an admin of your business now`,
    text: 'Admins change invoices, mailboxes and the team. If you don’t expect this, remove them under Team and set a new password.',
  },
  /** Someone other than the owner did it. */
  setUp: (who: string, kind: MadeKind, name: string) =>
    `${who} set up ${kind === 'reply_to' ? named[kind](name) : `the ${named[kind](name)}`}`,
  newSecret: (who: string, kind: MadeKind, name: string) => `${who} has a new secret for the ${named[kind](name)}`,
  setUpText: 'It works until someone ends it. Ask them about it if you don’t know what it is for.',
}
