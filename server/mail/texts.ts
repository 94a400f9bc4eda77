import { adviceOf, type SenderAdvice } from './refusals.ts'
import { adminSwitchedOff, enhancedCode, isTemporary, type MailError, passwordsSwitchedOff, replyCode } from './smtp-errors.ts'

/** Where an email is sent by, for its owner to read. */
export const providerNames = { smtp: 'SMTP', gmail: 'Gmail', microsoft: 'Microsoft 365' }

/** Messages of refused calls. */
export const refusals = {
  notConfigured: 'Please configure your email settings first before sending a test email.',
  noMailbox: 'There is no such mailbox.',
  knownPassword: 'Someone who left knows this password. Please create a new one at your mail provider, and enter that.',
  connectAgain: 'Someone who left knows the password of this mailbox. Connect it again under Email Settings, with a new one.',
  handedOver: (address: string) => `The person who connected ${address} has left. Connect it again with a new password or permission.`,
  mostMailboxes: (most: number) => `You have ${most} mailboxes, the most there can be. Please remove one first.`,
  oneMailbox: 'Several mailboxes are part of Enterprise.',
  gmailNotSetUp: 'Gmail is not set up on this server. Please connect your mailbox by SMTP.',
  gmailNotAllowed:
    'Google did not allow Duely to send email. Please connect Gmail again and tick “Send email on your behalf” when Google asks.',
  gmailNotLasting:
    'Google did not grant long-term access. Please remove Duely at myaccount.google.com/connections, then connect Gmail again.',
  gmailFailed: 'Connecting Gmail failed. Please click Connect Gmail again.',
  googleUnreachable: 'Couldn’t reach Google. Please try again in a moment.',
  microsoftNotSetUp: 'Microsoft 365 is not set up on this server. Please connect your mailbox by SMTP.',
  microsoftNotAllowed: 'Microsoft did not allow Duely to send email. Please connect Microsoft 365 again and accept all permissions.',
  microsoftNotLasting: 'Microsoft did not grant long-term access. Please connect Microsoft 365 again and accept all permissions.',
  microsoftNoAddress: 'This Microsoft account has no mailbox with an email address. Please connect another one.',
  microsoftAdministrator: 'Your administrator has to allow Duely once. Then please connect Microsoft 365 again.',
  microsoftFailed: 'Connecting Microsoft 365 failed. Please click Connect Microsoft 365 again.',
  microsoftUnreachable: 'Couldn’t reach Microsoft. Please try again in a moment.',
}

/** What an email was answered where the provider said nothing of its own. */
export const outcomes = {
  removed: (name: string) =>
    `${name} is no longer set up on this server. Please connect a mailbox by SMTP, or ask the operator of this server.`,
  gmail: {
    reconnect: 'Google no longer lets Duely send from this mailbox. Please connect Gmail again.',
    noMailbox: 'This Google account can’t send by Gmail. Turn Gmail on for it and connect it again, or connect another mailbox.',
    unreadable: 'The stored Gmail access can’t be read any more. Please connect Gmail again.',
    notRenewed: 'Couldn’t renew access to Gmail.',
    refused: 'Google refused to renew access. Please ask the operator of this server to check its Google settings.',
    unreachable: 'Couldn’t reach Google to renew access.',
  },
  microsoft: {
    reconnect: 'Microsoft no longer lets Duely send from this mailbox. Please connect Microsoft 365 again.',
    unreadable: 'The stored Microsoft 365 access can’t be read any more. Please connect Microsoft 365 again.',
    notRenewed: 'Couldn’t renew access to Microsoft 365.',
    refused: 'Microsoft refused to renew access. Please ask the operator of this server to check its Microsoft settings.',
    unreachable: 'Couldn’t reach Microsoft to renew access.',
  },
  says: (sentence: string, provider: string, reply: string) => `${sentence} ${provider} said: “${reply}”`,
  gmailAccepted: (id: string) => `Gmail accepted it as ${id}.`,
  microsoftAccepted: (requestId: string | null) =>
    requestId ? `Microsoft 365 accepted it as ${requestId}.` : 'Microsoft 365 accepted it.',
  status: (name: string, status: number) => `${name} answered with the status ${status}.`,
  silent: (name: string) => `${name} did not answer.`,
  keyUnknown: 'The stored access to this mailbox can’t be read at the moment.',
  passwordUnreadable: 'The stored password can’t be read any more. Please enter it again.',
  notAnAddress: (address: string) => `${address} is not an email address.`,
  noSmtpUtf8: (address: string) =>
    `The mail server cannot send to ${address}: it doesn’t support addresses with letters beyond A to Z (SMTPUTF8).`,
  /** Worded as a mail server's replies: their codes decide what is shown and advised. */
  later: (words: string) => `450 ${words}`.slice(0, 500),
  refused: (words: string) => `554 ${words}`.slice(0, 500),
  tooLarge: '552 5.3.4 The email is larger than the mail server allows.',
}

export const testEmail = {
  subject: 'Test email from Duely',
  text: (from: string) => `This is the test email you asked for. It was sent from ${from}, the mailbox your reminders come from.

Your clients see the same sender. You don’t need to do anything.
`,
  failed: (why: string) => `The test email was not sent. ${why}`,
  unconfirmed: (server: string) =>
    `${server} hasn’t confirmed the test email but may have it. Please check your inbox before you try again.`,
  slow: (server: string) => `${server} did not answer in time. Please try again in a few minutes.`,
}

/** Which field of the form to correct, and how. */
interface SmtpErrorDescription {
  field: 'host' | 'port' | 'secure' | 'pass' | null
  sentence: string
}

/** The provider accepts no password for sending from this mailbox. */
export function passwordsSwitchedOffText(host: string, reply: string): string {
  const todo =
    enhancedCode(reply) === adminSwitchedOff
      ? 'Ask your Microsoft 365 admin to turn on Authenticated SMTP for it, or connect another mailbox.'
      : 'Please connect another mailbox, such as Gmail, or a mail service that offers SMTP passwords.'
  return `${host} doesn’t accept passwords for sending from this mailbox. ${todo} It said: “${reply}”`
}

/** Why a mail server could not be used with these settings, and what to do. */
export function describeError(error: MailError, tried: { host: string; port: number }): SmtpErrorDescription {
  const { host, port } = tried
  if (error.reply && passwordsSwitchedOff.has(enhancedCode(error.reply) ?? ''))
    return { field: 'host', sentence: passwordsSwitchedOffText(host, error.reply) }
  const said = error.reply ? ` It said: “${error.reply}”` : ''
  switch (error.code) {
    case 'unknown_host':
      return { field: 'host', sentence: `Couldn’t find a public mail server called ${host}. Please check the spelling.` }
    case 'host_refused':
      return {
        field: 'host',
        sentence: `${host} can’t be used because it isn’t on the public internet. Please enter your provider's SMTP server, such as smtp.gmail.com.`,
      }
    case 'port_refused':
      return { field: 'port', sentence: 'Please use port 465 (SSL), 587 (TLS), 2525 or 25. Other ports are blocked here.' }
    case 'connection_refused':
      return {
        field: 'port',
        sentence: `${host} refuses connections on port ${port}. Please check the server and the port: most providers use 465 with SSL or 587 with TLS.`,
      }
    case 'unreachable':
      return {
        field: 'host',
        sentence: `${host} can’t be reached from here. Please check the server name, or try again in a few minutes.`,
      }
    case 'timeout':
      return {
        field: 'port',
        sentence: `${host} did not answer on port ${port} in time. Please check the server and the port: most providers use 465 with SSL or 587 with TLS.`,
      }
    case 'broken_off':
      return {
        field: 'port',
        sentence: `${host} closed the connection on port ${port}. Please check port and security: port 465 usually means SSL, port 587 usually means TLS.`,
      }
    case 'speaks_plain':
      return {
        field: 'secure',
        sentence: `${host} does not use SSL on port ${port}. Choose 'TLS (Port 587)' as security${port === 465 ? '' : ', or change the port to 465'}.`,
      }
    case 'speaks_tls':
      return {
        field: 'secure',
        sentence: `${host} uses SSL on port ${port}. Choose 'SSL (Port 465)' as security${port === 587 ? '' : ', or change the port to 587'}.`,
      }
    case 'no_starttls':
      return {
        field: 'secure',
        sentence: `${host} does not offer TLS on port ${port}, and a password is never sent without it. Choose 'SSL (Port 465)' and port 465, or ask your provider.`,
      }
    case 'certificate_name':
      return {
        field: 'host',
        sentence: `The certificate of ${host} is for another name, so this may be the wrong server. Please enter the SMTP server name that your provider gives.`,
      }
    case 'certificate_expired':
      return { field: 'host', sentence: `The certificate of ${host} has expired. Please ask your provider to renew it.` }
    case 'certificate_untrusted':
      return {
        field: 'host',
        sentence: `The certificate of ${host} isn’t signed by a trusted authority. Please check the server name, or ask your provider.`,
      }
    case 'tls_failed':
      return {
        field: 'secure',
        sentence: `No secure connection to ${host} on port ${port} was possible. It must support TLS 1.2 or newer. Please check port and security, or ask your provider.`,
      }
    case 'turned_away':
      return {
        field: null,
        sentence: `${host} is refusing connections right now (code ${replyCode(error.reply) || 'unknown'}). Please try again in a few minutes.`,
      }
    case 'no_login':
      return {
        field: 'port',
        sentence: `${host} doesn’t accept logins on port ${port}. Please try port 465 with SSL or 587 with TLS.`,
      }
    case 'no_mechanism':
      return {
        field: 'host',
        sentence: `${host} offers only ways to log in that Duely doesn’t have (${error.reply}), so no password was sent. Ask your provider for PLAIN or LOGIN over TLS, or connect the mailbox by Gmail or Microsoft 365.`,
      }
    case 'login':
      if (isTemporary(error.reply)) return { field: null, sentence: `${host} can’t check logins right now.${said} Please try again later.` }
      return {
        field: 'pass',
        sentence: `${host} refused the login.${said} Please check email and password. Many providers, including Gmail, require an app password instead of your normal one.`,
      }
    case 'reply':
      return { field: null, sentence: `${host} refused.${said}` }
  }
}

/** What to do about a provider that does not let a mailbox send as itself. */
export const senderAdvice: Record<SenderAdvice, (address: string) => string> = {
  send_as: (address) => `Ask your administrator for the right to send as ${address}, or connect the mailbox that the login belongs to.`,
  verify: (address) => `Confirm ${address}, or its domain, at your mail provider.`,
  match_login: (address) => `Let your provider allow ${address} for this login, or connect the mailbox that the login belongs to.`,
}

/** A login works and an email would be refused: said when the mailbox is saved. */
export function mayNotSendText(host: string, address: string, reply: string): string {
  return `${host} accepts the login, and refuses an email from ${address}. It said: “${reply}” ${senderAdvice[adviceOf(reply)](address)}`
}

/** What the check of a mailbox's domain found, one sentence each. */
export const domainTexts = {
  providersOwn: (provider: string) => `This is ${provider}'s own domain: nothing to do.`,
  unanswered: (domain: string, code: string) =>
    `The name servers of ${domain} didn’t answer${code === '' ? '' : ` (${code})`}. Try again in a few minutes.`,
  mx: {
    good: (domain: string, host: string) => `Replies to ${domain} are received by ${host}.`,
    missing: (domain: string) => `${domain} has no MX record, so replies from your clients may not arrive.`,
    none: (domain: string) => `${domain} declares that it receives no email, so replies from your clients are lost.`,
  },
  spf: {
    good: (domain: string, name: string) => `The SPF record of ${domain} allows ${name} to send.`,
    unnamed: (domain: string, host: string) =>
      `${domain} has a valid SPF record. Ask your provider whether it covers ${host === '' ? 'your mail server' : host}.`,
    missing: (domain: string) => `${domain} has no SPF record, so receivers can’t tell your emails from forged ones.`,
    several: (domain: string, count: number) => `${domain} has ${count} SPF records, so receivers ignore them all. Replace them with one.`,
    tooMany: (domain: string) =>
      `The SPF record of ${domain} needs more than 10 DNS look-ups, so receivers ignore it. Remove services that you no longer use.`,
    notSpf: (at: string, term: string) => `The SPF record of ${at} contains “${term}”, which isn’t valid, so receivers ignore the record.`,
    brokenInclude: (at: string, target: string, count: number) =>
      `The SPF record of ${at} includes ${target}, which has ${count === 0 ? 'no SPF record' : `${count} SPF records`}, so receivers ignore it.`,
    everyone: (domain: string) => `The SPF record of ${domain} allows every server to send (“+all”), so it protects nothing.`,
    other: (domain: string, name: string) => `The SPF record of ${domain} doesn’t name ${name}. Replace it with this one.`,
  },
  dkim: {
    // Fixed by the specification.
    unknown: 'A selector cannot be guessed. In a test mail, look for s= in DKIM-Signature and type it here.',
    good: (selector: string) => `A DKIM key is published under ${selector}.`,
    revoked: (selector: string) => `The DKIM key under ${selector} is revoked. Publish a new one at your provider.`,
    missing: (domain: string, name: string) =>
      `${domain} has no DKIM key of ${name}. Turn on DKIM at ${name}, or type the selector that you use.`,
    noneAt: (name: string) => `${name} has no DKIM key. Check the selector, or publish the key that your provider shows.`,
  },
  dmarc: {
    good: (domain: string, policy: string) => `${domain} has a DMARC policy: ${policy}.`,
    goodAbove: (domain: string, parent: string, policy: string) => `The DMARC policy of ${parent} covers ${domain}: ${policy}.`,
    missing: (domain: string) => `${domain} has no DMARC record. Gmail and Yahoo expect one.`,
    several: (domain: string, count: number) =>
      `${domain} has ${count} DMARC records, so receivers ignore them all. Replace them with one.`,
    noPolicy: (domain: string) => `The DMARC record of ${domain} has no valid policy (p=none, quarantine or reject).`,
  },
}

/** The email that confirms where clients answer to. */
export const replyToTexts = {
  subject: (business: string) => `Confirm that clients of ${business} may reply here`,
  text: (
    business: string,
    code: string,
    minutes: number,
    tries: number,
  ) => `${business} wants replies of its clients to come to this address.

If that is right, enter this code in Duely, under Business, Brand:

${code}

It is valid for ${minutes} minutes and ${tries} tries. If you don’t know ${business}, ignore this email: without the code nothing changes.
`,
  wrong: 'This code is wrong or has expired. Ask for a new one.',
}
