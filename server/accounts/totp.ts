import { createHmac, randomBytes } from 'node:crypto'
import type { Instant } from '#server/platform/clock.ts'

const stepSeconds = 30
const digits = 6
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** 160 random bits, as long as the hash, which is what RFC 4226 asks for (4, R6). Base32, as authenticators take it. */
export function newTotpSecret(): string {
  return toBase32(randomBytes(20))
}

/** The number of the 30 seconds that an instant is in (RFC 6238, 4.2). */
export function stepOf(now: Instant): number {
  return Math.floor(now.epochMilliseconds / 1000 / stepSeconds)
}

/** The six digits of a step (RFC 4226, 5.3, with HMAC-SHA1: the one algorithm that every authenticator knows). */
export function totpAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits).padStart(digits, '0')
}

/** What an authenticator reads out of a QR code. */
export function totpUri(secret: string, email: string): string {
  const query = new URLSearchParams({ secret, issuer: 'Duely', algorithm: 'SHA1', digits: String(digits), period: String(stepSeconds) })
  return `otpauth://totp/${encodeURIComponent(`Duely:${email}`)}?${query}`
}

/** RFC 4648, without padding. */
export function toBase32(bytes: Buffer): string {
  let text = ''
  let [bits, held] = [0, 0]
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    for (; bits >= 5; bits -= 5) text += alphabet[(held >> (bits - 5)) & 31]
    held &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + alphabet[(held << (5 - bits)) & 31]
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = []
  let [bits, held] = [0, 0]
  for (const letter of text) {
    held = (held << 5) | alphabet.indexOf(letter)
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push(held >> bits)
      held &= (1 << bits) - 1
    }
  }
  return Buffer.from(bytes)
}
