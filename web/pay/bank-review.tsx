import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { type BankMatch, bankFileCalls } from '#contract/bank-file.ts'
import { type BankReading, lineOf, type ReadLine } from '#contract/import/bank.ts'
import type { Invoice } from '#contract/invoices.ts'
import { formatSums, sumByCurrency } from '#contract/money.ts'
import { Allowed, useCurrency } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { patiently, send } from '#web/platform/send.ts'
import { BusyButton, TryAgain } from '#web/ui/buttons.tsx'
import questionStyles from '#web/ui/file-questions.module.css'
import { FormError, Notice } from '#web/ui/notice.tsx'
import styles from './bank.module.css'
import { InvoiceChoice } from './bank-invoice-choice.tsx'
import { BankList, type Choice, sharesOf } from './bank-list.tsx'
import type { BankFileReader } from './bank-reading.ts'
import { isTooMuch, type ShownRow, shownRows } from './bank-rows.ts'
import { bankFileTexts as texts } from './bank-texts.ts'

/** The lines of each currency. */
function byCurrency(lines: ReadLine[]): [string, ReadLine[]][] {
  return [...Map.groupBy(lines, ({ currency }) => currency)]
}

/** Which invoices the lines pay, by the numbers of their rows. */
async function match(lines: ReadLine[]): Promise<Map<number, BankMatch>> {
  const found = new Map<number, BankMatch>()
  for (const [currency, its] of byCurrency(lines)) {
    const matches = await patiently(() => send(bankFileCalls.match, { body: { lines: its.map(({ line }) => line), currency } }))
    for (const one of matches) {
      const number = its[one.line]?.number
      if (number !== undefined) found.set(number, one)
    }
  }
  return found
}

export interface Recorded {
  importIds: string[]
  recorded: number
  paid: number
  /** Of how many payments how much was asked. */
  asked: number
  sums: string
  /** Why a part was not recorded. */
  problem: string | null
}

interface BankReviewProps {
  file: BankFileReader
  sheet: number
  reading: BankReading
  invoices: Invoice[]
  onRecorded: (recorded: Recorded) => void
}

/** In ms: answers that follow each other are compared with the invoices once. */
const settled = 250

/** What is recorded, what waits for an answer and what is left out, until it is recorded. */
export function BankReview({ file, sheet, reading, invoices, onRecorded }: BankReviewProps): ReactNode {
  const queries = useQueryClient()
  const usual = useCurrency()
  const lines = useMemo(() => reading.rows.flatMap((row) => lineOf(row) ?? []), [reading])
  const [matches, setMatches] = useState<{ of: ReadLine[]; found: ReadonlyMap<number, BankMatch> }>({ of: [], found: new Map() })
  const [attempt, setAttempt] = useState(0)
  const [choices, setChoices] = useState<Record<number, Choice>>({})
  const [choosing, setChoosing] = useState<ReadLine | null>(null)
  const [withOut, setWithOut] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [unmatched, setUnmatched] = useState<string | null>(null)
  const tooMuch = useMemo(() => isTooMuch(lines), [lines])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt compares the same lines again.
  useEffect(() => {
    if (tooMuch) return
    let outdated = false
    setUnmatched(null)
    const wait = setTimeout(() => {
      match(lines).then(
        (found) => !outdated && setMatches({ of: lines, found }),
        (error: unknown) => !outdated && setUnmatched(texts.failed(errorMessage(error))),
      )
    }, settled)
    return () => {
      outdated = true
      clearTimeout(wait)
    }
  }, [lines, tooMuch, attempt])
  const rows = useMemo(() => shownRows(reading.rows, matches.found, { withOut }), [reading, matches, withOut])
  const byId = useMemo(() => new Map(invoices.map((invoice) => [invoice._id, invoice])), [invoices])
  if (tooMuch) return <Notice tone="bad">{texts.tooMany}</Notice>
  const isCompared = matches.of === lines
  const isTicked = ({ row, group, line }: ShownRow) => line !== null && (choices[row.number]?.ticked ?? group === 'sure')
  const wanted = rows.filter((one) => isTicked(one) && sharesOf(one, choices[one.row.number]).length > 0)
  const asked = wanted.flatMap((one) => sharesOf(one, choices[one.row.number])).length
  const choose = (number: number, choice: Partial<Choice>) =>
    setChoices((before) => ({ ...before, [number]: { ticked: false, invoice: null, ...before[number], ...choice } }))
  const sums = formatSums(
    sumByCurrency(
      wanted.flatMap(({ line }) => (line ? [{ currency: line.currency, amount: line.line.amount }] : [])),
      usual,
    ),
    usual,
  )
  const out = reading.rows.filter(({ left }) => left === 'out').length
  const count = (...groups: ShownRow['group'][]) => rows.filter(({ group }) => groups.includes(group)).length

  const record = async () => {
    setBusy(true)
    setProblem(null)
    const shares = new Map(wanted.map((one) => [one.row.number, sharesOf(one, choices[one.row.number])]))
    const done: Recorded = { importIds: [], recorded: 0, paid: 0, asked, sums, problem: null }
    try {
      // Each currency is an import of its own: what the first recorded can be undone also if the next fails.
      for (const [currency, its] of byCurrency(lines)) {
        if (!its.some(({ number }) => shares.has(number))) continue
        // The other lines are sent too: equal transfers of one day differ by their order only.
        const body = { lines: its.map(({ line, number }) => ({ ...line, invoices: shares.get(number) ?? [] })), currency }
        const { importId, recorded, paid } = await send(bankFileCalls.import, { body })
        done.importIds.push(importId)
        done.recorded += recorded
        done.paid += paid
      }
      await queries.invalidateQueries()
      onRecorded(done)
    } catch (error) {
      const message = errorMessage(error)
      setProblem(texts.recordFailed(message))
      setBusy(false)
      if (done.importIds.length === 0) return
      await queries.invalidateQueries()
      onRecorded({ ...done, problem: texts.restFailed(message) })
    }
  }

  return (
    <>
      <div className={styles.head}>
        <h2 className={styles.title}>{texts.review}</h2>
        <p role="status">
          {isCompared ? texts.summary({ sure: count('sure'), waits: count('waits'), left: count('left', 'recorded') }) : texts.loading}
        </p>
      </div>
      {unmatched !== null && (
        <Notice tone="bad" action={<TryAgain busy={false} onRetry={() => setAttempt((before) => before + 1)} />}>
          {unmatched}
        </Notice>
      )}
      <BankList
        rows={rows}
        questions={reading.questions}
        byId={byId}
        choices={choices}
        isTicked={isTicked}
        cells={(row) => file.cells(sheet, row)}
        onTick={(row, ticked) => choose(row, { ticked })}
        onChoose={setChoosing}
      />
      {out > 0 && (
        <button type="button" className={questionStyles.link} onClick={() => setWithOut(!withOut)}>
          {withOut ? texts.hideOut : texts.showOut(out)}
        </button>
      )}
      <InvoiceChoice
        read={choosing}
        invoices={invoices}
        onClose={() => setChoosing(null)}
        onChoose={(invoice) => {
          if (choosing !== null) choose(choosing.number, { ticked: true, invoice })
          setChoosing(null)
        }}
      />
      <FormError message={problem} />
      <div className={styles.foot}>
        <p>{texts.subtitle}</p>
        <Allowed by="member">
          <BusyButton
            size="md"
            busy={busy}
            busyText={texts.recording}
            disabled={wanted.length === 0 || !isCompared}
            onClick={() => void record()}
          >
            {wanted.length === 0 ? texts.record(0) : texts.recordSum(asked, sums)}
          </BusyButton>
        </Allowed>
      </div>
    </>
  )
}
