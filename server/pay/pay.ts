import { eq, getTableColumns, sql } from 'drizzle-orm'
import { electronicFormatIBAN, isValidBIC, isValidIBAN } from 'ibantools'
import { hasMethod } from '#contract/pay.ts'
import {
  largestLogoSide,
  type PayMethods,
  type PaymentSettings,
  type PaymentSettingsChange,
  type RazorpayConnected,
  wrongIban,
  wrongLogo,
} from '#contract/payment-settings.ts'
import { screens } from '#contract/screens.ts'
import { countTry, lockAsSeen, type OnAccountTakeover, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { saveBrand } from '#server/accounts/brand.ts'
import type { MadeThings } from '#server/accounts/made.ts'
import { notifyOwner } from '#server/accounts/notices.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { sameText } from '#server/platform/secrets.ts'
import { startTrial } from './attempts.ts'
import { cancelAll, payOnAccountDeleted } from './confirm.ts'
import { sidesOfJpeg } from './jpeg.ts'
import { type Keys, paysOnline, providerFor, readConnection, readKeys, storeKeys } from './keys.ts'
import { dropLinks } from './links.ts'
import { pngSignature } from './png.ts'
import { ProviderError } from './razorpay.ts'
import { payAttempts, payKeys, paymentLogos, paymentSettings } from './tables.ts'
import { texts } from './texts.ts'

export { closeAnswers, notifyLapsed } from './answers.ts'
export { askAgain, cancelChanged } from './attempts.ts'
export { type OwnBrand, readLogo, readOwnBrands, refuseWithoutWhiteLabel } from './brand-logo.ts'
export { askDue, confirmPayment, payOnAccountDeleted, pruneAttempts } from './confirm.ts'
export { answerFields, answersOfClient, answersOfInvoice } from './decide.ts'
// For key rotation.
export { sealedPayKeys } from './keys.ts'
export { sealedPayLinks } from './links.ts'

type Row = typeof paymentSettings.$inferSelect
type Stored = Pick<Row, 'upi' | 'bank' | 'ownLink' | 'inEmails' | 'pdf' | 'businessName' | 'details'>

const nothingSet: Stored = { upi: null, bank: null, ownLink: null, inEmails: true, pdf: 'link', businessName: '', details: '' }

export async function readPaymentSettings(db: Database, config: Deps['config'], ownerId: string): Promise<PaymentSettings> {
  const [row] = await db.select().from(paymentSettings).where(eq(paymentSettings.ownerId, ownerId))
  const logos = await db.$count(paymentLogos, eq(paymentLogos.ownerId, ownerId))
  return { ...pick(row ?? nothingSet), razorpay: await readConnection(db, config, ownerId), hasLogo: logos > 0 }
}

function pick({ upi, bank, ownLink, inEmails, pdf, businessName, details }: Stored): Stored {
  return { upi, bank, ownLink, inEmails, pdf, businessName, details }
}

/** What emails of an account say about paying: its methods where they are to be in emails, and whether any is set at all. */
export interface EmailPayment {
  methods: PayMethods
  /** Reminders have the block with the ways to pay. */
  inEmails: boolean
  /** How emails have the PDF of an invoice. */
  pdf: PaymentSettings['pdf']
}

export const nothingToPay: EmailPayment = { methods: { upi: null, bank: null, ownLink: null }, inEmails: false, pdf: 'link' }

/** The settings that emails are made from, by account; without an entry nothing is set. */
export async function readEmailPayments(
  db: Database,
  config: Pick<Deps['config'], 'payLinks'>,
  ownerIds: string[],
): Promise<Map<string, EmailPayment>> {
  const found = await db
    .select({ ...getTableColumns(paymentSettings), keyId: payKeys.keyId, offeredTo: payKeys.offeredTo })
    .from(paymentSettings)
    .leftJoin(payKeys, eq(payKeys.ownerId, paymentSettings.ownerId))
    .where(sql`${paymentSettings.ownerId} = ANY(${arrayText(ownerIds)}::uuid[])`)
  return new Map(
    found.map(({ ownerId, upi, bank, ownLink, inEmails, pdf, keyId, offeredTo }) => {
      const methods = { upi, bank, ownLink, online: paysOnline(config, keyId === null ? null : { keyId, offeredTo }) }
      return [ownerId, { methods, inEmails: inEmails && hasMethod(methods), pdf }]
    }),
  )
}

interface Change {
  deps: Deps
  account: Account
  from: Origin
  now: Instant
}

/**
 * Changes the given settings, each as a whole. The caller has verified who asks. The owner gets a notice and an email, unless nothing changed.
 * Refuses an IBAN or BIC that cannot be right with `invalid`.
 */
export async function savePaymentSettings(about: Change, change: PaymentSettingsChange): Promise<PaymentSettings> {
  const { currentPassword: _password, code: _code, ...fields } = change
  refuseWrongBank(fields.bank)
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Stored>
  return changeSettings(about, async (_tx, stored) => {
    const next = { ...pick(stored), ...given }
    return JSON.stringify(next) === JSON.stringify(pick(stored)) ? null : next
  })
}

function refuseWrongBank(bank: PaymentSettingsChange['bank']): void {
  if (bank?.kind !== 'iban') return
  if (!isValidIBAN(electronicFormatIBAN(bank.iban) ?? '')) throw invalid('bank.iban', wrongIban)
  if (bank.bic !== null && !isValidBIC(bank.bic)) throw invalid('bank.bic', texts.wrongBic)
}

/** Replaces the logo, or removes it (null). Refuses with `invalid` what is no PNG or JPEG of a sensible size. */
export async function saveLogo(about: Change, image: Buffer | null): Promise<PaymentSettings> {
  const type = image === null ? null : typeOfImage(image)
  if (image !== null && type === null) throw invalid('image', wrongLogo)
  const ownerId = about.account.id
  return changeSettings(about, async (tx, stored) => {
    const gone = await tx.delete(paymentLogos).where(eq(paymentLogos.ownerId, ownerId)).returning({ id: paymentLogos.id })
    if (image !== null && type !== null) await tx.insert(paymentLogos).values({ ownerId, type, image })
    // It may have been in emails.
    if (gone.length > 0) await saveBrand(tx, ownerId, {}, about.now)
    return image === null && gone.length === 0 ? null : pick(stored)
  })
}

/** Tries of keys in an hour. */
const keyTries = { limit: 10, seconds: 3600 }

/**
 * Connects an account at Razorpay. The keys are tried first; `invalid` in the provider's words where it refuses them. The secret of the webhook is
 * returned this once.
 */
export async function connectRazorpay(about: Change, keys: Keys): Promise<RazorpayConnected> {
  const { deps, account, now } = about
  await countTry(deps.db, `razorpay-keys:${account.id}`, keyTries, now)
  const known = await readKeys(deps.db, deps.config, account.id)
  // Who left knows it, so it would be no other secret.
  if (known?.offeredTo && sameText(known.keySecret, keys.keySecret)) throw invalid('keySecret', texts.knownKeys)
  try {
    await providerFor(deps.config, keys).check()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    if (error.kind === 'away') throw new ProblemError('payment_refused', texts.providerAway)
    throw invalid('keySecret', texts.keysRefused(error.message))
  }
  let connected = { webhookUrl: '', webhookSecret: '' }
  await changeSettings(about, async (tx, stored) => {
    const [before] = await tx.select().from(payKeys).where(eq(payKeys.ownerId, account.id))
    connected = await storeKeys(tx, deps.config, { ownerId: account.id, by: account.person.id }, keys, now)
    if (before && before.keyId !== keys.keyId) await cancelAll(tx, account.id, now)
    return pick(stored)
  })
  return { keyId: keys.keyId, ...connected }
}

/** Forgets the keys; what clients have open is cancelled first. */
export async function disconnectRazorpay(about: Change): Promise<PaymentSettings> {
  const ownerId = about.account.id
  return changeSettings(about, async (tx, stored) => {
    const gone = await tx.delete(payKeys).where(eq(payKeys.ownerId, ownerId)).returning({ ownerId: payKeys.ownerId })
    await cancelAll(tx, ownerId, about.now)
    return gone.length === 0 ? null : pick(stored)
  })
}

/** The keys, as something that works without who connected them. Connecting them again takes them over: their secret is Razorpay's. */
export const madeRazorpay: MadeThings = {
  kind: 'razorpay',
  async list(db, ownerId) {
    const found = await db.select().from(payKeys).where(eq(payKeys.ownerId, ownerId))
    return found.map(({ keyId, madeBy, offeredTo }) => ({ id: ownerId, name: keyId, detail: null, madeBy, offeredTo }))
  },
  async offer(tx, ownerId, _ids, { to, now }) {
    await tx.update(payKeys).set({ offeredTo: to }).where(eq(payKeys.ownerId, ownerId))
    await stopPayingOnline(tx, ownerId, now)
  },
  takeOver: () => Promise.reject(new ProblemError('conflict', texts.connectAgain)),
  async end(tx, ownerId, _ids, { from, now }) {
    await tx.delete(payKeys).where(eq(payKeys.ownerId, ownerId))
    await stopPayingOnline(tx, ownerId, now)
    await writeAudit(tx, { ownerId, kind: 'payment_settings_changed' }, from, now)
    return []
  },
}

/** What clients have open is cancelled, and emails that wait are composed again. */
async function stopPayingOnline(tx: Database, ownerId: string, now: Instant): Promise<void> {
  await cancelAll(tx, ownerId, now)
  await tx
    .update(paymentSettings)
    .set({ version: sql`${paymentSettings.version} + 1`, updatedAt: now })
    .where(eq(paymentSettings.ownerId, ownerId))
}

/** A payment link over ₹1.00 by test keys; refuses with `conflict` where the keys are not of the test mode, or none are connected. */
export async function tryRazorpay({ deps, account, now }: Pick<Change, 'deps' | 'account' | 'now'>): Promise<{ url: string }> {
  await countTry(deps.db, `razorpay-trial:${account.id}`, keyTries, now)
  try {
    const url = await startTrial(deps, account.id, `${deps.config.publicUrl}${screens.gettingPaid}`, now)
    if (url === null) throw new ProblemError('conflict', texts.onlyTestKeys)
    return { url }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw new ProblemError('payment_refused', error.kind === 'away' ? texts.providerAway : error.message)
  }
}

/** The account's row is locked while `next` decides; null: nothing changed. */
async function changeSettings(
  { deps, account, from, now }: Change,
  next: (tx: Database, stored: Stored) => Promise<Stored | null>,
): Promise<PaymentSettings> {
  const ownerId = account.id
  return deps.db.transaction(async (tx) => {
    const owner = await lockAsSeen(tx, account)
    const [stored] = await tx.select().from(paymentSettings).where(eq(paymentSettings.ownerId, ownerId))
    const values = await next(tx, stored ?? nothingSet)
    if (values !== null) {
      const row = { ...values, version: (stored?.version ?? 0) + 1, updatedAt: now }
      await tx
        .insert(paymentSettings)
        .values({ ownerId, ...row })
        .onConflictDoUpdate({ target: paymentSettings.ownerId, set: row })
      await writeAudit(tx, { ownerId, kind: 'payment_settings_changed' }, from, now)
      await notifyOwner(tx, deps, owner, { kind: 'payment_settings', ...texts.changed, link: screens.gettingPaid }, now)
    }
    return readPaymentSettings(tx, deps.config, ownerId)
  })
}

/** By its bytes; null where it is neither, is cut off, or has so many pixels that a browser would struggle. */
function typeOfImage(image: Buffer): 'image/png' | 'image/jpeg' | null {
  if (image.subarray(0, 8).equals(pngSignature) && image.length > 45) {
    const sides = [image.readUInt32BE(16), image.readUInt32BE(20)]
    const whole = image.subarray(12, 16).toString('latin1') === 'IHDR' && image.subarray(-8, -4).toString('latin1') === 'IEND'
    return whole && sides.every((side) => side > 0 && side <= largestLogoSide) ? 'image/png' : null
  }
  return sidesOfJpeg(image)?.every((side) => side > 0 && side <= largestLogoSide) ? 'image/jpeg' : null
}

/**
 * Removes every way to pay: a stranger's bank account must not be in the emails of the owner. Online payments go with their copies of the stranger's
 * keys; what is open is cancelled at the provider.
 */
export const payOnAccountTakeover =
  (deps: Pick<Deps, 'config' | 'log'>): OnAccountTakeover =>
  async (tx, ownerId, now) => {
    const afterwards = await payOnAccountDeleted(deps)(tx, ownerId)
    await tx.delete(payAttempts).where(eq(payAttempts.ownerId, ownerId))
    await tx.delete(payKeys).where(eq(payKeys.ownerId, ownerId))
    await tx.delete(paymentLogos).where(eq(paymentLogos.ownerId, ownerId))
    const gone = await tx
      .delete(paymentSettings)
      .where(eq(paymentSettings.ownerId, ownerId))
      .returning({ ownerId: paymentSettings.ownerId })
    await dropLinks(tx, ownerId, now)
    return { removed: gone.length === 0 ? [] : ['payment_settings'], afterwards }
  }
