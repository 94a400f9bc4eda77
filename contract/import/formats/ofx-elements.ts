import { tidy } from './decode.ts'
import { FileProblem, texts } from './texts.ts'
import { unescapeXml } from './xml.ts'

/* OFX 1 is SGML, where an element with a value needs no end tag; OFX 2 is XML. Both have the same elements, so one reader has both. */

export interface OfxElement {
  name: string
  /** The value; empty for an element with others inside. */
  value: string
  inner: OfxElement[]
  line: number
  /** Where it begins in the text, and where it ends. */
  start: number
  end: number
}

/** Elements whose end tag decides what belongs to which account or transaction. Some banks omit that of a list of transactions. */
const closed = /^(?:OFX|STMTTRN|STMTTRNP|.*MSGSRSV\d|(?:CC|INV)?STMTTRNRS|(?:CC|INV)?STMTRS|CURRENCY|ORIGCURRENCY|PAYEE)$/
/** Elements inside each other; OFX has 12 levels. */
const deepest = 40
/** Elements of a file. */
const mostElements = 4_000_000

/** A tag. Only the outermost one has attributes, in some files of version 2. */
const tag = /<(?:(\/?)([A-Za-z][\w.:-]{0,60})\s{0,20}(\/?)|()(OFX)\s[^<>]{0,1000}())>/iy

/** The element OFX of a file, without its header. Refuses a text that ends before its elements do. */
export function ofxElements(text: string): OfxElement {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw new FileProblem(texts.documentType)
  const root: OfxElement = { name: '', value: '', inner: [], line: 1, start: 0, end: 0 }
  const open = [root]
  const lineOf = lineCounter(text)
  const cut = () => new FileProblem(texts.cut(texts.line(lineOf(text.trimEnd().length))))
  const endOf = (mark: string, from: number) => {
    const found = text.indexOf(mark, from)
    if (found < 0) throw cut()
    return found
  }
  let elements = 0
  let value = ''
  for (let at = text.indexOf('<'), behind = at; at >= 0; at = text.indexOf('<', at)) {
    value += unescapeXml(text.slice(behind, at))
    behind = at
    if (text.startsWith('<!--', at)) at = behind = endOf('-->', at) + 3
    else if (text.startsWith('<?', at)) at = behind = endOf('?>', at) + 2
    else if (text.startsWith('<![CDATA[', at)) {
      behind = endOf(']]>', at) + 3
      value += text.slice(at + 9, behind - 3)
      at = behind
    } else {
      tag.lastIndex = at
      const found = tag.exec(text)
      if (!found) {
        // A sign in a text.
        at += 1
        continue
      }
      behind = at + found[0].length
      const name = (found[2] ?? found[5] ?? '').toUpperCase()
      const top = open.at(-1) as OfxElement
      // A value ends at the next tag, which need not be its own.
      if (value.trim() !== '' && top.inner.length === 0) top.value = tidy(value)
      value = ''
      if (found[1] === '/') {
        const matching = open.findLastIndex((element) => element.name === name)
        // Otherwise it is the end of a value that has ended already.
        if (matching > 0) leave(open, matching, behind)
      } else {
        if (top !== root && top.value !== '') leave(open, open.length - 1, at)
        elements += 1
        if (elements > mostElements || open.length > deepest) throw new FileProblem(texts.tooMany)
        const element: OfxElement = { name, value: '', inner: [], line: lineOf(at), start: at, end: behind }
        open.at(-1)?.inner.push(element)
        if (found[3] !== '/') open.push(element)
      }
      at = behind
    }
  }
  const ofx = root.inner.find(({ name }) => name === 'OFX')
  if (!ofx) throw new FileProblem(texts.noMessage)
  if (open.length > 1) throw cut()
  return ofx
}

/** Ends the elements from an index on. Those above it had no end tag: they are empty, and what follows them is beside them. */
function leave(open: OfxElement[], at: number, end: number): void {
  while (open.length > at) {
    const element = open.pop() as OfxElement
    element.end = end
    if (open.length === at || element.value !== '') continue
    if (closed.test(element.name)) throw new FileProblem(texts.damaged(texts.line(element.line)))
    open.at(-1)?.inner.push(...element.inner)
    element.inner = []
  }
}

/** The line of a place; places must come in order. */
function lineCounter(text: string): (place: number) => number {
  let line = 1
  let counted = 0
  return (place) => {
    for (let at = text.indexOf('\n', counted); at >= 0 && at < place; at = text.indexOf('\n', counted)) {
      line += 1
      counted = at + 1
    }
    return line
  }
}

/** The elements of a name inside an element, at any depth, but not inside each other. */
export function ofxAll(element: OfxElement, name: RegExp): OfxElement[] {
  return element.inner.flatMap((inner) => (name.test(inner.name) ? [inner] : ofxAll(inner, name)))
}

/** The value at a path of names; null where there is none. */
export function ofxValue(element: OfxElement | undefined, ...path: string[]): string | null {
  const [name, ...rest] = path
  if (!element || name === undefined) return element?.value || null
  for (const inner of element.inner) {
    const value = inner.name === name ? ofxValue(inner, ...rest) : null
    if (value !== null) return value
  }
  return null
}
