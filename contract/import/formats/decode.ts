import { FileProblem, texts } from './texts.ts'

/** Every limit of a file: a statement of a busy year has a tenth of it. */
export const mostBytes = 50 * 1024 * 1024

/**
 * The text of a file: UTF-16 by its byte order mark, UTF-8 where the bytes are valid as such, also where a header names another encoding, because
 * banks write UTF-8 under old headers and text of another encoding is hardly ever valid UTF-8. Else the named encoding, or Windows-1252.
 */
export function decode(bytes: Uint8Array, named: string | null = null): string {
  if (bytes.length > mostBytes) throw new FileProblem(texts.tooBig)
  const text = decodeBytes(bytes, named).replace(/^\uFEFF/, '')
  if (text.includes('\0')) throw new FileProblem(texts.unknownEncoding)
  return text
}

function decodeBytes(bytes: Uint8Array, named: string | null): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return decoderOf(named).decode(bytes)
  }
}

function decoderOf(named: string | null): TextDecoder {
  try {
    // A label of UTF-8 is wrong here: the bytes are not.
    return new TextDecoder(named === null || /^utf-?8$/i.test(named) ? 'windows-1252' : named)
  } catch {
    return new TextDecoder('windows-1252')
  }
}

/** A text on one line, without control characters. */
export function tidy(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
}

/** The first one that is not empty, tidied; null where all are. */
export function firstOf(...candidates: (string | null | undefined)[]): string | null {
  for (const one of candidates) {
    const text = tidy(one ?? '')
    if (text !== '') return text
  }
  return null
}

/** Most of a row as written that is kept. */
const mostRaw = 4_000

export function rawOf(text: string): string {
  const raw = text.replace(/[^\P{Cc}\n]/gu, ' ').trim()
  return raw.length > mostRaw ? `${raw.slice(0, mostRaw)}…` : raw
}

/** An IBAN by its form, without spaces; null where it is another number. */
export function ibanOf(text: string | null | undefined): string | null {
  const bare = (text ?? '').replace(/\s/g, '').toUpperCase()
  return /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/.test(bare) ? bare : null
}

/** `YYYY-MM-DD`; null where the calendar has no such day. */
export function dayOf(year: number, month: number, day: number): string | null {
  const date = new Date(Date.UTC(year, month - 1, day))
  const fits = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return fits && year >= 1970 && year < 2100 ? date.toISOString().slice(0, 10) : null
}
