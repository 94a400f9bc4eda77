import { Button, NativeSelect } from '@mantine/core'
import { IconChevronLeft } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { Link } from 'react-router'
import { bankFileCalls, mostLines } from '#contract/bank-file.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { screens } from '#contract/screens.ts'
import { Allowed, useCurrency, useToday } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Loading } from '#web/platform/query-view.tsx'
import { send } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { type ChosenFile, FileColumnChoice, FileDrop } from '#web/ui/file-import.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { PageHeader, Panel } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import { guessColumns, guessMapping, isTooMuch, type NotRead, type ReadFile, readLines, requiredFields } from './bank-file.ts'
import { BankReview, type Recorded } from './bank-review.tsx'
import styles from './pay.module.css'
import { bankFileTexts as texts } from './texts.ts'

/** /dashboard/getting-paid/bank-file: which invoices the payments of a bank file pay, reviewed before they are recorded. */
export default function BankFileScreen(): ReactNode {
  const [file, setFile] = useState<ChosenFile | null>(null)
  const [recorded, setRecorded] = useState<Recorded | null>(null)
  const another = () => {
    setFile(null)
    setRecorded(null)
  }
  return (
    <>
      <Link to={screens.gettingPaid} className={styles.back}>
        <IconChevronLeft size={18} stroke={1.7} aria-hidden />
        {texts.back}
      </Link>
      <PageHeader title={texts.title} {...(recorded ? {} : { subtitle: texts.subtitle })} />
      {file ? (
        <Review key={file.name} file={file} recorded={recorded} onRecorded={setRecorded} onOther={another} />
      ) : (
        <Panel>
          <Allowed by="member" says>
            <FileDrop hint={texts.hint} columns={texts.columnsHint} onFile={setFile} />
          </Allowed>
        </Panel>
      )}
    </>
  )
}

interface ReviewProps {
  file: ChosenFile
  /** Null before, and once it is undone. */
  recorded: Recorded | null
  onRecorded: (recorded: Recorded | null) => void
  onOther: () => void
}

function Review({ file, recorded, onRecorded, onOther }: ReviewProps): ReactNode {
  const now = useToday().today
  const usual = useCurrency()
  const { data: invoices, error } = useApiQuery(invoiceCalls.list)
  const used = useMemo(() => [...new Set([usual, ...(invoices ?? []).map(({ currency }) => currency)])], [usual, invoices])
  // Stays over midnight, and the currency when another one comes into use: lines that are read again lose what was decided about them.
  const [today] = useState(now)
  const [mapping, setMapping] = useState(() => guessMapping(file.rows, today))
  const [chosen, setChosen] = useState<string | null>()
  // Where several currencies are in use, none is guessed.
  if (chosen === undefined && invoices) setChosen(used.length === 1 ? usual : null)
  const currency = chosen ?? null
  const read = useMemo(() => readLines(file.rows, mapping, { currency, today }), [file, mapping, currency, today])
  if (recorded) return <Result recorded={recorded} onUndone={() => onRecorded(null)} onOther={onOther} />
  const { date, amount } = mapping.columns
  const missing =
    amount === null
      ? texts.noAmount
      : date === null
        ? texts.noDate
        : invoices && currency === null && !read.namesCurrency
          ? texts.noCurrency
          : null
  return (
    <div className={styles.stack}>
      <Panel>
        <FileColumnChoice
          file={file}
          mapping={mapping}
          labels={texts.fields}
          required={requiredFields}
          guess={(header) => guessColumns(file.rows, header, today)}
          onChange={setMapping}
          onOther={onOther}
        >
          {!read.namesCurrency && used.length > 1 && (
            <NativeSelect
              label={texts.currency}
              data={[{ value: '', label: texts.choosePlease }, ...used]}
              value={currency ?? ''}
              onChange={(event) => setChosen(event.currentTarget.value || null)}
            />
          )}
        </FileColumnChoice>
        <LeftOut read={read} />
      </Panel>
      {missing !== null ? (
        <EmptyState text={missing} />
      ) : !invoices ? (
        error ? (
          <FormError message={texts.failed(errorMessage(error))} />
        ) : (
          <Loading text={texts.loading} />
        )
      ) : read.lines.length === 0 ? (
        <EmptyState text={texts.noLines} />
      ) : isTooMuch(read.lines) ? (
        <Notice tone="bad">{texts.tooMany(mostLines.toLocaleString('en-IN'))}</Notice>
      ) : (
        <BankReview lines={read.lines} invoices={invoices} onRecorded={onRecorded} />
      )}
    </div>
  )
}

/** What of the file is not reviewed, and why. */
function LeftOut({ read: { out, notRead } }: { read: ReadFile }): ReactNode {
  const byReason = Map.groupBy(notRead, ({ why }) => why)
  const words = [...byReason].map(([why, rows]: [NotRead, { number: number }[]]) => texts.notRead[why](rows.map(({ number }) => number)))
  if (out > 0) words.push(texts.out(out))
  return words.length > 0 && <p className={styles.none}>{words.join(' ')}</p>
}

/** What was recorded, and its undo. */
function Result({ recorded: done, onUndone, onOther }: { recorded: Recorded; onUndone: () => void; onOther: () => void }): ReactNode {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState(done.problem)
  const all = done.recorded === done.asked
  const undo = async () => {
    setBusy(true)
    setProblem(null)
    try {
      let takenBack = 0
      for (const id of done.importIds) takenBack += (await send(bankFileCalls.undo, { params: { id } })).takenBack
      await queries.invalidateQueries()
      toast('good', texts.undone(takenBack))
      onUndone()
    } catch (error) {
      setProblem(texts.undoFailed(errorMessage(error)))
      setBusy(false)
    }
  }
  return (
    <Panel>
      <p className={styles.done} role="status">
        {texts.done(done.recorded, all ? done.sums : '', done.paid)}
        {!all && done.problem === null && ` ${texts.some}`}
      </p>
      <FormError message={problem} />
      <div className={styles.acts}>
        {done.recorded > 0 && (
          <BusyButton variant="default" busy={busy} busyText={texts.undoing} onClick={() => void undo()}>
            {texts.undo}
          </BusyButton>
        )}
        <Button variant="default" onClick={onOther}>
          {texts.another}
        </Button>
        <Button component={Link} to={screens.gettingPaid}>
          {texts.finish}
        </Button>
      </div>
    </Panel>
  )
}
