import type { InferSelectModel } from 'drizzle-orm'
import { deriveKey, seal, unseal } from '#server/platform/secrets.ts'
import type { mailConfigs } from './tables.ts'

/** An account's mailbox as it is stored. */
export type Sender = InferSelectModel<typeof mailConfigs>

/** Where a password belongs: sealed for this row it opens in no other. */
const place = (ownerId: string) => `mail_configs.${ownerId}.sealedPassword`

export function sealPassword(secretKey: string, ownerId: string, password: string): string {
  return seal(deriveKey(secretKey, 'mail-password'), place(ownerId), password)
}

/** The mailbox's password. Throws where it was sealed with another key or for another row. */
export function openPassword(secretKey: string, sender: Pick<Sender, 'ownerId' | 'sealedPassword'>): string {
  return unseal(deriveKey(secretKey, 'mail-password'), place(sender.ownerId), sender.sealedPassword ?? '')
}
