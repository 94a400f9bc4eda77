import { z } from 'zod'
import { proof } from './accounts.ts'
import { call } from './call.ts'
import { entered } from './text.ts'

/** Letters of every script, without line breaks and control characters. */
const oneLine = (most: number, message: string) =>
  entered(message)
    .max(most, `Please enter at most ${most} characters.`)
    .refine((text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text), 'Please enter this on one line.')
const some = (most: number, message: string) => oneLine(most, message).min(1, message)

const wrongUpi = 'Please enter a UPI ID such as asha@okaxis.'
const payerName = 'Please enter the name that payers see.'
const accountName = 'Please enter the name of the account holder.'
const wrongNumber = 'Please enter the account number.'
const wrongIfsc = 'Please enter an IFSC such as HDFC0001234.'
const wrongAddress = 'Please enter an address that begins with https://.'
export const wrongIban = 'This IBAN is not right. Please check its figures.'

/** Without the spaces and hyphens that people write figures with. */
const figures = (text: string) => text.replace(/[\s-]/g, '')
const code = (message: string, pattern: RegExp) =>
  z
    .string(message)
    .max(60, message)
    .transform((text) => figures(text).toUpperCase())
    .pipe(z.string().regex(pattern, message))

export const upiSettings = z.strictObject({
  id: z
    .string(wrongUpi)
    .trim()
    .regex(/^[A-Za-z0-9][\w.-]{1,254}@[A-Za-z][A-Za-z0-9]{1,63}$/, wrongUpi),
  name: some(80, payerName),
  /** Four figures that a bank gives a merchant; with it a payment carries its reference as `tr`. Empty is none. */
  merchantCode: entered()
    .regex(/^(\d{4})?$/, 'Please enter the four figures of the merchant code, or leave it empty.')
    .nullable()
    .default(null),
})
export type UpiSettings = z.output<typeof upiSettings>

/** Nine figures whose checksum (ABA) holds. */
function isRouting(text: string): boolean {
  const weights = [3, 7, 1, 3, 7, 1, 3, 7, 1]
  return /^\d{9}$/.test(text) && weights.reduce((sum, weight, at) => sum + weight * Number(text[at]), 0) % 10 === 0
}

const none = z.null().default(null)
const nothing = { iban: none, bic: none, accountNumber: none, ifsc: none, sortCode: none, routingNumber: none, text: none }
const holder = { accountName: some(70, accountName) }

/** Where to transfer money: the fields of its kind, null for the others. */
export const bankSettings = z.discriminatedUnion('kind', [
  z.strictObject({
    ...nothing,
    ...holder,
    kind: z.literal('iban'),
    iban: code(wrongIban, /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/),
    bic: code('Please enter a BIC such as COBADEFFXXX, or leave it empty.', /^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/)
      .nullable()
      .default(null),
  }),
  z.strictObject({
    ...nothing,
    ...holder,
    kind: z.literal('india'),
    accountNumber: code(wrongNumber, /^[A-Z0-9]{5,20}$/),
    ifsc: code(wrongIfsc, /^[A-Z]{4}0[A-Z0-9]{6}$/),
  }),
  z.strictObject({
    ...nothing,
    ...holder,
    kind: z.literal('uk'),
    sortCode: code('Please enter a sort code such as 20-00-00.', /^\d{6}$/),
    accountNumber: code('Please enter the eight figures of the account number.', /^\d{8}$/),
  }),
  z.strictObject({
    ...nothing,
    ...holder,
    kind: z.literal('us'),
    routingNumber: code('This routing number is not right. Please check its figures.', /^\d{9}$/).refine(isRouting, {
      error: 'This routing number is not right. Please check its figures.',
    }),
    accountNumber: code(wrongNumber, /^[A-Z0-9]{4,17}$/),
  }),
  z.strictObject({
    ...nothing,
    ...holder,
    kind: z.literal('other'),
    text: entered('Please enter the details of the account.')
      .min(1, 'Please enter the details of the account.')
      .max(500, 'Please enter at most 500 characters.')
      .refine(
        (text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text.replaceAll('\n', ' ')),
        'Please enter the details without control characters.',
      ),
  }),
])
export type BankSettings = z.output<typeof bankSettings>
export const bankKinds = ['iban', 'india', 'uk', 'us', 'other'] as const satisfies BankSettings['kind'][]

export const linkVariables = ['amount', 'currency', 'reference'] as const

/** An https address whose variables are in its path or query, where they cannot choose the server. */
function isOwnLink(url: string): boolean {
  const variables = new RegExp(`\\{(?:${linkVariables.join('|')})\\}`, 'g')
  const [, origin = '', path = ''] = /^(https:\/\/[^/?#]+)([/?][^#]*)?(?:#[^{}]*)?$/i.exec(url) ?? []
  if (origin === '' || /[{}\\@\s]/.test(origin) || /[{}\\\s]/.test(path.replace(variables, ''))) return false
  return z.url({ protocol: /^https$/ }).safeParse(url.replace(variables, 'x')).success
}

export const ownLink = z.strictObject({
  label: some(40, 'Please enter a few words such as Pay by card.'),
  url: z
    .string(wrongAddress)
    .trim()
    .max(500, 'Please enter an address of at most 500 characters.')
    .regex(/^[\x21-\x7e]*$/, wrongAddress)
    .refine(isOwnLink, wrongAddress),
})
export type OwnLink = z.output<typeof ownLink>

/** The ways to pay that apply to an account; null where one is not set. */
export interface PayMethods {
  upi: UpiSettings | null
  bank: BankSettings | null
  ownLink: OwnLink | null
  /** By a payment link of the provider, in INR. */
  online?: boolean
}

const settings = {
  upi: upiSettings.nullable(),
  bank: bankSettings.nullable(),
  ownLink: ownLink.nullable(),
  inEmails: z.boolean('Please choose whether reminders say how to pay.'),
  pdf: z.enum(['link', 'attach'], 'Please choose to link or to attach the PDF.'),
  businessName: oneLine(100, 'Please enter the name of your business.'),
  details: entered()
    .max(300, 'Please enter at most 300 characters.')
    .refine(
      (text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text.replaceAll('\n', ' ')),
      'Please enter the details without control characters.',
    ),
}

export const paymentSettings = z.object({
  ...settings,
  // Stored as they are shown: a schema that reads what was typed cannot write it.
  upi: z.custom<UpiSettings>().nullable(),
  bank: z.custom<BankSettings>().nullable(),
  /** The account at Razorpay; the secret is never shown. */
  razorpay: z
    .object({
      keyId: z.string(),
      webhookUrl: z.string(),
      since: z.string(),
      /** Who connected it has left, and no one has connected it again: clients can’t pay online. */
      handedOver: z.boolean(),
    })
    .nullable(),
  hasLogo: z.boolean(),
})
export type PaymentSettings = z.output<typeof paymentSettings>

const paymentSettingsChange = z.strictObject({ ...z.object(settings).partial().shape, ...proof })
export type PaymentSettingsChange = z.output<typeof paymentSettingsChange>

/** The most bytes of a logo, and the most pixels of each side. */
export const largestLogo = 200 * 1024
export const largestLogoSide = 4_096
export const wrongLogo = 'Please choose a PNG or JPEG of at most 200 KB and 4,096 × 4,096 pixels.'
const logoChange = z.strictObject({
  /** PNG or JPEG, in base64. */
  image: z.string(wrongLogo).max(Math.ceil(largestLogo / 3) * 4, wrongLogo),
  ...proof,
})

/** Keys of Razorpay's test mode: nothing that is paid with them is money, so no client sees them. */
export const isTestKey = (keyId: string) => keyId.startsWith('rzp_test_')

const wrongKeyId = 'Please enter a key ID such as rzp_live_1DP5mmOlF5G5ag.'
const wrongKeySecret = 'Please enter the key secret.'
const razorpayKeys = z.strictObject({
  keyId: z
    .string(wrongKeyId)
    .trim()
    .regex(/^rzp_(?:live|test)_[A-Za-z0-9]{6,40}$/, wrongKeyId),
  keySecret: z
    .string(wrongKeySecret)
    .trim()
    .regex(/^[\x21-\x7e]{6,100}$/, wrongKeySecret),
  ...proof,
})

/** The secret of the webhook is shown this once. */
const razorpayConnected = z.object({ keyId: z.string(), webhookUrl: z.string(), webhookSecret: z.string() })
export type RazorpayConnected = z.output<typeof razorpayConnected>

export const paymentSettingsCalls = {
  read: call({ method: 'GET', path: '/payment-settings', by: 'viewer', summary: 'How my clients pay me.', reply: paymentSettings }),
  save: call({
    method: 'PUT',
    path: '/payment-settings',
    by: 'admin',
    summary:
      'Change how my clients pay me: the given keys, each replaced as a whole. Needs `currentPassword` or `code` where the account has a password or a second factor (`wrong_password`, `invalid`), else a session younger than 15 minutes (`recent_sign_in_needed`).',
    body: paymentSettingsChange,
    reply: paymentSettings,
  }),
  saveLogo: call({
    method: 'PUT',
    path: '/payment-settings/logo',
    by: 'admin',
    summary: 'The logo of my pay page: PNG or JPEG of at most 200 KB and 4,096 × 4,096 pixels. Protected as the settings are.',
    body: logoChange,
    reply: paymentSettings,
  }),
  removeLogo: call({
    method: 'DELETE',
    path: '/payment-settings/logo',
    by: 'admin',
    summary: 'Remove the logo of my pay page. Needs no password: nothing that is shown is replaced by anything else.',
    reply: paymentSettings,
  }),
  connectRazorpay: call({
    method: 'PUT',
    path: '/payment-settings/razorpay',
    by: 'admin',
    summary:
      'Connect my account at Razorpay, so that clients can pay invoices in INR online: the keys are tried and never shown again. Again: other keys, or another secret for the webhook. Protected as the settings are.',
    body: razorpayKeys,
    reply: razorpayConnected,
  }),
  disconnectRazorpay: call({
    method: 'DELETE',
    path: '/payment-settings/razorpay',
    by: 'admin',
    summary: 'Disconnect my account at Razorpay: open payment links are cancelled. Protected as the settings are.',
    body: z.strictObject(proof).nullish(),
    reply: paymentSettings,
  }),
  tryRazorpay: call({
    method: 'POST',
    path: '/payment-settings/razorpay/try',
    by: 'admin',
    summary: 'A payment link over ₹1.00 by test keys (`conflict` with live ones): a notice tells when the test payment arrived.',
    reply: z.object({ url: z.string() }),
  }),
}
