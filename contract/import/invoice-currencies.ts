import { isCurrency, unknownCurrency } from '#contract/currency-codes.ts'
import { currenciesNamed, currencyOf, takeApart } from './amounts.ts'
import type { FileRow } from './csv.ts'
import { columnsOf, fieldText, type InvoiceFile } from './invoice-file.ts'
import { asked, certain, type Meaning, refused } from './meaning.ts'
import { textOf } from './table.ts'
import { texts } from './texts.ts'

export interface Currencies {
  of(row: FileRow): Meaning<string>
  /** Counts a row that waits for a question about its currency. */
  ask(row: FileRow): void
}

/**
 * The currency of each row: what the row, its column or the headings name, else that of the account where no row of the file names another. `isOut`: a row
 * that is no invoice to import.
 */
export function currenciesIn(file: InvoiceFile, rows: FileRow[], isOut: (row: FileRow) => boolean): Currencies {
  const { known, held, usual, answers, questions } = file
  const money = columnsOf(file, 'balance', 'gross', 'total', 'amount', 'item', 'paidAmount')
  const marked = money.map((at) => file.layout.headings[at]?.currency ?? '')
  const read = (row: FileRow) =>
    [
      fieldText(file, row, 'currency'),
      ...money.map((at) => takeApart(textOf(row, at), row.values?.[at])?.currency ?? ''),
      ...marked,
      ...(['amount', 'balance', 'amountPaid'] as const).map((field) => takeApart(file.edits[row.number]?.[field] ?? '')?.currency ?? ''),
    ].filter((one) => one !== '')
  const others = new Set<string>()
  for (const row of rows.filter((one) => !isOut(one)))
    for (const one of read(row)) {
      const codes = currenciesNamed(one, held)
      if (!codes.includes(usual)) for (const code of codes.length === 1 ? codes : []) others.add(code)
    }
  const found = new Map<FileRow, { meaning: Meaning<string>; choices: readonly string[] }>()
  for (const row of rows) {
    let choices: readonly string[] = []
    const ask = (id: string, possible: readonly string[]): Meaning<string> => {
      const answer = answers[id]
      if (answer !== undefined && /^[A-Z]{3}$/.test(answer) && isCurrency(answer)) return certain(answer, 'answer')
      choices = possible
      return asked(id)
    }
    const named = read(row)
    const none = known?.usual
      ? certain(known.usual, 'layout')
      : others.size > 0
        ? ask('currency/file', [usual, ...others])
        : certain(usual, 'heading')
    const told = named.length === 0 ? none : currencyOf(named, held, ask)
    found.set(row, { meaning: told.kind === 'refused' ? refused(wrongCurrency(named, held)) : told, choices })
  }
  return {
    of: (row) => found.get(row)?.meaning ?? certain(usual, 'heading'),
    ask: (row) => {
      const { meaning, choices } = found.get(row) ?? { meaning: null, choices: [] }
      if (meaning?.kind !== 'asked') return
      const id = meaning.question
      const before = questions.get(id)?.rows ?? 0
      questions.set(id, {
        id,
        rows: before + 1,
        kind: 'choice',
        about: 'currency',
        heading: id.slice('currency/'.length),
        choices: [...choices],
      })
    },
  }
}

function wrongCurrency(named: string[], held: readonly string[]): string {
  const unknown = named.find((one) => currenciesNamed(one, held).length === 0)
  if (unknown !== undefined) return unknownCurrency(unknown.slice(0, 20))
  const shown = named.map((one) => currenciesNamed(one, held)).map((codes, at) => (codes.length === 1 ? codes[0] : named[at]) ?? '')
  const [one = '', other = ''] = [...new Set(shown)]
  return texts.severalCurrencies(one, other)
}
