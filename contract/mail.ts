import { z } from 'zod'
import { emailAddress, proof } from './accounts.ts'
import { call } from './call.ts'
import { mailProvider, senderPause } from './sender-pause.ts'
import { readSmtpServer } from './smtp-server.ts'

const mailConfig = z.object({
  configured: z.boolean(),
  provider: mailProvider.nullable(),
  /** The mailbox that reminders come from. */
  user: z.string().nullable(),
  /** The login at the mail server, where it is not the mailbox. */
  username: z.string().nullable(),
  host: z.string().nullable(),
  port: z.number().int().nullable(),
  secure: z.boolean().nullable(),
  pause: senderPause.nullable(),
})
export type MailConfig = z.infer<typeof mailConfig>

export const smtpDraft = z.strictObject({
  host: z
    .string('Please enter the SMTP server, such as smtp.example.com.')
    .overwrite((text) => readSmtpServer(text).host)
    .min(1, 'Please enter the SMTP server, such as smtp.example.com.')
    .max(253, 'Please enter an SMTP server of at most 253 characters.')
    .regex(/^[^\s\p{Cc}]*$/u, 'Please enter the SMTP server without spaces.'),
  port: z
    .number('Please enter a port such as 587.')
    .int('Please enter a port such as 587.')
    .min(1, 'Please enter a port from 1 to 65535.')
    .max(65535, 'Please enter a port from 1 to 65535.'),
  /** true: TLS from the first byte (usually 465); false: STARTTLS (usually 587). */
  secure: z.boolean('Please choose SSL or TLS.'),
  user: emailAddress,
  /** For a mail server whose login is no address, such as `apikey`; empty or left out: `user`. */
  username: z
    .string()
    .trim()
    .max(320, 'Please enter a username of at most 320 characters.')
    .regex(/^\P{Cc}*$/u, 'Please enter the username on one line.')
    .optional(),
  pass: z
    .string('Please enter the app password.')
    .min(1, 'Please enter the app password.')
    .max(1024, 'Please enter an app password of at most 1,024 characters.'),
})
export type SmtpDraft = z.infer<typeof smtpDraft>

const gmailFailed = 'Connecting Gmail failed. Please click Connect Gmail again.'

const gmailDraft = z.strictObject({
  /** What the page was given as `code`; and as `state`, which may be left out. */
  code: z.string(gmailFailed).min(1, gmailFailed).max(2048, gmailFailed),
  state: z.string().max(200).optional(),
})

const microsoftFailed = 'Connecting Microsoft 365 failed. Please click Connect Microsoft 365 again.'

/** Codes of Microsoft where only an administrator may consent (Microsoft Entra, "AADSTS error codes"). */
export const administratorCodes = [65001, 90093, 90094, 90095]

/** How the state of Microsoft's way back begins: one page receives both ways. */
export const microsoftState = 'microsoft.'

/** How the state begins where a further mailbox is connected; what follows is as for the default one. */
export const furtherState = 'further.'

const microsoftDraft = z.strictObject({
  /** What the page was given as `code` and `state`. */
  code: z.string(microsoftFailed).min(1, microsoftFailed).max(4096, microsoftFailed),
  state: z.string().max(200).optional(),
})

/** A test mail that the mail server has accepted: whether it arrives, only its inbox shows. */
export const testMail = z.object({
  to: z.string(),
  /** The mail server's own words, one line, at most 500 characters. */
  reply: z.string(),
})

const found = { provider: mailProvider, user: z.string(), _id: z.string().meta({ format: 'uuid' }), isDefault: z.boolean() }
const limitWanted = 'Please enter a number from 10 to 10,00,000.'
/** At least enough for one email with its copies. */
const limit = z.number(limitWanted).int(limitWanted).min(10, limitWanted).max(1_000_000, limitWanted).nullable()

const mailboxLimits = z
  .object({
    perHour: z.number().int().nullable().meta({ description: 'In any hour, each copy counted; null: no limit.' }),
    perDay: z.number().int().nullable().meta({ description: 'In any 24 hours; null: what the provider publishes.' }),
    provider: z.string().meta({ description: 'The name of the provider.' }),
    published: z.number().int().nullable().meta({ description: 'What it publishes for 24 hours.' }),
  })
  .meta({ description: 'How many emails may leave.' })

export const mailbox = mailConfig.omit({ configured: true }).extend({ ...found, limits: mailboxLimits })
export type Mailbox = z.infer<typeof mailbox>

/** SMTP settings, or the code that the page was given by the provider's consent page. */
const mailboxDraft = z.discriminatedUnion('provider', [
  smtpDraft.extend({ provider: z.literal('smtp'), ...proof }),
  gmailDraft.extend({ provider: z.literal('gmail') }),
  microsoftDraft.extend({ provider: z.literal('microsoft') }),
])
export type MailboxDraft = z.infer<typeof mailboxDraft>

/** A DNS record to add, or to replace the one there with. */
const domainRecord = z.object({ name: z.string(), type: z.enum(['MX', 'TXT', 'CNAME']), value: z.string() })
export type DomainRecord = z.infer<typeof domainRecord>

/** One part of what receivers look up about a sender's domain. `unknown`: the DNS did not show it. */
const domainFinding = z.object({
  part: z.enum(['mx', 'spf', 'dkim', 'dmarc']),
  verdict: z.enum(['good', 'missing', 'wrong', 'unknown']),
  sentence: z.string(),
  /** What to publish instead; empty where nothing has to be, or only the provider knows. */
  records: z.array(domainRecord),
})
export type DomainFinding = z.infer<typeof domainFinding>

/** `note` instead of findings where the domain is the provider's own. */
const domainCheck = z.object({ domain: z.string(), note: z.string().nullable(), findings: z.array(domainFinding) })
export type DomainCheck = z.infer<typeof domainCheck>

/** How many mailboxes an account may have with `whiteLabel`, or where no plans are sold; else one. */
export const mostMailboxes = 10

const byId = z.object({ id: z.string() })

export const mailCalls = {
  config: call({
    method: 'GET',
    path: '/mail-config',
    by: 'viewer',
    summary: 'The mailbox that my reminders are sent from.',
    reply: mailConfig,
  }),
  configureSmtp: call({
    method: 'POST',
    path: '/mail-config/smtp',
    by: 'admin',
    summary:
      'Connect a mailbox by SMTP; the login is tried before it is saved. Needs `currentPassword` or `code`, as payment settings do, but for the first mailbox within 15 minutes of signing in.',
    body: smtpDraft.extend(proof),
    reply: mailConfig,
  }),
  startGmail: call({
    method: 'POST',
    path: '/mail-config/gmail/start',
    by: 'admin',
    summary:
      'Where to send the browser to connect Gmail; it comes back to /dashboard/mail-settings?code=…&state=…, or ?error=access_denied where the person said no. Needs `currentPassword` or `code`, as a mailbox by SMTP does. 503 where Google is not set up (see GET /server).',
    body: z.strictObject(proof).nullish(),
    reply: z.object({ url: z.string() }),
  }),
  configureGmail: call({
    method: 'POST',
    path: '/mail-config/gmail',
    by: 'admin',
    summary:
      'Connect Gmail by the code that the page was given: once, within 10 minutes, for the account and in the browser that began. `google_failed` says in words what went wrong, such as a permission that was not ticked.',
    body: gmailDraft,
    reply: mailConfig,
  }),
  startMicrosoft: call({
    method: 'POST',
    path: '/mail-config/microsoft/start',
    by: 'admin',
    summary:
      'Where to send the browser to connect Microsoft 365 or Outlook.com; it comes back to /dashboard/mail-settings?code=…&state=…, or ?error=…&state=…; the state begins with `microsoft.`. Needs `currentPassword` or `code`, as a mailbox by SMTP does. 503 where Microsoft is not set up (see GET /server).',
    body: z.strictObject(proof).nullish(),
    reply: z.object({ url: z.string() }),
  }),
  configureMicrosoft: call({
    method: 'POST',
    path: '/mail-config/microsoft',
    by: 'admin',
    summary:
      'Connect Microsoft 365 by the code that the page was given: once, within 10 minutes, for the account and in the browser that began. `microsoft_failed` says in words what went wrong; `administrator_needed` where only an administrator can allow Duely.',
    body: microsoftDraft,
    reply: mailConfig,
  }),
  microsoftApproval: call({
    method: 'GET',
    path: '/mail-config/microsoft/approval',
    by: 'viewer',
    summary: 'The page where an administrator of Microsoft 365 allows Duely for the whole organisation, once.',
    reply: z.object({ url: z.string() }),
  }),
  test: call({
    method: 'POST',
    path: '/mail-config/test',
    by: 'admin',
    summary:
      "Send a test email from my mailbox to my own address; it counts as no reminder. `mail_not_configured` without a mailbox, `mail_refused` in the mail server's words where it was not taken, `too_many` after ten within an hour.",
    reply: testMail,
  }),
  mailboxes: call({
    method: 'GET',
    path: '/mailboxes',
    by: 'viewer',
    summary:
      'My mailboxes, the default first, and how many I may have. A client without a mailbox of its own is written to from the default one, which /mail-config is about.',
    reply: z.object({ mailboxes: z.array(mailbox), most: z.number().int() }),
  }),
  addMailbox: call({
    method: 'POST',
    path: '/mailboxes',
    by: 'admin',
    summary:
      'Connect a further mailbox, as /mail-config connects the default one; the one with this address and provider again, where there is one. `plan_limit` beyond what the plan allows, `conflict` beyond ten.',
    body: mailboxDraft,
    reply: mailbox,
    status: 201,
  }),
  startMailbox: call({
    method: 'POST',
    path: '/mailboxes/consent',
    by: 'admin',
    summary:
      'Where to send the browser to connect a further mailbox by permission; the state that comes back begins with `further.`. Needs `currentPassword` or `code`, as a mailbox by SMTP does.',
    body: z.strictObject({ provider: z.enum(['gmail', 'microsoft']), ...proof }),
    reply: z.object({ url: z.string() }),
  }),
  changeMailbox: call({
    method: 'PATCH',
    path: '/mailboxes/:id',
    by: 'admin',
    summary: 'Make a mailbox the default one, connect it again with other settings, or limit it at once.',
    params: byId,
    body: z
      .strictObject({
        isDefault: z.literal(true),
        connect: mailboxDraft,
        perHour: limit.meta({
          description: 'In any hour, each copy counted; null: no limit.',
        }),
        perDay: limit.meta({ description: 'In any 24 hours; null: what the provider publishes.' }),
      })
      .partial(),
    reply: mailbox,
  }),
  checkDomain: call({
    method: 'GET',
    path: '/mailboxes/:id/domain',
    by: 'viewer',
    summary:
      'What receivers find in the DNS about the domain of a mailbox: MX, SPF, DKIM and DMARC, each with the record to publish. `selector` is where its DKIM key is. Sending never depends on it. `too_many` after 20 within an hour.',
    params: byId,
    query: z.object({
      selector: z
        .string()
        .trim()
        .toLowerCase()
        .regex(/^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/, 'Please enter the selector as it is in DKIM-Signature, such as selector1.')
        .optional(),
    }),
    reply: domainCheck,
  }),
  removeMailbox: call({
    method: 'DELETE',
    path: '/mailboxes/:id',
    by: 'admin',
    summary:
      'Forget a mailbox: its clients are written to from the default one. Where it was the default, the oldest of the others becomes that.',
    params: byId,
  }),
  remove: call({
    method: 'DELETE',
    path: '/mail-config',
    by: 'admin',
    summary:
      'Forget the mailbox; what is waiting is held. A permission that Google gave is handed back; one of Microsoft is revoked at Microsoft only.',
  }),
}
