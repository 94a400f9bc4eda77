import { eq } from 'drizzle-orm'
import { isTestKey, type PaymentSettings } from '#contract/payment-settings.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId, type PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { SealedColumn } from '#server/platform/reseal.ts'
import { newToken, seal, unseal } from '#server/platform/secrets.ts'
import { openPaymentProvider, type PaymentProvider } from './razorpay.ts'
import { type payAttempts, payKeys } from './tables.ts'

type Config = Pick<Deps['config'], 'publicUrl' | 'secretKey' | 'razorpayApiUrl'>

const purpose = 'pay-keys'
const placeOf = (column: 'sealedSecret' | 'sealedHookSecret' | 'sealedHookSecretBefore', ownerId: string) => `pay_keys.${ownerId}.${column}`
const attemptPlace = (id: string) => `pay_attempts.${id}.sealedSecret`
const sealedKey = (column: string, place: SealedColumn['place']) => ({ table: 'pay_keys', column, key: 'owner_id', purpose, place })
export const sealedPayKeys: SealedColumn[] = [
  sealedKey('sealed_secret', (id) => placeOf('sealedSecret', id)),
  sealedKey('sealed_hook_secret', (id) => placeOf('sealedHookSecret', id)),
  sealedKey('sealed_hook_secret_before', (id) => placeOf('sealedHookSecretBefore', id)),
  { table: 'pay_attempts', column: 'sealed_secret', key: 'id', purpose, place: attemptPlace },
]

export interface Keys {
  keyId: string
  keySecret: string
}

type KeysRow = typeof payKeys.$inferSelect

/** The keys of an account; null where none are connected. */
export async function readKeys(
  db: Database,
  { secretKey }: Pick<Config, 'secretKey'>,
  ownerId: string,
): Promise<(Keys & Pick<KeysRow, 'offeredTo'>) | null> {
  const [row] = await db.select().from(payKeys).where(eq(payKeys.ownerId, ownerId))
  if (!row) return null
  const { keyId, offeredTo } = row
  return { keyId, offeredTo, keySecret: unseal(secretKey, purpose, placeOf('sealedSecret', ownerId), row.sealedSecret) }
}

/** What the owner sees of the connection. */
export async function readConnection(
  db: Database,
  { publicUrl }: Pick<Config, 'publicUrl'>,
  ownerId: string,
): Promise<PaymentSettings['razorpay']> {
  const [row] = await db.select().from(payKeys).where(eq(payKeys.ownerId, ownerId))
  if (!row) return null
  const { keyId, hookId, since, offeredTo } = row
  return { keyId, webhookUrl: hookUrl(publicUrl, hookId), since: since.toString(), handedOver: offeredTo !== null }
}

/**
 * Whether clients of an account can pay online: not with keys of the test mode, nor with those of someone who has left, nor where they cannot reach
 * this server.
 */
export const paysOnline = (
  { payLinks }: Pick<Deps['config'], 'payLinks'>,
  keys: Pick<KeysRow, 'keyId' | 'offeredTo'> | null | undefined,
): boolean => payLinks && !!keys && keys.offeredTo === null && !isTestKey(keys.keyId)

const hookUrl = (publicUrl: string, hookId: string) => `${publicUrl}/payment-hooks/razorpay/${hookId}`

/**
 * Stores keys and makes a new secret for the webhook, which is returned this once. The address stays, and events that were signed with the secret
 * before are still taken, unless another person knows that.
 */
export async function storeKeys(
  tx: Database,
  { publicUrl, secretKey }: Pick<Config, 'publicUrl' | 'secretKey'>,
  { ownerId, by }: { ownerId: string; by: PersonId },
  { keyId, keySecret }: Keys,
  now: Instant,
): Promise<{ webhookUrl: string; webhookSecret: string }> {
  const [before] = await tx.select().from(payKeys).where(eq(payKeys.ownerId, ownerId))
  const webhookSecret = newToken()
  const hookId = before?.hookId ?? newId()
  const last = before && (before.madeBy === null || before.madeBy === by) ? hookSecrets(secretKey, before)[0] : undefined
  const values = {
    keyId,
    sealedSecret: seal(secretKey, purpose, placeOf('sealedSecret', ownerId), keySecret),
    hookId,
    sealedHookSecret: seal(secretKey, purpose, placeOf('sealedHookSecret', ownerId), webhookSecret),
    sealedHookSecretBefore: last === undefined ? null : seal(secretKey, purpose, placeOf('sealedHookSecretBefore', ownerId), last),
    since: before?.keyId === keyId ? before.since : now,
    madeBy: by,
    offeredTo: null,
  }
  await tx
    .insert(payKeys)
    .values({ ownerId, ...values })
    .onConflictDoUpdate({ target: payKeys.ownerId, set: values })
  return { webhookUrl: hookUrl(publicUrl, hookId), webhookSecret }
}

/** The secrets that webhooks of an account may be signed with, the newest first. */
function hookSecrets(secretKey: string, row: KeysRow): string[] {
  const { ownerId, sealedHookSecret: current, sealedHookSecretBefore: before } = row
  return [
    unseal(secretKey, purpose, placeOf('sealedHookSecret', ownerId), current),
    ...(before === null ? [] : [unseal(secretKey, purpose, placeOf('sealedHookSecretBefore', ownerId), before)]),
  ]
}

/** Whose webhook this is, and its secrets with a comma between them; null where there is none. */
export async function readHook(
  db: Database,
  { secretKey }: Pick<Config, 'secretKey'>,
  hookId: string,
): Promise<{ ownerId: string; secrets: string } | null> {
  const [row] = await db.select().from(payKeys).where(eq(payKeys.hookId, hookId))
  return row ? { ownerId: row.ownerId, secrets: hookSecrets(secretKey, row).join(',') } : null
}

/** The copy of a secret that an attempt keeps as long as the provider is asked about it. */
export const sealForAttempt = ({ secretKey }: Pick<Config, 'secretKey'>, attemptId: string, keySecret: string) =>
  seal(secretKey, purpose, attemptPlace(attemptId), keySecret)

/**
 * The providers to ask about an attempt, one after the other: by the keys that it was made with, and by those that the account has now, which may be
 * newer ones of the same business.
 */
export async function providersOf(
  db: Database,
  config: Config,
  attempt: Pick<typeof payAttempts.$inferSelect, 'id' | 'ownerId' | 'keyId' | 'sealedSecret'>,
): Promise<PaymentProvider[]> {
  const current = await readKeys(db, config, attempt.ownerId)
  const { id, keyId, sealedSecret } = attempt
  const own =
    sealedSecret === null || current?.keyId === keyId
      ? null
      : { keyId, keySecret: unseal(config.secretKey, purpose, attemptPlace(id), sealedSecret) }
  return [own, current].filter((keys) => keys !== null).map((keys) => providerFor(config, keys))
}

export const providerFor = ({ razorpayApiUrl }: Pick<Config, 'razorpayApiUrl'>, keys: Keys): PaymentProvider =>
  openPaymentProvider({ ...keys, apiUrl: razorpayApiUrl })
