import type { MadeKind } from '#contract/business.ts'

const kinds: Record<MadeKind, string> = {
  api_key: 'API key',
  webhook: 'Webhook',
  source: 'Watched address',
  mailbox: 'Mailbox',
  reply_to: 'Email for replies',
  razorpay: 'Razorpay keys',
}

/** What someone set up who leaves, or has left. */
export const madeTexts = {
  kinds,
  loading: 'Loading what they set up...',
  failed: (message: string) => `Couldn’t load what they set up. ${message}`,
  knows: (name: string) => `${name} knows these secrets and addresses.`,
  ownKnows: 'They work without you, and you know these secrets and addresses.',
  end: 'They stop working immediately.',
  takeOver: 'They stop until each has a new secret. What you untick is revoked.',
  ask: 'Ask someone to take them over',
  askHint: 'They stop until that person takes them over, with new secrets. What you untick is revoked.',
  chosen: 'Take over',
  heir: 'Who takes them over',
  heirHint: 'They get an email, and decide about each under Team.',
  me: 'You',
  mailbox: 'Reminders wait until a mailbox is connected.',
  razorpay: 'Clients can’t pay online until keys are connected.',

  panel: {
    title: 'Set up by people who left',
    text: 'Each does nothing until someone takes it over.',
    from: (from: string, to: string, mine: boolean) => (mine ? `From ${from}` : `From ${from}, for ${to} or the owner to take over`),
    notMine: (to: string) => `${to} was asked to take this over. The owner can do it too.`,
    takeOver: 'Take over',
    takeOverOf: (name: string) => `Take over ${name}`,
    connect: 'Connect again',
    connectOf: (name: string) => `Connect ${name} again`,
    end: 'End',
    endOf: (name: string) => `End ${name}`,
    ending: 'Ending...',
    ended: (name: string) => `${name} ended.`,
    endTitle: (name: string) => `End ${name}?`,
    endText: 'It will be removed. This can’t be undone.',
    endFailed: (message: string) => `Couldn’t end it. ${message}`,
  },
  dialog: {
    title: (name: string) => `Take over ${name}`,
    secret: (from: string) => `You get a new secret. The one that ${from} knows stays invalid.`,
    link: (from: string) =>
      `It works again with the same address. Check that it is yours: ${from} chose it, and may control what is there.`,
    proofHint: 'So that no one else can take it over.',
    submit: 'Take over',
    busy: 'Taking over...',
    cancel: 'Cancel',
    done: (name: string) => `${name} is yours now.`,
    once: 'The secret is shown only now. Store it where your software can read it.',
    label: 'Secret',
    kept: 'I’ve Saved It',
  },
}
