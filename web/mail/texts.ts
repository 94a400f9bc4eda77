import type { ProviderName } from './smtp-dialog.tsx'

/** Where a provider makes the password: a line with a link in the middle. */
interface PasswordHint {
  text: string
  link: string
  linkText: string
  rest: string
}

const hints: Record<ProviderName, PasswordHint | null> = {
  gmail: {
    text: 'Not your normal password. Turn on 2-Step Verification, then create one at',
    link: 'https://myaccount.google.com/apppasswords',
    linkText: 'myaccount.google.com/apppasswords',
    rest: '.',
  },
  microsoft: {
    text: 'Outlook.com has refused passwords since 16 September 2024. Microsoft 365 turns them off by default at the end of December 2026; your admin can turn on',
    link: 'https://learn.microsoft.com/en-us/exchange/clients-and-mobile-in-exchange-online/authenticated-client-smtp-submission',
    linkText: 'Authenticated SMTP',
    rest: ' again. Microsoft announces the final date in the second half of 2027.',
  },
  zoho: {
    text: 'Not your normal password. Create one under Security at',
    link: 'https://accounts.zoho.in/home#security/app_password',
    linkText: 'accounts.zoho.in',
    rest: '. At zoho.com or zoho.eu, change the server to the same ending; paid accounts use smtppro instead of smtp.',
  },
  yahoo: {
    text: 'Not your normal password. Choose “Generate app password” at',
    link: 'https://login.yahoo.com/account/security',
    linkText: 'login.yahoo.com/account/security',
    rest: '.',
  },
  fastmail: {
    text: 'Not your normal password. Create one under Privacy & Security at',
    link: 'https://app.fastmail.com/settings/security',
    linkText: 'app.fastmail.com/settings/security',
    rest: '.',
  },
  custom: null,
}

export const texts = {
  title: 'Email Settings',
  subtitle: 'The mailbox your reminders are sent from',
  loading: 'Loading email settings...',
  failed: (message: string) => `Error loading email settings: ${message}`,
  none: {
    title: 'No mailbox connected',
    text: 'Reminders are sent from your own mailbox, so clients see your address and can reply to you. Connect it once; the password is stored encrypted.',
    action: 'Configure Custom SMTP',
  },
  configured: {
    title: 'Mail Configured',
    working: 'Connected',
    paused: 'Paused',
    provider: 'Provider',
    providers: { smtp: 'SMTP', gmail: 'Gmail', microsoft: 'Microsoft 365' },
    email: 'Email',
    server: 'Server',
    line: (host: string, port: number, secure: boolean) => `${host}, port ${port}, ${secure ? 'SSL' : 'TLS'}`,
    password: 'Password',
    permission: 'Permission',
    kept: 'Stored encrypted, never shown again',
    change: 'Change Configuration',
    remove: 'Remove Configuration',
  },
  next: {
    why: 'Your mailbox is connected.',
    invoice: { text: 'Next: add your unpaid invoices', action: () => 'Add an invoice' },
    preview: { text: 'Next: see who gets an email', action: () => 'Preview the first email' },
    start: {
      text: 'Next: start the reminders',
      action: (daily: boolean) => (daily ? 'Start daily reminders' : 'Send the first reminders'),
    },
  },
  test: {
    send: 'Send Test Email',
    sending: 'Sending Test Email...',
    done: (to: string) => `Test email sent to ${to}.`,
    next: 'Check that inbox. If the email is in the spam folder, your reminders may end up there too.',
    said: 'The mail server replied:',
    failed: (message: string) => `Error sending test email: ${message}`,
  },
  presets: {
    label: 'Provider',
    names: { gmail: 'Gmail', microsoft: 'Microsoft 365', zoho: 'Zoho', yahoo: 'Yahoo', fastmail: 'Fastmail', custom: 'Custom' },
    hints,
  },
  pause: {
    titles: {
      login_refused: 'Sending is paused: the mail server refused the login',
      quota: 'Sending is paused: the mailbox reached its sending limit',
    },
    said: (host: string) => `${host} replied:`,
    theServer: 'The mail server',
    since: (when: string) => `Since ${when}.`,
    resumes: (when: string) => `Sending resumes automatically ${when}.`,
    todo: {
      login_refused: 'Enter the new app password. Waiting emails are sent right away.',
      quota:
        'Most providers allow more after a few hours, or the next day at the latest. Save the settings again then, and waiting emails are sent right away.',
    },
    action: { login_refused: 'Enter New App Password', quota: 'Save Settings Again' },
  },
  remove: {
    title: 'Remove configuration',
    question: 'Are you sure you want to remove mail configuration?',
    consequence: 'We delete the saved password or permission. Reminders wait until you connect a mailbox again.',
    confirm: 'Remove Configuration',
    busy: 'Removing...',
    done: 'Mail configuration removed successfully!',
    failed: (message: string) => `Error removing configuration: ${message}`,
  },
  smtp: {
    title: 'Configure Custom SMTP',
    host: 'SMTP Host',
    hostExample: 'smtp.example.com',
    changeServer: 'Change server',
    port: 'Port',
    secure: 'Security',
    ssl: 'SSL (Port 465)',
    tls: 'TLS (Port 587)',
    mismatch: (secure: boolean) => (secure ? 'SSL usually uses port 465.' : 'TLS usually uses port 587.'),
    portButton: (port: number) => `Use port ${port}`,
    user: 'Email',
    userHint: 'Clients see this address as the sender.',
    username: 'Username, if it isn’t your email',
    usernameExample: 'Optional',
    pass: 'App Password',
    passHint: 'Many providers require one made for this purpose instead of your normal password.',
    submit: 'Save SMTP Configuration',
    busy: 'Testing the connection…',
    patience: 'Connecting and signing in to the mail server. This can take up to 10 seconds.',
    cancel: 'Cancel',
    close: 'Close',
    done: 'SMTP configured successfully!',
    failed: (message: string) => `Error configuring SMTP: ${message}`,
  },
  gmail: {
    connect: 'Connect Gmail (Recommended)',
    add: 'Add Gmail',
    again: 'Reconnect Gmail',
    busy: 'Opening Google...',
    startFailed: (message: string) => message || 'Error starting Gmail connection. Please try again.',
    finishing: 'Connecting Gmail...',
    done: 'Gmail configured successfully!',
    failed: (message: string) => `Error configuring Gmail: ${message}`,
    denied: 'You didn’t allow Duely to send emails from Gmail. Nothing has changed.',
    notFinished: 'Google didn’t complete the connection. Please click Connect Gmail again.',
    paused: {
      title: 'Sending is paused: Duely no longer has permission to use Gmail',
      todo: 'Reconnect Gmail. Waiting emails are sent right away.',
    },
  },
  microsoft: {
    connect: 'Connect Microsoft 365',
    add: 'Add Microsoft 365',
    again: 'Reconnect Microsoft 365',
    busy: 'Opening Microsoft...',
    startFailed: (message: string) => message || 'Error starting Microsoft 365 connection. Please try again.',
    finishing: 'Connecting Microsoft 365...',
    done: 'Microsoft 365 configured successfully!',
    failed: (message: string) => `Error configuring Microsoft 365: ${message}`,
    denied: 'You didn’t allow Duely to send emails from Microsoft 365. Nothing has changed.',
    notFinished: 'Microsoft didn’t complete the connection. Please click Connect Microsoft 365 again.',
    paused: {
      title: 'Sending is paused: Duely no longer has permission to use Microsoft 365',
      todo: 'Reconnect Microsoft 365. Waiting emails are sent right away.',
    },
  },
  further: {
    title: 'More mailboxes',
    why: 'Choose one of them on the page of a client. All other clients get emails from the mailbox above.',
    makeDefault: 'Make Default',
    defaultOf: (user: string) => `Make Default: ${user}`,
    madeDefault: (user: string) => `${user} is the default mailbox now.`,
    failed: (message: string) => `Error changing the default mailbox: ${message}`,
    remove: 'Remove',
    removeOf: (user: string) => `Remove: ${user}`,
    addSmtp: 'Add by SMTP',
  },
  approval: {
    title: 'Your administrator has to allow Duely once',
    text: 'Send your administrator this link. Then click Connect Microsoft 365 again.',
    link: 'The link for your administrator',
    done: 'Your administrator has allowed Duely. You can connect Microsoft 365 now.',
  },
  revoke: {
    before: 'Microsoft keeps the permission until you remove Duely at',
    work: { link: 'https://myapps.microsoft.com', text: 'myapps.microsoft.com' },
    between: ', or for Outlook.com accounts at',
    personal: { link: 'https://account.live.com/consent/Manage', text: 'account.live.com/consent/Manage' },
  },
}
