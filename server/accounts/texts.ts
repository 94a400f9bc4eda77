import { type AuditKind, removalNames, type TakeoverRemoval } from '#contract/accounts.ts'
import type { Notice } from '#contract/notices.ts'
import { screens } from '#contract/screens.ts'
import type { SystemMail } from '#server/platform/system-mail.ts'

/** Messages of refused calls. */
export const refusals = {
  accountExists: 'An account with this email already exists. Please sign in instead.',
  accountExistsLinkGoogle:
    'An account with this email already exists. Please sign in with your password, then link Google on your profile.',
  signsInWithOtherGoogle: 'An account with this email signs in with another Google account.',
  emailUsed: 'Another account uses this email. Please choose a different one.',
  emailUsedMeanwhile: 'Another account already uses this email. Please choose a different one.',
  wrongCredentials: 'Wrong email or password. Please check both and try again.',
  wrongPassword: 'Invalid current password',
  passwordForEmail: 'Please enter your current password to change your email.',
  shortPassword: (shortest: number) => `Password must be at least ${shortest} ${shortest === 1 ? 'character' : 'characters'} long`,
  unknownZone: 'Please choose a time zone such as Asia/Kolkata.',
  signIn: 'Please sign in.',
  sessionEnded: 'Your session has ended. Please sign in again.',
  sessionGone: 'This session has already ended.',
  noAccount: 'There is no such account.',
  noNotice: 'There is no such notice.',
  foreignSite: 'This request came from another site and was rejected.',
  tooManyCalls: (calls: number, seconds: number) =>
    `Limit of ${calls.toLocaleString('en-IN')} requests a minute reached. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
  tooMuchWork: (limit: number, seconds: number) =>
    `Your large requests used the ${limit} seconds of work that an account has a minute. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, with fewer records at a time.`,
  busy: (atOnce: number) => `An account can make ${atOnce} requests at a time, and too many of yours are waiting. Try again in a moment.`,
  busyHeavy: (atOnce: number) =>
    `An account can make ${atOnce} large requests at a time, and yours are still being answered. Try again in a moment.`,
  busyServer: 'Many large requests are being answered. Try again in a moment.',
  tooManyTries: (seconds: number) => `Too many tries. Please try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
  tooManyLinks: (minutes: number) =>
    `This address has received too many links. Please try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
  tooManySignIns: 'Many people are signing in right now. Please try again in a few seconds.',
  emailFromGoogle: 'Your email comes from your Google account and cannot be changed here.',
  passwordWithGoogle: 'You sign in with Google, so there is no password to change here.',
  twoFactorWithGoogle: 'You sign in with Google. Turn on two-factor authentication in your Google account.',
  twoFactorOn: 'Two-factor authentication is already on.',
  codeNeeded: 'Enter the code from your authenticator app, or a recovery code.',
  wrongCode: 'This code is wrong or was already used. Please wait for the next one.',
  googleNotSetUp: 'Google sign-in is not set up on this server.',
  googleUnreachable: 'Couldn’t reach Google. Please try again in a moment.',
  googleFailed: 'Google sign-in failed. Please try again.',
  googleUnverified: 'Google has not verified this email. Please verify it with Google, then try again.',
  googleTaken: 'This Google account is linked to another Duely account.',
  googleOther: 'This is not the Google account you sign in with. Please try again with that account.',
  googleLinked: 'Your account is already linked to Google.',
  googleNotLinked: 'Your account is not linked to Google.',
  noSystemMail: 'This server can’t send email. Ask its operator for a password reset link.',
  linkExpired: 'This link has expired or was already used. Please request a new one.',
  emailConfirmed: 'Your email is already confirmed.',
  linkOfOther: (mine: string) => `This link is for another account. You are signed in as ${mine}.`,
  recentSignInNeeded: 'You signed in a while ago. Please confirm that it’s you.',
  noBusinessWith: (id: string) => `There is no business with the id ${id}.`,
  toAdminsOnly: 'A business can be handed over to an admin. Change their role first.',
  noOffer: 'This business is not offered to you, or the offer has expired.',
  noMember: 'There is no such member.',
  ownerStays: 'The owner keeps their role.',
  ownerWarned: 'The owner always gets the warnings by email.',
  ownerLeaves: (business: string) => `You own ${business}. Hand it over or delete it first.`,
  alreadyMember: 'This person is already a member.',
  noInvitation: 'There is no such invitation.',
  invitationGone: (business: string | null) => `This invitation is no longer good. Ask ${business ?? 'the business'} for a new one.`,
  invitedOther: (email: string, mine: string) => `This invitation is for ${email}. You are signed in as ${mine}.`,
  noBusiness: 'There is no such business, or you are not a member of it.',
  otherName: 'This is not the name of the business. Type it as it is shown.',
  onlyBusiness: 'This is your only business. To delete it, delete your account.',
  confirmEmailFirst: 'Confirm your email to start sending.',
  confirmFirst: (email: string, wish: string) => `Open the link that we sent to ${email} to confirm your email, then ${wish}.`,
  passwordFor: {
    pay: 'Please enter your current password to change how you are paid.',
    ownership: 'Please enter your current password to hand over the business.',
    access: 'Please enter your current password to save this.',
    admin: 'Please enter your current password to make someone an admin.',
  },
  recentSignInFor: {
    pay: 'Please sign in again to change how you are paid.',
    ownership: 'Please sign in again to hand over the business.',
    access: 'Please sign in again to save this.',
    admin: 'Please sign in again to make someone an admin.',
  },
}

export const replies = {
  resetRequested: 'If an account with this email exists, we sent a password reset link. It is valid for 60 minutes.',
  passwordReset: (taken: Taken) =>
    `Your new password is set. Please sign in with it.${taken.removed.length + taken.left.length === 0 ? '' : ` ${takenOver.text(taken)}`}`,
  passwordChanged: 'Password changed successfully!',
  emailConfirmed: 'Your email is confirmed.',
  emailRejected: (changes: boolean, kept: boolean) =>
    changes
      ? 'Your address is not used for that account.'
      : kept
        ? 'No one can use this account any more. The invoices in it are kept: to see them, set a password.'
        : 'The account is deleted.',
  confirmationSent: (email: string) => `We sent a link to ${email}. It is valid for 24 hours.`,
}

interface Taken {
  removed: TakeoverRemoval[]
  left: string[]
  keeps: boolean
}

const listed = (words: string[]) => new Intl.ListFormat('en-GB').format(words)
/** The creator of the account may have chosen the name. */
const quoted = (name: string) => `“${name.length > 60 ? `${[...name].slice(0, 59).join('')}…` : name}”`

/** After a takeover: what was removed and left, and why. */
export const takenOver = {
  title: 'Please set up your account again',
  text: ({ removed, left, keeps }: Taken) =>
    [
      'Your email had never been confirmed, so someone else may have set up this account.',
      ...(removed.length > 0 ? [`We removed ${listed(removed.map((one) => removalNames[one]))}.`] : []),
      ...(left.length > 0 ? [`It was removed from ${listed(left.map(quoted))}: if you work there, ask for a new invitation.`] : []),
      ...(keeps ? ['Your invoices are still here: check them before you send reminders.'] : []),
    ].join(' '),
}

export const passwordWarnings = {
  common: 'This is one of the most common passwords. Please choose another.',
  ofThisPage: 'This is easy to guess here. Please choose another.',
  repeats: 'This repeats a few characters. Please choose another.',
  short: 'This is short. Three or four words in a row are easy to remember.',
}

export const operator = {
  noAccount: (email: string) => `There is no account with the email ${email}.`,
  notConfirmed: (email: string) =>
    `${email} is not confirmed. Its owner opens the link that Duely sent there, or requests another one in their profile; then run this again.`,
  twoFactorOff: (email: string) => `Two-factor authentication is already off for ${email}.`,
}

/** Who did something, as the logs name them. */
export const actors = {
  duely: 'Duely',
  // Fixed by the specification.
  former: 'a former member',
  program: (program: string, person: string) => `${program} (${person})`,
}

export const exportReadMe = `This archive contains everything that Duely stores about your account. Each table is there as JSON and as CSV.

people is you, accounts your business; audit_entries and person_entries are the log on your profile; memberships has who works in the business. sessions are the browsers you are signed in with. Amounts (amount_minor) are in
minor units of their currency, and times are in UTC. deliveries are the reminders that were sent; the whole email of each is a file in the folder deliveries, named by
its id, and raw is its size in bytes. invoice_payments are the payments and refunds of your invoices, also those that you took back (voided_at). sequences, sequence_steps and step_texts are your sequences, own_days the days on which no reminder leaves, or reminders leave despite a holiday. Invoices that you deleted are kept for 30 days (deleted_at). oauth_grants are the apps that you allowed, api_keys your keys. Only secrets are left
out: passwords, keys, codes and links, which Duely stores hashed or encrypted.
`

/** An entry of the audit log. `about` is '' where the entry has none. */
export function auditText(kind: AuditKind, about: string): string {
  switch (kind) {
    case 'signed_up':
      return 'Account created.'
    case 'signed_in':
      return about === '' ? 'Signed in.' : `Signed in with ${about}.`
    case 'sign_in_refused':
      return `Sign-in refused: ${about}.`
    case 'sessions_ended':
      return about === '' ? 'All other sessions were ended.' : `Session ended: ${about}.`
    case 'password_changed':
      return 'Password changed.'
    case 'password_reset':
      return 'Password reset by a link.'
    case 'email_changed':
      return `Email changed to ${about}.`
    case 'email_confirmed':
      return `Email ${about} confirmed.`
    case 'email_rejected':
      return `The owner of ${about} did not want it used here.`
    case 'google_linked':
      return `Google sign-in linked (${about}).`
    case 'google_unlinked':
      return 'Google sign-in unlinked; password sign-in re-enabled.'
    case 'two_factor_on':
      return 'Two-factor authentication turned on.'
    case 'two_factor_off':
      return 'Two-factor authentication turned off.'
    case 'recovery_code_used':
      return 'Signed in with a recovery code.'
    case 'recovery_codes_renewed':
      return 'New recovery codes generated; old codes invalidated.'
    case 'language_changed':
      return `Language of emails to clients changed to ${about}.`
    case 'reply_to_changed':
      return about === '' ? 'Clients answer to the mailbox again.' : `Clients answer to ${about}.`
    case 'brand_changed':
      return 'Brand of emails and client pages changed.'
    case 'business_named':
      return `Business named ${about}.`
    case 'member_invited':
      return `${about} invited.`
    case 'invitation_revoked':
      return `Invitation for ${about} revoked.`
    case 'member_joined':
      return `${about} joined.`
    case 'member_role_changed':
      return `Role changed: ${about}.`
    case 'member_removed':
      return `${about} removed.`
    case 'member_left':
      return `${about} left.`
    case 'handed_over':
      return `Handed over: ${about}.`
    case 'taken_over':
      return `Taken over: ${about}.`
    case 'ownership_offered':
      return `Ownership offered to ${about}.`
    case 'ownership_changed':
      return `Owner changed: ${about}.`
    case 'business_deleted':
      return `Business ${about} deleted.`
    case 'sender_connected':
      return `Mailbox ${about} connected.`
    case 'sender_removed':
      return about === '' ? 'Mailbox removed.' : `Mailbox ${about} removed.`
    case 'template_changed':
      return 'Email template changed.'
    case 'reminder_settings_changed':
      return 'Reminder settings changed.'
    case 'quiet_days_changed':
      return 'Own quiet days changed.'
    case 'plan_changed':
      return `Plan changed: ${about}.`
    case 'invoice_deleted':
      return `Invoice ${about} deleted.`
    case 'payment_voided':
      return `Taken back: ${about}.`
    case 'data_exported':
      return 'Account data exported.'
    case 'access_reviewed':
      return 'What has access was reviewed.'
    case 'application_allowed':
      return `${about} was given access to the account.`
    case 'application_disconnected':
      return `${about} lost access to the account.`
    case 'key_made':
      return `API key ${about} created.`
    case 'key_revoked':
      return `API key ${about} revoked.`
    case 'source_added':
      return `Address watched for invoices: ${about}.`
    case 'source_removed':
      return `Address no longer watched for invoices: ${about}.`
    case 'webhook_added':
      return `Webhook to ${about} added.`
    case 'webhook_changed':
      return `Webhook to ${about} changed.`
    case 'webhook_secret_replaced':
      return `Secret of the webhook to ${about} replaced.`
    case 'webhook_removed':
      return `Webhook to ${about} removed.`
    case 'payment_settings_changed':
      return 'How clients pay you was changed.'
    case 'sequence_saved':
      return `Sequence ${about} saved.`
    case 'sequence_assigned':
      return `Sequence chosen: ${about}.`
    case 'sequence_deleted':
      return `Sequence ${about} deleted.`
    case 'left_out_by_link':
      return `Reminders left out by the link of an evening list: ${about}.`
    case 'taken_back_by_link':
      return `Reminders taken back by the link of an evening list: ${about}.`
  }
}

type Email = Omit<SystemMail, 'to' | 'link'>

const noticeLife = { hours: 24 }
const seeWhatHappened = { label: 'See what happened', path: screens.profile }
const notYou =
  'If this was not you, set a new password now: choose “Forgot password?” on the sign-in page. Then end all other sessions on your profile, and remove apps and API keys you don’t recognise under Connections.'
const askOperator = (publicUrl: string) => `If this was not you, ask the operator of ${publicUrl} for help.`

export function passwordResetEmail(token: string): Email {
  return {
    kind: 'reset_password',
    subject: 'Reset your Duely password',
    expiresIn: { minutes: 60 },
    before: ['Someone asked to reset the password of your Duely account. Choose a new password within 60 minutes.'],
    button: { label: 'Choose a new password', path: `${screens.resetPassword}#token=${token}` },
    after: ['The link works once. If you did not ask for it, ignore this email: your password stays the same.'],
  }
}

/** For an account that signs in with Google and so has no password to reset. */
export const signInWithGoogleEmail: Email = {
  kind: 'reset_password',
  subject: 'Signing in to Duely',
  expiresIn: { minutes: 60 },
  before: [
    'Someone asked to reset the password of your Duely account. You sign in with Google, so there is no password to reset. Choose “Sign in with Google”.',
  ],
  button: { label: 'Sign in', path: screens.signIn },
  after: ['If you did not ask for it, ignore this email.'],
}

export function confirmationEmail(token: string): Email {
  return {
    kind: 'confirm_email',
    subject: 'Confirm your email for Duely',
    expiresIn: { hours: 24 },
    before: ['Please confirm your email address within 24 hours.'],
    button: { label: 'Confirm my email', path: `${screens.confirmEmail}#token=${token}` },
    after: ['If you did not sign up, someone else used your address: open the link and choose “This is not mine”.'],
  }
}

export function invitationEmail(token: string): Email {
  return {
    kind: 'invitation',
    subject: 'You are invited to a business on Duely',
    expiresIn: { hours: 24 },
    before: ['Someone invited you to join their business on Duely. Open the link within 7 days to see which one and join.'],
    button: { label: 'See the invitation', path: `${screens.join}#token=${token}` },
    after: ['If you weren’t expecting an invitation, ignore this email.'],
  }
}

export function emailChangeEmail(token: string): Email {
  return {
    kind: 'change_email',
    subject: 'Confirm your new email for Duely',
    expiresIn: { hours: 24 },
    before: ['Someone asked to use this address for a Duely account. Confirm it within 24 hours.'],
    button: { label: 'Confirm this address', path: `${screens.confirmEmail}#token=${token}` },
    after: ['Nothing changes until then. If this was not you, open the link and choose “This is not mine”, or ignore this email.'],
  }
}

export function emailChangeRequestedEmail(): Email {
  return {
    kind: 'email_change_requested',
    subject: 'Someone asked to change your Duely email',
    expiresIn: noticeLife,
    before: [
      'Someone asked to change the email of your Duely account. The change takes effect when the link sent to the new address is opened.',
    ],
    button: seeWhatHappened,
    after: [notYou],
  }
}

/** To the previous address, which cannot sign in any more. */
export function emailChangedEmail(publicUrl: string): Email {
  return {
    kind: 'email_changed',
    subject: 'Your Duely email was changed',
    expiresIn: noticeLife,
    before: ['Your Duely account now uses another email address. You can no longer sign in with this one.'],
    button: { label: 'Get help', path: screens.contact },
    after: [askOperator(publicUrl)],
  }
}

export function passwordChangedEmail(): Email {
  return {
    kind: 'password_changed',
    subject: 'Your Duely password was changed',
    expiresIn: noticeLife,
    before: ['The password of your Duely account was changed, and all other sessions were ended.'],
    button: seeWhatHappened,
    after: [notYou],
  }
}

export function accountDeletedEmail(publicUrl: string): Email {
  return {
    kind: 'account_deleted',
    subject: 'Your Duely account was deleted',
    expiresIn: noticeLife,
    before: ['Your Duely account and all its data were deleted, as you asked. This can’t be undone.'],
    button: { label: 'Open Duely', path: screens.landing },
    after: [askOperator(publicUrl)],
  }
}

export function googleLinkedEmail(publicUrl: string): Email {
  return {
    kind: 'google_linked',
    subject: 'Google sign-in was linked to your Duely account',
    expiresIn: noticeLife,
    before: ['You now sign in with Google. Your Duely password was removed, and all other sessions were ended.'],
    button: seeWhatHappened,
    after: [askOperator(publicUrl)],
  }
}

export function googleUnlinkedEmail(): Email {
  return {
    kind: 'google_unlinked',
    subject: 'Google sign-in was unlinked from your Duely account',
    expiresIn: noticeLife,
    before: ['You now sign in with your email and the password that was just set. All other sessions were ended.'],
    button: seeWhatHappened,
    after: [notYou],
  }
}

export function twoFactorEmail(switched: 'on' | 'off'): Email {
  return {
    kind: `two_factor_${switched}`,
    subject: `Two-factor authentication was turned ${switched}`,
    expiresIn: noticeLife,
    before: [`Two-factor authentication of your Duely account was turned ${switched}.`],
    button: seeWhatHappened,
    after: [notYou],
  }
}

interface NoticeEmail {
  subject: string
  before: string[]
  /** Of the button, which opens the screen that the notice leads to. */
  label: string
}

/**
 * The email about a notice. The notice itself, which quotes clients, mail servers and webhook receivers, is only shown on the screens; but for what a
 * client said on a pay page.
 */
export const noticeEmails: Record<Notice['kind'], NoticeEmail> = {
  overpaid: {
    subject: 'A client paid more than the invoice',
    before: ['A client paid more than the amount of an invoice. Duely shows the difference and moves no money.'],
    label: 'See what happened',
  },
  promise_broken: {
    subject: 'A client has not paid as promised',
    before: ['The date by which a client promised to pay has passed, and the money is still owed.'],
    label: 'See what happened',
  },
  login_refused: {
    subject: 'Your mailbox rejected the login',
    before: ['Reminders are on hold until you connect your mailbox again.'],
    label: 'See what happened',
  },
  sender_refused: {
    subject: 'Your mail server doesn’t let you send',
    before: ['Reminders are on hold until your mailbox may send. No client is affected, and Duely tries again every hour.'],
    label: 'See what happened',
  },
  quota: {
    subject: 'Your mailbox reached its sending limit',
    before: ['The remaining emails are sent first as soon as the mailbox may send again.'],
    label: 'See what happened',
  },
  restored: {
    subject: 'Some reminders need your approval',
    before: ['Your data was restored from a backup, so reminders waiting in it may already have been sent. Approve them to send them.'],
    label: 'Review reminders',
  },
  payment_settings: {
    subject: 'How clients pay you was changed',
    before: [
      'The ways to pay in your reminders and on your pay pages were changed. If this was not you, set a new password now and check every detail.',
    ],
    label: 'Check the details',
  },
  // Emailed in words of its own, and only to who is asked.
  handed_over: { subject: 'Connections for you to take over', before: [], label: 'Review them' },
  access_changed: {
    subject: 'A connection of your business was changed',
    before: [
      'Someone who works in your business set up something that works without them: a webhook, a watched address, a mailbox, an address for replies, or a new secret for one of them.',
      'If you don’t know what it is for, remove it and ask them.',
    ],
    label: 'See what changed',
  },
  client_answered: {
    subject: 'A client answered a reminder',
    before: ['A client has answered on the pay page of an invoice. A reply to this email goes to the client.'],
    label: 'Read the answer',
  },
  paid_online: {
    subject: 'A client paid online',
    before: ['Razorpay has received a payment by a link of your pay page.'],
    label: 'See the payment',
  },
  refunded_online: {
    subject: 'A client was refunded',
    before: ['Razorpay has refunded a payment by a link of your pay page. Reminders ask for what is owed again.'],
    label: 'See the refund',
  },
  run_missing: { subject: 'Duely has not sent your reminders today', before: [], label: 'Open Reminder Control' },
  sequence_ended: {
    subject: 'A client has had all reminders for an invoice',
    before: ['An invoice is still open after all emails of its sequence. No more are sent automatically.'],
    label: 'See the invoice',
  },
  answer_lapsed: {
    subject: 'Reminders resumed after a client’s answer',
    before: ['You did not decide about what a client told you, and the time for that has passed. Reminders have resumed.'],
    label: 'Read the answer',
  },
  imports_held: {
    subject: 'Imported invoices are on hold',
    before: ['They were past due when you imported them. Resume their reminders, or mark them as paid.'],
    label: 'See the invoices',
  },
  source_failing: {
    subject: 'A watched address cannot be read',
    before: ['Its invoices are no longer updated. Check the address under Import.'],
    label: 'See the address',
  },
  source_waiting: {
    subject: 'An update of your invoices needs your review',
    before: ['A watched address changes many invoices. Look through the update before it counts.'],
    label: 'Look through it',
  },
  webhook_failing: {
    subject: 'One of your webhooks is paused',
    before: ['Too many deliveries in a row have failed. Events are kept for up to 30 days: fix the receiver, then resume the webhook.'],
    label: 'See what happened',
  },
  webhook_gone: {
    subject: 'One of your webhooks was removed',
    before: ['The receiver is permanently gone, so its webhook was removed. If that is a mistake, add it again.'],
    label: 'See what happened',
  },
  webhook_unverified: {
    subject: 'One of your webhooks is not verified',
    before: ['Its URL did not answer the challenge, so it gets no events.'],
    label: 'See what happened',
  },
  webhook_skipped: {
    subject: 'Events for one of your webhooks were skipped',
    before: ['Too many events are waiting for it, so new ones are not queued. Fix the receiver, or resume the webhook.'],
    label: 'See what happened',
  },
  taken_over: {
    subject: 'Please set up your Duely account again',
    before: [
      'The email of your account had never been confirmed, so someone else may have set it up. Your invoices are kept. Everything that sends or signs in was removed.',
    ],
    label: 'See what was removed',
  },
  not_delivered: {
    subject: 'Some reminders were not sent',
    before: ['Some of your reminders could not be delivered or were not sent in time.'],
    label: 'See what happened',
  },
  address_refused: {
    subject: 'An address of a client doesn’t exist',
    before: ['Reminders to this client are held until you correct the address, or try it again.'],
    label: 'Correct the address',
  },
}

/** What two people may change at the same time. */
export type Shared = 'this invoice' | 'this email' | 'this sequence' | 'these settings'
// Fixed by the specification for an invoice.
export const changedMeanwhileText = (what: Shared, name: string, time: string) => `${name} changed ${what} at ${time}.`
