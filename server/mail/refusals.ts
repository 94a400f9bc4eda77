import { isAddressRefusal } from '#contract/delivery-problem.ts'
import { enhancedCode, replyCode } from './smtp-errors.ts'

/** Where in a conversation a server refused: at MAIL, at a RCPT, or with the message itself. */
export type Stage = 'mail' | 'rcpt' | 'message'

/**
 * Whose fault a permanent refusal is. `login`: nothing may be sent without another one. `sender`: the mailbox may not send as itself. `limit`: it has
 * sent as much as it may. `address`: the client's does not exist. `mail`: this email to this client alone, in words that prove nothing about others.
 */
export type Fault = 'login' | 'sender' | 'limit' | 'address' | 'mail'

/** What the owner of a mailbox can do about its provider's refusal. */
export type SenderAdvice = 'send_as' | 'verify' | 'match_login'

interface Known {
  fault: Fault
  /** Everywhere where it is left out. */
  at?: Stage[]
  /** Enhanced codes (RFC 3463). */
  codes?: string[]
  /** In lower case. Where codes are given too, both must be there. */
  words?: RegExp
  advice?: SenderAdvice
}

/** Words that speak of the mailbox that sends. */
const ofSender =
  /\bsender\b.{0,80}\b(?:rejected|denied|refused|disallowed|not (?:allowed|permitted|authori[sz]ed|verified|owned)|unverified|verif(?:y|ication) failed|invalid|blocked)|not owned by|send ?as ?denied|\bsend as\b|verified (?:sender|identity)|from (?:header |envelope )?address.{0,40}\b(?:not|n.t)\b|not (?:allowed|permitted|authori[sz]ed) to (?:send|relay) (?:as|from)|relay(?:ing)? (?:access )?(?:denied|disallowed|not (?:permitted|allowed))|unable to relay|(?:address|domain|identit(?:y|ies)).{0,20}\b(?:not verified|failed the check)/
/** Words of one recipient's rule: it proves nothing about others. */
const ofRecipientsRule = /\bto (?:this|that|the) (?:recipient|group|list|mailbox|address|user)\b|forgroup|restricted ?(?:recipient|group)/
const ofLimit =
  /\bquota (?:has been |was |is )?exceeded|exceeded (?:its|your|the|his) .{0,40}(?:quota|limit|max)|relay quota|max(?:imum)? .{0,20}(?:e?-?mails|messages|recipients|defers).{0,20}per|(?:daily|hourly|sending|message|user|rate|account|submission|recipients?) (?:sending |message |rate )?(?:limit|quota)|limit (?:has been |was )?(?:exceeded|reached)|too many (?:messages|e?-?mails|recipients)|unusual sending activity|reached your (?:daily )?limit/
/** A full mailbox of the client has a quota as well. */
const ofFullMailbox = /mailbox|over ?quota|disk|storage|recipient.s quota/

/**
 * The first that matches decides. Sources: RFC 5321, 3.3 and 4.2.3; RFC 3463; Postfix, smtpd_reject_unlisted_sender and smtpd_delay_reject; Exchange
 * Online, "Email non-delivery reports" (5.1.90, 5.2.121, 5.2.252, 5.7.60, 5.7.708); Gmail, "SMTP errors and codes"; Amazon SES, "SMTP response codes";
 * SendGrid, "Sender identity"; cPanel, "max emails per hour"; Zoho, "SMTP error codes" (5.4.6); GMX and IONOS, "Sender address is not allowed".
 */
const known: Known[] = [
  { fault: 'limit', codes: ['5.4.5', '5.1.90', '5.2.121', '5.2.122', '5.7.708'] },
  { fault: 'mail', codes: ['5.2.2', '5.3.4', '5.2.3'] },
  { fault: 'mail', at: ['rcpt', 'message'], words: ofRecipientsRule },
  { fault: 'limit', at: ['mail', 'rcpt', 'message'], words: ofLimit },
  { fault: 'sender', codes: ['5.7.60', '5.2.252'], advice: 'send_as' },
  { fault: 'sender', words: /send ?as ?denied|\bsend as\b/, advice: 'send_as' },
  {
    fault: 'sender',
    words: /verified (?:sender|identity)|(?:address|domain|identit(?:y|ies)).{0,20}\b(?:not verified|failed the check)/,
    advice: 'verify',
  },
  { fault: 'sender', codes: ['5.1.7', '5.1.8'], advice: 'match_login' },
  { fault: 'sender', words: ofSender, advice: 'match_login' },
  { fault: 'sender', at: ['mail'], advice: 'match_login' },
]

/** Authentication required, mechanism too weak, credentials invalid, encryption required (RFC 4954, 6): wherever they are answered. */
const loginCodes = new Set([530, 534, 535, 538])

/** Whose fault a permanent refusal is, from where it came and what it says. `reply`: on one line. */
export function faultOf(stage: Stage, reply: string): { fault: Fault; advice?: SenderAdvice } {
  if (loginCodes.has(replyCode(reply))) return { fault: 'login' }
  const [code, words] = [enhancedCode(reply) ?? '', reply.toLowerCase()]
  const found = known.find(
    (one) =>
      (one.at?.includes(stage) ?? true) &&
      (one.codes?.includes(code) ?? true) &&
      (one.words?.test(words) ?? true) &&
      !(one.fault === 'limit' && one.words && stage !== 'mail' && ofFullMailbox.test(words)),
  )
  if (found) return found
  return { fault: stage === 'rcpt' && isAddressRefusal(reply) ? 'address' : 'mail' }
}

/** Words of a limit of the mailbox, not of a full mailbox of the client. */
function speaksOfLimit(reply: string): boolean {
  const words = reply.toLowerCase()
  return /too many|limit|quota/.test(words) && ofLimit.test(words) && !ofFullMailbox.test(words)
}

/**
 * Whether a reply that asks to try again is about the mailbox, so that other emails would meet it too. At RCPT it is about the recipient, as in greylisting,
 * but for a limit (Postfix, smtpd_client_recipient_rate_limit); 421 is about the connection.
 */
export function defersMailbox(stage: Stage, reply: string): boolean {
  return replyCode(reply) !== 421 && (stage !== 'rcpt' || speaksOfLimit(reply))
}

/** Whether a reply that asks to try again says that the mailbox has sent as much as it may (452 with 4.x.x and its words). */
export function isLimitForNow(reply: string): boolean {
  return replyCode(reply) === 452 && speaksOfLimit(reply)
}

/** For how many seconds a limit lasts by its own words; null: until the next day, as most do. */
export function limitSeconds(reply: string): number | null {
  return /\bper hour\b|\bhourly\b|\b(?:an|each|every) hour\b/i.test(reply) ? 3_600 : null
}

/** What can be done about a refused sender, by the reply. */
export function adviceOf(reply: string): SenderAdvice {
  return faultOf('mail', reply).advice ?? 'match_login'
}

/** What a refusal says once its addresses, ids and numbers are out: the same words to clients at several domains are about the mailbox. */
export function wordsOf(reply: string): string {
  return reply
    .toLowerCase()
    .replace(/<[^>]*>|\S+@\S+|https?:\S+/g, ' ')
    .replace(/\S*\d\S*/g, ' ')
    .replace(/[^\p{L}]+/gu, ' ')
    .trim()
}

/** Refusals of the same words for clients at so many domains are about the mailbox. */
export const sameWordsAtDomains = 3
