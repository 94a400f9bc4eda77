import type { InferSelectModel } from 'drizzle-orm'
import type { SealedColumn } from '#server/platform/reseal.ts'
import { seal, unseal } from '#server/platform/secrets.ts'
import type { mailConfigs } from './tables.ts'

/** An account's mailbox as it is stored. */
export type Sender = InferSelectModel<typeof mailConfigs>

const purpose = 'mail-password'
type Secret = 'sealedPassword' | 'sealedRefreshToken'

/** Where a secret belongs: sealed for this row it opens in no other. */
const place = (ownerId: string, secret: Secret) => `mail_configs.${ownerId}.${secret}`

export function sealPassword(secretKey: string, ownerId: string, password: string): string {
  return seal(secretKey, purpose, place(ownerId, 'sealedPassword'), password)
}

export function sealRefreshToken(secretKey: string, ownerId: string, token: string): string {
  return seal(secretKey, purpose, place(ownerId, 'sealedRefreshToken'), token)
}

/** The lasting permission of Gmail or Microsoft. Throws where it was sealed with another key or for another row. */
export function openRefreshToken(secretKey: string, sender: Pick<Sender, 'ownerId' | 'sealedRefreshToken'>): string {
  return unseal(secretKey, purpose, place(sender.ownerId, 'sealedRefreshToken'), sender.sealedRefreshToken ?? '')
}

/** The mailbox's password. Throws where it was sealed with another key or for another row. */
export function openPassword(secretKey: string, sender: Pick<Sender, 'ownerId' | 'sealedPassword'>): string {
  return unseal(secretKey, purpose, place(sender.ownerId, 'sealedPassword'), sender.sealedPassword ?? '')
}

/** What is sealed here. */
export const sealedSenders: SealedColumn[] = (['sealedPassword', 'sealedRefreshToken'] as const).map((secret) => ({
  table: 'mail_configs',
  column: secret === 'sealedPassword' ? 'sealed_password' : 'sealed_refresh_token',
  key: 'owner_id',
  purpose,
  place: (ownerId) => place(ownerId, secret),
}))
