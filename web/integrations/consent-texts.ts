/** Every word of the question whether an application may use the account. */
export const consentTexts = {
  title: 'Authorization Request',
  /** The specification's sentence; other applications have their own name in the place of Zapier. */
  question: (application: string) =>
    application === 'Zapier'
      ? 'Authorization Request - Do you allow Zapier to access your account?'
      : `Authorization Request - Do you allow ${application} to access your account?`,
  loading: 'Looking up who is asking...',
  may: (application: string) => `${application} may`,
  can: {
    read: 'See your invoices, your clients’ names and emails, and the reminders they were sent',
    write: 'Create, change and delete invoices, and send reminder emails to your clients',
  },
  mayNot: 'Your password, your mailbox and your plan stay closed to it.',
  ownWhy: 'This is Duely itself: Trigger Reminder Emails needs your permission once. Nothing secret is kept in this browser.',
  account: 'Account',
  length: 'For how long',
  untilDisconnected: 'Until you disconnect it under Connections',
  returns: 'Then back to',
  yes: 'Continue',
  busy: 'Continuing...',
  no: 'No',
  missing: 'Missing redirect URI information.',
  missingHint: 'The page that sent you here left out where to go back to. Please start again from there.',
  invalid: 'This request cannot be answered',
  nothingShared: 'Nothing has been shared.',
  noRedirect: 'No redirect URL received from the server.',
  failed: 'Error during authorization. Please try again.',
  unsafe: 'The way back is no web address, so it is not followed. The permission is given; you can take it back under Connections.',
  back: 'Go to the dashboard',
}
