import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type PDFDocument from 'pdfkit'

export type Document = PDFKit.PDFDocument

const fonts = {
  regular: fileURLToPath(import.meta.resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf')),
  bold: fileURLToPath(import.meta.resolve('@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf')),
}

export const pageMargin = 48
export const pageBottom = 64
export const colors = { ink: '#141922', dim: '#5d6778', rule: '#c9c9bf' }

/** Some fifty modules, and few processes make a PDF. */
const loadPdfKit = () => createRequire(import.meta.url)('pdfkit') as typeof PDFDocument

/** A PDF (A4) with the fonts `regular` and `bold`; `done` has its bytes once it is ended. */
export function openPdf(): { doc: Document; done: Promise<Buffer>; printable: (...texts: string[]) => string } {
  const margins = { top: pageMargin, right: pageMargin, bottom: pageBottom, left: pageMargin }
  const doc = new (loadPdfKit())({ size: 'A4', margins, bufferPages: true, lang: 'en' })
  const parts: Buffer[] = []
  const done = new Promise<Buffer>((resolve, reject) => {
    doc.on('data', (part: Buffer) => parts.push(part))
    doc.on('end', () => resolve(Buffer.concat(parts)))
    doc.on('error', reject)
  })
  doc.registerFont('regular', fonts.regular).registerFont('bold', fonts.bold)
  const isPrintable = glyphsOf(doc.font('regular'))
  return {
    doc,
    done,
    /** The first of the texts that the font has letters for; '' for none. */
    printable: (...texts) => texts.map(visible).find((text) => text !== '' && isPrintable(text)) ?? '',
  }
}

/** Without the marks that turn the direction of a text. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim()
}

/** Whether the current font has a glyph for every character; PDFKit knows that and does not expose it. */
function glyphsOf(doc: Document): (text: string) => boolean {
  const { font } = (doc as unknown as { _font: { font: { hasGlyphForCodePoint(point: number): boolean } } })._font
  return (text) => [...text].every((character) => font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0))
}

/** Only once all pages are there: each says how many. */
export function numberPages(doc: Document, words: (page: number, count: number) => string): void {
  const { start, count } = doc.bufferedPageRange()
  for (let page = 0; page < count; page += 1) {
    doc.switchToPage(start + page)
    // Below the margin, where text begins a new page.
    doc.page.margins.bottom = 0
    doc
      .font('regular')
      .fontSize(8)
      .fillColor(colors.dim)
      .text(words(page + 1, count), pageMargin, doc.page.height - 40, { width: doc.page.width - 2 * pageMargin, align: 'center' })
  }
}
