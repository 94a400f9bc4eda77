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
  knows: (name: string) => `${name} knows the secret of each, or where it leads.`,
  ownKnows: 'They work without you, and you know their secrets.',
  end: 'They stop working at once.',
  takeOver: 'They stop too, until each has another secret. What you leave out ends.',
  ask: 'Ask someone to take them over',
  askHint: 'They stop until that person has taken them over, with other secrets. What you leave out ends.',
  chosen: 'Take over',
  heir: 'Who takes them over',
  heirHint: 'They get an email, and decide about each under Team.',
  me: 'You',
  mailbox: 'Reminders wait until a mailbox is connected.',
  razorpay: 'Clients can’t pay online until keys are connected.',

  panel: {
    title: 'To be taken over',
    text: 'People who left set these up. They do nothing until someone takes them over.',
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
    endText: 'It is removed, and can’t be restored.',
    endFailed: (message: string) => `Couldn’t end it. ${message}`,
  },
  dialog: {
    title: (name: string) => `Take over ${name}`,
    secret: (from: string) => `It works again with a new secret, which only you are shown. The one that ${from} knows stays invalid.`,
    link: (from: string) =>
      `It works again as it is. Make sure that this address is yours: ${from} chose it, and may be able to change what is there.`,
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
