import type { FileRow } from './csv.ts'
import { headingOf } from './headings.ts'
import { invoiceColumnOf } from './invoice-words.ts'

/* Names, addresses and languages of clients in files. */

/** Clients by their id or name, as `clientKey` writes them. */
export type Addresses = Map<string, { name: string; email: string }>

export function clientKey(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/** A text on one line, without characters that take no room: a name over two lines is one. */
export function plain(text: string): string {
  return text
    .replace(/[\u200b\u200e\u200f\u2060\ufeff\u00ad]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The addresses of a cell: `Name <a@x.example>`, `mailto:a@x.example`, `a@x.example, b@x.example;`; and the name before the first. */
export function addressesIn(cell: string): { addresses: string[]; name: string } {
  const text = plain(cell.replace(/[\u200b-\u200d\ufeff]/g, '')).replace(/\bmailto:/gi, '')
  const named = /^"?([^"<@]*?)"?\s*<[^<>]*>/.exec(text)?.[1] ?? ''
  const inBrackets = [...text.matchAll(/<([^<>\s]*)>/g)].map(([, address = '']) => address)
  const parts = inBrackets.length > 0 ? inBrackets : text.split(/[,;|\s]+/)
  const addresses = parts.map((part) => part.replace(/^[<("']+|[>)"'.,;]+$/g, '')).filter((part) => part !== '')
  // Several words are no list of addresses: the cell is shown as it is.
  const isList = addresses.every((one) => one.includes('@'))
  return { addresses: isList ? [...new Set(addresses)] : [text], name: named.trim() }
}

/** A list of clients with their addresses, by name and by id; null where the file has no column of emails or none of names. */
export function readAddresses(rows: FileRow[]): Addresses | null {
  const [header, ...others] = rows
  const keys = (header?.cells ?? []).map(headingOf)
  const columns = keys.map(({ words }) => invoiceColumnOf(words))
  const [email, name, id] = [
    columns.indexOf('email'),
    columns.indexOf('client'),
    keys.findIndex(({ key }) => /^((customer|client|contact) )?id$/.test(key)),
  ]
  if (email < 0 || (name < 0 && id < 0)) return null
  const found: Addresses = new Map()
  for (const { cells } of others) {
    const about = { name: plain(cells[name] ?? '') || plain(cells[id] ?? ''), email: addressesIn(cells[email] ?? '').addresses[0] ?? '' }
    if (!about.email.includes('@')) continue
    for (const key of [cells[name], cells[id]]) if (key && !found.has(clientKey(plain(key)))) found.set(clientKey(plain(key)), about)
  }
  return found.size === 0 ? null : found
}

/** A language by its tag or its name, in English or in itself; of a tag with a region that is not known, without it. Null: not one of `known`. */
export function readLanguage(text: string, known: readonly string[]): string | null {
  const key = text.trim().replaceAll('_', '-').toLowerCase()
  const isNamed = (tag: string) =>
    ['en', tag].some((shown) => new Intl.DisplayNames([shown], { type: 'language' }).of(tag)?.toLowerCase() === key)
  return known.find((tag) => tag.toLowerCase() === key) ?? known.find((tag) => tag === key.split('-')[0]) ?? known.find(isNamed) ?? null
}
