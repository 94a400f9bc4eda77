import { texts } from './texts.ts'

/**
 * Advice on an email that could not be delivered, from the codes in the mail server's answer: the enhanced code first (RFC 3463: x.1
 * address, x.2 mailbox, x.7 policy), then the three digits (RFC 5321). An answer without codes is Duely's own: the email was not sent in
 * time.
 */
export function adviceFor(answer: string): string {
  const [, code, subject] = /^(\d{3})(?:[ -]\d\.(\d{1,3})\.\d{1,3})?(?:\s|$)/.exec(answer) ?? []
  if (subject === '1') return texts.advice.address
  if (subject === '2') return texts.advice.mailbox
  if (subject === '7') return texts.advice.policy
  if (code === undefined || code.startsWith('4')) return texts.advice.time
  return texts.advice.refused
}
