import { Button } from '@mantine/core'
import { IconChevronLeft } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, startTransition, useEffect, useMemo, useRef, useState } from 'react'
import { Link } from 'react-router'
import { bankFileCalls } from '#contract/bank-file.ts'
import { bankFields } from '#contract/import/bank.ts'
import type { Answers } from '#contract/import/meaning.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { screens } from '#contract/screens.ts'
import { Allowed, useCurrency, useToday } from '#web/platform/account.tsx'
import { KeptLayouts, useLayouts, useRemembered } from '#web/platform/kept-layouts.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Loading } from '#web/platform/query-view.tsx'
import { send } from '#web/platform/send.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FileDrop } from '#web/ui/file-import.tsx'
import styles from '#web/ui/file-questions.module.css'
import { Answered, Columns, Questions } from '#web/ui/file-questions.tsx'
import { FileLine, onlySheet, SheetQuestion } from '#web/ui/file-sheets.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { PageHeader, Panel } from '#web/ui/panel.tsx'
import { EmptyState } from '#web/ui/plain.tsx'
import { toast } from '#web/ui/toast.tsx'
import { BankFileReader, type OpenedFile, type ReadFile } from './bank-reading.ts'
import { BankReview, type Recorded } from './bank-review.tsx'
import { bankQuestions, bankFileTexts as texts } from './bank-texts.ts'
import payStyles from './pay.module.css'

interface OpenFile extends OpenedFile {
  name: string
  reader: BankFileReader
}

/** /dashboard/getting-paid/bank-file: which invoices the payments of a bank file pay, reviewed before they are recorded. */
export default function BankFileScreen(): ReactNode {
  const [file, setFile] = useState<OpenFile | null>(null)
  const [sheet, setSheet] = useState<number | null>(null)
  const [recorded, setRecorded] = useState<Recorded | null>(null)
  useEffect(() => () => file?.reader.close(), [file])
  const another = () => {
    setFile(null)
    setRecorded(null)
  }
  const open = (opened: OpenFile) => {
    setSheet(onlySheet(opened))
    setFile(opened)
  }
  return (
    <>
      <Link to={screens.gettingPaid} className={payStyles.back}>
        <IconChevronLeft size={18} stroke={1.7} aria-hidden />
        {texts.back}
      </Link>
      <PageHeader title={texts.title} {...(file ? {} : { subtitle: texts.subtitle })}>
        {file && (
          <FileLine file={file} sheet={sheet} onSheet={() => setSheet(null)} onOther={another}>
            {file.statement && <span>{texts.statement(file.statement.formats, file.statement.accounts)}</span>}
          </FileLine>
        )}
      </PageHeader>
      {!file ? (
        <Panel>
          <Allowed by="member" says>
            <Choose onOpen={open} />
          </Allowed>
        </Panel>
      ) : sheet === null ? (
        <SheetQuestion title={texts.whichSheet} file={file} onChoose={setSheet} />
      ) : (
        <Review key={`${file.name}-${sheet}`} file={file} sheet={sheet} recorded={recorded} onRecorded={setRecorded} onOther={another} />
      )}
    </>
  )
}

function Choose({ onOpen }: { onOpen: (file: OpenFile) => void }): ReactNode {
  const [reading, setReading] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  /** The last file wins over one that is still being opened. */
  const latest = useRef<BankFileReader | null>(null)
  useEffect(
    () => () => {
      latest.current = null
    },
    [],
  )
  const read = async (file: File) => {
    latest.current?.close()
    const reader = new BankFileReader()
    latest.current = reader
    setProblem(null)
    setReading(true)
    const opened = await reader.open(file)
    if (latest.current !== reader) return reader.close()
    setReading(false)
    if (opened.kind === 'opened') return onOpen({ ...opened, name: file.name, reader })
    reader.close()
    setProblem(opened.kind === 'refused' ? opened.message : texts.unread[opened.why])
  }
  const layouts = useLayouts('bank')
  return (
    <>
      <FileDrop
        title={texts.drop}
        hint={texts.hint}
        columns={texts.columnsHint}
        reading={reading}
        problem={problem}
        onFile={(file) => void read(file)}
      />
      <KeptLayouts kind="bank" layouts={layouts} />
    </>
  )
}

interface ReviewProps {
  file: OpenFile
  sheet: number
  /** Null before, and once it is undone. */
  recorded: Recorded | null
  onRecorded: (recorded: Recorded | null) => void
  onOther: () => void
}

function Review({ file, sheet, recorded, onRecorded, onOther }: ReviewProps): ReactNode {
  const now = useToday().today
  const usual = useCurrency()
  const { data: invoices, error } = useApiQuery(invoiceCalls.list)
  // Both stay while a file is reviewed: lines that are read again lose what was decided about them.
  const [today] = useState(now)
  const [held, setHeld] = useState<string[]>()
  if (held === undefined && invoices) setHeld([...new Set([usual, ...invoices.map(({ currency }) => currency)])])
  const [answers, setAnswers] = useState<Answers>({})
  const [reading, setReading] = useState<ReadFile | null>()
  const [columnsOpen, setColumnsOpen] = useState(false)
  useEffect(() => {
    if (!held) return
    let outdated = false
    void file.reader.read(sheet, { today, held, answers }).then((read) => {
      // In pieces between which the page answers: a year has ten thousand rows.
      if (!outdated) startTransition(() => setReading(read))
    })
    return () => {
      outdated = true
    }
  }, [file, sheet, today, held, answers])
  const remembered = useRemembered('bank', reading?.headings, (known) => {
    setReading(undefined)
    setAnswers((before) => ({ ...known, ...before }))
  })
  const answer = (given: Answers) => setAnswers((before) => ({ ...before, ...given }))
  const forget = (id: string) => setAnswers(({ [id]: _, ...others }) => others)
  const waits = useMemo(() => reading?.questions ?? [], [reading])
  if (recorded) return <Result recorded={recorded} onUndone={() => onRecorded(null)} onOther={onOther} />
  if (!invoices || reading === undefined || (reading !== null && !remembered))
    return error ? <FormError message={texts.failed(errorMessage(error))} /> : <Loading text={texts.opening} />
  if (reading === null) return <Notice tone="bad">{texts.unread.workbook}</Notice>
  if (reading.isCard) return <EmptyState text={texts.cardStatement} />
  return (
    <>
      <Questions
        questions={waits}
        words={bankQuestions}
        currency={held?.[0] ?? usual}
        onAnswer={answer}
        instead={{ field: 'amount', text: texts.questions.twoColumns, act: () => setColumnsOpen(true) }}
      />
      <div className={styles.reading}>
        <Answered answers={answers} words={bankQuestions} onForget={forget} />
        {reading.choosable.length > 0 && (
          <details open={columnsOpen} onToggle={(event) => setColumnsOpen(event.currentTarget.open)}>
            <summary className={styles.link}>{texts.columns}</summary>
            {columnsOpen && <Columns fields={bankFields} labels={texts.fields} reading={reading} answers={answers} onAnswer={answer} />}
          </details>
        )}
      </div>
      {reading.notes.length > 0 && (
        <ul className={styles.notes} aria-label={texts.notes}>
          {reading.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {reading.rows.length > 0 ? (
        <BankReview file={file} sheet={sheet} reading={reading} answers={answers} invoices={invoices} onRecorded={onRecorded} />
      ) : (
        waits.length === 0 && <EmptyState text={texts.noLines} />
      )}
    </>
  )
}

/** What was recorded, and its undo. */
function Result({ recorded: done, onUndone, onOther }: { recorded: Recorded; onUndone: () => void; onOther: () => void }): ReactNode {
  const queries = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const all = done.recorded === done.asked
  const undo = async () => {
    setBusy(true)
    setProblem(null)
    try {
      const { takenBack } = await send(bankFileCalls.undo, { params: { id: done.importId } })
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
      <p className={payStyles.done} role="status">
        {done.takenBack > 0 && done.asked === 0 ? '' : texts.done(done.recorded, all ? done.sums : '', done.paid)}
        {!all && ` ${texts.some}`}
        {done.takenBack > 0 && ` ${texts.undone(done.takenBack)}`}
      </p>
      <FormError message={problem} />
      <div className={payStyles.acts}>
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
