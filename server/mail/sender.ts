import { domainToASCII } from 'node:url'
import type { InferSelectModel } from 'drizzle-orm'
import type { SealedColumn } from '#server/platform/reseal.ts'
import { seal, unseal } from '#server/platform/secrets.ts'
import type { mailConfigs } from './tables.ts'

/** A mailbox as it is stored. */
export type Sender = InferSelectModel<typeof mailConfigs>

/** The domain of an address as the DNS has it (RFC 5890). */
export function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1)
  return domainToASCII(domain) || domain.toLowerCase()
}

const purpose = 'mail-password'
type Secret = 'sealedPassword' | 'sealedRefreshToken'

/** Where a secret belongs: sealed for this mailbox of this account it opens in no other. The first mailbox has the account's id as its place. */
const placeOf = (ownerId: string, place: string, secret: Secret) =>
  place === ownerId ? `mail_configs.${ownerId}.${secret}` : `mail_configs.${ownerId}.${place}.${secret}`

export function sealPassword(secretKey: string, ownerId: string, password: string, place = ownerId): string {
  return seal(secretKey, purpose, placeOf(ownerId, place, 'sealedPassword'), password)
}

export function sealRefreshToken(secretKey: string, ownerId: string, token: string, place = ownerId): string {
  return seal(secretKey, purpose, placeOf(ownerId, place, 'sealedRefreshToken'), token)
}

/** The lasting permission of Gmail or Microsoft. Throws where it was sealed with another key or for another row. */
export function openRefreshToken(secretKey: string, sender: Pick<Sender, 'ownerId' | 'place' | 'sealedRefreshToken'>): string {
  return unseal(secretKey, purpose, placeOf(sender.ownerId, sender.place, 'sealedRefreshToken'), sender.sealedRefreshToken ?? '')
}

/** The mailbox's password. Throws where it was sealed with another key or for another row. */
export function openPassword(secretKey: string, sender: Pick<Sender, 'ownerId' | 'place' | 'sealedPassword'>): string {
  return unseal(secretKey, purpose, placeOf(sender.ownerId, sender.place, 'sealedPassword'), sender.sealedPassword ?? '')
}

/** What is sealed here. */
export const sealedSenders: SealedColumn[] = (['sealedPassword', 'sealedRefreshToken'] as const).map((secret) => ({
  table: 'mail_configs',
  column: secret === 'sealedPassword' ? 'sealed_password' : 'sealed_refresh_token',
  key: 'place',
  within: 'owner_id',
  purpose,
  place: (place, ownerId) => placeOf(ownerId, place, secret),
}))
