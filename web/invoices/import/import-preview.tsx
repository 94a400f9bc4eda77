import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import '@mantine/core/styles/NumberInput.layer.css'
import { Box, Button, Checkbox, NativeSelect, NumberInput, VisuallyHidden } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useDeferredValue, useMemo, useRef, useState } from 'react'
import { billingCalls } from '#contract/billing.ts'
import { businessCalls } from '#contract/business.ts'
import { type KeptInvoice, keptInvoice } from '#contract/import/again.ts'
import type { DateOrder } from '#contract/import/cells.ts'
import { guessColumns, guessMapping, isOwed, type Mapping, owedColumn, requiredFields } from '#contract/import/columns.ts'
import { bodyOf, type FileRow } from '#contract/import/csv.ts'
import {
  type Answers,
  balanceOf,
  type CheckedRow,
  checkRows,
  missingFrom,
  type UnknownStatus,
  unknownStatuses,
} from '#contract/import/lines.ts'
import { asTable, lacks, readAddresses, recognise, type Source, type Told } from '#contract/import/sources.ts'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { planThatLifts } from '#contract/plans.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { Allowed, useCurrency, useToday } from '#web/platform/account.tsx'
import { useApiQuery } from '#web/platform/query.ts'
import { showDate } from '#web/ui/dates.ts'
import fileStyles from '#web/ui/file-import.module.css'
import { type ChosenFile, CsvInput, FileColumnChoice, FileName, readTable } from '#web/ui/file-import.tsx'
import { fileTexts } from '#web/ui/file-texts.ts'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { Pill } from '#web/ui/panel.tsx'
import styles from './import.module.css'
import type { NotImported, Upload } from './import-dialog.tsx'
import { SaveNotImported } from './import-result.tsx'
import { texts } from './texts.ts'

const tabs = ['all', 'ready', 'update', 'missing', 'noted', 'same', 'bad', 'duplicate', 'left'] as const
type Tab = (typeof tabs)[number]

interface ImportPreviewProps {
  file: ChosenFile
  invoices: Invoice[]
  onImport: (upload: Upload) => void
  onOther: () => void
  onCancel: () => void
}

/** The column mapping and a preview of every row. Nothing is saved yet. */
export function ImportPreview({ file, invoices, onImport, onOther, onCancel }: ImportPreviewProps): ReactNode {
  const { today } = useToday()
  const usual = useCurrency()
  const languages = useApiQuery(businessCalls.read, {}, { staleTime: 60_000 }).data?.languages
  const found = useMemo(() => recognise(file.rows), [file])
  const [source, setSource] = useState(found)
  const [told, setTold] = useState<Told>({ daysToPay: null, addresses: null })
  const rows = useMemo(() => (source === null ? file.rows : asTable(file.rows, source, { ...told, usual })), [file, source, told, usual])
  const guessed = useMemo(() => {
    const guess = guessMapping(rows)
    return { ...guess, dates: told.dates ?? guess.dates }
  }, [rows, told.dates])
  const [chosen, setMapping] = useState<Mapping | null>(null)
  const mapping = chosen ?? guessed
  const [answers, setAnswers] = useState<Answers>({})
  const [tab, setTab] = useState<Tab>('all')
  const [keep, setKeep] = useState(false)
  const [again, setAgain] = useState(false)
  const [missingIsPaid, setMissingIsPaid] = useState(false)
  const sourceName = source ?? 'file'
  const deferred = useDeferredValue(mapping)
  const kept = useMemo(() => invoices.map(keptInvoice), [invoices])
  const there = useMemo(() => countKnown(rows, deferred, kept), [rows, deferred, kept])
  const fromSource = useApiQuery(invoiceCalls.list, { query: { source: sourceName } }, { enabled: there > 0 })
  const ofSource = useMemo(() => new Set((fromSource.data ?? []).map(({ reference }) => reference)), [fromSource.data])
  const missing = requiredFields.filter((field) => mapping.columns[field] === null)
  const checked = useMemo(() => {
    const onExisting = again ? ('update' as const) : ('refuse' as const)
    const about = { invoices: kept, ofSource, onExisting, today, usual, answers, ...(languages ? { languages } : {}) }
    return [...checkRows(rows, deferred, about), ...(again ? missingFrom(rows, deferred, about) : [])]
  }, [rows, deferred, kept, ofSource, again, today, usual, languages, answers])
  const unknown = useMemo(() => unknownStatuses(bodyOf(rows, deferred), deferred.columns.status), [rows, deferred])
  const head = mapping.header === null ? null : (rows[mapping.header]?.cells ?? null)
  const counts = { all: checked.length, ready: 0, update: 0, missing: 0, noted: 0, same: 0, bad: 0, duplicate: 0, left: 0 }
  for (const { state } of checked) counts[state] += 1
  const fresh = counts.ready + (keep ? counts.duplicate : 0)
  const changed = counts.update + (missingIsPaid ? counts.missing : 0)
  const wanted = fresh + changed
  const isWanted = ({ state }: CheckedRow) =>
    state === 'missing' ? missingIsPaid : state === 'duplicate' ? keep : state !== 'bad' && state !== 'left'
  const notImported = checked.flatMap((row): NotImported[] =>
    isWanted(row) || row.message === null || row.state === 'missing' ? [] : [{ row, message: row.message }],
  )
  const shown = tab === 'all' ? checked : checked.filter(({ state }) => state === tab)
  return (
    <>
      {source === null ? (
        <FileColumnChoice
          file={file}
          mapping={mapping}
          labels={texts.fields}
          required={requiredFields}
          guess={(header) => guessColumns(rows, header)}
          onChange={setMapping}
          onOther={onOther}
        />
      ) : (
        <FileName name={file.name} onOther={onOther} />
      )}
      {found !== null && (
        <div className={styles.sources}>
          <SourceChoice
            found={found}
            source={source}
            onSource={(next) => {
              setMapping(null)
              setSource(next)
            }}
          />
          {source !== null && <Asked key={source} source={source} rows={file.rows} told={told} dates={mapping.dates} onChange={setTold} />}
        </div>
      )}
      {missing.length > 0 ? (
        <p className={fileStyles.missing} role="status">
          {texts.missing(missing.map((field) => texts.fields[field].toLowerCase()).join(', '))}
        </p>
      ) : (
        <>
          <OwedNotice mapping={mapping} head={head} onChange={setMapping} />
          <StatusQuestions unknown={unknown} answers={answers} onChange={setAnswers} />
          {there > 0 && (
            <div className={styles.again}>
              <Checkbox
                label={texts.again.label(there)}
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
          <fieldset className={styles.tabs} aria-label={texts.preview}>
            {tabs.map(
              (name) =>
                (name === 'all' || counts[name] > 0 || name === 'ready') && (
                  <button key={name} type="button" className={styles.tab} aria-pressed={tab === name} onClick={() => setTab(name)}>
                    {texts.tabs[name](counts[name])}
                  </button>
                ),
            )}
          </fieldset>
          <ImportTable key={tab} rows={shown} />
          <div className={styles.below}>
            {wanted === 0 && <SaveNotImported lines={notImported} head={head} />}
            {counts.duplicate > 0 && (
              <Checkbox label={texts.keep} checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />
            )}
          </div>
        </>
      )}
      <PlanLimitNotice wanted={fresh} />
      <div className={fileStyles.buttons}>
        <Button variant="default" onClick={onCancel}>
          {texts.cancel}
        </Button>
        <Allowed by="member">
          <Button
            disabled={missing.length > 0 || wanted === 0}
            onClick={() =>
              onImport({ rows: checked.filter(isWanted), keepDuplicates: keep, update: again, source: sourceName, notImported, head })
            }
          >
            {missing.length > 0 || wanted === 0 ? texts.nothing : again ? texts.again.submit(fresh, changed) : texts.submit(wanted)}
          </Button>
        </Allowed>
      </div>
    </>
  )
}

/** How many rows have the reference of an invoice that is here already. */
function countKnown(rows: FileRow[], mapping: Mapping, kept: KeptInvoice[]): number {
  const column = mapping.columns.reference
  if (column === null) return 0
  const references = new Set(kept.map(({ reference }) => reference))
  return new Set(bodyOf(rows, mapping).flatMap(({ cells }) => (references.has(cells[column] ?? '') ? (cells[column] ?? '') : []))).size
}

interface SourceChoiceProps {
  found: Source
  /** null: columns are chosen by hand. */
  source: Source | null
  onSource: (source: Source | null) => void
}

/** The program that the file looks exported from, which can be overruled. */
function SourceChoice({ found, source, onSource }: SourceChoiceProps): ReactNode {
  const { names, other, label } = texts.source
  return (
    <NativeSelect
      label={label}
      description={texts.source.found(names[found])}
      data={[
        { value: found, label: names[found] },
        { value: '', label: other },
      ]}
      value={source ?? ''}
      onChange={(event) => onSource(event.currentTarget.value === '' ? null : found)}
    />
  )
}

interface AskedProps {
  source: Source
  rows: FileRow[]
  told: Told
  dates: DateOrder
  onChange: (told: Told) => void
}

/** Asks for what an export does not have: days until payment is due, and addresses; and how its dates are read. */
function Asked({ source, rows, told, dates, onChange }: AskedProps): ReactNode {
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const missing = useMemo(() => lacks(asTable(rows, source, { daysToPay: null, addresses: null, usual: 'INR' })), [rows, source])
  const t = texts.source
  const read = async (file: File) => {
    const table = await readTable(file)
    const addresses = table.kind === 'rows' ? readAddresses(table.rows) : null
    setProblem(addresses === null ? t.notClients : null)
    if (addresses !== null) onChange({ ...told, addresses })
  }
  return (
    <>
      <NativeSelect
        label={fileTexts.dates}
        data={Object.entries(fileTexts.dateOrders).map(([value, label]) => ({ value, label }))}
        value={dates}
        onChange={(event) => onChange({ ...told, dates: event.currentTarget.value === 'mdy' ? 'mdy' : 'dmy' })}
      />
      {missing.dueDates && (
        <NumberInput
          label={t.daysToPay}
          description={t.noDueDates}
          min={0}
          max={365}
          allowDecimal={false}
          value={told.daysToPay ?? ''}
          onChange={(days) => onChange({ ...told, daysToPay: typeof days === 'number' ? days : null })}
        />
      )}
      <div className={styles.wide}>
        {missing.emails && told.addresses === null && (
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
        )}
        <CsvInput ref={input} label={t.addClients} onFile={(file) => void read(file)} />
        <FormError message={problem} />
      </div>
    </>
  )
}

interface OwedNoticeProps {
  mapping: Mapping
  head: string[] | null
  onChange: (mapping: Mapping) => void
}

/** Warns where a total was chosen though the file has what is still owed. */
function OwedNotice({ mapping, head, onChange }: OwedNoticeProps): ReactNode {
  const owed = owedColumn(head)
  const { amount, amountPaid, balance } = mapping.columns
  if (head === null || owed === null || amount === null || balance !== null || amountPaid !== null || isOwed(head[amount])) return null
  const name = head[owed] ?? ''
  return (
    <div className={styles.above}>
      <Notice
        tone="warn"
        action={
          <Button variant="default" onClick={() => onChange({ ...mapping, columns: { ...mapping.columns, balance: owed } })}>
            {texts.chooseOwed(name)}
          </Button>
        }
      >
        {texts.owedInstead(name, head[amount] ?? '')}
      </Notice>
    </div>
  )
}

/** A column with more unknown words than this has no statuses. */
const mostAsked = 8

interface StatusQuestionsProps {
  unknown: UnknownStatus[]
  answers: Answers
  onChange: (answers: Answers) => void
}

/** Asks once per word how lines with an unknown status are imported. */
function StatusQuestions({ unknown, answers, onChange }: StatusQuestionsProps): ReactNode {
  if (unknown.length === 0) return null
  const { title, label, lines, choices, more } = texts.statuses
  return (
    <fieldset className={styles.questions}>
      <legend className={styles.questionsTitle}>{title(unknown.length)}</legend>
      {unknown.slice(0, mostAsked).map(({ key, written, lines: number }) => (
        <div key={key} className={styles.question}>
          <NativeSelect
            label={label(written)}
            description={lines(number)}
            data={[{ value: '', label: fileTexts.choosePlease }, ...Object.entries(choices).map(([value, label]) => ({ value, label }))]}
            value={answers[key] ?? ''}
            onChange={(event) => {
              const { [key]: _, ...others } = answers
              const chosen = statusChoices.find((one) => one === event.currentTarget.value)
              onChange(chosen === undefined ? others : { ...others, [key]: chosen })
            }}
          />
        </div>
      ))}
      {unknown.length > mostAsked && <p className={styles.moreAsked}>{more(unknown.length - mostAsked)}</p>}
    </fieldset>
  )
}

const statusChoices = ['unpaid', 'overdue', 'paid', 'leave'] as const

/** Warns that the plan's monthly limit leaves no room for all rows. The server enforces the limit when the import runs. */
function PlanLimitNotice({ wanted }: { wanted: number }): ReactNode {
  const subscription = useApiQuery(billingCalls.subscription)
  const left = subscription.data?.usage.invoicesLeft ?? null
  if (left === null || wanted <= left) return null
  return <Notice tone="warn">{texts.planLimit(left, wanted - left, planThatLifts('invoicesPerMonth').title)}</Notice>
}

function ImportTable({ rows }: { rows: CheckedRow[] }): ReactNode {
  const frame = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 58,
    overscan: 6,
  })
  if (rows.length === 0) return <p className={styles.noneHere}>{texts.noneHere}</p>
  const inView = virtual.getVirtualItems()
  return (
    // A scrollable region must be focusable to be scrolled by keyboard.
    <Box component="section" ref={frame} className={styles.scroll ?? ''} tabIndex={0} aria-label={texts.preview}>
      <ol className={styles.rows} style={{ height: virtual.getTotalSize(), paddingTop: inView[0]?.start ?? 0 }}>
        {inView.map(({ index, key }) => {
          const row = rows[index]
          return (
            row && (
              <li key={key} ref={virtual.measureElement} data-index={index} data-state={row.state} className={styles.row}>
                <Row row={row} />
              </li>
            )
          )
        })}
      </ol>
    </Box>
  )
}

function Row({ row }: { row: CheckedRow }): ReactNode {
  const { draft, cells } = row
  const owed = draft && balanceOf(draft)
  return (
    <>
      <span className={styles.number}>
        {row.state !== 'missing' && (
          <>
            <VisuallyHidden>{texts.row}</VisuallyHidden> {row.number}
          </>
        )}
      </span>
      {draft && owed ? (
        <>
          <span className={styles.who}>
            <span className={styles.name}>{draft.clientName}</span>
            <span className={styles.dim}>{draft.clientEmail}</span>
          </span>
          <span className={styles.sum}>
            <span className={styles.name}>{formatMoney(owed.amount, owed.currency)}</span>
            {(draft.amountPaid ?? 0) > 0 && <span className={styles.dim}>{texts.of(formatMoney(draft.amount, owed.currency))}</span>}
            <span className={styles.dim}>{showDate(draft.dueDate)}</span>
          </span>
        </>
      ) : (
        <span className={styles.raw}>{cells.filter((cell) => cell !== '').join(' · ')}</span>
      )}
      <span className={styles.verdict}>
        {row.state === 'same' && <span className={styles.dim}>{texts.again.same}</span>}
        {row.state === 'ready' && draft && <Pill tone={draft.status}>{invoiceTexts.status[draft.status]}</Pill>}
        {row.message !== null && <span className={styles.message}>{row.message}</span>}
      </span>
    </>
  )
}
