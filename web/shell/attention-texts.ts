/** Texts of the list behind the bell, loaded with it. */
export const attentionTexts = {
  title: (count: number) => (count === 0 ? 'Notifications' : `${count} need${count === 1 ? 's' : ''} attention`),
  close: 'Close notifications',
  empty: 'All clear. Nothing needs your attention right now.',
  others: 'For your information',
  client: (name: string, reference: string) => `${name}, ${reference}`,
  reply: 'What the mail server replied',
  /** The accessible name of a button in a list of several. */
  about: (action: string, title: string) => `${action}: ${title}`,
  dismiss: 'Dismiss',
  dismissing: 'Dismissing...',
}
