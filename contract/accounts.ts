import { z } from 'zod'
import { addressesIn, readAddress } from './addresses.ts'
import { call, roles } from './call.ts'
import { fingerprint } from './sequence-choice.ts'
import { entered } from './text.ts'

const addressWanted = 'Please enter an email address like name@example.com.'
/** A person's email address in the form that is stored; a name, `mailto:` and commas around it are taken off. */
export const emailAddress = z
  .string(addressWanted)
  .overwrite((text) => {
    const [address, ...more] = addressesIn(text)
    return address === undefined || more.length > 0 ? text.trim() : address
  })
  .max(254, { error: 'Please enter a shorter email address.', abort: true })
  .superRefine((text, issue) => {
    if (readAddress(text) !== null) return
    const several = addressesIn(text).filter((one) => readAddress(one) !== null).length > 1
    issue.addIssue(several ? 'Please enter one email address.' : addressWanted)
  })
  .meta({ format: 'email' })

const currencyWanted = 'Please enter a currency code such as INR.'
/** Three letters; lower case is accepted. The server refuses what is no code of ISO 4217: the list would be part of every screen. */
export const currencyCode = z
  .string(currencyWanted)
  .trim()
  .toUpperCase()
  .regex(/^[A-Z]{3}$/, currencyWanted)
  .meta({ description: 'The ISO 4217 code of a currency, such as `INR` or `EUR`.' })

/** Amounts of several currencies are listed, never added or converted: the currency of the account first. */
export const money = z
  .object({ currency: z.string().meta({ description: 'An ISO 4217 code.' }), amount: z.number() })
  .meta({ id: 'Money', description: 'An amount in one currency.' })

/** An IANA zone name that this runtime knows. */
export const timezone = z.string('Please choose a time zone such as Asia/Kolkata.').refine((zone) => {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: zone })
    return /^[A-Za-z]/.test(zone)
  } catch {
    return false
  }
}, 'Please choose a time zone such as Asia/Kolkata.')

export const displayName = entered('Please enter your name.')
  .min(1, 'Please enter your name.')
  .max(200, 'Please enter a name of at most 200 characters.')
  .refine((name) => !/\p{Cc}/u.test(name), 'Please enter a name on one line.')

const tooLong = 'Please enter a password of at most 1,024 characters.'
const password = z.string('Please enter a password.').min(1, 'Please enter a password.').max(1024, tooLong)

export const signUpDraft = z.strictObject({
  displayName,
  email: emailAddress,
  password,
  /** What the browser says; a zone that the server does not know counts as none, for the form has no field to put it right. */
  timezone: z.string().max(100).optional(),
})

export const user = z.object({
  _id: z.string(),
  displayName: z.string(),
  email: z.string(),
  googleId: z.string().optional(),
})
export type User = z.infer<typeof user>

export const credentials = z.strictObject({
  email: emailAddress,
  password: z.string('Please enter your password.').min(1, 'Please enter your password.').max(1024, tooLong),
  /** Where the first try was answered with `second_factor_needed`: what the authenticator shows, or a recovery code. */
  code: z.string().trim().max(40, 'Please enter the code without anything else.').optional(),
})

export const profile = z.object({
  _id: z.string(),
  displayName: z.string(),
  email: z.string(),
  googleId: z.string().optional(),
  createdAt: z.string(),
  timezone: z.string(),
  reminderHour: z.number().int(),
  /** ISO 4217: that of a new invoice for which none is given. */
  currency: z.string(),
  /** Whether the mailbox is known to be this person's: a link sent there was opened, or Google vouches for it. */
  emailVerified: z.boolean(),
  /** Whether their password was reset, or Google linked because the email is the same, and they have not looked at what has access since. */
  accessToReview: z.boolean(),
  /** A new email that waits for the link sent there to be opened; it is forgotten after 24 hours. */
  pendingEmail: z.string().nullable(),
  /** null while two-factor authentication is off. */
  twoFactor: z.object({ recoveryCodesLeft: z.number().int() }).nullable(),
  /** How many API keys the person has, in all businesses. */
  apiKeys: z.number().int(),
  /** The business that the call is about, as far as the screens depend on it. */
  business: z.object({
    name: z.string(),
    /** The name of its owner. */
    owner: z.string(),
    /** What the person may do at the moment. */
    role: z.enum(roles),
    /** The role that they keep until the plan has a team again, where `role` is less. */
    kept: z.enum(roles).nullable(),
    /** How many people work there. */
    members: z.number().int(),
    /** In how many businesses the person works. */
    businesses: z.number().int(),
  }),
})
export type Profile = z.infer<typeof profile>

const hours = 'Please choose a full hour from 6 to 17.'
const currentPassword = z.string('Please enter your current password.').max(1024, tooLong)

/** `currentPassword` or `code`: an account that has a password or a second factor always gives it, however young the session. */
export const proof = {
  currentPassword: z.string().max(1024, 'Please enter at most 1,024 characters.').optional(),
  code: z.string().trim().max(40, 'Please enter the code without anything else.').optional(),
}

export interface Proof {
  currentPassword?: string | undefined
  code?: string | undefined
}

export const profileChange = z
  .strictObject({
    displayName,
    email: emailAddress,
    timezone,
    reminderHour: z.int(hours).min(6, hours).max(17, hours),
    currency: currencyCode,
    /** Needed when `email` changes. */
    currentPassword,
    fingerprint,
  })
  .partial()

export const passwordChange = z.strictObject({
  currentPassword,
  newPassword: password,
  /** Whether the API keys that the person made end, in every business. */
  endKeys: z.boolean().default(true),
})

const googleFailed = 'Google sign-in failed. Please try again.'
const linkToken = z.string('This link is not complete.').min(1, 'This link is not complete.').max(200, 'This link is not complete.')

export const forgotten = z.strictObject({ email: emailAddress })
export const passwordReset = z.strictObject({ token: linkToken, newPassword: password })
export const emailConfirmation = z.strictObject({ token: linkToken })

const factorCode = z
  .string('Please enter the code that your authenticator shows.')
  .trim()
  .min(1, 'Please enter the code that your authenticator shows.')
  .max(40, 'Please enter the code without anything else.')

const twoFactorStart = z.strictObject({ currentPassword })
const twoFactorConfirmation = z.strictObject({ code: factorCode })
const twoFactorChange = z.strictObject({ currentPassword, code: factorCode })
const newRecoveryCodes = z.object({ recoveryCodes: z.array(z.string()) })

const returnCode = z.string(googleFailed).min(1, googleFailed).max(200, googleFailed)

const googleExchange = z.strictObject({
  code: returnCode,
  /** What the browser says, for a new account; a zone that the server does not know counts as none. */
  timezone: z.string().max(100).optional(),
})
/** `code`: where the account has two-factor authentication, which linking gives up. */
const googleLinkStart = z.strictObject({ currentPassword, code: factorCode.optional() })
const googleLink = z.strictObject({ code: returnCode })
/** `code`: where the account has two-factor authentication. */
const reauthentication = z.strictObject({ currentPassword, code: factorCode.optional() })
const googleUnlink = z.strictObject({ code: returnCode, newPassword: password })

const passwordHint = z.object({
  strength: z.enum(['weak', 'fair', 'strong']),
  /** One sentence to show beside the field; null if there is none. */
  warning: z.string().nullable(),
})
export type PasswordHint = z.infer<typeof passwordHint>

/** What the owner of an address loses who takes over an account that was never confirmed: another person may have set it up. */
const takeoverRemoval = z
  .enum([
    'display_name',
    'mailbox',
    'templates',
    'schedule',
    'waiting_emails',
    'sequences',
    'two_factor',
    'google',
    'api_keys',
    'applications',
    'webhooks',
    'sources',
    'file_layouts',
    'payment_settings',
    'team',
  ])
  .meta({ id: 'TakeoverRemoval', description: 'Something that was removed because the email of the account had never been confirmed.' })
export type TakeoverRemoval = z.infer<typeof takeoverRemoval>

/** As sentences and lists name them. */
export const removalNames: Record<TakeoverRemoval, string> = {
  display_name: 'the name',
  mailbox: 'the mailbox',
  templates: 'the email templates',
  schedule: 'the daily reminders',
  waiting_emails: 'the waiting emails',
  sequences: 'the sequences',
  two_factor: 'two-factor authentication',
  google: 'Google sign-in',
  api_keys: 'the API keys',
  applications: 'the connected apps',
  webhooks: 'the webhooks',
  sources: 'the watched addresses',
  file_layouts: 'the answers about files',
  payment_settings: 'how clients pay you',
  team: 'the rest of the team',
}

/** Only where an account was taken over. */
const taken = {
  removed: z.array(takeoverRemoval).optional(),
  left: z
    .array(z.string())
    .optional()
    .meta({ description: 'The names of the businesses of others that the account worked in, and works in no more.' }),
}

export const serverAbilities = z.object({
  google: z.boolean(),
  microsoft: z.boolean(),
  payments: z.boolean(),
  /** Whether clients can reach this server, so that reminders may lead to a pay page. */
  payLinks: z.boolean(),
  systemMail: z.boolean(),
  supportUrl: z.string().nullable(),
  /** Of a demo: where its emails are shown. */
  demoMail: z.string().nullable(),
  passwordMinLength: z.number().int(),
})
export type ServerAbilities = z.infer<typeof serverAbilities>

/** Events in an account's audit log. */
const auditKind = z.enum([
  'signed_up',
  'signed_in',
  'sign_in_refused',
  'sessions_ended',
  'password_changed',
  'password_reset',
  'email_changed',
  'email_confirmed',
  'email_rejected',
  'google_linked',
  'google_unlinked',
  'two_factor_on',
  'two_factor_off',
  'recovery_code_used',
  'recovery_codes_renewed',
  'business_named',
  'language_changed',
  'brand_changed',
  'reply_to_changed',
  'business_deleted',
  'member_invited',
  'invitation_revoked',
  'member_joined',
  'member_role_changed',
  'member_removed',
  'member_left',
  'handed_over',
  'taken_over',
  'ownership_offered',
  'ownership_changed',
  'sender_connected',
  'sender_removed',
  'template_changed',
  'reminder_settings_changed',
  'quiet_days_changed',
  'plan_changed',
  'invoice_deleted',
  'payment_voided',
  'data_exported',
  'access_reviewed',
  'application_allowed',
  'application_disconnected',
  'key_made',
  'key_revoked',
  'source_added',
  'source_removed',
  'webhook_added',
  'webhook_changed',
  'webhook_secret_replaced',
  'webhook_removed',
  'payment_settings_changed',
  'sequence_saved',
  'sequence_assigned',
  'sequence_deleted',
  'left_out_by_link',
  'taken_back_by_link',
])
export type AuditKind = z.infer<typeof auditKind>

export const auditEntry = z.object({
  _id: z.string(),
  at: z.string(),
  kind: auditKind,
  /** Who: a person, a program in a person's name, or Duely; empty where it is not known. */
  by: z.string(),
  /** One sentence for the list. */
  text: z.string(),
  /** The browser in words, such as 'Chrome on Windows'; empty if no browser was involved. */
  device: z.string(),
  /** The IP address of the request; empty if no browser was involved. */
  address: z.string(),
})
export type AuditEntry = z.infer<typeof auditEntry>

const signedInBrowser = z.object({
  _id: z.string(),
  /** In words, such as 'Chrome on Windows'. */
  device: z.string(),
  /** Where its internet address of the last visit is, in words; empty where it is not known. */
  place: z.string(),
  createdAt: z.string(),
  /** To within the 15 minutes of an access token. */
  lastSeenAt: z.string(),
  /** The one that asks. */
  current: z.boolean(),
})
export type SignedInBrowser = z.infer<typeof signedInBrowser>

export const accountCalls = {
  server: call({ method: 'GET', path: '/server', open: true, summary: 'What this server can do.', reply: serverAbilities }),
  signUp: call({
    method: 'POST',
    path: '/user',
    open: true,
    status: 201,
    summary: 'Create an account.',
    body: signUpDraft,
    reply: z.object({ _id: z.string(), displayName: z.string(), email: z.string(), createdAt: z.string() }),
  }),
  signIn: call({
    method: 'POST',
    path: '/auth',
    open: true,
    summary:
      'Sign in with email and password; also sets the refresh cookie. `second_factor_needed` and `wrong_second_factor` where the account has two-factor authentication: ask for the code and send all three.',
    body: credentials,
    reply: z.object({ foundUser: user, accessToken: z.string() }),
  }),
  /**
   * A browser goes to `GET /auth/google` and comes back to `/signin?code=…`, or to `/signin?error=…` (`access_denied` where the person
   * said no, `google_unreachable`, `google_failed`, `google_not_configured`).
   */
  exchangeGoogleCode: call({
    method: 'POST',
    path: '/auth/google/exchange',
    open: true,
    summary:
      'Sign in, or up, with the code that /signin was given: once, within 60 s, in the browser that began; also sets the refresh cookie. `google_failed`; `email_taken` where an account with a password has this email and must sign in with it first.',
    body: googleExchange,
    reply: z.object({ accessToken: z.string(), refreshToken: z.literal('cookie-based'), user, ...taken }),
  }),
  startGoogleLink: call({
    method: 'POST',
    path: '/auth/google/link/start',
    by: 'self',
    summary:
      'Where to send the browser to link Google to my account; it comes back to /dashboard/profile?code=… or ?error=… as with signing in. Needs a code where two-factor authentication is on. `conflict` where one is linked already, 503 where Google is not set up.',
    body: googleLinkStart,
    reply: z.object({ url: z.string() }),
  }),
  linkGoogle: call({
    method: 'POST',
    path: '/auth/google/link',
    by: 'self',
    summary:
      'Link the Google account by the code that /dashboard/profile was given: from then on it is the way to sign in, the password and two-factor authentication go, other browsers are signed out. `google_failed`, `conflict`.',
    body: googleLink,
    reply: profile,
  }),
  startGoogleUnlink: call({
    method: 'POST',
    path: '/auth/google/unlink/start',
    by: 'self',
    summary:
      'Where to send the browser to show once more at Google who I am, before Google is unlinked or the account deleted; it comes back as with linking. `conflict` where none is linked, 503 where Google is not set up.',
    reply: z.object({ url: z.string() }),
  }),
  unlinkGoogle: call({
    method: 'POST',
    path: '/auth/google/unlink',
    by: 'self',
    summary:
      'Sign in by password again from now on: by the code that /dashboard/profile was given, within 10 minutes, and a new password; other browsers are signed out. `google_failed`, `conflict`.',
    body: googleUnlink,
    reply: profile,
  }),
  reauthenticate: call({
    method: 'POST',
    path: '/auth/reauthenticate',
    by: 'self',
    summary:
      'Show once more who I am, by the current password, and a code where two-factor authentication is on: for 15 minutes this session may do what needs a recent sign-in. `wrong_password`, `invalid` for the code.',
    body: reauthentication,
  }),
  reauthenticateWithGoogle: call({
    method: 'POST',
    path: '/auth/google/reauthenticate',
    by: 'self',
    summary:
      'The same by the code that /dashboard/profile was given, for an account that signs in with Google. `google_failed`, `conflict`.',
    body: googleLink,
  }),
  refresh: call({
    method: 'POST',
    path: '/auth/refresh',
    open: true,
    summary: 'A new access token for the refresh cookie.',
    reply: z.object({ accessToken: z.string() }),
  }),
  signOut: call({ method: 'POST', path: '/auth/logout', open: true, summary: 'End this session; also clears the refresh cookie.' }),
  hintAtPassword: call({
    method: 'POST',
    path: '/auth/password-hint',
    open: true,
    summary:
      'How strong a new password is: a hint, never a rule. Call it once typing has paused. The password is neither stored nor logged.',
    body: z.strictObject({ password }),
    reply: passwordHint,
  }),
  forgotPassword: call({
    method: 'POST',
    path: '/auth/forgot-password',
    open: true,
    summary:
      'Send a link to /reset-password#token=…, valid for 60 minutes from when the mail server accepted it, and one use. The response is the same whether or not the email is known; 503 if the server sends no email.',
    body: forgotten,
    reply: z.object({ message: z.string() }),
  }),
  resetPassword: call({
    method: 'POST',
    path: '/auth/reset-password',
    open: true,
    summary:
      'Set a new password by such a link (`link_expired` if it is no longer valid); every session ends. Where the email had never been confirmed, everything that acts is `removed`, and the businesses of others are `left`, because another person may have set it up.',
    body: passwordReset,
    reply: z.object({ message: z.string(), ...taken }),
  }),
  lookAtEmailLink: call({
    method: 'POST',
    path: '/auth/confirm-email/look',
    open: true,
    reads: true,
    summary:
      'Which email the link to /confirm-email#token=… was sent to, and whether an account wants to change to it; `link_expired` if it is no longer valid.',
    body: emailConfirmation,
    reply: z.object({ email: z.string(), changes: z.boolean() }),
  }),
  confirmEmail: call({
    method: 'POST',
    path: '/auth/confirm-email',
    by: 'self',
    summary:
      'Confirm my email by the link to /confirm-email#token=… that was sent there, or change to it where it is the pending one. `link_expired` if it is no longer valid, `not_allowed` where it is the link of another account.',
    body: emailConfirmation,
    reply: z.object({ email: z.string(), message: z.string() }),
  }),
  rejectEmail: call({
    method: 'POST',
    path: '/auth/confirm-email/reject',
    open: true,
    summary:
      'By the same link: this account is not mine. A sign-up ends: its sessions, password and everything that acts, and without invoices the account itself. A change of email is dropped, and the account keeps its own. `link_expired` if it is no longer valid.',
    body: emailConfirmation,
    reply: z.object({
      message: z.string(),
      kept: z.boolean().meta({ description: 'Whether the account stays: it is another person’s, or has invoices.' }),
    }),
  }),
  sendConfirmation: call({
    method: 'POST',
    path: '/user/confirm-email',
    by: 'self',
    summary: 'Send the link that confirms my email once more; 503 where the server sends no email.',
    reply: z.object({ message: z.string() }),
  }),
  profile: call({ method: 'GET', path: '/user/profile', by: 'self', summary: 'My profile.', reply: profile }),
  changeProfile: call({
    method: 'PATCH',
    path: '/user/profile',
    by: 'self',
    summary:
      'Change my profile. A new email needs the current password; where the server sends email it is `pendingEmail` until the link sent there is opened, elsewhere it takes effect immediately.',
    body: profileChange,
    reply: profile,
  }),
  changePassword: call({
    method: 'PATCH',
    path: '/user/change-password',
    by: 'self',
    summary: 'Change my password; every other session ends.',
    body: passwordChange,
    reply: z.object({ message: z.string() }),
  }),
  startTwoFactor: call({
    method: 'POST',
    path: '/user/two-factor/start',
    by: 'self',
    summary:
      'A new secret for an authenticator, and the otpauth: address to show as a QR code; nothing changes until a code is confirmed. `conflict` where two-factor authentication is on, `not_allowed` for an account that signs in with Google.',
    body: twoFactorStart,
    reply: z.object({ secret: z.string(), uri: z.string() }),
  }),
  confirmTwoFactor: call({
    method: 'POST',
    path: '/user/two-factor',
    by: 'self',
    summary: 'Turn two-factor authentication on by a first code; the recovery codes are shown this once.',
    body: twoFactorConfirmation,
    reply: newRecoveryCodes,
  }),
  renewRecoveryCodes: call({
    method: 'POST',
    path: '/user/two-factor/recovery-codes',
    by: 'self',
    summary: 'New recovery codes, shown only once; the old ones are invalidated.',
    body: twoFactorChange,
    reply: newRecoveryCodes,
  }),
  removeTwoFactor: call({
    method: 'POST',
    path: '/user/two-factor/remove',
    by: 'self',
    summary: 'Turn two-factor authentication off, by a code or a recovery code.',
    body: twoFactorChange,
  }),
  sessions: call({
    method: 'GET',
    path: '/user/sessions',
    by: 'self',
    summary: 'The browsers I am signed in with, this one first, then the last used first.',
    reply: z.array(signedInBrowser),
  }),
  endSession: call({
    method: 'DELETE',
    path: '/user/sessions/:id',
    by: 'self',
    summary: 'Sign one browser out immediately.',
    params: z.object({ id: z.uuid('There is no such browser.') }),
  }),
  endOtherSessions: call({ method: 'DELETE', path: '/user/sessions', by: 'self', summary: 'Sign out every other browser immediately.' }),
  accessReviewed: call({
    method: 'POST',
    path: '/user/access-reviewed',
    by: 'self',
    summary: 'I have looked at what has access to my account since my password was reset.',
  }),
  audit: call({
    method: 'GET',
    path: '/user/audit',
    by: 'self',
    summary: 'What happened to my account, newest first, 100 at a time; `before` is the _id of the last one seen.',
    query: z.strictObject({ before: z.uuid().optional() }),
    reply: z.array(auditEntry),
  }),
  exportData: call({
    method: 'GET',
    path: '/user/export',
    by: 'self',
    summary:
      'Everything of my account as a ZIP file, each table as JSON and as CSV; at most 5 an hour. The reply is the file itself (application/zip), not JSON.',
    reply: z.unknown(),
  }),
  stats: call({
    method: 'GET',
    path: '/user/stats',
    by: 'viewer',
    summary: 'How many invoices I keep, and what was paid.',
    reply: z.object({
      totalInvoices: z.number().int(),
      /** What was paid in the currency of the account; `revenueByCurrency` has it and every other one. */
      totalRevenue: z.number(),
      revenueByCurrency: z.array(money),
      /** The same of what was received, less refunds, since the first of the month in the account's zone. */
      receivedThisMonth: z.number(),
      receivedByCurrency: z.array(money),
      hasMailConfig: z.boolean(),
    }),
  }),
  deleteMe: call({
    method: 'DELETE',
    path: '/user/account',
    by: 'self',
    summary:
      'Delete my account and every record of it. `recent_sign_in_needed` where this session signed in more than 15 minutes ago: reauthenticate first.',
  }),
  deleteById: call({
    method: 'DELETE',
    path: '/user/:id',
    by: 'self',
    summary: 'Delete my account by its id, likewise.',
    params: z.object({ id: z.string() }),
  }),
}
