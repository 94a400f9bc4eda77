/** Why an email did not arrive, for a sentence: `Not delivered for 3 days: mailbox full`. */
interface DeliveryProblem {
  code: 'address' | 'mailbox_full' | 'mailbox' | 'policy' | 'too_large' | 'late' | 'unreachable' | 'temporary' | 'bounced' | 'refused'
  words: string
}

const words: Record<DeliveryProblem['code'], string> = {
  address: 'address doesn’t exist',
  mailbox_full: 'mailbox full',
  mailbox: 'mailbox not accepting mail',
  policy: 'blocked by the mail server',
  too_large: 'email too large',
  late: 'not sent in time',
  unreachable: 'your mail server can’t be reached',
  temporary: 'mail server asked to try later',
  bounced: 'it came back',
  refused: 'refused by the mail server',
}

/**
 * The reason in a mail server's reply: by the enhanced code (RFC 3463: x.1 address, x.2 mailbox, x.7 policy), then by the three digits
 * (RFC 5321). A reply without codes is a sentence of Duely's own: `Not sent…`, `Came back…`, or why the mail server of the
 * account could not be reached.
 */
export function deliveryProblem(reply: string): DeliveryProblem {
  const code = codeOf(reply)
  return { code, words: words[code] }
}

function codeOf(reply: string): DeliveryProblem['code'] {
  const [, digits, subject, detail] = /^(\d{3})(?:[ -]\d\.(\d{1,3})\.(\d{1,3}))?(?:\s|$)/.exec(reply) ?? []
  if (/^Not sent: .*larger than/.test(reply)) return 'too_large'
  if (reply.startsWith('Came back')) return 'bounced'
  if (digits === undefined) return reply.startsWith('Not sent') ? 'late' : 'unreachable'
  if (isAddressRefusal(reply)) return 'address'
  if (subject === '2') return detail === '2' ? 'mailbox_full' : 'mailbox'
  if (subject === '3' && detail === '4') return 'too_large'
  if (subject === '7') return 'policy'
  // RFC 5321, 4.2.3: storage allocation exceeded, or insufficient storage.
  if (subject === undefined && (digits === '552' || digits === '452')) return 'mailbox_full'
  return digits.startsWith('4') ? 'temporary' : 'refused'
}

/**
 * Whether a mail server permanently refused the recipient's address: by a code that can mean it, and in words that do. A code alone proves nothing: servers
 * answer 5.1.x for a sender too. `server/mail/refusals.ts` says whose fault a refusal is at each stage.
 */
export function isAddressRefusal(reply: string): boolean {
  return ofAddress.test(reply) && addressWords.test(reply) && !/\bsender\b/i.test(reply)
}

/** 550, 551 and 553 mean a mailbox (RFC 5321, 4.2.3); Exchange Online answers 5.4.1 for an address that it does not have. */
const ofAddress = /^5\d{2}[ -]5\.(?:1\.(?:1|2|3|6|10)|2\.1|4\.1)(?:\s|$)|^55[013][ -](?!\d\.\d)/
const addressWords =
  /\bno such\b|\b(?:user|recipient|mailbox|account|address|domain|host|person)\b.{0,60}\b(?:unknown|not found|(?:not|n[’']t) (?:exist|known|listed|recognized|valid)|disabled|inactive|unavailable|invalid|closed|no longer|rejected)\b|\bunknown (?:user|recipient|mailbox|address|local)|\binvalid (?:user|recipient|mailbox|address)|\bdoes(?: not|n[’']t) exist|recipnotfound|\bnot found\b|\bunrouteable|\bnot a valid\b|\bno (?:mailbox|user|account)\b|\bno longer\b|\bnull mx\b/i
