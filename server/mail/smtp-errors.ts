/** What can go wrong between us and a mail server, before and while it takes a mail. */
export type SmtpErrorCode =
  | 'unknown_host'
  | 'host_refused'
  | 'port_refused'
  | 'connection_refused'
  | 'unreachable'
  | 'timeout'
  | 'broken_off'
  | 'speaks_plain'
  | 'speaks_tls'
  | 'no_starttls'
  | 'certificate_name'
  | 'certificate_expired'
  | 'certificate_untrusted'
  | 'tls_failed'
  | 'turned_away'
  | 'no_login'
  | 'login'
  | 'reply'

/** A step with a mail server that failed. */
export class MailError extends Error {
  readonly code: SmtpErrorCode
  /** The server's own words, one line; null where it said nothing that belongs to this step. */
  readonly reply: string | null

  constructor(code: SmtpErrorCode, reply: string | null = null) {
    super(code)
    this.code = code
    this.reply = reply
  }
}

/** A reply of several lines on one, without control characters, at most 500 characters: `550 5.1.1 No such user here`. */
export function oneLine(reply: string): string {
  return reply
    .split(/\r?\n/)
    .map((line, at) => (at === 0 ? line.replace(/^(\d{3})-/, '$1 ') : line.replace(/^\d{3}[ -](?:\d\.\d+\.\d+ ?)?/, '')))
    .join(' ')
    .replace(/\p{C}+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, 500)
}

/** The three digits of a reply (RFC 5321, 4.2); 0 where there are none. */
export function replyCode(reply: string | null): number {
  return Number(/^\d{3}(?=[ -]|$)/.exec(reply ?? '')?.[0] ?? 0)
}

/** The enhanced status code of a reply (RFC 3463), such as `5.7.8`; null where there is none. */
export function enhancedCode(reply: string | null): string | null {
  return /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})(?:\s|$)/.exec(reply ?? '')?.[1] ?? null
}

/** What a person is told: which field to look at, and a sentence that says what to do. */
interface SmtpErrorDescription {
  field: 'host' | 'port' | 'secure' | 'pass' | null
  sentence: string
}

/**
 * Exchange Online's answers to a password where it takes none any more: 5.7.30 for everybody since 2026 (basic authentication for client
 * submission is retired), 5.7.139 where an administrator has switched it off before.
 */
export const passwordsSwitchedOff = new Set(['5.7.30', '5.7.139'])

/** Words for a mailbox whose provider takes no password for sending. */
export function switchedOffWords(host: string, reply: string): string {
  return `${host} does not take passwords for sending any more: Microsoft has switched that off. Please connect another mailbox, such as Gmail, or a mail service that gives out SMTP passwords. It said: “${reply}”`
}

/** Words for a failed try of these settings. */
export function describeError(error: MailError, tried: { host: string; port: number }): SmtpErrorDescription {
  const { host, port } = tried
  if (error.reply && passwordsSwitchedOff.has(enhancedCode(error.reply) ?? ''))
    return { field: 'host', sentence: switchedOffWords(host, error.reply) }
  const said = error.reply ? ` It said: “${error.reply}”` : ''
  switch (error.code) {
    case 'unknown_host':
      return { field: 'host', sentence: `There is no mail server called ${host}. Please check how it is spelt.` }
    case 'host_refused':
      return {
        field: 'host',
        sentence: `${host} cannot be used: it is not a mail server on the public internet. Please enter your provider's SMTP server, such as smtp.gmail.com.`,
      }
    case 'port_refused':
      return { field: 'port', sentence: 'Please use port 465 (SSL), 587 (TLS), 2525 or 25: no other is open for sending mail here.' }
    case 'connection_refused':
      return {
        field: 'port',
        sentence: `${host} does not take connections on port ${port}. Please check the server and the port: most providers use 465 with SSL or 587 with TLS.`,
      }
    case 'unreachable':
      return {
        field: 'host',
        sentence: `${host} cannot be reached from here. Please check the server's name, or try again in a few minutes.`,
      }
    case 'timeout':
      return {
        field: 'port',
        sentence: `${host} did not answer on port ${port} in time. Please check the server and the port: most providers use 465 with SSL or 587 with TLS.`,
      }
    case 'broken_off':
      return {
        field: 'port',
        sentence: `${host} broke off the connection on port ${port}. Please check port and security: port 465 usually means SSL, port 587 usually means TLS.`,
      }
    case 'speaks_plain':
      return {
        field: 'secure',
        sentence: `${host} does not use SSL on port ${port}. Port 587 usually means TLS: choose 'TLS (Port 587)' as security, or change the port to 465.`,
      }
    case 'speaks_tls':
      return {
        field: 'secure',
        sentence: `${host} uses SSL on port ${port}. Port 465 usually means SSL: choose 'SSL (Port 465)' as security, or change the port to 587.`,
      }
    case 'no_starttls':
      return {
        field: 'secure',
        sentence: `${host} does not offer TLS on port ${port}, and a password is never sent without it. Choose 'SSL (Port 465)' and port 465, or ask your provider.`,
      }
    case 'certificate_name':
      return {
        field: 'host',
        sentence: `The certificate of ${host} belongs to another name, so it may be somebody else's server. Please enter the name that your provider gives for its SMTP server.`,
      }
    case 'certificate_expired':
      return { field: 'host', sentence: `The certificate of ${host} has expired. Please ask your provider to renew it.` }
    case 'certificate_untrusted':
      return {
        field: 'host',
        sentence: `The certificate of ${host} is not signed by an authority that is trusted here. Please check the server's name, or ask your provider.`,
      }
    case 'tls_failed':
      return {
        field: 'secure',
        sentence: `No secure connection to ${host} on port ${port} could be made. It must offer TLS 1.2 or newer: please check port and security, or ask your provider.`,
      }
    case 'turned_away':
      return {
        field: null,
        sentence: `${host} is turning connections away at the moment (code ${replyCode(error.reply) || 'unknown'}). Please try again in a few minutes.`,
      }
    case 'no_login':
      return {
        field: 'port',
        sentence: `${host} does not let anybody log in on port ${port}. Please try port 465 with SSL or 587 with TLS.`,
      }
    case 'login':
      if (isTemporary(error.reply))
        return { field: null, sentence: `${host} cannot check the login at the moment.${said} Please try again later.` }
      return {
        field: 'pass',
        sentence: `${host} refused the login.${said} Please check email and password: many providers, Gmail among them, want an app password made for this purpose instead of your usual one.`,
      }
    case 'reply':
      return { field: null, sentence: `${host} refused.${said}` }
  }
}

/** 4yz: the same may work later. */
export function isTemporary(reply: string | null): boolean {
  return Math.floor(replyCode(reply) / 100) === 4
}
