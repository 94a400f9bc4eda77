import { z } from 'zod'
import { emailAddress, money, timezone } from './accounts.ts'
import { call } from './call.ts'
import { addressHold, invoice, invoicePause, notDelivered, pauseChange } from './invoices.ts'
import { payAnswer } from './pay-answers.ts'
import { payment } from './payments.ts'
import { country, region } from './quiet-days.ts'
import { deliveryState } from './reminders.ts'
import { fingerprint, mostSteps, sequenceChoice, smartOne } from './sequence-choice.ts'
import { languageTag } from './speech.ts'

const sums = z.array(money)

/** How many recipients a client may have besides its own address. */
export const mostCopies = 5
const stepWanted = 'Please choose from which step on.'
export const clientCopy = z
  .strictObject({
    email: emailAddress.meta({ format: 'email', description: 'The recipient.' }),
    gets: z.enum(['every', 'from_step', 'ticked_steps', 'never'], 'Please choose what this recipient gets.').default('every').meta({
      description:
        'Every reminder; those from `step` of the sequence on; those of the steps that have a copy to the second contact, for one recipient; or none.',
    }),
    step: z.number(stepWanted).int(stepWanted).min(1, stepWanted).max(mostSteps, stepWanted).nullable().default(null).meta({
      description: 'For `from_step`: the first step with a copy, 1 for the first one of the sequence.',
    }),
  })
  .meta({ id: 'ClientCopy', description: 'A further recipient of the emails to a client, in Cc: all of them see each other.' })
export type ClientCopy = z.infer<typeof clientCopy>

const clientCopies = z
  .array(clientCopy)
  .max(mostCopies, `A client can have up to ${mostCopies} further recipients.`)
  .superRefine((copies, issue) => {
    for (const [nth, { email, gets, step }] of copies.entries()) {
      const before = copies.slice(0, nth)
      const report = (field: string, message: string) => issue.addIssue({ code: 'custom', path: [nth, field], message })
      if (before.some((one) => one.email.toLowerCase() === email.toLowerCase())) report('email', 'This address is there twice.')
      if (gets === 'from_step' && step === null) report('step', stepWanted)
      if (gets === 'ticked_steps' && before.some((one) => one.gets === gets))
        report('gets', 'Only one recipient can be the second contact.')
    }
  })

/** Separate from the invoices' calls, so that the dashboard need not load it. */
export const client = z
  .object({
    _id: z.string().meta({ format: 'uuid', description: 'The client: an address that invoices go to.' }),
    name: z.string().meta({ description: 'As on the newest invoice.' }),
    email: z.string().meta({ description: 'As on the newest invoice.' }),
    overdue: sums.meta({ description: 'What is overdue, by currency; empty where nothing is.' }),
    open: sums.meta({ description: 'What is to be paid, overdue or not, by currency.' }),
    paid: sums.meta({ description: 'What was paid, by currency.' }),
    invoices: z.number().int().meta({ description: 'How many invoices there are.' }),
    openInvoices: z.number().int().meta({ description: 'How many of them are to be paid.' }),
    oldestDueDate: z.string().nullable().meta({ format: 'date', description: 'The first due date of those that are to be paid.' }),
    pause: invoicePause.omit({ scope: true, because: true }).nullable().meta({ description: 'The pause of all invoices of the client.' }),
    said: invoicePause
      .pick({ because: true, until: true })
      .nullable()
      .meta({ description: 'What the client said last on a pay page that pauses an invoice, and until when.' }),
    notDelivered: notDelivered.nullable().meta({ description: 'Since when a reminder has not been delivered, and why.' }),
    addressHold: addressHold.nullable().meta({ description: 'Why reminders to the address are held.' }),
    sequence: z
      .string()
      .nullable()
      .meta({ description: 'Its sequence: an id, `every_day` or `never`; null where it has that of the account.' }),
    secondContact: z.string().nullable().meta({ description: 'The one of `copies` that gets the ticked steps.' }),
    copies: z.array(clientCopy).meta({ description: 'Its further recipients.' }),
    mailbox: z.string().nullable().meta({ description: 'The id of the mailbox that it is written to from; null: the default one.' }),
    language: z.string().nullable().meta({ description: 'The BCP 47 tag of the language that it is written to in; null: yours.' }),
    country: z.string().nullable().meta({ description: 'Its country by the ISO 3166 code; null: that of its time zone, else yours.' }),
    region: z.string().nullable().meta({ description: 'A region of it; null: yours where the country is the same.' }),
    timezone: z.string().nullable().meta({ description: 'Its time zone, an IANA name; null: yours.' }),
    smart: smartOne,
  })
  .meta({ id: 'Client', description: 'An address that invoices go to, and what is owed there.' })
export type Client = z.infer<typeof client>

const clientEmail = z
  .object({
    kind: z.literal('email'),
    _id: z.string().meta({ format: 'uuid', description: 'The email.' }),
    at: z.string().meta({ format: 'date-time', description: 'When it was sent, or last tried.' }),
    state: deliveryState,
    subject: z.string().nullable(),
    reply: z.string().nullable().meta({ description: 'The mail server’s reply.' }),
    copiesRefused: z.string().nullable().meta({ description: 'Which of its copies the mail server refused, and why.' }),
    references: z.array(z.string()).meta({ description: 'The invoices that it was about.' }),
    stored: z.boolean().meta({ description: 'Whether its text is stored.' }),
  })
  .meta({ id: 'ClientEmail', description: 'An email about invoices of a client.' })
export type ClientEmail = z.infer<typeof clientEmail>

const clientPayment = z
  .object({
    kind: z.literal('payment'),
    _id: z.string().meta({ format: 'uuid', description: 'The payment or refund.' }),
    at: z.string().meta({ format: 'date-time', description: 'When it was recorded.' }),
    payment,
    reference: z.string().meta({ description: 'The reference of its invoice.' }),
  })
  .meta({ id: 'ClientPayment', description: 'A payment or refund of an invoice of a client, also one that was taken back.' })

const clientAnswer = z
  .object({
    kind: z.literal('answer'),
    _id: z.string().meta({ format: 'uuid', description: 'The answer.' }),
    at: z.string().meta({ format: 'date-time', description: 'When the client gave it.' }),
    answer: payAnswer,
  })
  .meta({ id: 'ClientAnswer', description: 'What a client said about an invoice on its pay page.' })
export type ClientAnswer = z.infer<typeof clientAnswer>

const clientEvent = z
  .discriminatedUnion('kind', [clientEmail, clientPayment, clientAnswer])
  .meta({ id: 'ClientEvent', description: 'Something that happened between you and a client.' })
export type ClientEvent = z.infer<typeof clientEvent>

const clientDetails = client
  .extend({
    list: z.array(invoice).meta({ description: 'The invoices: those to be paid first, then the newest; at most 500.' }),
    timeline: z.array(clientEvent).meta({ description: 'Emails, answers and payments, newest first, at most 200.' }),
  })
  .meta({ id: 'ClientDetails', description: 'A client with the invoices and what happened.' })
export type ClientDetails = z.infer<typeof clientDetails>

export const clientChange = z
  .strictObject({
    pause: pauseChange.options[0]
      .omit({ paused: true, scope: true })
      .nullable()
      .meta({ description: 'Pauses every invoice of the client; null ends that pause.' }),
    sequence: sequenceChoice.nullable().meta({ description: 'Its sequence; null: that of the account.' }),
    fingerprint,
    secondContact: emailAddress
      .meta({ format: 'email', description: 'The one of `copies` that gets the ticked steps; null removes it.' })
      .nullable(),
    copies: clientCopies.meta({ description: `All its further recipients, at most ${mostCopies}.` }),
    mailbox: z
      .string()
      .nullable()
      .meta({ description: 'The id of the mailbox that it is written to from, of `GET /mailboxes`; null: the default one.' }),
    language: languageTag.nullable().meta({ description: 'The language that it is written to in, as a BCP 47 tag; null: yours.' }),
    country: country
      .nullable()
      .meta({ description: 'Its country, for weekends and public holidays; null: that of its time zone, else yours.' }),
    region: region.nullable().meta({ description: 'A region of it, by a code of `GET /reminder/holidays`.' }),
    timezone: timezone.nullable().meta({ description: 'Its time zone: reminders arrive between your hour and 18:00 there; null: yours.' }),
    smart: smartOne,
  })
  .partial()

const byId = z.object({ id: z.string() })

export const clientCalls = {
  list: call({
    method: 'GET',
    path: '/clients',
    by: 'viewer',
    summary: 'My clients with what they owe, those with the most overdue first.',
    reply: z.array(client),
  }),
  read: call({
    method: 'GET',
    path: '/clients/:id',
    by: 'viewer',
    summary: 'One client, with the invoices and what happened.',
    params: byId,
    reply: clientDetails,
  }),
  update: call({
    method: 'PATCH',
    path: '/clients/:id',
    by: 'member',
    summary:
      'Pause the reminders of all invoices of a client, end that pause, or, as an admin, choose its sequence, further recipients, mailbox, language, country, time zone and smart reminders.',
    params: byId,
    body: clientChange,
    reply: client,
  }),
}
