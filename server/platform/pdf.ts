import { createRequire } from 'node:module'
import type PDFDocument from 'pdfkit'
import type { Face } from './pdf-fonts.ts'
import { type Glyph, subsetOf } from './pdf-subset.ts'
import { type Line, layOut, type Span, type Style } from './pdf-text.ts'

export type Document = PDFKit.PDFDocument

export const pageMargin = 48
export const pageBottom = 64
export const colors = { ink: '#141922', dim: '#5d6778', rule: '#c9c9bf' }

export interface TextStyle extends Style {
  color: string
}

/** Lines of text; `height` in points. */
export interface Block {
  lines: Line[]
  size: number
  height: number
  /** Of the first line, above its baseline. */
  ascent: number
}

export interface Pdf {
  doc: Document
  /** Its bytes once it is ended. */
  done: Promise<Buffer>
  /** Of one style; spans have colours of their own. */
  block(text: string | Span[], style: TextStyle, width?: number): Block
  /** `ascent`: of the highest text in a row, whose baselines are one. */
  draw(block: Block, at: { x: number; y: number; width?: number; align?: Align; ascent?: number }): void
  /** Below what was written before, on a new page where one is full. */
  write(text: string | Span[], style: TextStyle, at?: { x: number; y: number }): void
}

export type Align = 'left' | 'center' | 'right'

/** Some fifty modules, and few processes make a PDF. */
const loadPdfKit = () => createRequire(import.meta.url)('pdfkit') as typeof PDFDocument

/** A PDF (A4) whose text is drawn by the first font that has it. `fonts`: those of the operator. */
export function openPdf(fonts: string[]): Pdf {
  const margins = { top: pageMargin, right: pageMargin, bottom: pageBottom, left: pageMargin }
  const doc: Document = new (loadPdfKit())({ size: 'A4', margins, bufferPages: true, lang: 'en', font: '' })
  const parts: Buffer[] = []
  const done = new Promise<Buffer>((resolve, reject) => {
    doc.on('data', (part: Buffer) => parts.push(part))
    doc.on('end', () => resolve(Buffer.concat(parts)))
    doc.on('error', reject)
  })
  const draw = drawing(doc)
  const block = (text: string | Span[], { font, size, color }: TextStyle, width?: number): Block => {
    const lines = layOut(typeof text === 'string' ? [{ text, color }] : text, { font, size }, { own: fonts, width })
    return { lines, size, height: lines.reduce((sum, line) => sum + line.ascent + line.descent, 0), ascent: lines[0]?.ascent ?? 0 }
  }
  return {
    doc,
    done,
    block,
    draw(its, { x, y, width = 0, align = 'left', ascent = its.ascent }) {
      let top = y + ascent - its.ascent
      for (const line of its.lines) {
        draw(line, { x: x + (width - line.width) * shares[align], y: top + line.ascent, size: its.size })
        top += line.ascent + line.descent
      }
    },
    write(text, style, { x, y } = { x: pageMargin, y: doc.y }) {
      doc.y = y
      for (const line of block(text, style, doc.page.width - pageMargin - x).lines) {
        if (doc.y + line.ascent + line.descent > doc.page.height - pageBottom) doc.addPage()
        draw(line, { x, y: doc.y + line.ascent, size: style.size })
        doc.y += line.ascent + line.descent
      }
    },
  }
}

/** How much of the free width is before a line. */
const shares = { left: 0, center: 0.5, right: 1 }

/** A font of a document, of which PDFKit shows nothing. */
interface Embedded {
  id: string
  /** The numbers of the glyphs of a text in the subset. */
  encode(text: string, features: never[]): [codes: string[], positions: unknown]
  ref(): object
}

/** Draws lines in a document, whose fonts have the glyphs that it uses. */
function drawing(doc: Document): (line: Line, at: { x: number; y: number; size: number }) => void {
  const fonts = new Map<Face, (glyphs: Glyph[]) => { id: string; codes: string[] }>()
  const fontOf = (face: Face) => {
    const known = fonts.get(face)
    if (known) return known
    let asked: Glyph[] = []
    const name = `${fonts.size} ${face.name}`
    // PDFKit takes a font of FontKit as it is, and asks it for the glyphs of a text: they are known already.
    doc.registerFont(
      name,
      Object.create(face.outlines, { layout: { value: () => glyphRun(asked) }, createSubset: { value: () => subsetOf(face.outlines) } }),
    )
    const { _font: font } = doc.font(name) as Document & { _font: Embedded }
    const encoded = (glyphs: Glyph[]) => {
      asked = glyphs
      const page: { fonts: Record<string, object> } = doc.page
      page.fonts[font.id] ??= font.ref()
      return { id: font.id, codes: font.encode(' ', [])[0] }
    }
    fonts.set(face, encoded)
    return encoded
  }
  return (line, { x, y, size }) => {
    doc.save().transform(1, 0, 0, -1, 0, doc.page.height).addContent('BT')
    let left = x
    for (const { face, color, glyphs, width } of line.runs) {
      const { id, codes } = fontOf(face)(glyphs)
      doc.fillColor(color)
      doc.addContent(`/${id} ${decimal(size)} Tf 1 0 0 1 ${decimal(left)} ${decimal(doc.page.height - y)} Tm`)
      const shown = glyphs.map((glyph, nth) => {
        const less = ((glyph.width - glyph.advance) * 1000) / face.em
        return `<${codes[nth]}>${less === 0 ? '' : decimal(less)}`
      })
      doc.addContent(`[${shown.join('').replaceAll('><', '')}] TJ`)
      left += width
    }
    doc.addContent('ET').restore()
  }
}

const decimal = (value: number) => String(Math.round(value * 1000) / 1000)

function glyphRun(glyphs: Glyph[]) {
  return {
    glyphs: glyphs.map((one) => ({
      id: one,
      advanceWidth: one.width,
      codePoints: Array.from(one.text, (character) => character.codePointAt(0)),
    })),
    positions: glyphs.map(() => ({})),
  }
}

/** Only once all pages are there: each names how many. */
export function numberPages({ doc, block, draw }: Pdf, words: (page: number, count: number) => string): void {
  const { start, count } = doc.bufferedPageRange()
  const width = doc.page.width - 2 * pageMargin
  for (let page = 0; page < count; page += 1) {
    doc.switchToPage(start + page)
    const its = block(words(page + 1, count), { font: 'regular', size: 8, color: colors.dim }, width)
    draw(its, { x: pageMargin, y: doc.page.height - 40, width, align: 'center' })
  }
}
