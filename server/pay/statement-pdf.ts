import { setImmediate } from 'node:timers/promises'
import { brandLines } from '#contract/brand.ts'
import { formatDate } from '#contract/dates.ts'
import { formatMoney, formatSums, type Money } from '#contract/money.ts'
import { bankLines, methodsFor, ownLinkUrl } from '#contract/pay.ts'
import { fileName } from '#contract/pay-links.ts'
import {
  type Block,
  colors,
  type Document,
  numberPages,
  openPdf,
  type Pdf,
  pageBottom,
  pageMargin,
  type TextStyle,
} from '#server/platform/pdf.ts'
import { isolate } from '#server/platform/pdf-text.ts'
import { type StatementPage, statementSums } from './page.ts'
import { pageTexts as t } from './texts.ts'

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

/** The most of a logo, in points. */
const logoSides: [number, number] = [150, 50]

/** The statement of a client as a PDF (A4): what is open, the sum, how to pay, and what the business says about itself. `logo`: a PNG. */
export async function statementPdf(page: StatementPage, { logo, fonts }: { logo: Buffer | null; fonts: string[] }): Promise<Buffer> {
  const pdf = openPdf(fonts)
  const { doc, done, write } = pdf
  doc.info.Title = t.statementTitle(page.business)
  doc.info.Author = page.business
  head(pdf, page, logo)
  const sums = statementSums(page)
  write(page.invoices.length === 0 ? t.nothingOpen : `${formatSums(sums, '')} ${t.toPay}`, { font: 'bold', size: 22, color: colors.ink })
  write(`${t.forClientAll(isolate(page.clientName || page.clientEmail))} · ${formatDate(page.today)}`, {
    font: 'regular',
    size: 11,
    color: colors.dim,
  })
  doc.y += 22
  if (page.invoices.length > 0) {
    await table(pdf, page.invoices)
    doc.y += 18
    for (const sum of sums) ways(pdf, page, sum)
  }
  identity(pdf, brandLines(page.brand))
  numberPages(pdf, (nth, count) => `${t.statementTitle(isolate(page.business))} · ${t.pageOf(nth, count)}`)
  doc.end()
  return done
}

function head({ doc, write }: Pdf, { business, details, brand: { colour } }: StatementPage, logo: Buffer | null): void {
  if (logo !== null) {
    doc.image(logo, { fit: logoSides })
    doc.y += 13
  }
  write(business, { font: 'bold', size: 13, color: colors.ink })
  for (const line of details.split('\n').filter((text) => text.trim() !== '')) write(line, { font: 'regular', size: 10, color: colors.dim })
  if (colour !== null) rule(doc, { y: doc.y + 10, width: 3, color: colour })
  doc.y += 34
}

/** Under a thin line, as on client pages; nothing where a business says nothing. */
function identity({ doc, block, write }: Pdf, lines: string[]): void {
  if (lines.length === 0) return
  const style = { font: 'regular', size: 9, color: colors.dim } as const
  const { height } = block(lines.join('\n'), style, doc.page.width - 2 * pageMargin)
  if (doc.y + 10 + height > doc.page.height - pageBottom) doc.addPage()
  rule(doc, { y: doc.y, width: 0.5, color: colors.rule })
  doc.y += 10
  for (const line of lines) write(line, style)
}

function rule(doc: Document, { y, width, color }: { y: number; width: number; color: string }): void {
  doc
    .moveTo(pageMargin, y)
    .lineTo(doc.page.width - pageMargin, y)
    .lineWidth(width)
    .strokeColor(color)
    .stroke()
}

async function table(pdf: Pdf, invoices: StatementPage['invoices']): Promise<void> {
  const { doc } = pdf
  const begin = () => row(pdf, cellsOf(pdf, Object.values(t.columns), { font: 'bold', size: 9, color: colors.dim }))
  begin()
  for (const [nth, { reference, dueDate, daysOverdue, owed }] of invoices.entries()) {
    // Other requests are served meanwhile.
    if (nth % 20 === 19) await setImmediate()
    const late = daysOverdue > 0 ? ` · ${t.overdue(daysOverdue)}` : ''
    const amounts = [owed.total, owed.paid, owed.balance].map((amount) => formatMoney(amount, owed.currency))
    const cells = cellsOf(pdf, [reference, `${formatDate(dueDate)}${late}`, ...amounts], { font: 'regular', size: 9, color: colors.ink })
    if (doc.y + heightOf(cells) > doc.page.height - pageBottom) {
      doc.addPage()
      begin()
    }
    row(pdf, cells)
  }
}

const cellsOf = (pdf: Pdf, texts: string[], style: TextStyle) => columns.map(({ width }, nth) => pdf.block(texts[nth] ?? '', style, width))

/** A cell is as high as its text: a part of a reference names nothing. */
const heightOf = (cells: Block[]) => Math.max(rowHeight, ...cells.map(({ height }) => height + 9))

function row({ doc, draw }: Pdf, cells: Block[]): void {
  const ascent = Math.max(...cells.map((cell) => cell.ascent))
  for (const [nth, { at, width, align }] of columns.entries()) {
    const cell = cells[nth]
    if (cell) draw(cell, { x: pageMargin + at, y: doc.y + 5, width, align, ascent })
  }
  doc.y += heightOf(cells)
  rule(doc, { y: doc.y, width: 0.5, color: colors.rule })
}

/** How to pay the sum of one currency. */
function ways({ doc, write }: Pdf, { methods }: StatementPage, sum: Money & { reference: string }): void {
  const { upi, bank, ownLink } = methodsFor(methods, sum.currency)
  const lines = [
    ...(upi ? [{ label: t.upiId, shown: upi.id }] : []),
    ...(bank ? bankLines(bank, sum.reference) : []),
    ...(ownLink ? [{ label: ownLink.label, shown: ownLinkUrl(ownLink, sum) }] : []),
  ]
  if (lines.length === 0) return
  if (doc.y + 60 > doc.page.height - pageBottom) doc.addPage()
  write(t.pay(formatMoney(sum.amount, sum.currency)), { font: 'bold', size: 11, color: colors.ink })
  doc.y += 6
  for (const { label, shown } of lines) {
    const labelled = label === '' ? [] : [{ text: `${isolate(label)}: `, color: colors.dim }]
    write([...labelled, { text: isolate(shown), color: colors.ink }], { font: 'regular', size: 10, color: colors.ink })
  }
  doc.y += 14
}
