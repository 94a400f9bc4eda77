/** What can go wrong between us and a mail server, before and while it takes an email. */
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
  | 'no_mechanism'
  | 'login'
  | 'reply'

/** A step with a mail server that failed. */
export class MailError extends Error {
  readonly code: SmtpErrorCode
  /** The server's own words, one line; null where it said nothing that belongs to this step. */
  readonly reply: string | null
  /** The command that it answers, such as `RCPT TO`: with PIPELINING others were sent before the answer came. */
  readonly command: string | null

  constructor(code: SmtpErrorCode, reply: string | null = null, command: string | null = null) {
    super(code)
    this.code = code
    this.reply = reply
    this.command = command
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

/** Exchange Online's answer to a password where an administrator can turn Authenticated SMTP on. */
export const adminSwitchedOff = '5.7.139'
/** Its answers where it accepts no password: 5.7.30 once basic authentication for client submission is retired. */
export const passwordsSwitchedOff = new Set(['5.7.30', adminSwitchedOff])

/** 4yz: the same may work later. */
export function isTemporary(reply: string | null): boolean {
  return Math.floor(replyCode(reply) / 100) === 4
}
