import type { ProviderName } from './presets.ts'

/** Where a provider hands out its app password: a line with a link to the page in it. */
interface PresetNote {
  tone: 'plain' | 'warn'
  text: string
  link: string
  linkText: string
  rest: string
}

const notes: Record<ProviderName, PresetNote | null> = {
  gmail: {
    tone: 'plain',
    text: 'Switch 2-Step Verification on, then make an app password at',
    link: 'https://myaccount.google.com/apppasswords',
    linkText: 'myaccount.google.com/apppasswords',
    rest: '.',
  },
  outlook: {
    tone: 'warn',
    text: 'Microsoft has switched signing in with a password off for sending: Outlook.com refuses it, app passwords included, and so do most Microsoft 365 accounts. Another mailbox will work better.',
    link: 'https://learn.microsoft.com/en-us/exchange/clients-and-mobile-in-exchange-online/deprecation-of-basic-authentication-exchange-online',
    linkText: 'What Microsoft says',
    rest: '.',
  },
  zoho: {
    tone: 'plain',
    text: 'Make an app password under Security at',
    link: 'https://accounts.zoho.in/home#security/app_password',
    linkText: 'accounts.zoho.in',
    rest: '. If you sign in at zoho.com or zoho.eu, the host ends the same way; paid accounts use smtppro instead of smtp.',
  },
  yahoo: {
    tone: 'plain',
    text: 'Make an app password with “Generate app password” at',
    link: 'https://login.yahoo.com/account/security',
    linkText: 'login.yahoo.com/account/security',
    rest: '.',
  },
  custom: null,
}

/** Every word of Email Settings. */
export const texts = {
  title: 'Email Settings',
  subtitle: 'The mailbox that your reminders come from',
  loading: 'Loading email settings...',
  failed: (message: string) => `Error loading email settings: ${message}`,
  none: {
    title: 'No mailbox connected',
    text: 'Reminders leave from your own mailbox, so that clients see your address and can answer you. Connect it once; the password is kept encrypted.',
    action: 'Configure Custom SMTP',
  },
  configured: {
    title: 'Mail Configured',
    working: 'Connected',
    paused: 'Paused',
    provider: 'Provider',
    providers: { smtp: 'SMTP', gmail: 'Gmail' },
    email: 'Email',
    server: 'Server',
    line: (host: string, port: number, secure: boolean) => `${host}, port ${port}, ${secure ? 'SSL' : 'TLS'}`,
    password: 'Password',
    kept: 'Kept encrypted, never shown again',
    change: 'Change Configuration',
    remove: 'Remove Configuration',
  },
  test: {
    send: 'Send Test Mail',
    sending: 'Sending Test Mail...',
    done: (to: string) => `Test mail sent to ${to}.`,
    /** Accepted is not yet delivered. */
    next: 'Look for it in that inbox; if it is in the spam folder, your reminders may land there too.',
    said: 'The mail server said:',
    failed: (message: string) => `Error sending test mail: ${message}`,
  },
  presets: {
    label: 'Provider',
    names: { gmail: 'Gmail', outlook: 'Outlook', zoho: 'Zoho', yahoo: 'Yahoo', custom: 'Custom' },
    notes,
  },
  pause: {
    titles: {
      login_refused: 'Sending is paused: the mail server refused the login',
      quota: 'Sending is paused: the mailbox has used up its quota',
    },
    said: (host: string) => `${host} said:`,
    theServer: 'The mail server',
    since: (when: string) => `Since ${when}.`,
    goesOn: (when: string) => `It goes on by itself ${when}.`,
    todo: {
      login_refused: 'Enter the new app password: what is still waiting then leaves.',
      quota:
        'Most providers allow more after a few hours, at the latest the next day. Save the settings again then: what is still waiting leaves.',
    },
    action: { login_refused: 'Enter New App Password', quota: 'Save Settings Again' },
  },
  remove: {
    title: 'Remove configuration',
    question: 'Are you sure you want to remove mail configuration?',
    consequence: 'The stored password or permission is given up. Reminders that fall due wait until a mailbox is connected again.',
    confirm: 'Remove Configuration',
    busy: 'Removing...',
    done: 'Mail configuration removed successfully!',
    failed: (message: string) => `Error removing configuration: ${message}`,
  },
  smtp: {
    title: 'Configure Custom SMTP',
    host: 'SMTP Host',
    hostHint: 'The name your provider gives for outgoing mail, such as smtp.gmail.com',
    port: 'Port',
    secure: 'Security',
    ssl: 'SSL (Port 465)',
    tls: 'TLS (Port 587)',
    mismatch: (secure: boolean) => (secure ? 'SSL usually goes with port 465.' : 'TLS usually goes with port 587.'),
    portButton: (port: number) => `Use port ${port}`,
    user: 'Email',
    userHint: 'You sign in to the mail server with it, and clients see it as the sender',
    pass: 'App Password',
    passHint: 'Many providers, Gmail among them, want a password made for this purpose instead of your usual one',
    submit: 'Save SMTP Configuration',
    busy: 'Trying the connection…',
    patience: 'Connecting and signing in to the mail server. This can take up to ten seconds.',
    cancel: 'Cancel',
    close: 'Close',
    done: 'SMTP configured successfully!',
    failed: (message: string) => `Error configuring SMTP: ${message}`,
  },
}
