import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { tidy } from './decode.ts'
import { FileProblem, texts } from './texts.ts'

/** Elements inside each other; a statement has 12 levels. */
const deepest = 40
/** Elements of one part, without those that are kept as text. */
const mostElements = 200_000

/**
 * Parses a part of an XML file, or the file. Names are without their namespace; elements that are called `kept` are not parsed and stay text, so that a
 * long statement is parsed entry by entry and never is a tree of all of them. Neither entities nor document types are processed. The library does not
 * compare the names of end tags: `checkXml` does.
 */
export function parseXml(text: string, kept: string[] = []): XmlNode {
  let elements = 0
  const parser = new XMLParser({
    removeNSPrefix: true,
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseTagValue: false,
    processEntities: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    jPath: false,
    maxNestedTags: deepest,
    stopNodes: kept.map((name) => `..${name}`),
    updateTag: (name: string) => {
      elements += 1
      if (elements > mostElements) throw new FileProblem(texts.tooMany)
      return name
    },
  })
  try {
    return parser.parse(text) as XmlNode
  } catch (error) {
    throw error instanceof FileProblem ? error : new FileProblem(texts.notXml)
  }
}

/** Refuses a file that is no well-formed XML, with where it is not; and one with a document type, which no bank's file has. */
export function checkXml(text: string): void {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw new FileProblem(texts.documentType)
  const answer = XMLValidator.validate(text)
  if (answer === true) return
  const isWhole = /<\/[^<>]+>\s*(?:<!--(?:(?!-->)[\s\S])*-->\s*)?$/.test(text.slice(-1_000)) && !/^Unclosed|^Invalid '/.test(answer.err.msg)
  throw new FileProblem(isWhole ? texts.damaged(texts.line(answer.err.line)) : texts.cut(texts.line(linesOf(text))))
}

function linesOf(text: string): number {
  return text.trimEnd().split('\n').length
}

/** An element: text, or what it has inside; several of one name are a list. */
export type XmlNode = string | { [name: string]: XmlNode | XmlNode[] }

/** The elements of a name inside an element, or at the end of a path of names. */
export function all(node: XmlNode | undefined, ...path: string[]): XmlNode[] {
  let found: XmlNode[] = node === undefined ? [] : [node]
  for (const name of path)
    found = found.flatMap((outer): XmlNode[] => {
      const inner = typeof outer === 'object' && Object.hasOwn(outer, name) ? outer[name] : undefined
      return inner === undefined ? [] : Array.isArray(inner) ? inner : [inner]
    })
  return found
}

export function one(node: XmlNode | undefined, ...path: string[]): XmlNode | undefined {
  return all(node, ...path)[0]
}

/** The text of an element; null where there is none, or only space. */
export function textAt(node: XmlNode | undefined, ...path: string[]): string | null {
  for (const found of all(node, ...path)) {
    const text = ownText(found)
    if (text !== '') return text
  }
  return null
}

export function ownText(node: XmlNode): string {
  const text = typeof node === 'string' ? node : node['#text']
  return typeof text === 'string' ? tidy(unescapeXml(text)) : ''
}

/** The text of an element that is kept. */
export function keptText(node: XmlNode): string {
  const text = typeof node === 'string' ? node : node['#text']
  return typeof text === 'string' ? text : ''
}

export function attribute(node: XmlNode | undefined, name: string): string | null {
  return textAt(node, `@${name}`)
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** The five entities of XML and characters by their number; others stay as written. */
export function unescapeXml(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi,
    (written: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return named[name.toLowerCase()] ?? written
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' '
    },
  )
}
