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

/** Whether a mail server permanently refused the recipient's address (5.1.x). 5.1.7 and 5.1.8 are about the sender's. */
export function isAddressRefusal(reply: string): boolean {
  return /^5\d{2}[ -]5\.1\.(?![78](?:\s|$))\d{1,3}(?:\s|$)/.test(reply)
}
