import { brandLines } from '#contract/brand.ts'
import { formatDate } from '#contract/dates.ts'
import { formatMoney, formatSums, type Money } from '#contract/money.ts'
import { bankLines, methodsFor, ownLinkUrl, type PayLine } from '#contract/pay.ts'
import { fileName } from '#contract/pay-links.ts'
import { colors, type Document, numberPages, openPdf, pageBottom, pageMargin } from '#server/platform/pdf.ts'
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
export async function statementPdf(page: StatementPage, logo: Buffer | null): Promise<Buffer> {
  const { doc, done, printable } = openPdf()
  const business = printable(page.business, page.email)
  const title = t.statementTitle(business)
  doc.info.Title = title
  doc.info.Author = business
  head(doc, {
    logo,
    colour: page.brand.colour,
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
    .fillColor(colors.ink)
    .text(page.invoices.length === 0 ? t.nothingOpen : `${formatSums(sums, '')} ${t.toPay}`)
  doc
    .font('regular')
    .fontSize(11)
    .fillColor(colors.dim)
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
  identity(
    doc,
    brandLines(page.brand)
      .map((line) => printable(line))
      .filter((line) => line !== ''),
  )
  numberPages(doc, (page, count) => `${title} · ${t.pageOf(page, count)}`)
  doc.end()
  return done
}

interface Head {
  logo: Buffer | null
  colour: string | null
  business: string
  details: string[]
}

function head(doc: Document, { logo, colour, business, details }: Head): void {
  if (logo !== null) {
    doc.image(logo, { fit: logoSides })
    doc.moveDown(0.8)
  }
  doc.font('bold').fontSize(13).fillColor(colors.ink).text(business)
  doc.font('regular').fontSize(10).fillColor(colors.dim)
  for (const line of details) doc.text(line)
  if (colour !== null) rule(doc, { y: doc.y + 10, width: 3, color: colour })
  doc.moveDown(2.5)
}

/** Under a thin line, as on client pages; nothing where a business says nothing. */
function identity(doc: Document, lines: string[]): void {
  if (lines.length === 0) return
  doc.font('regular').fontSize(9).fillColor(colors.dim)
  if (doc.y + 16 + lines.length * doc.currentLineHeight(true) > doc.page.height - pageBottom) doc.addPage()
  rule(doc, { y: doc.y, width: 0.5, color: colors.rule })
  doc.moveDown(0.8)
  for (const line of lines) doc.text(line)
}

function rule(doc: Document, { y, width, color }: { y: number; width: number; color: string }): void {
  doc
    .moveTo(pageMargin, y)
    .lineTo(doc.page.width - pageMargin, y)
    .lineWidth(width)
    .strokeColor(color)
    .stroke()
}

function table(doc: Document, invoices: StatementPage['invoices']): void {
  const begin = () => row(doc, Object.values(t.columns), 'bold', colors.dim)
  begin()
  for (const { reference, dueDate, daysOverdue, owed } of invoices) {
    // A part of a reference names nothing.
    const height = Math.max(rowHeight, doc.font('regular').fontSize(9).heightOfString(reference, { width: columns[0].width }) + 9)
    if (doc.y + height > doc.page.height - pageBottom) {
      doc.addPage()
      begin()
    }
    const late = daysOverdue > 0 ? ` · ${t.overdue(daysOverdue)}` : ''
    const amounts = [owed.total, owed.paid, owed.balance].map((amount) => formatMoney(amount, owed.currency))
    row(doc, [reference, `${formatDate(dueDate)}${late}`, ...amounts], 'regular', colors.ink, height)
  }
}

function row(doc: Document, cells: string[], font: 'regular' | 'bold', color: string, height = rowHeight): void {
  const { y } = doc
  doc.font(font).fontSize(9).fillColor(color)
  for (const [nth, { at, width, align }] of columns.entries())
    doc.text(cells[nth] ?? '', pageMargin + at, y + 5, { width, align, height: height - 9, ellipsis: true })
  rule(doc, { y: y + height, width: 0.5, color: colors.rule })
  doc.x = pageMargin
  doc.y = y + height
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
  if (doc.y + 60 > doc.page.height - pageBottom) doc.addPage()
  doc
    .font('bold')
    .fontSize(11)
    .fillColor(colors.ink)
    .text(t.pay(formatMoney(sum.amount, sum.currency)))
  doc.moveDown(0.4)
  for (const { label, shown } of lines) {
    doc
      .font('regular')
      .fontSize(10)
      .fillColor(colors.dim)
      .text(label === '' ? '' : `${label}: `, { continued: true })
      .fillColor(colors.ink)
      .text(shown)
  }
  doc.moveDown(1)
}
