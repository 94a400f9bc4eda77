import { z } from 'zod'

/* Apart from the calls of the mailbox, which most pages do not need. */

export const mailProvider = z.enum(['smtp', 'gmail', 'microsoft'])

/**
 * Why an account's sending is paused, in words for its owner, since when, and (a quota) until when; null: until its owner fixes it. `handed_over`: who
 * connected the mailbox has left.
 */
export const senderPause = z.object({
  reason: z.enum(['login_refused', 'quota', 'handed_over']),
  provider: mailProvider,
  message: z.string(),
  since: z.string(),
  until: z.string().nullable(),
})
export type SenderPause = z.infer<typeof senderPause>

/**
 * Why the mailbox can't send, as screens show it. The message of a refused login is the mail server's own and must be quoted; the others are
 * sentences of Duely.
 */
export function causeOf({ reason, provider }: SenderPause): 'login_refused' | 'gmail' | 'microsoft' | 'quota' | 'handed_over' {
  return reason === 'login_refused' && provider !== 'smtp' ? provider : reason
}
