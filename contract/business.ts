import { z } from 'zod'
import { auditEntry, emailAddress, proof } from './accounts.ts'
import { brand, brandShown, largestBrandLogo } from './brand.ts'
import { call, roles } from './call.ts'
import { languageTag } from './speech.ts'
import { entered } from './text.ts'

const businessName = entered('Please enter the name of the business.')
  .min(1, 'Please enter the name of the business.')
  .max(200, 'Please enter a name of at most 200 characters.')
  .refine((name) => !/\p{Cc}/u.test(name), 'Please enter a name on one line.')

export const business = z.object({
  _id: z.string(),
  /** As clients see it: the name of its owner, until it gets one of its own. */
  name: z.string(),
  role: z.enum(roles),
  /** The name of its owner. */
  owner: z.string(),
})
export type Business = z.infer<typeof business>

const businessDetails = business.extend({
  /** Whether it has a name of its own. */
  named: z.boolean(),
  /** In which its clients are written to, as a BCP 47 tag. */
  language: z.string(),
  /** Those that clients can be written to in: with texts of Duely's, or with own texts of both emails. */
  languages: z.array(z.string()),
  /** What emails and client pages say about it. */
  brand: brandShown,
  /** The logo, as a `data:` address; null without one. */
  logo: z.string().nullable(),
  /** Whether it may be in emails: one that was chosen for pay pages only is not. */
  logoInEmails: z.boolean(),
  /** Where clients answer to; null: to the mailbox. */
  replyTo: z.string().nullable(),
  /** Where a code was sent that was not entered yet. */
  pendingReplyTo: z.string().nullable(),
  /** Whether its plan has a logo and a colour, and no line of Duely's. */
  whiteLabel: z.boolean(),
  createdAt: z.string(),
})
export type BusinessDetails = z.infer<typeof businessDetails>

const invitedRole = z.enum(['admin', 'member', 'viewer'], 'Please choose admin, member or viewer.')

export const member = z.object({
  _id: z.string(),
  displayName: z.string(),
  email: z.string(),
  role: z.enum(roles),
  /** Whether warnings about the business are emailed to this person. */
  getsMails: z.boolean(),
  joinedAt: z.string(),
  /** The person who asks. */
  self: z.boolean(),
})
export type Member = z.infer<typeof member>

/** How many people a plan allows besides viewers, the owner among them, and how many viewers; null: any number. */
const seats = z.object({ people: z.number().int().nullable(), viewers: z.number().int().nullable() })

export const invitation = z.object({
  _id: z.string(),
  email: z.string(),
  role: invitedRole,
  invitedBy: z.string(),
  createdAt: z.string(),
  expiresAt: z.string(),
})
export type Invitation = z.infer<typeof invitation>
const sentInvitation = invitation.extend({
  /** Shown this once: only its hash is stored. */
  link: z.string(),
  /** Whether it was emailed; else the link is handed over. */
  emailed: z.boolean(),
})

const invitationToken = z.strictObject({ token: z.string('This link is not complete.').min(1, 'This link is not complete.').max(200) })
const byPerson = z.object({ personId: z.string() })
const byId = z.object({ id: z.string() })
/**
 * What someone sets up in a business that works without them: they know its secret, or it leads to an address that they chose. `reply_to`: where
 * clients answer to; `razorpay`: the keys of the business's own account there.
 */
export const madeKinds = ['api_key', 'webhook', 'source', 'mailbox', 'reply_to', 'razorpay'] as const
const madeKind = z.enum(madeKinds)
export type MadeKind = z.infer<typeof madeKind>

const made = z.object({
  /** Within its kind. */
  _id: z.string(),
  kind: madeKind,
  /** A few words, such as the name of a key or the host of a webhook. */
  name: z.string(),
  /** Where it leads to, such as the URL of a webhook; null where the name says it. */
  detail: z.string().nullable(),
})
export type Made = z.infer<typeof made>

/** Its maker has left. It does nothing until someone takes it over. */
const handedOver = made.extend({
  /** The name of its maker. */
  from: z.string(),
  /** The name of the person who was asked to take it over. */
  to: z.string(),
  /** Whether the person who asks may take it over: they were asked, or own the business. */
  mine: z.boolean(),
})
export type HandedOver = z.infer<typeof handedOver>

/** What happens to what someone made who leaves: `take_over` may name some of it by kind and id, the rest ends. */
const removal = {
  programs: z.enum(['revoke', 'take_over'], 'Please choose revoke or take_over.'),
  takeOver: z.array(z.strictObject({ kind: madeKind, id: z.string() })).max(200),
  heirId: z.string(),
}
const byKind = z.object({ kind: z.string(), id: z.string() })

export const teamCalls = {
  members: call({
    method: 'GET',
    path: '/business/members',
    by: 'viewer',
    summary: 'Who works in the business: the owner first, then the oldest members.',
    reply: z.object({
      members: z.array(member),
      seats,
      /** The person whom the business is offered to, and until when they may accept it. */
      offer: z.object({ personId: z.string(), until: z.string() }).nullable(),
    }),
  }),
  changeMember: call({
    method: 'PATCH',
    path: '/business/members/:personId',
    by: 'admin',
    summary:
      'Change the role of a member, or whether warnings are emailed to them. To make someone an admin needs `currentPassword` or `code`, as payment settings do. The owner keeps their role.',
    params: byPerson,
    body: z.strictObject({ role: invitedRole, getsMails: z.boolean(), ...proof }).partial(),
    reply: member,
  }),
  /** Their own: they leave. Others': an admin removes them. */
  removeMember: call({
    method: 'DELETE',
    path: '/business/members/:personId',
    by: 'viewer',
    summary:
      'Leave the business, or as an admin remove a member. `invalid` where they made something that works without them and `programs` is missing: `revoke` ends it; `take_over` stops it until the admin `heirId` takes it over, of `takeOver` only what is named. The heir is by default who removes, or the owner where someone leaves. The owner can’t leave: `owns_business`.',
    params: byPerson,
    body: z.strictObject(removal).partial(),
  }),
  made: call({
    method: 'GET',
    path: '/business/members/:personId/made',
    by: 'viewer',
    summary:
      'What a member made that works without them: API keys, webhooks, watched addresses, mailboxes, the address for replies, keys of Razorpay. One’s own, or for admins that of anyone.',
    params: byPerson,
    reply: z.array(made),
  }),
  handedOver: call({
    method: 'GET',
    path: '/business/handed-over',
    by: 'admin',
    summary: 'What people made who have left, and no one has taken over yet. It does nothing meanwhile.',
    reply: z.array(handedOver),
  }),
  takeOver: call({
    method: 'POST',
    path: '/business/handed-over/:kind/:id',
    by: 'admin',
    summary:
      'Take over what someone made who has left. API keys and webhooks get a new secret, which is shown this once. `conflict` for mailboxes and keys of Razorpay, whose secrets others issue: connect them again. Needs `currentPassword` or `code`, as payment settings do.',
    params: byKind,
    body: z.strictObject(proof),
    reply: z.object({ secret: z.string().nullable() }),
  }),
  endHandedOver: call({
    method: 'DELETE',
    path: '/business/handed-over/:kind/:id',
    by: 'admin',
    summary: 'End what someone made who has left.',
    params: byKind,
  }),
  invitations: call({
    method: 'GET',
    path: '/business/invitations',
    by: 'admin',
    summary: 'The invitations that wait to be accepted.',
    reply: z.array(invitation),
  }),
  invite: call({
    method: 'POST',
    path: '/business/invitations',
    by: 'admin',
    status: 201,
    summary:
      'Invite a person by email: once, for 7 days. As an admin it needs `currentPassword` or `code`, as payment settings do. `plan_limit` where the plan has no seat left, `conflict` where they are a member already.',
    body: z.strictObject({ email: emailAddress, role: invitedRole, ...proof }),
    reply: sentInvitation,
  }),
  inviteAgain: call({
    method: 'POST',
    path: '/business/invitations/:id',
    by: 'admin',
    summary: 'Send an invitation again, with a new link for 7 days. The link before becomes invalid.',
    params: byId,
    reply: sentInvitation,
  }),
  revokeInvitation: call({
    method: 'DELETE',
    path: '/business/invitations/:id',
    by: 'admin',
    summary: 'Revoke an invitation.',
    params: byId,
  }),
  offerOwnership: call({
    method: 'POST',
    path: '/business/ownership',
    by: 'owner',
    summary:
      'Offer the business to an admin, for 7 days. Needs the current password, or a code where two-factor authentication is on: `wrong_password`, `invalid`, or `recent_sign_in_needed`.',
    body: z.strictObject({ personId: z.string().max(100), ...proof }),
  }),
  withdrawOwnership: call({ method: 'DELETE', path: '/business/ownership', by: 'owner', summary: 'Withdraw the offer.' }),
  acceptOwnership: call({
    method: 'POST',
    path: '/business/ownership/accept',
    by: 'admin',
    summary: 'Become the owner of the business that is offered to me; its owner becomes an admin. `conflict` where it is not.',
    reply: business,
  }),
  lookAtInvitation: call({
    method: 'POST',
    path: '/invitations/look',
    open: true,
    reads: true,
    summary: 'What the link of an invitation leads to. `invitation_gone` where it was used, revoked or has expired.',
    body: invitationToken,
    reply: z.object({ business: z.string(), role: invitedRole, invitedBy: z.string(), email: z.string() }),
  }),
  acceptInvitation: call({
    method: 'POST',
    path: '/invitations/accept',
    by: 'self',
    summary:
      'Join the business of an invitation. `not_allowed` where my email is another one, `email_not_confirmed`, `invitation_gone`, `plan_limit` where the last seat is taken.',
    body: invitationToken,
    reply: business,
  }),
}

const wrongLogo = 'Please choose a PNG of at most 60 KB and 600 × 200 pixels.'

export const businessCalls = {
  list: call({ method: 'GET', path: '/businesses', by: 'self', summary: 'My businesses, the oldest first.', reply: z.array(business) }),
  create: call({
    method: 'POST',
    path: '/businesses',
    by: 'self',
    status: 201,
    summary: 'Add a business, which I own. `plan_limit` where I own one already that pays for no plan.',
    body: z.strictObject({ name: businessName }),
    reply: business,
  }),
  read: call({ method: 'GET', path: '/business', by: 'viewer', summary: 'The business that the call is about.', reply: businessDetails }),
  change: call({
    method: 'PATCH',
    path: '/business',
    by: 'admin',
    summary:
      'Name the business, choose the language in which its clients are written to, or change what emails and client pages say about it: the given parts of `brand`. `plan_limit` for a colour without white-label.',
    body: z.strictObject({ name: businessName, language: languageTag, brand: brand.partial() }).partial(),
    reply: businessDetails,
  }),
  saveLogo: call({
    method: 'PUT',
    path: '/business/logo',
    by: 'admin',
    summary:
      'The logo of emails and client pages: a PNG of at most 60 KB and 600 × 200 pixels, in base64. It is stored without anything but its picture. `plan_limit` without white-label.',
    body: z.strictObject({ image: z.string(wrongLogo).max(Math.ceil(largestBrandLogo / 3) * 4, wrongLogo) }),
  }),
  removeLogo: call({ method: 'DELETE', path: '/business/logo', by: 'admin', summary: 'Remove the logo.' }),
  askReplyTo: call({
    method: 'POST',
    path: '/business/reply-to',
    by: 'admin',
    summary:
      'Send a code from my mailbox to the address that clients are to answer to, at most 5 in an hour. Needs `currentPassword` or `code`, as payment settings do. `mail_refused` in the mail server’s words where it can’t be sent.',
    body: z.strictObject({ email: emailAddress, ...proof }),
  }),
  confirmReplyTo: call({
    method: 'POST',
    path: '/business/reply-to/confirm',
    by: 'admin',
    summary:
      'Enter the code: clients answer to that address from now on. `invalid` where it is wrong, has expired after 15 minutes, or was tried 5 times.',
    body: z.strictObject({
      code: z
        .string('Please enter the 6 digits.')
        .trim()
        .regex(/^\d{6}$/, 'Please enter the 6 digits.'),
    }),
    reply: z.object({ replyTo: z.string() }),
  }),
  removeReplyTo: call({ method: 'DELETE', path: '/business/reply-to', by: 'admin', summary: 'Let clients answer to my mailbox again.' }),
  audit: call({
    method: 'GET',
    path: '/business/audit',
    by: 'admin',
    summary: 'What happened in the business and who did it, newest first, 100 at a time; `before` is the _id of the last one seen.',
    query: z.strictObject({ before: z.uuid().optional() }),
    reply: z.array(auditEntry),
  }),
  remove: call({
    method: 'DELETE',
    path: '/business',
    by: 'owner',
    summary:
      'Delete the business with all of its records. `invalid` where the name is another one, `conflict` where it is my only business, `recent_sign_in_needed` after 15 minutes.',
    body: z.strictObject({ name: businessName }),
  }),
}
