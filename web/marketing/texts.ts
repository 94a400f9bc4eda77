/** Every word of the public pages. */
export const texts = {
  landing: {
    tab: "Duely: your invoices, paid on the day they're due",
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
    letter: {
      title: 'In your words, from your address',
      text: 'A reminder is a letter, not a blast. Write it once; the client, the amount and the days are filled in. What the preview shows is what arrives, to the last character.',
      label: 'A reminder as a client reads it',
      from: 'From',
      sender: 'Asha Rao <asha@banyan.example>',
      subject: 'Subject',
      about: 'Payment reminder: invoice INV-0042 was due on 12/11/2026',
      lines: [
        'Dear Kaveri Foods,',
        'This is a friendly reminder that the payment for the invoice below has not reached us yet.',
        'Invoice: INV-0042\nAmount: ₹48,500.00\nDue date: 12/11/2026\nDays overdue: 8',
        'If you have paid in the meantime, thank you, and please ignore this email. Otherwise, we would be grateful if you could arrange the payment in the next few days. If anything about the invoice is unclear, simply reply to this email.',
        'Kind regards,\nAsha Rao',
      ],
    },
    end: { title: 'Who owes you today?', text: 'Free to start, no credit card.' },
  },
  features: {
    title: 'Features',
    description: 'Daily reminders from your own mailbox, templates in your words, and one line that shows who owes you since when.',
    lead: 'What Duely does today for people who send invoices. What is still to come is called so.',
    list: [
      {
        picture: 'mornings',
        title: 'Automated Reminders',
        text: 'Late clients hear from you every morning at nine, or at the hour you choose, in your own time zone, until they pay or you say stop. What a mail server turns away for the moment is tried again the same day.',
      },
      {
        picture: 'line',
        title: 'Smart Analytics',
        text: 'Three totals and one line: what is overdue, what falls due in the next 14 days, what was paid this month, and each open invoice as a dot by age and amount. Charts and reports are not there yet.',
      },
      {
        picture: 'letter',
        title: 'Custom Templates',
        text: 'Your subject and your text, with the client, the amount and the days filled in, and a preview that is exactly what is sent. One for a single invoice, one that lists all that a client owes.',
      },
      {
        picture: 'paid',
        title: 'Payment Tracking',
        text: 'Mark an invoice as paid and not one more reminder leaves, not even one that was already waiting. Unpaid invoices turn overdue by themselves at midnight.',
      },
      {
        picture: 'sealed',
        title: 'Secure & Compliant',
        text: 'Mailbox passwords are kept encrypted and never shown again, mail leaves over encrypted connections, and no other company’s script ever runs beside your invoices. Delete your account, and every record of it goes with it, as the GDPR wants it.',
      },
      {
        picture: 'search',
        title: 'Lightning Fast',
        text: 'Ten thousand invoices in one list, found as you type, and every screen within reach of the keyboard.',
      },
    ],
    end: 'See it with your own invoices',
    start: 'Get Started',
  },
  pricing: {
    title: 'Pricing',
    description: 'Free for up to 50 invoices a month, Pro for ₹4 and Enterprise for ₹9 per month. Free to start, no credit card.',
    lead: 'Free to start, no credit card.',
    trial: 'Every new account can use everything of Pro for its first 14 days.',
    popular: 'Most Popular',
    notIncluded: 'Not included:',
    notes: ['14-day free trial', 'Cancel anytime', 'Secure payments'],
    current: 'Current Plan',
    forever: 'forever',
    perMonth: 'per month',
    year: (price: string, saving: string) => `or ${price} per year. Save ${saving}`,
    unlimited: {
      title: 'Payments are not set up on this server.',
      text: 'Nothing is limited here and nothing is charged: every account has every feature that is there. The prices below hold where payments are set up.',
      included: 'Included on this server',
    },
  },
  contact: {
    title: 'Contact',
    description: 'How to reach the people who run this Duely.',
    lead: 'Questions about this server go to the people who run it.',
    open: 'Open the contact page',
    newTab: '(opens in a new tab)',
    none: 'The operator of this server has named no contact.',
    home: 'Back to the home page',
    features: 'What Duely does',
  },
}
