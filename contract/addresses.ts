/*
 * Email addresses: how they are read wherever one is entered, stored and compared. `Asha <asha@shop.example>` is taken apart; an address with letters
 * beyond A to Z is stored in one form (Unicode's NFC, its domain as people read it and in small letters), so that the lower case of two that are the same
 * is equal, in the database too. Mail servers get the domain in ASCII.
 */

/** Of every runtime, though its types are those of browsers. */
declare const URL: new (address: string) => { hostname: string }

/** A dot-atom (RFC 5321, 4.1.2) with letters beyond ASCII (RFC 6531): everything but spaces, what is not shown, and what separates addresses. */
const addressPattern = /^([^\s\p{C}\p{Z}()<>[\]:;@\\,."]+(?:\.[^\s\p{C}\p{Z}()<>[\]:;@\\,."]+)*)@([^@]+)$/u
const domainPattern = /^(?=.{1,253}$)(?:[a-z0-9][a-z0-9-]{0,62}\.)+(?:xn--[a-z0-9-]{1,59}|[a-z]{2,63})$/i
/** In bytes (RFC 5321, 4.5.3.1). */
const most = { local: 64, address: 254 }
const longestPart = 1_000

const isAscii = (text: string) => /^[ -~]*$/.test(text)
const bytesOf = (text: string) => encodeURIComponent(text).replace(/%../g, 'x').length

/** A domain as the DNS has it (RFC 5890), or null where it cannot be one. */
function asciiDomain(domain: string): string | null {
  if (/^[a-z0-9.-]*$/i.test(domain) && !/xn--/i.test(domain)) return domainPattern.test(domain) ? domain.toLowerCase() : null
  // What could end the host of an address.
  if (/[\s\p{C}\p{Z}!-,/:-@[-^`{-~]/u.test(domain)) return null
  try {
    const { hostname } = new URL(`http://${domain}/`)
    return domainPattern.test(hostname) ? hostname : null
  } catch {
    return null
  }
}

/** A domain as people read it. */
function shownDomain(ascii: string): string {
  const shown = ascii
    .split('.')
    .map((label) => (label.startsWith('xn--') ? decodePunycode(label.slice(4)) : label))
    .join('.')
  return asciiDomain(shown) === ascii ? shown : ascii
}

/** The characters of a label (RFC 3492, 6.2); '' where it is none. */
function decodePunycode(label: string): string {
  const last = label.lastIndexOf('-')
  const points = Array.from(label.slice(0, Math.max(0, last)), (letter) => letter.charCodeAt(0))
  let [point, bias, at] = [128, 72, 0]
  for (let next = last + 1; next < label.length; ) {
    const before = at
    for (let [weight, base] = [1, 36]; ; base += 36) {
      const digit = Number.parseInt(label[next] ?? '', 36)
      if (Number.isNaN(digit)) return ''
      next += 1
      // a to z are 0 to 25, and the figures follow.
      const value = digit < 10 ? digit + 26 : digit - 10
      at += value * weight
      const least = Math.min(26, Math.max(1, base - bias))
      if (value < least) break
      weight *= 36 - least
    }
    const length = points.length + 1
    let delta = Math.floor((at - before) / (before === 0 ? 700 : 2))
    delta += Math.floor(delta / length)
    bias = 0
    for (; delta > 455; bias += 36) delta = Math.floor(delta / 35)
    bias += Math.floor((36 * delta) / (delta + 38))
    point += Math.floor(at / length)
    at %= length
    if (point > 0x10ffff) return ''
    points.splice(at, 0, point)
    at += 1
  }
  return String.fromCodePoint(...points)
}

/** One address in the form that is stored, or null. */
export function readAddress(text: string): string | null {
  const [, local = '', domain = ''] = addressPattern.exec(text.normalize()) ?? []
  const ascii = asciiDomain(domain)
  if (local === '' || ascii === null) return null
  if (bytesOf(local) > most.local || bytesOf(local) + 1 + ascii.length > most.address) return null
  const its = isAscii(local) ? local : local.toLowerCase().normalize()
  return `${its}@${isAscii(domain) && !ascii.includes('xn--') ? domain : shownDomain(ascii)}`
}

/** An address with its domain in ASCII, as mail servers get it; null for what is none. Its local part may need SMTPUTF8. */
export function asciiAddress(address: string): string | null {
  const known = readAddress(address)
  if (known === null) return null
  const at = known.lastIndexOf('@')
  return `${known.slice(0, at)}@${asciiDomain(known.slice(at + 1))}`
}

/** Addresses as people paste them: `Asha <asha@shop.example>`, `mailto:…`, with commas after them. Those that are none stay as they were written. */
export function addressesIn(text: string): string[] {
  const shown = text
    .normalize()
    .replace(/[\r\n]+/g, ', ')
    .replace(/\p{Cf}/gu, '')
    .replace(/[＠﹫]/g, '@')
    .replace(/[\s\p{Z}]+/gu, ' ')
  // A comma in a name that has quotation marks is part of it.
  const parts = (shown.match(/(?:"[^"]*"|<[^<>]*>|[^,;"<])+|["<]/g) ?? []).map((part) => part.trim()).filter((part) => part !== '')
  return parts.flatMap((part, nth) => {
    const address = bare(part)
    // The first half of `Rao, Asha <asha@shop.example>`.
    if (!address.includes('@') && /@[^<>]*>$/.test(parts[nth + 1] ?? '')) return []
    return [readAddress(address) ?? address]
  })
}

/** Without what is around an address. Far more than a name and an address is none: some of what is looked for takes a time that grows with its square. */
function bare(part: string): string {
  if (part.length > longestPart) return part
  const [, inside = part] = /<([^<>]*)>$/.exec(part) ?? /^[^@]*\(([^()\s]+@[^()\s]+)\)$/.exec(part) ?? []
  const address = inside.trim().replace(/^["'“”‘’]+|["'“”‘’.]+$/g, '')
  return /^mailto:/i.test(address) ? decoded(address.replace(/^mailto:/i, '').replace(/\?.*$/s, '')) : address
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
