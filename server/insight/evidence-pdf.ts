import { formatDate } from '#contract/dates.ts'
import { formatMoney, fromMinor } from '#contract/money.ts'
import type { InvoiceHistory } from '#contract/reminders.ts'
import type { InvoiceRow } from '#server/invoices/tables.ts'
import { colors, numberPages, openPdf } from '#server/platform/pdf.ts'
import { evidenceTexts as t } from './texts.ts'

interface Timeline {
  row: InvoiceRow
  business: string
  history: InvoiceHistory
  /** An instant as date and time of the account. */
  local: (at: string) => string
  today: string
}

interface Event {
  at: string
  words: string
}

/** What happened to an invoice, oldest first, as a PDF (A4). */
export async function timelinePdf({ row, business, history, local, today }: Timeline): Promise<Buffer> {
  const { doc, done, printable } = openPdf()
  const title = t.timeline.title(printable(row.reference))
  doc.info.Title = title
  doc.font('bold').fontSize(20).fillColor(colors.ink).text(title)
  doc.font('regular').fontSize(10).fillColor(colors.dim)
  const money = (minor: number) => formatMoney(fromMinor(minor, row.currency), row.currency)
  for (const line of [
    printable(business),
    t.timeline.about(printable(row.clientName, row.clientEmail), row.clientEmail, money(row.amountMinor)),
    t.timeline.dates(formatDate(row.issuedOn), formatDate(row.dueDate), row.paidOn && formatDate(row.paidOn)),
    t.timeline.made(today),
    t.notLegal,
  ])
    doc.text(line)
  doc.moveDown(1.5)
  for (const { at, words } of eventsOf(row, history)) {
    if (doc.y + 30 > doc.page.height - doc.page.margins.bottom) doc.addPage()
    const { y } = doc
    doc.font('bold').fontSize(9).fillColor(colors.ink).text(local(at), doc.page.margins.left, y, { width: 100 })
    doc.font('regular').text(
      words
        .split('\n')
        .map((line) => printable(line))
        .join('\n'),
      doc.page.margins.left + 106,
      y,
    )
    doc.moveDown(0.5)
  }
  numberPages(doc, (page, count) => `${title} · ${t.timeline.page(page, count)}`)
  doc.end()
  return done
}

/** Oldest first. Local times would not do: within a minute, and when clocks go back, they do not tell which is older. */
function eventsOf(row: InvoiceRow, { mails, days, payments, answers }: InvoiceHistory): Event[] {
  // Newest first, as each part of the history is, so that events of one instant keep their order too.
  const events: Event[] = [
    ...answers.map((one) => ({ at: one.at, words: t.event.answer(one.kind, one.date && formatDate(one.date), one.message) })),
    ...payments.flatMap((one) => [
      ...(one.voidedAt === null ? [] : [{ at: one.voidedAt, words: t.event.voided(formatMoney(one.amount, one.currency)) }]),
      { at: one.recordedAt, words: t.event.payment(one.kind, formatMoney(one.amount, one.currency), formatDate(one.paidOn)) },
    ]),
    // Those with an email have it in their own line.
    ...days.filter(({ mailId }) => mailId === null).map((day) => ({ at: day.decidedAt, words: t.event.day(day.words) })),
    ...mails.map((mail) => ({ at: mail.sentAt ?? mail.createdAt, words: t.event.mail(mail) })),
    { at: row.createdAt.toString(), words: t.event.created },
  ]
  return events.toReversed().toSorted((one, other) => Temporal.Instant.compare(one.at, other.at))
}
