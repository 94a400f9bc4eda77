import type { SenderPause } from '#contract/mail.ts'
import type { Notice } from '#contract/notices.ts'

/**
 * The notices that say something of their own. A refused login, or a used-up quota while it lasts, is told by what the mailbox does now: by a banner
 * with the server's words, or by the screen itself; once a login works again there is nothing left to say about it.
 */
export function shownNotices(notices: Notice[], pause: SenderPause | null): Notice[] {
  return notices.filter(({ kind }) => kind !== 'login_refused' && (kind !== 'quota' || pause === null))
}
