import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/NumberInput.layer.css'
import { Button, Checkbox, NativeSelect } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { billingCalls } from '#contract/billing.ts'
import { businessCalls } from '#contract/business.ts'
import { keptInvoice } from '#contract/import/again.ts'
import { type Edits, type InvoiceField, invoiceFields } from '#contract/import/invoice-file.ts'
import type { Program } from '#contract/import/invoice-layouts.ts'
import { answersToKeep } from '#contract/import/kept.ts'
import type { Answers } from '#contract/import/meaning.ts'
import type { Addresses } from '#contract/import/people.ts'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { planThatLifts } from '#contract/plans.ts'
import { languages as usualLanguages } from '#contract/speech.ts'
import { pauseInvalidates } from '#web/invoices/invoice-state.ts'
import { Allowed, useCurrency, useToday } from '#web/platform/account.tsx'
import { KeptLayouts, useKeep, useLayouts, useRemembered } from '#web/platform/kept-layouts.tsx'
import { keptTexts } from '#web/platform/kept-texts.ts'
import { invalidate, useApiQuery } from '#web/platform/query.ts'
import { Loading } from '#web/platform/query-view.tsx'
import fileStyles from '#web/ui/file-import.module.css'
import { CsvInput } from '#web/ui/file-import.tsx'
import questionStyles from '#web/ui/file-questions.module.css'
import { Answered, Columns, Questions } from '#web/ui/file-questions.tsx'
import { FileLine, onlySheet, SheetQuestion } from '#web/ui/file-sheets.tsx'
import { fileTexts } from '#web/ui/file-texts.ts'
import { FormError, Notice } from '#web/ui/notice.tsx'
import styles from './import.module.css'
import type { ImportFile, NotImported, Upload } from './import-dialog.tsx'
import type { ReadingOfSheet, ReadRow } from './import-reading.ts'
import { SaveNotImported } from './import-result.tsx'
import { ImportRows } from './import-rows.tsx'
import { importQuestions, texts } from './texts.ts'

const tabs = ['all', 'ready', 'waits', 'update', 'missing', 'noted', 'same', 'bad', 'duplicate', 'credit', 'left'] as const
type Tab = (typeof tabs)[number]

/** Under which tab a row is shown, besides that of all. */
const tabOf = (row: ReadRow) => (row.state === 'left' && row.credit ? 'credit' : row.state)

interface ImportPreviewProps {
  file: ImportFile
  invoices: Invoice[]
  onImport: (upload: Upload) => void
  onOther: () => void
  onCancel: () => void
}

/** The sheet that is read, what it is asked about, and a preview of every row. Nothing is saved yet. */
export function ImportPreview(props: ImportPreviewProps): ReactNode {
  const { file, onOther } = props
  const [sheet, setSheet] = useState(() => onlySheet(file))
  return (
    <>
      <div className={styles.file}>
        <FileLine file={file} sheet={sheet} onSheet={() => setSheet(null)} onOther={onOther} />
      </div>
      {sheet === null ? (
        <SheetQuestion title={texts.whichSheet} file={file} onChoose={setSheet} />
      ) : (
        <SheetPreview key={sheet} {...props} sheet={sheet} />
      )}
    </>
  )
}

type Reading = ReadingOfSheet & { rows: ReadRow[] }

/** What a person says about a file. */
interface Told {
  answers: Answers
  edits: Edits
  addresses: Addresses | null
}

function SheetPreview({ file, sheet, invoices, onImport, onCancel }: ImportPreviewProps & { sheet: number }): ReactNode {
  const now = useToday().today
  // It stays while a file is looked through: rows that are read again would change.
  const [today] = useState(now)
  const usual = useCurrency()
  const languages = useApiQuery(businessCalls.read, {}, { staleTime: 60_000 }).data?.languages ?? usualLanguages
  const [told, setTold] = useState<Told>({ answers: {}, edits: {}, addresses: null })
  const layouts = useLayouts('invoices')
  const remember = useKeep(layouts)
  const [reading, setReading] = useState<Reading | null>()
  const [columnsOpen, setColumnsOpen] = useState(false)
  const [tab, setTab] = useState<Tab>('all')
  const [keep, setKeep] = useState(false)
  const [again, setAgain] = useState(false)
  const [missingIsPaid, setMissingIsPaid] = useState(false)
  /** The program that it looks exported from, which can be overruled. */
  const [found, setFound] = useState<Program | null>(null)
  const [credited, setCredited] = useState<ReadonlySet<number>>(new Set())
  const queries = useQueryClient()
  const hasCredited = useRef(false)
  // Once the file is closed: with other invoices, its rows would be other ones.
  useEffect(
    () => () => {
      if (hasCredited.current) void invalidate(queries, pauseInvalidates)
    },
    [queries],
  )
  const credit = (row: number) => {
    hasCredited.current = true
    setCredited((before) => new Set(before).add(row))
  }
  const sourceName = reading?.program ?? 'file'
  const kept = useMemo(() => invoices.map(keptInvoice), [invoices])
  const fromSource = useApiQuery(invoiceCalls.list, { query: { source: sourceName } }, { enabled: (reading?.there ?? 0) > 0 }).data
  useEffect(() => {
    let outdated = false
    const held = [...new Set([usual, ...kept.map(({ currency }) => currency)])]
    const ofSource = new Set((fromSource ?? []).map(({ reference }) => reference))
    const onExisting = again ? ('update' as const) : ('refuse' as const)
    const against = { invoices: kept, ofSource, onExisting, today, usual }
    void file.reader.read(sheet, { usual, held, languages, ...told }, against).then((read) => {
      if (outdated) return
      setReading(read)
      if (read?.program) setFound(read.program)
    })
    return () => {
      outdated = true
    }
  }, [file, sheet, told, kept, fromSource, again, today, usual, languages])
  const remembered = useRemembered('invoices', reading?.headings, (known) => {
    setReading(undefined)
    setTold((before) => ({ ...before, answers: { ...known, ...before.answers } }))
  })
  const answer = (answers: Answers) => setTold((before) => ({ ...before, answers: { ...before.answers, ...answers } }))
  const forget = (id: string) => setTold(({ answers: { [id]: _, ...answers }, ...before }) => ({ ...before, answers }))
  const edit = (row: number, field: InvoiceField, text: string) =>
    setTold((before) => ({ ...before, edits: { ...before.edits, [row]: { ...before.edits[row], [field]: text } } }))
  if (reading === undefined || (reading !== null && !remembered)) return <Loading text={fileTexts.reading} />
  if (reading === null) return <Notice tone="bad">{fileTexts.notCsv}</Notice>
  const rows: ReadRow[] = [...reading.rows, ...reading.missing]
  const counts = {
    all: rows.length,
    ready: 0,
    waits: 0,
    update: 0,
    missing: 0,
    noted: 0,
    same: 0,
    bad: 0,
    duplicate: 0,
    credit: 0,
    left: 0,
  }
  for (const row of rows) counts[tabOf(row)] += 1
  const fresh = counts.ready + (keep ? counts.duplicate : 0)
  const changed = counts.update + (missingIsPaid ? counts.missing : 0)
  const wanted = fresh + changed
  const isWanted = ({ state }: ReadRow) =>
    state === 'missing' ? missingIsPaid : state === 'duplicate' ? keep : state !== 'bad' && state !== 'left' && state !== 'waits'
  const notImported = rows.flatMap((row): NotImported[] =>
    isWanted(row) || row.message === null || row.state === 'missing' || (row.state === 'left' && row.isItem)
      ? []
      : [{ row, message: row.message }],
  )
  // Of what no row is in any more, all is shown.
  const open = tab !== 'all' && tab !== 'ready' && counts[tab] === 0 ? 'all' : tab
  const shown = open === 'all' ? rows : rows.filter((row) => tabOf(row) === open)
  const { layout: _, ...given } = told.answers
  const isKept = reading.headings !== '' && answersToKeep(told.answers).length > 0
  return (
    <>
      <Questions
        questions={reading.questions}
        words={importQuestions}
        currency={usual}
        onAnswer={answer}
        instead={{ field: 'status', text: texts.questions.noStatuses, act: () => answer({ 'column/status': '' }) }}
      />
      <div className={questionStyles.reading}>
        {found !== null && (
          <ProgramChoice
            found={found}
            isUsed={reading.program !== null}
            onUse={(used) => (used ? forget('layout') : answer({ layout: 'none' }))}
          />
        )}
        {reading.lacksEmails && told.addresses === null && (
          <AddAddresses file={file} onAdd={(addresses) => setTold((before) => ({ ...before, addresses }))} />
        )}
        <Answered answers={given} words={importQuestions} onForget={forget} />
        <details open={columnsOpen} onToggle={(event) => setColumnsOpen(event.currentTarget.open)}>
          <summary className={questionStyles.link}>{texts.columns}</summary>
          {columnsOpen && (
            <Columns fields={invoiceFields} labels={texts.fields} reading={reading} answers={told.answers} onAnswer={answer} />
          )}
        </details>
      </div>
      {reading.there > 0 && (
        <div className={styles.again}>
          <Checkbox
            label={texts.again.label(reading.there)}
            description={texts.again.hint}
            checked={again}
            onChange={(event) => {
              setAgain(event.currentTarget.checked)
              setMissingIsPaid(false)
              setTab('all')
            }}
          />
          {counts.missing > 0 && (
            <Checkbox
              label={texts.again.missing}
              description={texts.again.missingHint(counts.missing)}
              checked={missingIsPaid}
              onChange={(event) => {
                setMissingIsPaid(event.currentTarget.checked)
                setTab('missing')
              }}
            />
          )}
        </div>
      )}
      {rows.length > 0 && (
        <>
          <fieldset className={styles.tabs} aria-label={texts.preview}>
            {tabs.map(
              (name) =>
                (name === 'all' || counts[name] > 0 || name === 'ready') && (
                  <button key={name} type="button" className={styles.tab} aria-pressed={open === name} onClick={() => setTab(name)}>
                    {texts.tabs[name](counts[name])}
                  </button>
                ),
            )}
          </fieldset>
          <ImportRows
            key={open}
            rows={shown}
            head={reading.head}
            questions={reading.questions}
            invoices={invoices}
            credited={credited}
            onCredited={credit}
            onEdit={edit}
          />
          <div className={styles.below}>
            {wanted === 0 && <SaveNotImported lines={notImported} head={reading.head} />}
            {counts.duplicate > 0 && (
              <Checkbox label={texts.keep} checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />
            )}
          </div>
        </>
      )}
      {rows.length === 0 && reading.questions.length === 0 && <p className={styles.noneHere}>{texts.noRows}</p>}
      <PlanLimitNotice wanted={fresh} />
      <p className={styles.keptNote}>
        {isKept && wanted > 0 && keptTexts.kept} <KeptLayouts kind="invoices" layouts={layouts} />
      </p>
      <div className={fileStyles.buttons}>
        <Button variant="default" onClick={onCancel}>
          {texts.cancel}
        </Button>
        <Allowed by="member">
          <Button
            disabled={wanted === 0}
            onClick={() => {
              const { program, headings } = reading
              void remember({ kind: 'invoices', headings, name: program ? texts.source.names[program] : file.name, answers: told.answers })
              onImport({
                rows: rows.filter(isWanted),
                keepDuplicates: keep,
                update: again,
                source: sourceName,
                notImported,
                head: reading.head,
              })
            }}
          >
            {wanted === 0 ? texts.nothing : again ? texts.again.submit(fresh, changed) : texts.submit(wanted)}
          </Button>
        </Allowed>
      </div>
    </>
  )
}

interface ProgramChoiceProps {
  found: Program
  isUsed: boolean
  onUse: (used: boolean) => void
}

/** The program that the file looks exported from, which can be overruled. */
function ProgramChoice({ found, isUsed, onUse }: ProgramChoiceProps): ReactNode {
  const { names, other, label } = texts.source
  return (
    <NativeSelect
      className={styles.program ?? ''}
      label={label}
      description={texts.source.found(names[found])}
      data={[
        { value: found, label: names[found] },
        { value: '', label: other },
      ]}
      value={isUsed ? found : ''}
      onChange={(event) => onUse(event.currentTarget.value !== '')}
    />
  )
}

/** Asks for a list of clients, where a file has no addresses. */
function AddAddresses({ file, onAdd }: { file: ImportFile; onAdd: (addresses: Addresses) => void }): ReactNode {
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const t = texts.source
  const read = async (chosen: File) => {
    const addresses = await file.reader.addresses(chosen)
    setProblem(addresses === null ? t.notClients : null)
    if (addresses !== null) onAdd(addresses)
  }
  return (
    <div>
      <Notice
        tone="warn"
        action={
          <Button variant="default" onClick={() => input.current?.click()}>
            {t.addClients}
          </Button>
        }
      >
        {t.noEmails}
      </Notice>
      <CsvInput ref={input} label={t.addClients} onFile={(chosen) => void read(chosen)} />
      <FormError message={problem} />
    </div>
  )
}

/** Warns that the plan's monthly limit leaves no room for all rows. The server enforces the limit when the import runs. */
function PlanLimitNotice({ wanted }: { wanted: number }): ReactNode {
  const subscription = useApiQuery(billingCalls.subscription)
  const left = subscription.data?.usage.invoicesLeft ?? null
  if (left === null || wanted <= left) return null
  return <Notice tone="warn">{texts.planLimit(left, wanted - left, planThatLifts('invoicesPerMonth').title)}</Notice>
}
