import type { StatementFormat } from '#contract/import/statement.ts'
import { texts } from './texts.ts'

/** What a file is, by its first bytes. `other` is a format that is known and not read. */
export type Detected =
  | { kind: 'xml'; format: 'CAMT.052' | 'CAMT.053' | 'CAMT.054' }
  | { kind: 'swift'; format: 'MT940' | 'MT942' }
  | { kind: 'ofx'; format: 'OFX' | 'QFX' }
  | { kind: 'qif'; format: 'QIF' }
  | { kind: 'zip' }
  | { kind: 'other'; message: string }

/** As much of a file as its kind is detected by. */
const detectedBy = 64 * 1024

/** What kind of file it is; null for all that can be a table, such as CSV. Only its content counts, and of that the beginning. */
export function detect(bytes: Uint8Array): Detected | null {
  const signature = signatures.find(([first]) => first.every((byte, at) => bytes[at] === byte))?.[1]
  if (signature !== undefined) return signature === 'zip' ? { kind: 'zip' } : other(signature)
  const head = headOf(bytes)
  return xmlOf(head) ?? ofxOf(head) ?? swiftOf(head) ?? qifOf(head) ?? fixedOf(head)
}

/** The format that a file is in, for those that are read. */
export function formatOf(bytes: Uint8Array): StatementFormat | null {
  const found = detect(bytes)
  return found && 'format' in found ? found.format : null
}

const signatures: [first: number[], name: 'zip' | keyof typeof texts.others][] = [
  [[0x50, 0x4b, 0x03, 0x04], 'zip'],
  [[0x25, 0x50, 0x44, 0x46], 'pdf'],
  [[0x1f, 0x8b], 'gzip'],
  [[0x52, 0x61, 0x72, 0x21], 'rar'],
  [[0x37, 0x7a, 0xbc, 0xaf], 'sevenZip'],
  [[0x89, 0x50, 0x4e, 0x47], 'picture'],
  [[0xff, 0xd8, 0xff], 'picture'],
]

function other(name: keyof typeof texts.others): Detected {
  return { kind: 'other', message: texts.notRead(texts.others[name]) }
}

/** The beginning as text. What detects a format is ASCII, which every encoding but UTF-16 has as it is. */
function headOf(bytes: Uint8Array): string {
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null
  const text = new TextDecoder(wide ?? 'windows-1252').decode(bytes.subarray(0, detectedBy))
  return text.replace(/^(?:\uFEFF|\u00ef\u00bb\u00bf)?\s*/, '')
}

/** Messages of ISO 20022 by the area of their name, for those that are not read. */
const messages: [name: RegExp, what: keyof typeof texts.others][] = [
  [/^pain\.00[178]/, 'orders'],
  [/^pain\./, 'orderStatus'],
  [/^camt\.060/, 'statementRequest'],
  [/^(?:camt|pacs|acmt|remt|auth)\./, 'message'],
]
const roots: Record<string, 'CAMT.052' | 'CAMT.053' | 'CAMT.054'> = {
  BkToCstmrAcctRpt: 'CAMT.052',
  BkToCstmrStmt: 'CAMT.053',
  BkToCstmrDbtCdtNtfctn: 'CAMT.054',
}

function xmlOf(head: string): Detected | null {
  if (!head.startsWith('<')) return null
  // An OFX file can have its processing instruction in front, or neither declaration nor header.
  if (/<OFX[\s>]/i.test(head) || head.includes('<?OFX')) return { kind: 'ofx', format: /<INTU\.BID>/i.test(head) ? 'QFX' : 'OFX' }
  if (/^<OFC>/i.test(head)) return other('ofc')
  const message = /<(?:[\w.-]+:)?(BkToCstmr(?:AcctRpt|Stmt|DbtCdtNtfctn))(?:V\d+)?[\s>]/.exec(head)?.[1]
  const format = roots[message ?? '']
  if (format) return { kind: 'xml', format }
  const name = /[:/]((?:pain|camt|pacs|acmt|remt|auth)\.\d{3}(?:\.\d{3}\.\d{2})?)["']/.exec(head)?.[1]
  if (name === undefined) return null
  // One whose message is missing, or begins far behind: it is refused where it is read.
  const statement = /^camt\.05([234])\./.exec(name)?.[1]
  if (statement !== undefined) return { kind: 'xml', format: `CAMT.05${statement as '2' | '3' | '4'}` }
  const what = messages.find(([pattern]) => pattern.test(name))?.[1] ?? 'message'
  return { kind: 'other', message: texts.notRead(`${texts.others[what]} (${name})`) }
}

function ofxOf(head: string): Detected | null {
  // Also behind a byte order mark that a conversion has broken.
  if (!/^[^\w<]{0,8}OFXHEADER\s*:/i.test(head)) return null
  return { kind: 'ofx', format: /<INTU\.BID>/i.test(head) ? 'QFX' : 'OFX' }
}

function swiftOf(head: string): Detected | null {
  const type = /\{2:[IO](\d{3})/.exec(head)?.[1]
  const first = /^(?:\{1:|:20:)|^(?:.{0,60}\r?\n){1,8}?:20:/.exec(head)
  if (type === undefined && !first) return null
  const has = (...tags: string[]) => tags.some((tag) => new RegExp(`(?:^|\\n|\\{4:\\s*):${tag}:`).test(head))
  if (type !== undefined && !['940', '942'].includes(type)) return { kind: 'other', message: texts.notRead(texts.mt(type)) }
  if (type !== undefined) return { kind: 'swift', format: type === '940' ? 'MT940' : 'MT942' }
  if (!has('25', '25P')) return has('32A') ? other('swiftPayment') : null
  if (has('60F', '60M'))
    return has('90D', '90C') && !has('61') ? { kind: 'other', message: texts.notRead(texts.mt('941')) } : { kind: 'swift', format: 'MT940' }
  if (has('34F', '13D', '13', '90D', '90C')) return { kind: 'swift', format: 'MT942' }
  if (has('32A')) return { kind: 'other', message: texts.notRead(texts.mt('910')) }
  return has('61', '62F', '62M') ? { kind: 'swift', format: 'MT940' } : null
}

function qifOf(head: string): Detected | null {
  if (/^(?:#[^\n]*\n\s*)*!(?:Type|Account|Option|Clear)\b/i.test(head)) return { kind: 'qif', format: 'QIF' }
  // Some banks write no heading: a date, an amount, and the end of a record.
  if (/^D *\d[^\r\n]*[\r\n]+(?:[A-Z$%][^\r\n]*[\r\n]+){1,20}\^[\r\n]/.test(head) && /[\r\n]T[+-]?[\d.,]/.test(head))
    return { kind: 'qif', format: 'QIF' }
  return /^!(?:TRNS|HDR|ACCNT|CUST|VEND)\t/.test(head) ? other('iif') : null
}

/** Formats of lines of a fixed width, by their first records. */
const fixed: [lines: RegExp, name: keyof typeof texts.others][] = [
  [/^01,[^\n]*\/?\s*\n(?:88,[^\n]*\n)*02,/, 'bai2'],
  [/^UN[AB][+:]/, 'finsta'],
  [/^0000\d.{122}[12 ]\r?\n1/, 'coda'],
  [/^01\d{5}.{111,113}\r?\n0[457]\d{5}/, 'cfonb'],
  [/^11\d{18}.{58,62}\r?\n(?:22|33)/, 'norma43'],
  [/^074\d{16}.{80,}\r?\n07[58]/, 'gpc'],
  [/^NY0000\d{2}/, 'ocr'],
  [/^01BGMAX/, 'bgmax'],
  [/^T00[0-9A-Z]{4}\d{6}/, 'tito'],
  [/^0128[AC]/, 'dtaus'],
]

function fixedOf(head: string): Detected | null {
  const name = fixed.find(([lines]) => lines.test(head))?.[1]
  return name === undefined ? null : other(name)
}
