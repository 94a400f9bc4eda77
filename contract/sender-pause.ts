import { z } from 'zod'

/* Apart from the calls of the mailbox, which most pages do not need. */

export const mailProvider = z.enum(['smtp', 'gmail', 'microsoft'])

/**
 * Why an account's sending is paused, in words for its owner, since when, and (a quota) until when; null: until its owner fixes it. `sender_refused`: the mailbox may not send as itself, and `until` is when Duely tries again. `handed_over`: who
 * connected the mailbox has left.
 */
export const senderPause = z.object({
  reason: z.enum(['login_refused', 'sender_refused', 'quota', 'handed_over']),
  provider: mailProvider,
  message: z.string(),
  /** What to do about a refused sender, by the server's words. */
  advice: z.string().nullable(),
  since: z.string(),
  until: z.string().nullable(),
})
export type SenderPause = z.infer<typeof senderPause>

export type PauseCause = 'login_refused' | 'sender_refused' | 'gmail' | 'microsoft' | 'quota' | 'handed_over'

/**
 * Why the mailbox can't send, as screens show it. The message of a refused login or sender is the mail server's own and must be quoted; the others are
 * sentences of Duely.
 */
export function causeOf({ reason, provider }: SenderPause): PauseCause {
  return reason === 'login_refused' && provider !== 'smtp' ? provider : reason
}
