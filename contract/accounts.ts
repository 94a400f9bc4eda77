import { z } from 'zod'
import { call } from './call.ts'

/** A person's email address: one addr-spec, no display name, no control characters, at most 254 characters. */
export const emailAddress = z
  .string('Please enter an email address like name@example.com.')
  .trim()
  .max(254, 'Please enter a shorter email address.')
  .pipe(z.email('Please enter an email address like name@example.com.'))

/** An IANA zone name that this runtime knows. */
export const timezone = z.string('Please choose a time zone such as Asia/Kolkata.').refine((zone) => {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: zone })
    return /^[A-Za-z]/.test(zone)
  } catch {
    return false
  }
}, 'Please choose a time zone such as Asia/Kolkata.')

export const displayName = z
  .string('Please enter your name.')
  .trim()
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
})

export const profile = z.object({
  _id: z.string(),
  displayName: z.string(),
  email: z.string(),
  googleId: z.string().optional(),
  createdAt: z.string(),
  timezone: z.string(),
  reminderHour: z.number().int(),
})
export type Profile = z.infer<typeof profile>

const hours = 'Please choose a full hour from 6 to 17.'
const currentPassword = z.string('Please enter your current password.').max(1024, tooLong)

export const profileChange = z
  .strictObject({
    displayName,
    email: emailAddress,
    timezone,
    reminderHour: z.int(hours).min(6, hours).max(17, hours),
    /** Needed when `email` changes. */
    currentPassword,
  })
  .partial()

export const passwordChange = z.strictObject({ currentPassword, newPassword: password })

export const serverAbilities = z.object({
  google: z.boolean(),
  payments: z.boolean(),
  systemMail: z.boolean(),
  supportUrl: z.string().nullable(),
  passwordMinLength: z.number().int(),
})
export type ServerAbilities = z.infer<typeof serverAbilities>

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
    summary: 'Sign in with email and password; also sets the refresh cookie.',
    body: credentials,
    reply: z.object({ foundUser: user, accessToken: z.string() }),
  }),
  refresh: call({
    method: 'POST',
    path: '/auth/refresh',
    open: true,
    summary: 'A new access token for the refresh cookie.',
    reply: z.object({ accessToken: z.string() }),
  }),
  signOut: call({ method: 'POST', path: '/auth/logout', open: true, summary: 'End this session; also clears the refresh cookie.' }),
  profile: call({ method: 'GET', path: '/user/profile', summary: 'My profile.', reply: profile }),
  changeProfile: call({ method: 'PATCH', path: '/user/profile', summary: 'Change my profile.', body: profileChange, reply: profile }),
  changePassword: call({
    method: 'PATCH',
    path: '/user/change-password',
    summary: 'Change my password; every other session ends.',
    body: passwordChange,
    reply: z.object({ message: z.string() }),
  }),
  stats: call({
    method: 'GET',
    path: '/user/stats',
    summary: 'How many invoices I keep, and what was paid.',
    reply: z.object({ totalInvoices: z.number().int(), totalRevenue: z.number(), hasMailConfig: z.boolean() }),
  }),
  deleteMe: call({ method: 'DELETE', path: '/user/account', summary: 'Delete my account and every record of it.' }),
  deleteById: call({
    method: 'DELETE',
    path: '/user/:id',
    summary: 'Delete my account by its id.',
    params: z.object({ id: z.string() }),
  }),
}
