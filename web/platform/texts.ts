/** Texts of failed calls, and of link previews. */
export const texts = {
  brand: 'Duely',
  picture: 'One invoice on the due line: sent, due, reminded twice, paid.',
  unreachable: 'The server cannot be reached. Please check your connection and try again.',
  tooSlow: 'The server did not answer in time. Please try again in a moment.',
  unexpected: 'The server did not answer as expected. Please reload the page and try again.',
  unexpectedStatus: (status: number) => `The server did not answer as expected (${status}). Please try again in a moment.`,
  fileCutOff: 'The file did not download completely. Check your connection and try again.',
  broken: 'Something went wrong on this page. Please reload it and try again.',
}

/** What proves who makes a change. */
export const proofTexts = {
  password: 'Your current password',
  code: 'Code',
  codeHint: 'From your authenticator app, or a recovery code.',
}

/** Where reminders can't be sent yet because the email is not confirmed. */
export const confirmEmailTexts = {
  title: 'Confirm your email to start sending',
  text: (email: string) => `We sent a link to ${email} when you signed up. Open it, or send a new one.`,
  sendLink: 'Send Link',
  sending: 'Sending...',
}

const listed = (names: string[]) => new Intl.ListFormat('en-GB').format(names)

/** Where two people change the same. */
export const conflictTexts = {
  // Fixed by the specification.
  merged: (name: string, changed: string[]) => `${name} changed the ${listed(changed)} meanwhile. Both changes are saved.`,
  keepMine: 'Keep mine',
  takeTheirs: 'Take theirs',
  both: (changed: string[]) => `You both changed the ${listed(changed)}.`,
  yours: 'Yours',
  theirs: (name: string, time: string) => `${name.split(' ')[0]}’s, ${time}`,
  kept: (changes: string[]) => `Your new ${listed(changes)}, is kept either way: only you changed it.`,
}
