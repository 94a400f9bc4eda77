import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Keys derived from a secret key, one per purpose (HKDF-SHA256, RFC 5869), so that one never opens what another closed. A secret key may be
 * followed by the previous one on a second line during a rotation: this derives from the first.
 */
export function deriveKey(secretKey: string, purpose: string): Buffer {
  const [key] = everyKey(secretKey, purpose)
  return key
}

/** The same of every line, the first one first: what may have been sealed or signed still opens. */
export function everyKey(secretKey: string, purpose: string): [Buffer, ...Buffer[]] {
  const name = `${purpose}\n${secretKey}`
  const known = derived.get(name)
  if (known) return known
  const [current = '', ...before] = secretKey.split('\n')
  const derive = (key: string) => Buffer.from(hkdfSync('sha256', key, 'duely', purpose, 32))
  const keys: [Buffer, ...Buffer[]] = [derive(current), ...before.map(derive)]
  derived.set(name, keys)
  return keys
}

/** Every call needs some of them: a process derives each once. */
const derived = new Map<string, [Buffer, ...Buffer[]]>()

/** How everything begins that was sealed with this key: version of the shape, and a short public name of the key. */
export function sealMark(secretKey: string, purpose: string): string {
  return `v1.${keyId(deriveKey(secretKey, purpose))}.`
}

const keyIds = new WeakMap<Buffer, string>()

function keyId(key: Buffer): string {
  const known = keyIds.get(key) ?? createHash('sha256').update(key).digest('hex').slice(0, 8)
  keyIds.set(key, known)
  return known
}

/**
 * AES-256-GCM by the key of a purpose, bound to `place` (table, column and row) as additional data: moved to another row it does not open.
 * Shape: `v1.<key id>.<iv>.<ciphertext>.<tag>`, base64url.
 */
export function seal(secretKey: string, purpose: string, place: string, plain: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(secretKey, purpose), iv).setAAD(Buffer.from(place))
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return sealMark(secretKey, purpose) + [iv, sealed, cipher.getAuthTag()].map((part) => part.toString('base64url')).join('.')
}

/** Sealed with a key that this process does not have. While keys are rotated, a process that was restarted earlier has a newer one. */
export class UnknownKeyError extends Error {}

/** The opposite of `seal`. Throws when the key, the place or a byte is not the one it was sealed with. */
export function unseal(secretKey: string, purpose: string, place: string, text: string): string {
  const [version, id, iv, sealed, tag] = text.split('.')
  const key = everyKey(secretKey, purpose).find((one) => keyId(one) === id)
  if (version !== 'v1' || !id || !iv || sealed === undefined || !tag) throw new Error('This is not a sealed secret.')
  if (!key) throw new UnknownKeyError('This secret was sealed with another key.')
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'))
    .setAAD(Buffer.from(place))
    .setAuthTag(Buffer.from(tag, 'base64url'))
  return decipher.update(Buffer.from(sealed, 'base64url')).toString('utf8') + decipher.final('utf8')
}

/** 256 random bits, base64url. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** What is stored of a token. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

/** HMAC-SHA256, base64url. */
export function hmac(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}

/** Equality in constant time. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
