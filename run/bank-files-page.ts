import { layouts } from '#contract/import/bank-layouts.ts'
import { statementFormats } from '#contract/import/formats/formats.ts'
import { headingsOf } from '#contract/import/layout.ts'

/* docs/bank-files.md, from the tables that files are read by. `npm run reference` writes it. */

const cell = (text: string) => text.replaceAll('|', '\\|')
/** A table whose columns are aligned, as the formatter writes it. */
function table(heads: string[], rows: string[][]): string {
  const all = [heads, ...rows].map((cells) => cells.map(cell))
  const widths = heads.map((_, at) => Math.max(3, ...all.map((cells) => cells[at]?.length ?? 0)))
  const line = (cells: string[]) => `| ${cells.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = all
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)].join('\n')
}

const order = { dmy: 'day first', mdy: 'month first' }

/** What of a layout is known besides what its columns are. */
function factsOf({ order: days, words, signed, isCard }: (typeof layouts)[number]): string {
  const all = Object.entries(words ?? {}).map(
    ([column, means]) =>
      `${column}: ${Object.entries(means ?? {})
        .map(([word, meaning]) => `${word} is ${meaning}`)
        .join(', ')}`,
  )
  if (days) all.unshift(`dates ${order[days]}`)
  if (signed) all.push('amounts above 0 are money in')
  if (isCard) all.push('a card: nothing is recorded')
  return all.join('; ')
}

/** The page. */
export function bankFilesPage(): string {
  const formats = statementFormats.map(({ name, title, versions, recognisedBy, asks }) => [name, title, versions, recognisedBy, asks ?? ''])
  const known = layouts.map((layout) => [
    layout.name,
    headingsOf(layout)
      .map(
        ({ written, column, isOptional }) =>
          (column === 'other' ? `${written}` : `${written}: ${column}`) + (isOptional ? ' (may be missing)' : ''),
      )
      .join('; '),
    factsOf(layout),
    layout.source,
  ])
  return `# Bank files

Import a bank file under Getting Paid. The file is read in the browser; payments that came in are compared with the open invoices, and only those that you record are kept. This page is made from the tables that files are read by:
\`npm run reference\` updates it.

What a file proves is taken: direction, state, date, amount and currency. What it does not prove is asked, in the words of the file. Nothing is recorded before you press Record. Your answers are kept for files with the same headings, or of
the same accounts; rename or delete them under Kept layouts.

## Formats that define what an entry is

${table(['Format', 'Also called', 'Versions', 'Recognised by', 'Asked'], formats)}

A ZIP archive of such files is read as one. A file of several accounts asks which one clients pay into. Pending and informational entries, reversals, and payments of the account that came back are left out by name; a batch is shown as its
payments. Other formats, such as MT950 or PDF, are refused with their name.

## Known layouts of CSV and Excel files

A file is recognised by its headings, wherever they are in its first 60 rows. Words that are not in the table are known words, or asked.

${table(['Bank or program', 'Headings, and what they are', 'Known besides', 'Source'], known)}

## Other CSV and Excel files

CSV with any separator, XLSX, XLS and ODS. Headings are compared as a whole, or by whole words, in English, German, French, Spanish, Portuguese, Italian, Dutch and Hindi, and in the languages of some more banks. A sheet that is hidden is left out
by name; where several sheets have tables, the file asks which one is read.

- **Direction**: a sign, two columns, or words such as CR and DR of which both are in the column. Otherwise it is asked.
- **State**: booked and completed are payments; pending, failed, cancelled, returned and refunded are left out; other words are asked.
- **Dates**: \`03/05/2026\` is read in the order that the workbook or another row of the column proves, or it is asked.
- **Amounts**: gross before net, so that a fee never lowers what the client paid. \`1.200\` is asked where no other amount shows what the point is.
- **Cards**: the statement of a credit card has no payments from clients.

Programs record payments by the API with explicit fields ([api.md](api.md)); nothing is guessed for them.
`
}
