/** Every word of the public pages. */
export const texts = {
  landing: {
    title: "Your invoices, paid on the day they're due.",
    lead: "Duely keeps your invoice list and writes to late clients every morning at nine, in your words, from your address. It stops the moment you're paid.",
    start: 'Get Started',
    signIn: 'Sign In',
    picture: {
      label:
        'One invoice on the due line: sent before the due date, reminded at nine on two mornings after it, then paid, and the reminders stop.',
      sent: 'sent',
      dueDate: 'due date',
      reminder: 'reminder, 9:00',
      paid: 'paid, stops',
    },
    tiles: [
      {
        figure: '100%',
        label: 'Success Rate',
        text: 'Nothing that was due is forgotten: a reminder is sent, tried again, or you are told why not.',
      },
      {
        figure: '24/7',
        label: 'Monitoring',
        text: 'Every invoice is looked at every day, in your own time zone, whether you are there or not.',
      },
      { figure: '5min', label: 'Setup', text: 'Write down an invoice, connect your mailbox, press Start Reminders. That is all of it.' },
    ],
    steps: {
      title: 'Three things, once. Then mornings.',
      list: [
        { title: 'Write down what you are owed', text: 'Client, amount, due date. Every open invoice becomes a dot on one line.' },
        { title: 'Connect your own mailbox', text: 'Reminders come from your address, and the answers come back to you.' },
        { title: 'Press Start', text: 'You see who would be written to before anything leaves. One press stops it all again.' },
      ],
    },
    end: { title: 'Who owes you today?', text: 'Free to start, no credit card.' },
  },
  features: {
    title: 'Features',
    lead: 'What Duely does for people who send invoices.',
    list: [
      ['Automated Reminders', 'Late clients hear from you every morning at nine, until they pay or you say stop.'],
      ['Smart Analytics', 'One line shows what is owed, since when and by whom.'],
      ['Custom Templates', 'Your words, with the client, the amount and the days filled in.'],
      ['Payment Tracking', 'Mark an invoice as paid, and not one more reminder leaves.'],
      ['Secure & Compliant', 'Passwords of mailboxes are sealed; your data goes when you delete your account.'],
      ['Lightning Fast', 'Thousands of invoices, found as you type.'],
    ],
  },
  pricing: {
    title: 'Pricing',
    lead: 'Free to start, no credit card. Every account can use everything for the first 14 days.',
    text: 'The plans with their prices will stand on this page.',
    start: 'Get Started',
  },
  contact: {
    title: 'Contact',
    lead: 'Questions about this server go to the people who run it.',
    loading: 'Looking up who runs this server...',
    failed: (message: string) => `The contact could not be looked up. ${message}`,
    open: 'Open the contact page',
    newTab: '(opens in a new tab)',
    none: 'The operator of this server has named no contact.',
  },
}
