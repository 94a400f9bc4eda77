import { firstOf, ibanOf, tidy } from './decode.ts'
import { texts } from './texts.ts'

/* Field :86: of MT940, whose form is agreed between banks of a country, not by SWIFT. What has no form that is known is text. */

export interface Details {
  /** The form of German banks, which Poland, Austria and others have too. */
  isGerman: boolean
  code: string | null
  returned: string | null
  endToEndId: string | null
  references: string[]
  name: string | null
  iban: string | null
  text: string
}

const none: Details = { isGerman: false, code: null, returned: null, endToEndId: null, references: [], name: null, iban: null, text: '' }

export function detailsOf(field: string, direction: 'in' | 'out'): Details {
  const [, code, separator] = /^\s*(\d{3})([?<>~^+/|@#])[0-36]\d/.exec(field) ?? []
  if (code !== undefined && separator !== undefined) return germanDetails(field, code, separator)
  return codedDetails(field, direction) ?? labelledDetails(tidy(unwrap(field)))
}

const label = '(?:IBAN|BIC|REK|NAAM|OMSCHRIJVING|KENMERK|MACHTIGING|INCASSANT|BETALINGSKENM\\.|ID DEBITEUR)'
const labelled = {
  iban: /(?:^|[ /])(?:IBAN|REK): ?([A-Z]{2}\d{2}[A-Z0-9]{10,30})/,
  name: new RegExp(`(?:^|[ /])NAAM: ?(.+?)(?=[ /]+${label}:|$)`),
}

/** A text, in which banks of the Netherlands name the other party behind words: `IBAN: NL… NAAM: …`. */
function labelledDetails(text: string): Details {
  return { ...none, text, iban: ibanOf(labelled.iban.exec(text)?.[1]), name: firstOf(labelled.name.exec(text)?.[1]) }
}

/** Direct debits and transfers that came back, by the transaction code of German banks. */
const returnCodes = new Set(['108', '109', '159', '181', '184'])
/** The most characters of one piece of a purpose. A shorter one ends with a word. */
const pieceLength = 27

/** `166?00GUTSCHRIFT?20EREF+…?21SVWZ+…?30BIC?31IBAN?32NAME`: pieces by their number. The sign before it varies, and lines break anywhere. */
function germanDetails(field: string, code: string, separator: string): Details {
  const pieces = new Map<string, string>()
  let purpose = ''
  const [, ...written] = field.replaceAll('\n', '').split(new RegExp(`\\${separator}(?=\\d{2})`))
  for (const piece of written) {
    const [number, text] = [piece.slice(0, 2), piece.slice(2)]
    pieces.set(number, (pieces.get(number) ?? '') + text)
    if (/^(?:2\d|6[0-3])$/.test(number)) purpose += text.length < pieceLength ? `${text} ` : text
  }
  const parts = taggedParts(purpose)
  const kind = tidy(pieces.get('00') ?? '')
  const names = [`${pieces.get('32') ?? ''}${pieces.get('33') ?? ''}`, parts.get('ABWA') ?? parts.get('ABWE') ?? ''].map(tidy)
  return {
    isGerman: true,
    code: /^0+$/.test(code) ? null : code,
    returned: returnCodes.has(code) ? firstOf(kind, texts.returned) : null,
    endToEndId: idOf(parts.get('EREF') ?? ''),
    references: [idOf(parts.get('KREF') ?? '')].filter((one) => one !== null),
    name: firstOf([...new Set(names)].filter((name) => name !== '').join(' / ')),
    iban: ibanOf(pieces.get('31')) ?? ibanOf(pieces.get('38')) ?? ibanOf(parts.get('IBAN')),
    text: firstOf(`${parts.get('') ?? ''} ${parts.get('SVWZ') ?? ''}`, parts.get('MTLG'), kind) ?? '',
  }
}

/** A purpose by its tags: `EREF+…SVWZ+…`, `… IBAN: … BIC: …`. What is before the first one is under the empty name. */
function taggedParts(purpose: string): Map<string, string> {
  const tag =
    /(?:(EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC|PURP)\+|(?<= )(EREF|KREF|MREF|CRED|ABWA|ABWE|IBAN|BIC): |(MTLG):)/
  const [before = '', ...rest] = purpose.split(tag)
  const parts = new Map([['', before]])
  for (let at = 0; at + 3 < rest.length; at += 4) {
    const name = rest[at] ?? rest[at + 1] ?? rest[at + 2] ?? ''
    parts.set(name, `${parts.get(name) ?? ''}${rest[at + 3]}`)
  }
  return parts
}

/** Codes between slashes, as banks of the Netherlands and SWIFT write them. Others can be part of a text. */
const codes =
  /\/(TRTP|TRCD|RTYP|EREF|PREF|KREF|MARF|CSID|IBAN|BBAN|BIC|NAME|CNTP|REMI|ORDP|BENM|ADDR|ISDT|ULTD|ULTC|ULTB|PURP|RTRN|OCMT|CHGS|SVCL|INVD|BUSP|ID|PT|PY|OAMT|COAM)\//

function codedDetails(field: string, direction: 'in' | 'out'): Details | null {
  // These lines break anywhere, also inside a code.
  const [before = '', ...rest] = field.replaceAll('\n', '').split(codes)
  if (before.trim() !== '' || rest.length === 0) return null
  const parts = new Map<string, string>()
  let party = ''
  for (let at = 0; at + 1 < rest.length; at += 2) {
    const [code = '', value = ''] = [rest[at], rest[at + 1]]
    if (/^(?:ORDP|BENM|ULT[BCD])$/.test(code)) party = code
    // The name behind a party is that of the party.
    const name = code === 'NAME' || code === 'IBAN' ? `${party}${code}` : code
    parts.set(name, `${parts.get(name) ?? ''} ${value}`)
  }
  const [otherIban, , otherName] = (parts.get('CNTP') ?? '').trim().split('/')
  const role = direction === 'in' ? 'ORDP' : 'BENM'
  // Behind the kind of remittance: /REMI/USTD//text, /REMI/STRD/CUR/reference.
  const remittance = tidy(parts.get('REMI') ?? '')
  const structured = /^STRD\/[A-Z]{2,4}\/([^/]+)/.exec(remittance)?.[1]
  return {
    isGerman: false,
    code: firstOf(parts.get('TRTP'), parts.get('TRCD')),
    returned: parts.has('RTRN') ? firstOf(parts.get('RTRN'), texts.returned) : null,
    endToEndId: idOf(withoutEnd(parts.get('EREF') ?? '')),
    references: [idOf(structured ?? ''), idOf(withoutEnd(parts.get('PREF') ?? ''))].filter((one) => one !== null),
    name: firstOf(otherName, ...[`${role}NAME`, 'NAME', role].map((name) => withoutEnd(parts.get(name) ?? ''))),
    iban: ibanOf(otherIban) ?? ibanOf(withoutEnd(parts.get(`${role}IBAN`) ?? parts.get('IBAN') ?? '')),
    text: firstOf(withoutEnd(remittance.replace(/^(?:USTD\/\/|STRD\/)/, '')), withoutEnd(parts.get('PY') ?? ''), parts.get('TRTP')) ?? '',
  }
}

function withoutEnd(text: string): string {
  return tidy(text).replace(/\/+$/, '')
}

/** The width of a line of SWIFT. A full one breaks inside a word, one that lost a space at its end is one shorter. */
const lineWidth = 65

function unwrap(field: string): string {
  return field
    .split('\n')
    .reduce((text, line, at, lines) => text + (at > 0 && (lines[at - 1] ?? '').length < lineWidth - 1 ? ' ' : '') + line, '')
}

/** A reference, unless it is a word for none. */
export function idOf(text: string): string | null {
  const bare = tidy(text)
  return bare.length < 2 || /^(?:NON ?REF|NOREF|NOT ?PROVIDED|[KEMP]REF\+?|MARF|STARTUMSE?|0+|-+)$/i.test(bare) ? null : bare
}
