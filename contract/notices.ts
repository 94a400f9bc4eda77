import { z } from 'zod'
import { call } from './call.ts'

/** Something the owner should know, until they have put it away. */
export const notice = z.object({
  _id: z.string(),
  kind: z.enum([
    'promise_broken',
    'login_refused',
    'quota',
    'restored',
    'webhook_failing',
    'webhook_gone',
    'webhook_unverified',
    'webhook_skipped',
    'not_delivered',
    'taken_over',
  ]),
  /** Sentences for people: what happened, and what to do. */
  title: z.string(),
  text: z.string(),
  /** A screen of the client that helps, such as `/dashboard/mail-settings`. */
  link: z.string().nullable(),
  createdAt: z.string(),
})
export type Notice = z.infer<typeof notice>

export const noticeCalls = {
  list: call({ method: 'GET', path: '/user/notices', summary: 'What I should know, newest first.', reply: z.array(notice) }),
  dismiss: call({
    method: 'DELETE',
    path: '/user/notices/:id',
    summary: 'Dismiss a notice.',
    params: z.object({ id: z.string() }),
  }),
}
