import type { InferSelectModel } from 'drizzle-orm'
import { deriveKey, seal, unseal } from '#server/platform/secrets.ts'
import type { mailConfigs } from './tables.ts'

/** An account's mailbox as it is stored. */
export type Sender = InferSelectModel<typeof mailConfigs>

type Secret = 'sealedPassword' | 'sealedRefreshToken'

/** Where a secret belongs: sealed for this row it opens in no other. */
const place = (ownerId: string, secret: Secret) => `mail_configs.${ownerId}.${secret}`

export function sealPassword(secretKey: string, ownerId: string, password: string): string {
  return seal(deriveKey(secretKey, 'mail-password'), place(ownerId, 'sealedPassword'), password)
}

export function sealRefreshToken(secretKey: string, ownerId: string, token: string): string {
  return seal(deriveKey(secretKey, 'mail-password'), place(ownerId, 'sealedRefreshToken'), token)
}

/** Gmail's lasting permission. Throws where it was sealed with another key or for another row. */
export function openRefreshToken(secretKey: string, sender: Pick<Sender, 'ownerId' | 'sealedRefreshToken'>): string {
  return unseal(deriveKey(secretKey, 'mail-password'), place(sender.ownerId, 'sealedRefreshToken'), sender.sealedRefreshToken ?? '')
}

/** The mailbox's password. Throws where it was sealed with another key or for another row. */
export function openPassword(secretKey: string, sender: Pick<Sender, 'ownerId' | 'sealedPassword'>): string {
  return unseal(deriveKey(secretKey, 'mail-password'), place(sender.ownerId, 'sealedPassword'), sender.sealedPassword ?? '')
}
