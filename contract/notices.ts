import { z } from 'zod'
import { call } from './call.ts'

export const noticeKinds = [
  'promise_broken',
  'login_refused',
  'sender_refused',
  'quota',
  'restored',
  'webhook_failing',
  'webhook_gone',
  'webhook_unverified',
  'webhook_skipped',
  'not_delivered',
  'taken_over',
  'address_refused',
  'imports_held',
  'payment_settings',
  'client_answered',
  'answer_lapsed',
  'overpaid',
  'paid_online',
  'refunded_online',
  'sequence_ended',
  'run_missing',
  'source_failing',
  'source_waiting',
  'handed_over',
  'access_changed',
] as const

/** Something the owner should know, until they dismiss it. The same cause is one notice, which is updated. */
export const notice = z.object({
  _id: z.string(),
  kind: z.enum(noticeKinds),
  /** A few words without a full stop, for a line of several: `Rohan Mehta’s address doesn’t exist`. */
  summary: z.string(),
  /** Sentences for people: what happened, and what to do. */
  title: z.string(),
  text: z.string(),
  /** The thing itself, such as `/dashboard/reminder-control?run=…`. */
  link: z.string().nullable(),
  /** The clients it is about, each with one of their invoices; empty where it is about no client. */
  clients: z.array(z.object({ clientName: z.string(), invoiceId: z.string(), reference: z.string() })),
  createdAt: z.string(),
  /** When its cause last occurred. */
  updatedAt: z.string(),
})
export type Notice = z.infer<typeof notice>

const longestName = 22

/** The name of a client in a `summary`: a long one must not hide what happened. */
export function shortName(name: string): string {
  const characters = [...name]
  return characters.length > longestName
    ? `${characters
        .slice(0, longestName - 1)
        .join('')
        .trimEnd()}…`
    : name
}

export const noticeCalls = {
  list: call({
    method: 'GET',
    path: '/user/notices',
    by: 'viewer',
    summary: 'What I should know, most recent first.',
    reply: z.array(notice),
  }),
  dismiss: call({
    method: 'DELETE',
    path: '/user/notices/:id',
    by: 'member',
    summary: 'Dismiss a notice.',
    params: z.object({ id: z.string() }),
  }),
}
