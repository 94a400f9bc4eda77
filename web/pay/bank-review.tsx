import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, startTransition, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { type BankMatch, bankFileCalls, mostLines } from '#contract/bank-file.ts'
import { type ReadLine, returnDays, type TakenBack } from '#contract/import/bank.ts'
import { answersToKeep } from '#contract/import/kept.ts'
import { type Answers, known } from '#contract/import/meaning.ts'
import { type Invoice, owedAmount } from '#contract/invoices.ts'
import { formatSums, sumByCurrency, toMinor } from '#contract/money.ts'
import { Allowed, useCurrency } from '#web/platform/account.tsx'
import { KeptLayouts, useKeep, useLayouts } from '#web/platform/kept-layouts.tsx'
import { keptTexts } from '#web/platform/kept-texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { newKey, patiently, send, sendIdempotent } from '#web/platform/send.ts'
import { BusyButton, TryAgain } from '#web/ui/buttons.tsx'
import questionStyles from '#web/ui/file-questions.module.css'
import { FormError, Notice } from '#web/ui/notice.tsx'
import styles from './bank.module.css'
import { InvoiceChoice } from './bank-invoice-choice.tsx'
import { BankList, type Choice, sharesOf } from './bank-list.tsx'
import type { BankFileReader, ReadFile } from './bank-reading.ts'
import { type ShownRow, shownRows, withoutOverpaying } from './bank-rows.ts'
import { bankFileTexts as texts } from './bank-texts.ts'

/** Which invoices the lines pay, by the numbers of their rows. */
async function match({ calls }: ReadFile, byId: ReadonlyMap<string, Invoice>): Promise<Map<number, BankMatch>> {
  const all: BankMatch[] = []
  const lines = calls.flat()
  for (const part of calls) {
    const matches = await patiently(() => send(bankFileCalls.match, { body: { lines: part.map(({ line }) => line) } }))
    const before = all.length
    all.push(...matches.map((one) => ({ ...one, line: before + one.line })))
  }
  const minor = (amount: number, currency: string | undefined) => (currency === undefined ? 0 : (toMinor(amount, currency) ?? 0))
  const checked = withoutOverpaying(all, {
    owedOf: (id) => {
      const invoice = byId.get(id)
      return invoice ? minor(owedAmount(invoice), invoice.currency) : Number.POSITIVE_INFINITY
    },
    minorOf: (one, amount) => minor(amount, lines[one.line]?.currency),
    reason: texts.paidByOthers,
  })
  return new Map(checked.flatMap((one) => (lines[one.line] ? [[lines[one.line]?.number ?? 0, one] as const] : [])))
}

/** What the file takes back of payments that were recorded before. It is no reason to wait, nor to refuse the file where it cannot be found out. */
async function returnsOf(file: BankFileReader, { rows }: ReadFile): Promise<TakenBack> {
  const days = rows.flatMap(({ left, date }) => (left === 'out' || left === 'returned' ? (known(date) ?? []) : [])).toSorted()
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return new Map()
  try {
    const from = new Date(Date.parse(first) - returnDays * 86_400_000).toISOString().slice(0, 10)
    const recorded = await patiently(() => send(bankFileCalls.recorded, { query: { from, to: last } }))
    return recorded.length === 0 ? new Map() : await file.returns(recorded)
  } catch {
    return new Map()
  }
}

export interface Recorded {
  importId: string
  recorded: number
  paid: number
  takenBack: number
  /** Of how many payments how much was asked. */
  asked: number
  sums: string
}

interface BankReviewProps {
  file: { name: string; reader: BankFileReader }
  sheet: number
  reading: ReadFile
  answers: Answers
  invoices: Invoice[]
  onRecorded: (recorded: Recorded) => void
}

const noRows: ShownRow[] = []

/** In ms: answers that follow each other are compared with the invoices once. */
const settled = 250

/** What is recorded, what waits for an answer and what is left out, until it is recorded. */
export function BankReview({ file, sheet, reading, answers, invoices, onRecorded }: BankReviewProps): ReactNode {
  const queries = useQueryClient()
  const usual = useCurrency()
  const { lines } = reading
  const hasAnswers = answersToKeep(answers).length > 0
  const [matches, setMatches] = useState<{ of: ReadonlyMap<number, ReadLine>; found: ReadonlyMap<number, BankMatch> }>({
    of: new Map(),
    found: new Map(),
  })
  const layouts = useLayouts('bank')
  const keep = useKeep(layouts)
  const [attempt, setAttempt] = useState(0)
  const [choices, setChoices] = useState<Record<number, Choice>>({})
  const [choosing, setChoosing] = useState<ReadLine | null>(null)
  const [withOut, setWithOut] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [unmatched, setUnmatched] = useState<string | null>(null)
  /** Repeated after a lost answer, the import is the same one. */
  const key = useRef<{ of: string; key: string } | null>(null)
  const byId = useMemo(() => new Map(invoices.map((invoice) => [invoice._id, invoice])), [invoices])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt compares the same lines again.
  useEffect(() => {
    let outdated = false
    setUnmatched(null)
    const wait = setTimeout(() => {
      match(reading, byId).then(
        (found) => !outdated && startTransition(() => setMatches({ of: lines, found })),
        (error: unknown) => !outdated && setUnmatched(texts.failed(errorMessage(error))),
      )
    }, settled)
    return () => {
      outdated = true
      clearTimeout(wait)
    }
  }, [lines, attempt])
  const [takenBack, setTakenBack] = useState<TakenBack>(new Map())
  useEffect(() => {
    let outdated = false
    void returnsOf(file.reader, reading).then((found) => !outdated && setTakenBack(found))
    return () => {
      outdated = true
    }
  }, [file, reading])
  const rows = useMemo(
    () => shownRows(reading.rows, { lines, matches: matches.found, takenBack, withOut }),
    [reading, lines, matches, takenBack, withOut],
  )
  // The list follows in a task of its own: together, ten thousand rows would stop the page for too long.
  const listed = useDeferredValue(rows, noRows)
  const isCompared = matches.of === lines
  const isTicked = ({ row, group, line, takesBack }: ShownRow) =>
    (line !== null || takesBack.length > 0) && (choices[row.number]?.ticked ?? group === 'sure')
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is ticked depends on the choices.
  const wanted = useMemo(() => rows.filter((one) => isTicked(one) && sharesOf(one, choices[one.row.number]).length > 0), [rows, choices])
  const backs = rows.flatMap(({ row, takesBack }) => (choices[row.number]?.ticked ? takesBack : []))
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
  const out = useMemo(() => reading.rows.filter(({ left }) => left === 'out').length, [reading])
  /** Money out that is not shown for what it takes back. */
  const plainOut = useMemo(
    () => reading.rows.filter(({ left, number }) => left === 'out' && !takenBack.has(number)).length,
    [reading, takenBack],
  )
  const counts = useMemo(() => Map.groupBy(rows, ({ group }) => group), [rows])
  const count = (...groups: ShownRow['group'][]) => groups.reduce((sum, group) => sum + (counts.get(group)?.length ?? 0), 0)

  const record = async () => {
    setBusy(true)
    setProblem(null)
    const chosen = wanted.flatMap((one) => (one.line ? [{ ...one.line.line, invoices: sharesOf(one, choices[one.row.number]) }] : []))
    const takeBack = backs.map(({ _id }) => _id)
    const of = JSON.stringify([chosen, takeBack])
    if (key.current?.of !== of) key.current = { of, key: newKey() }
    try {
      const { importId, recorded, paid, takenBack } = await sendIdempotent(
        bankFileCalls.import,
        { body: { lines: chosen, ...(takeBack.length > 0 ? { takeBack } : {}) } },
        `bank-${key.current.key}`,
      )
      await keep({ kind: 'bank', headings: reading.headings, name: reading.layout ?? file.name, answers })
      await queries.invalidateQueries()
      onRecorded({ importId, recorded, paid, takenBack, asked, sums })
    } catch (error) {
      setProblem(texts.recordFailed(errorMessage(error)))
      setBusy(false)
    }
  }

  const recordText = sums === '' ? texts.record(asked) : texts.recordSum(asked, sums)
  const submit =
    backs.length === 0 ? recordText : asked === 0 ? texts.takeBackOnly(backs.length) : recordText + texts.andTakeBack(backs.length)

  return (
    <>
      <div className={styles.head}>
        <h2 className={styles.title}>{texts.review}</h2>
        <p role="status">
          {out === reading.rows.length && takenBack.size === 0
            ? texts.noLines
            : isCompared
              ? texts.summary({ sure: count('sure'), waits: count('waits'), left: count('left', 'recorded') })
              : texts.loading}
        </p>
      </div>
      {unmatched !== null && (
        <Notice tone="bad" action={<TryAgain busy={false} onRetry={() => setAttempt((before) => before + 1)} />}>
          {unmatched}
        </Notice>
      )}
      {listed.length > 0 && (
        <BankList
          rows={listed}
          questions={reading.questions}
          byId={byId}
          choices={choices}
          isTicked={isTicked}
          cells={(row) => file.reader.cells(sheet, row)}
          onTick={(row, ticked) => choose(row, { ticked })}
          onChoose={setChoosing}
        />
      )}
      {plainOut > 0 && (
        <button type="button" className={questionStyles.link} onClick={() => startTransition(() => setWithOut(!withOut))}>
          {withOut ? texts.hideOut : texts.showOut(plainOut)}
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
        <p>
          {wanted.length > mostLines ? texts.tooMany : reading.headings === '' || !hasAnswers ? texts.subtitle : keptTexts.kept}{' '}
          <KeptLayouts kind="bank" layouts={layouts} />
        </p>
        <Allowed by="member">
          <BusyButton
            size="md"
            busy={busy}
            busyText={texts.recording}
            disabled={(wanted.length === 0 && backs.length === 0) || wanted.length > mostLines || !isCompared}
            onClick={() => void record()}
          >
            {submit}
          </BusyButton>
        </Allowed>
      </div>
    </>
  )
}
