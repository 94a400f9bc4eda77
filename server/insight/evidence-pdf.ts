import { setImmediate } from 'node:timers/promises'
import { formatDate } from '#contract/dates.ts'
import { formatMoney, fromMinor } from '#contract/money.ts'
import type { HistoryMail, InvoiceHistory } from '#contract/reminders.ts'
import type { InvoiceRow } from '#server/invoices/tables.ts'
import { colors, numberPages, openPdf, pageBottom, pageMargin } from '#server/platform/pdf.ts'
import { isolate } from '#server/platform/pdf-text.ts'
import { evidenceTexts as t } from './texts.ts'

interface Timeline {
  row: InvoiceRow
  business: string
  history: InvoiceHistory
  /** An instant as date and time of the account. */
  local: (at: string) => string
  today: string
  /** Of the operator. */
  fonts: string[]
}

interface Event {
  at: string
  words: string
}

/** What happened to an invoice, oldest first, as a PDF (A4). */
export async function timelinePdf({ row, business, history, local, today, fonts }: Timeline): Promise<Buffer> {
  const pdf = openPdf(fonts)
  const { doc, done, write } = pdf
  doc.info.Title = t.timeline.title(row.reference)
  const title = t.timeline.title(isolate(row.reference))
  write(title, { font: 'bold', size: 20, color: colors.ink })
  const money = (minor: number) => formatMoney(fromMinor(minor, row.currency), row.currency)
  for (const line of [
    business,
    t.timeline.about(isolate(row.clientName), isolate(row.clientEmail), money(row.amountMinor)),
    t.timeline.dates(formatDate(row.issuedOn), formatDate(row.dueDate), row.paidOn && formatDate(row.paidOn)),
    t.timeline.made(today),
    t.notLegal,
  ])
    write(line, { font: 'regular', size: 10, color: colors.dim })
  doc.y += 20
  for (const [nth, { at, words }] of eventsOf(row, history).entries()) {
    // Other requests are served meanwhile.
    if (nth % 20 === 19) await setImmediate()
    if (doc.y + 30 > doc.page.height - pageBottom) doc.addPage()
    const { y } = doc
    write(local(at), { font: 'bold', size: 9, color: colors.ink })
    write(words, { font: 'regular', size: 9, color: colors.ink }, { x: pageMargin + 106, y })
    doc.y += 6
  }
  numberPages(pdf, (page, count) => `${title} · ${t.timeline.page(page, count)}`)
  doc.end()
  return done
}

/** Oldest first. Local times would not do: within a minute, and when clocks go back, they do not tell which is older. */
function eventsOf(row: InvoiceRow, { mails, days, payments, answers }: InvoiceHistory): Event[] {
  // Newest first, as each part of the history is, so that events of one instant keep their order too.
  const events: Event[] = [
    ...answers.map((one) => ({ at: one.at, words: t.event.answer(one.kind, one.date && formatDate(one.date), isolate(one.message)) })),
    ...payments.flatMap((one) => [
      ...(one.voidedAt === null ? [] : [{ at: one.voidedAt, words: t.event.voided(formatMoney(one.amount, one.currency)) }]),
      { at: one.recordedAt, words: t.event.payment(one.kind, formatMoney(one.amount, one.currency), formatDate(one.paidOn)) },
    ]),
    // Those with an email have it in their own line.
    ...days.filter(({ mailId }) => mailId === null).map((day) => ({ at: day.decidedAt, words: t.event.day(day.words) })),
    ...mails.map((mail) => ({ at: mail.sentAt ?? mail.createdAt, words: t.event.mail(isolated(mail)) })),
    { at: row.createdAt.toString(), words: t.event.created },
  ]
  return events.toReversed().toSorted((one, other) => Temporal.Instant.compare(one.at, other.at))
}

/** Its words beside ours, whichever way they run. */
function isolated(mail: HistoryMail): HistoryMail {
  return { ...mail, subject: mail.subject && isolate(mail.subject), serverReply: mail.serverReply && isolate(mail.serverReply) }
}
