import { z } from 'zod'
import { proof } from './accounts.ts'
import { type Call, call } from './call.ts'
import { invoice } from './invoices.ts'
import { answerFact } from './pay-answers.ts'
import { payment } from './payments.ts'
import { runAnswer, runKind, triggerSelection } from './reminders.ts'
import { mostListed } from './templates.ts'
import { entered } from './text.ts'
import { zapierCalls } from './zapier.ts'

/** The URI scheme of a native app: a reversed domain name (RFC 8252, 7.1), which excludes `javascript:` and its like. */
export const applicationScheme = /^[a-z][\w+-]*\.[\w.+-]+:$/

/** What an API client may do with an account: read, or read and write. */
export const scope = z.enum(['read', 'write'], 'Please choose read or write.')
export type Scope = z.infer<typeof scope>

/** An app with an OAuth token, or a program with an API key. */
export type ApiClientKind = 'application' | 'key'

/** The first part of the paths open to API clients; everything else needs a session. */
export const openTo: Record<ApiClientKind, readonly string[]> = {
  application: ['api', 'zapier', 'invoice'],
  key: ['api', 'invoice', 'reminder'],
}

/** Whether a call is open to a kind of API client, with the needed scope. */
export function isOpenTo(kind: ApiClientKind, { path }: Pick<Call, 'path'>): boolean {
  return openTo[kind].includes(path.split('/')[1] ?? '')
}

export function scopeFor({ reads }: Pick<Call, 'reads'>): Scope {
  return reads ? 'read' : 'write'
}

/** The client id of Duely itself among a person's OAuth apps. */
export const ownClientId = 'duely'

/**
 * The return address of Duely's own consent, for Trigger Reminder Emails: the `redirect_uri` of a consent without a `request`, as a path or with
 * the server's own origin. `state` is passed along.
 */
export const ownRedirectPath = '/dashboard?trigger'

export const webhookEvent = z
  .enum(
    [
      'invoice.created',
      'invoice.overdue',
      'invoice.paid',
      'payment.recorded',
      'payment.voided',
      'client.answered',
      'sequence.ended',
      'promise.broken',
      'reminder.sent',
      'reminder.failed',
      'reminder.bounced',
    ],
    'Please choose one of invoice.created, invoice.overdue, invoice.paid, payment.recorded, payment.voided, client.answered, sequence.ended, promise.broken, reminder.sent, reminder.failed and reminder.bounced.',
  )
  .meta({ description: 'What happened.' })
export type WebhookEvent = z.infer<typeof webhookEvent>

export const reminderFact = z
  .object({
    _id: z.string().meta({ format: 'uuid', description: 'The email.' }),
    runId: z.string().meta({ format: 'uuid', description: 'Its run.' }),
    kind: runKind,
    clientEmail: z.string(),
    subject: z.string().nullable(),
    attempt: z.number().int().meta({ description: 'How many times it was tried.' }),
    sentAt: z.string().nullable().meta({ format: 'date-time', description: 'When the mail server accepted it; null where it failed.' }),
    serverReply: z.string().nullable().meta({ description: 'The mail server’s reply to the last try.' }),
    sequence: z.string().nullable().meta({ description: 'The id of the sequence whose words it has; null: those of the template.' }),
    step: z.number().int().nullable().meta({ description: 'Which step of the sequence, in days from the due date.' }),
  })
  .meta({ id: 'Reminder', description: 'One email to a client.' })

const everyEvent = {
  id: z.string().meta({ description: 'The event. The same on every try and for every receiver, so that a repetition can be dropped.' }),
  timestamp: z.string().meta({ format: 'date-time', description: 'When it happened.' }),
}
const asItWas = 'As it was when it happened.'

/** The body of every webhook (standardwebhooks.com). */
export const webhookPayload = z.discriminatedUnion('type', [
  z
    .object({
      id: everyEvent.id,
      type: z.enum(['invoice.created', 'invoice.overdue', 'invoice.paid', 'sequence.ended', 'promise.broken']),
      timestamp: everyEvent.timestamp,
      data: z.object({ invoice }).meta({ description: asItWas }),
    })
    .meta({ id: 'InvoiceEvent', description: 'Something happened to an invoice.' }),
  z
    .object({
      id: everyEvent.id,
      type: z.enum(['reminder.sent', 'reminder.failed', 'reminder.bounced']),
      timestamp: everyEvent.timestamp,
      data: z
        .object({
          reminder: reminderFact,
          invoices: z
            .array(invoice)
            .meta({ description: `The invoices of the email, by due date: several where emails are grouped, at most ${mostListed}.` }),
          invoiceCount: z.number().int().meta({ description: 'How many invoices the email is about, listed or not.' }),
        })
        .meta({ description: asItWas }),
    })
    .meta({ id: 'ReminderEvent', description: 'An email to a client was accepted by the mail server, failed permanently, or came back.' }),
  z
    .object({
      id: everyEvent.id,
      type: z.enum(['payment.recorded', 'payment.voided']),
      timestamp: everyEvent.timestamp,
      data: z.object({ payment, invoice }).meta({ description: asItWas }),
    })
    .meta({ id: 'PaymentEvent', description: 'A payment, refund or credit note of an invoice was recorded, or taken back.' }),
  z
    .object({
      id: everyEvent.id,
      type: z.enum(['client.answered']),
      timestamp: everyEvent.timestamp,
      data: z.object({ answer: answerFact, invoice }).meta({ description: asItWas }),
    })
    .meta({ id: 'AnswerEvent', description: 'A client said something about an invoice on its pay page.' }),
])
export type WebhookPayload = z.infer<typeof webhookPayload>

/** The URL of a receiver, normalized. http is for receivers on a private network, where the operator allows those. */
const hookUrl = z
  .url({ protocol: /^https?$/, normalize: true, error: 'Please enter an address such as https://example.com/duely.' })
  .max(2_000, 'Please enter an address of at most 2,000 characters.')
const name = entered('Please enter a name.')
  .min(1, 'Please enter a name.')
  .max(80, 'Please enter a name of at most 80 characters.')
  .refine((text) => !/\p{Cc}/u.test(text), 'Please enter the name on one line.')
const byId = z.object({ id: z.string() })

/** An app with access to the account. */
export const connection = z.object({
  _id: z.string(),
  name: z.string(),
  scopes: z.array(scope),
  since: z.string(),
  lastUsedAt: z.string().nullable(),
  /** Duely itself: used by Trigger Reminder Emails. */
  own: z.boolean(),
  /** Zapier, while deliveries to it are paused. */
  paused: z.boolean(),
})
export type Connection = z.infer<typeof connection>

export const apiKey = z.object({
  _id: z.string(),
  name: z.string(),
  /** Its last four characters, to tell keys apart. */
  ending: z.string(),
  scopes: z.array(scope),
  createdAt: z.string(),
  /** null: it does not expire. */
  expiresAt: z.string().nullable(),
  lastUsedAt: z.string().nullable(),
  /** Who made it has left, and no one has taken it over: it opens nothing. */
  handedOver: z.boolean(),
})
export type ApiKey = z.infer<typeof apiKey>

export const apiKeyDraft = z.strictObject({
  name,
  scopes: z.array(scope).min(1, 'Please choose what the key may do.').max(2),
  /** In days from now; null: it does not expire. */
  expiresInDays: z
    .number('Please choose a number of days.')
    .int('Please choose a whole number of days.')
    .min(1, 'Please choose at least 1 day.')
    .max(3_650, 'Please choose at most 3,650 days.')
    .nullable()
    .default(null),
  ...proof,
})

/** `unverified`: its URL has not answered a challenge yet. `handed_over`: who set it up has left, and no one has taken it over. */
const webhookPause = z.enum(['by_hand', 'failing', 'unverified', 'zapier_unsubscribed', 'handed_over'])

export const webhook = z.object({
  _id: z.string(),
  /** Added by a person, or by a Zap. */
  kind: z.enum(['webhook', 'zapier']),
  url: z.string(),
  events: z.array(webhookEvent),
  createdAt: z.string(),
  pausedBecause: webhookPause.nullable(),
  /** Failed attempts in a row; 100 pause it. */
  failures: z.number().int(),
  lastDeliveredAt: z.string().nullable(),
  /** Events that were not queued because 1,000 waited, and when the last one was. */
  skipped: z.number().int(),
  lastSkippedAt: z.string().nullable(),
})
export type Webhook = z.infer<typeof webhook>

/** The signing secret, `whsec_…`: shown this once. */
const secretOnce = { secret: z.string() }
const webhookFields = {
  url: hookUrl,
  events: z
    .array(webhookEvent)
    .min(1, 'Please choose at least one event.')
    .max(webhookEvent.options.length)
    .refine((events) => new Set(events).size === events.length, 'Please choose each event once.'),
}

/** `test`: sent by a person. `challenge`: asks a new URL to prove that it wants events. */
const deliveredEvent = z.union([webhookEvent, z.enum(['test', 'challenge'])])
export type DeliveredEvent = z.infer<typeof deliveredEvent>

const webhookDelivery = z.object({
  _id: z.string(),
  eventId: z.string(),
  event: deliveredEvent,
  state: z.enum(['waiting', 'delivered', 'failed']),
  createdAt: z.string(),
  attempt: z.number().int(),
  /** When it is retried; null once it is done, or while its webhook is paused. */
  nextTryAt: z.string().nullable(),
  lastTriedAt: z.string().nullable(),
  /** The status of the last response; null without one. */
  status: z.number().int().nullable(),
  /** The beginning of the response, or a sentence why there was none. */
  words: z.string().nullable(),
})
export type WebhookDelivery = z.infer<typeof webhookDelivery>

/** What the consent page shows. */
const consentQuestion = z.object({
  application: z.string(),
  /** Duely itself, for Trigger Reminder Emails. */
  own: z.boolean(),
  scopes: z.array(scope),
  /** The host of the redirect address. */
  returnsTo: z.string(),
  /** Where "No" leads: the app's redirect address with `error=access_denied`, or the dashboard. */
  refuseUrl: z.string(),
})
export type ConsentQuestion = z.infer<typeof consentQuestion>

export const integrationCalls = {
  consent: call({
    method: 'GET',
    path: '/oauth/consent',
    by: 'member',
    summary: 'What an app asks for, to be shown to the person.',
    query: z.strictObject({
      request: z.string().max(4_000).default(''),
      redirect_uri: z.string().max(2_000),
      state: z.string().max(2_000),
    }),
    reply: consentQuestion,
  }),
  allow: call({
    method: 'POST',
    path: '/oauth/login/callback',
    by: 'member',
    summary: 'Allow an application to use my account; returns where to redirect.',
    query: z.strictObject({ json: z.literal('true') }),
    body: z.strictObject({
      redirect_uri: z.string('Missing redirect URI information.').min(1, 'Missing redirect URI information.').max(2_000),
      state: z.string().max(2_000),
      request: z.string().max(4_000),
    }),
    reply: z.object({ redirect: z.string() }),
  }),
  connections: call({
    method: 'GET',
    path: '/connections',
    by: 'admin',
    summary: 'The apps with access to my account.',
    reply: z.array(connection),
  }),
  disconnect: call({
    method: 'DELETE',
    path: '/connections/:id',
    by: 'admin',
    summary: 'Revoke the grant of an application.',
    params: byId,
  }),

  me: call({
    method: 'GET',
    path: '/api/me',
    by: 'self',
    summary: 'The person and the business of the key or token.',
    reply: z.object({
      id: z.string().meta({ format: 'uuid', description: 'The person.' }),
      email: z.string(),
      displayName: z.string().meta({ description: 'The name of the person.' }),
      businessId: z.string().meta({ format: 'uuid', description: 'The business whose invoices it is about.' }),
      businessName: z.string().meta({ description: 'As clients see it: the name of its owner, until it gets one of its own.' }),
    }),
  }),
  trigger: call({
    method: 'POST',
    path: '/api/trigger-reminders',
    by: 'member',
    summary: 'Send reminders for all overdue invoices, or the chosen ones, at most once a day per invoice.',
    body: triggerSelection.nullish(),
    reply: runAnswer,
  }),
  bounce: call({
    method: 'POST',
    path: '/api/bounces',
    by: 'member',
    summary: 'Report that an email to a client came back; reminders to its address are held.',
    body: z.strictObject({
      messageId: z
        .string('Please send the Message-ID of the email.')
        .min(1, 'Please send the Message-ID of the email.')
        .max(998, 'Please send a Message-ID of at most 998 characters.')
        .meta({
          description:
            'The Message-ID of the email that came back, its X-Reminder-Id (which stays where a provider replaces the Message-ID), or its `_id`.',
        }),
    }),
    reply: z.object({
      _id: z.string().meta({ format: 'uuid', description: 'The email.' }),
      clientEmail: z.string().meta({ description: 'Where it was sent to.' }),
      held: z.boolean().meta({ description: 'Whether reminders to this address are held now.' }),
    }),
  }),

  ...zapierCalls,
  addZap: call({
    method: 'POST',
    path: '/zapier/hooks',
    by: 'admin',
    summary: 'Subscribe a URL to an event, as a Zap does when it is turned on.',
    body: z.strictObject({
      hookUrl: hookUrl.meta({ format: 'uri', description: 'The URL to call.' }),
      event: webhookEvent.meta({ description: 'The event to be called for.' }),
    }),
    reply: z.object({ id: z.string().meta({ format: 'uuid', description: 'The webhook, for unsubscribing.' }) }),
    status: 201,
  }),
  removeZap: call({
    method: 'DELETE',
    path: '/zapier/hooks/:id',
    by: 'admin',
    summary: 'Remove a subscription, as a Zap does when it is turned off.',
    params: byId,
  }),
  sample: call({
    method: 'GET',
    path: '/zapier/hooks/sample/:event',
    by: 'admin',
    summary: 'The latest events of a type, newest first, as webhooks receive them.',
    params: z.object({ event: webhookEvent }),
    reply: z.array(webhookPayload),
  }),

  keys: call({ method: 'GET', path: '/api-keys', by: 'admin', summary: 'My API keys, newest first.', reply: z.array(apiKey) }),
  addKey: call({
    method: 'POST',
    path: '/api-keys',
    by: 'admin',
    summary: 'Create an API key; it is shown only once. Needs `currentPassword` or `code`, as payment settings do.',
    body: apiKeyDraft,
    reply: apiKey.extend({ key: z.string() }),
    status: 201,
  }),
  removeKey: call({ method: 'DELETE', path: '/api-keys/:id', by: 'admin', summary: 'Revoke an API key.', params: byId }),

  webhooks: call({ method: 'GET', path: '/webhooks', by: 'admin', summary: 'My webhooks, newest first.', reply: z.array(webhook) }),
  addWebhook: call({
    method: 'POST',
    path: '/webhooks',
    by: 'admin',
    summary: 'Add a webhook; its secret is shown only once. Needs `currentPassword` or `code`, as payment settings do.',
    body: z.strictObject({ ...webhookFields, ...proof }),
    reply: webhook.extend(secretOnce),
    status: 201,
  }),
  changeWebhook: call({
    method: 'PATCH',
    path: '/webhooks/:id',
    by: 'admin',
    summary:
      'Change, pause or resume a webhook. A new URL needs `currentPassword` or `code`, as payment settings do; set by another person than its maker it comes with a new secret, shown only once.',
    params: byId,
    body: z.strictObject({ ...webhookFields, paused: z.boolean(), ...proof }).partial(),
    reply: webhook.extend(secretOnce).partial({ secret: true }),
  }),
  removeWebhook: call({ method: 'DELETE', path: '/webhooks/:id', by: 'admin', summary: 'Remove a webhook.', params: byId }),
  replaceSecret: call({
    method: 'POST',
    path: '/webhooks/:id/secret',
    by: 'admin',
    summary: 'Sign with a new secret from now on; it is shown only once. Needs `currentPassword` or `code`, as payment settings do.',
    params: byId,
    body: z.strictObject(proof).nullish(),
    reply: z.object(secretOnce),
  }),
  testWebhook: call({
    method: 'POST',
    path: '/webhooks/:id/test',
    by: 'admin',
    summary: 'Send a test event now, or the challenge to a URL that is not verified, and return the receiver’s response.',
    params: byId,
    reply: webhookDelivery,
  }),
  webhookDeliveries: call({
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    by: 'admin',
    summary: 'Recent deliveries of a webhook, newest first.',
    params: byId,
    reply: z.array(webhookDelivery),
  }),
  resend: call({
    method: 'POST',
    path: '/webhooks/:id/deliveries/:deliveryId/resend',
    by: 'admin',
    summary: 'Deliver an event to a webhook again.',
    params: byId.extend({ deliveryId: z.string() }),
    reply: webhookDelivery,
  }),
}
