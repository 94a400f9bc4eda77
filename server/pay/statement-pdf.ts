import { fileURLToPath } from 'node:url'
import PDFDocument from 'pdfkit'
import { formatDate } from '#contract/dates.ts'
import { formatMoney, formatSums, type Money } from '#contract/money.ts'
import { bankLines, methodsFor, ownLinkUrl, type PayLine } from '#contract/pay.ts'
import { fileName } from '#contract/pay-links.ts'
import { type StatementPage, statementSums } from './page.ts'
import { pageTexts as t } from './texts.ts'

type Document = PDFKit.PDFDocument

const fonts = {
  regular: fileURLToPath(import.meta.resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf')),
  bold: fileURLToPath(import.meta.resolve('@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf')),
}

const [margin, bottom] = [48, 64]
const [ink, dim, rule] = ['#141922', '#5d6778', '#c9c9bf']
const rowHeight = 22
/** Where the columns of the table begin, in points from the left margin, and how they are aligned. */
const columns = [
  { at: 0, width: 100, align: 'left' },
  { at: 105, width: 125, align: 'left' },
  { at: 232, width: 88, align: 'right' },
  { at: 322, width: 86, align: 'right' },
  { at: 410, width: 89, align: 'right' },
] as const

export function statementName({ clientName, today }: StatementPage): string {
  return fileName(`${t.statement} ${clientName} ${today}`)
}

/** The statement of a client as a PDF (A4): what is open, the sum, and how to pay. */
export async function statementPdf(page: StatementPage): Promise<Buffer> {
  const doc = new PDFDocument({ size: 'A4', margins: { top: margin, right: margin, bottom, left: margin }, bufferPages: true, lang: 'en' })
  const parts: Buffer[] = []
  const done = new Promise<Buffer>((resolve, reject) => {
    doc.on('data', (part: Buffer) => parts.push(part))
    doc.on('end', () => resolve(Buffer.concat(parts)))
    doc.on('error', reject)
  })
  doc.registerFont('regular', fonts.regular).registerFont('bold', fonts.bold)
  const isPrintable = glyphsOf(doc.font('regular'))
  /** The first of the texts that the font has letters for. */
  const printable = (...texts: string[]) => texts.map(visible).find((text) => text !== '' && isPrintable(text)) ?? ''
  const business = printable(page.business, page.email)
  const title = t.statementTitle(business)
  doc.info.Title = title
  doc.info.Author = business
  head(doc, {
    ...page,
    business,
    details: page.details
      .split('\n')
      .map((line) => printable(line))
      .filter((line) => line !== ''),
  })
  const sums = statementSums(page)
  const client = printable(page.clientName, page.clientEmail)
  doc
    .font('bold')
    .fontSize(22)
    .fillColor(ink)
    .text(page.invoices.length === 0 ? t.nothingOpen : `${formatSums(sums, '')} ${t.toPay}`)
  doc
    .font('regular')
    .fontSize(11)
    .fillColor(dim)
    .text(`${t.forClientAll(client)} · ${formatDate(page.today)}`)
  doc.moveDown(1.5)
  if (page.invoices.length > 0) {
    table(
      doc,
      page.invoices.map((invoice) => ({ ...invoice, reference: printable(invoice.reference) })),
    )
    doc.moveDown(1.5)
    for (const sum of sums) ways(doc, page, sum, (line) => ({ ...line, label: printable(line.label), shown: printable(line.shown) }))
  }
  numberPages(doc, title)
  doc.end()
  return done
}

/** Without the marks that turn the direction of a text. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim()
}

/** Whether the current font has a glyph for every character; PDFKit knows that and does not tell. */
function glyphsOf(doc: Document): (text: string) => boolean {
  const { font } = (doc as unknown as { _font: { font: { hasGlyphForCodePoint(point: number): boolean } } })._font
  return (text) => [...text].every((character) => font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0))
}

function head(doc: Document, { business, details }: { business: string; details: string[] }): void {
  doc.font('bold').fontSize(13).fillColor(ink).text(business)
  doc.font('regular').fontSize(10).fillColor(dim)
  for (const line of details) doc.text(line)
  doc.moveDown(2.5)
}

function table(doc: Document, invoices: StatementPage['invoices']): void {
  const begin = () => row(doc, Object.values(t.columns), 'bold', dim)
  begin()
  for (const { reference, dueDate, daysOverdue, owed } of invoices) {
    if (doc.y + rowHeight > doc.page.height - bottom) {
      doc.addPage()
      begin()
    }
    const late = daysOverdue > 0 ? ` · ${t.overdue(daysOverdue)}` : ''
    const amounts = [owed.total, owed.paid, owed.balance].map((amount) => formatMoney(amount, owed.currency))
    row(doc, [reference, `${formatDate(dueDate)}${late}`, ...amounts], 'regular', ink)
  }
}

function row(doc: Document, cells: string[], font: 'regular' | 'bold', color: string): void {
  const { y } = doc
  doc.font(font).fontSize(9).fillColor(color)
  for (const [nth, { at, width, align }] of columns.entries())
    doc.text(cells[nth] ?? '', margin + at, y + 5, { width, align, height: 12, ellipsis: true })
  doc
    .moveTo(margin, y + rowHeight)
    .lineTo(doc.page.width - margin, y + rowHeight)
    .lineWidth(0.5)
    .strokeColor(rule)
    .stroke()
  doc.x = margin
  doc.y = y + rowHeight
}

/** How to pay the sum of one currency. */
function ways(doc: Document, { methods }: StatementPage, sum: Money & { reference: string }, printable: (line: PayLine) => PayLine): void {
  const { upi, bank, ownLink } = methodsFor(methods, sum.currency)
  const lines = [
    ...(upi ? [{ label: t.upiId, value: upi.id, shown: upi.id }] : []),
    ...(bank ? bankLines(bank, sum.reference) : []),
    ...(ownLink ? [{ label: ownLink.label, value: '', shown: ownLinkUrl(ownLink, sum) }] : []),
  ].map(printable)
  if (lines.length === 0) return
  if (doc.y + 60 > doc.page.height - bottom) doc.addPage()
  doc
    .font('bold')
    .fontSize(11)
    .fillColor(ink)
    .text(t.pay(formatMoney(sum.amount, sum.currency)))
  doc.moveDown(0.4)
  for (const { label, shown } of lines) {
    doc
      .font('regular')
      .fontSize(10)
      .fillColor(dim)
      .text(label === '' ? '' : `${label}: `, { continued: true })
      .fillColor(ink)
      .text(shown)
  }
  doc.moveDown(1)
}

/** Only once all pages are there: each says how many. */
function numberPages(doc: Document, title: string): void {
  const { start, count } = doc.bufferedPageRange()
  for (let page = 0; page < count; page += 1) {
    doc.switchToPage(start + page)
    // Below the margin, where text begins a new page.
    doc.page.margins.bottom = 0
    const words = `${title} · ${t.pageOf(page + 1, count)}`
    doc
      .font('regular')
      .fontSize(8)
      .fillColor(dim)
      .text(words, margin, doc.page.height - 40, { width: doc.page.width - 2 * margin, align: 'center' })
  }
}
