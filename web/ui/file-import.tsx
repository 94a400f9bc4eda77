import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Button, Checkbox, Loader, NativeSelect, VisuallyHidden } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconFileUpload } from '@tabler/icons-react'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { bodyOf, type FileMapping, type FileRow, type Table } from '#contract/import/csv.ts'
import type { Opened } from '#contract/import/table.ts'
import styles from './file-import.module.css'
import { fileTexts as texts } from './file-texts.ts'
import { FormError } from './notice.tsx'
import { fileLimits } from './open-sheets.ts'

const maxBytes = 10 * 1024 * 1024
const maxRows = fileLimits.rows

export interface ChosenFile {
  name: string
  rows: FileRow[]
}

/** The lines of a CSV file, or of the first sheet of a workbook that has some. */
export async function readTable(file: File): Promise<Table | { kind: 'unreadable' }> {
  const bytes = await file.arrayBuffer().catch(() => null)
  if (!bytes) return { kind: 'unreadable' }
  const opened = await openInWorker(bytes)
  if (opened.kind !== 'sheets') return { kind: opened.kind === 'empty' || opened.kind === 'unknown-encoding' ? opened.kind : 'not-csv' }
  const [sheet] = opened.sheets
  return sheet ? { kind: 'rows', rows: sheet.rows.map(plainRow) } : { kind: 'empty' }
}

/** A row whose numbers are in full, with the currency of their format. */
function plainRow({ number, cells, values }: FileRow): FileRow {
  if (!values) return { number, cells }
  return {
    number,
    cells: cells.map((text, column) => {
      const value = values[column]
      // 0007 and INV-0008 are references.
      if (!value || !('number' in value) || /^0\d|\p{L}/u.test(text.replace(/^[a-z]{2,3}\.? |\p{Sc}/giu, ''))) return text
      const full = String(Number(value.number.toPrecision(15)))
      return value.currency === null ? full : `${value.currency} ${full}`
    }),
  }
}

/** A file that takes longer to open, in ms, is not read. */
const patience = 30_000

function openInWorker(bytes: ArrayBuffer): Promise<Opened> {
  const worker = new Worker(new URL('./open-worker.ts', import.meta.url), { type: 'module' })
  return new Promise<Opened>((resolve) => {
    const fail = () => resolve({ kind: 'workbook' })
    worker.onmessage = ({ data }: MessageEvent<Opened>) => resolve(data)
    worker.onerror = fail
    setTimeout(fail, patience)
    worker.postMessage(bytes, [bytes])
  }).finally(() => worker.terminate())
}

interface TableDropProps {
  /** Where such files come from, and what happens next. */
  hint: string
  /** Which columns are needed. */
  columns: string
  onFile: (file: ChosenFile) => void
}

/** Reads the table of a file that is chosen, or dropped anywhere on the window. */
export function TableDrop({ hint, columns, onFile }: TableDropProps): ReactNode {
  const [problem, setProblem] = useState<string | null>(null)
  const [reading, setReading] = useState(false)
  /** The last file wins, also over one that is still being read; null once the frame is gone. */
  const latest = useRef<File | null>(null)
  useEffect(
    () => () => {
      latest.current = null
    },
    [],
  )
  const read = async (file: File) => {
    latest.current = file
    setProblem(null)
    setReading(true)
    const table = await readTable(file)
    if (latest.current !== file) return
    setReading(false)
    switch (table.kind) {
      case 'rows':
        return table.rows.length > maxRows
          ? setProblem(texts.tooLong(maxRows.toLocaleString('en-IN')))
          : onFile({ name: file.name, rows: table.rows })
      case 'not-csv':
        return setProblem(texts.notCsv)
      case 'unknown-encoding':
        return setProblem(texts.unknownEncoding)
      case 'unreadable':
        return setProblem(texts.unreadable)
      case 'empty':
        return setProblem(texts.empty)
    }
  }
  return <FileDrop hint={hint} columns={columns} reading={reading} problem={problem} onFile={(file) => void read(file)} />
}

interface FileDropProps extends Omit<TableDropProps, 'onFile'> {
  /** What it asks for, and on a touch screen; and the endings of such files besides those of tables. */
  title?: { drop: string; choose: string; endings: string }
  reading: boolean
  /** Why the last file was not read. */
  problem: string | null
  onFile: (file: File) => void
}

/** Takes a file that is chosen, or dropped anywhere on the window. */
export function FileDrop({ title = { ...texts, endings: '' }, hint, columns, reading, problem, onFile }: FileDropProps): ReactNode {
  // Touch screens cannot drop a file.
  const isTouch = useMediaQuery('(hover: none), (max-width: 47.99em)', false, { getInitialValueInEffect: false })
  const [over, setOver] = useState(false)
  const [tooBig, setTooBig] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const read = (file: File | undefined) => {
    if (!file) return
    setTooBig(file.size > maxBytes)
    if (file.size <= maxBytes) onFile(file)
  }
  const latestRead = useRef(read)
  latestRead.current = read
  // On the whole window: dropped beside the frame, the file would replace the page.
  useEffect(() => {
    // Also by the frame around it, for someone who may not choose a file.
    const disabled = () => input.current?.matches(':disabled') === true
    const over = (event: DragEvent) => {
      event.preventDefault()
      setOver(!disabled())
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      if (!disabled()) latestRead.current(event.dataTransfer?.files[0])
    }
    const listening = new AbortController()
    window.addEventListener('dragover', over, listening)
    window.addEventListener('dragleave', leave, listening)
    window.addEventListener('drop', drop, listening)
    return () => listening.abort()
  }, [])
  return (
    <>
      <button type="button" className={styles.drop} data-over={over || undefined} data-autofocus onClick={() => input.current?.click()}>
        {reading ? <Loader size={34} /> : <IconFileUpload size={34} stroke={1.4} aria-hidden />}
        <strong className={styles.dropTitle}>{reading ? texts.reading : isTouch ? title.choose : title.drop}</strong>
        <span className={styles.dim}>{hint}</span>
      </button>
      <CsvInput ref={input} label={title.choose} endings={title.endings} onFile={read} />
      <VisuallyHidden role="status">{reading && texts.reading}</VisuallyHidden>
      <FormError message={tooBig ? texts.tooBig : problem} />
      <p className={styles.hint}>{columns}</p>
    </>
  )
}

/** What opens the choice of a CSV file when it is clicked; it is hidden behind a button. */
export function CsvInput({
  ref,
  label,
  endings = '',
  onFile,
}: {
  ref: RefObject<HTMLInputElement | null>
  label: string
  endings?: string
  onFile: (file: File) => void
}): ReactNode {
  return (
    <input
      ref={ref}
      type="file"
      accept={`.csv,.tsv,.txt,text/csv,.xlsx,.xls,.ods${endings}`}
      hidden
      aria-label={label}
      onChange={(event) => {
        const [file] = event.currentTarget.files ?? []
        if (file) onFile(file)
        // Without this, choosing the same file again after correcting it would do nothing.
        event.currentTarget.value = ''
      }}
    />
  )
}

export function FileName({ name, onOther }: { name: string; onOther: () => void }): ReactNode {
  return (
    <div className={styles.file}>
      <strong className={styles.fileName}>{name}</strong>
      <Button variant="subtle" className={styles.other ?? ''} onClick={onOther}>
        {texts.chooseOther}
      </Button>
    </div>
  )
}

interface FileColumnChoiceProps<Field extends string> {
  file: ChosenFile
  mapping: FileMapping<Field>
  labels: Record<Field, string>
  required: Field[]
  /** The columns, given where their names are. */
  guess: (header: number | null) => Pick<FileMapping<Field>, 'columns' | 'dates'>
  onChange: (mapping: FileMapping<Field>) => void
  onOther: () => void
  /** Further fields. */
  children?: ReactNode
}

/** The file's name, and which of its columns has which field; the guess can be corrected. */
export function FileColumnChoice<Field extends string>(props: FileColumnChoiceProps<Field>): ReactNode {
  const { file, mapping, labels, required, guess, onChange, onOther, children } = props
  const { rows } = file
  const head = mapping.header === null ? [] : (rows[mapping.header]?.cells ?? [])
  const body = bodyOf(rows, mapping)
  const width = Math.max(0, ...body.slice(0, 50).map(({ cells }) => cells.length), head.length)
  // Unchecking it and checking it again must find the same line.
  const [guessed] = useState(mapping.header ?? 0)
  const options = Array.from({ length: width }, (_, column) => {
    const name = head[column] || texts.column(column + 1)
    const example = body.slice(0, 50).find(({ cells }) => (cells[column] ?? '') !== '')?.cells[column] ?? ''
    return { value: String(column), label: example === '' ? name : `${name}: ${example.slice(0, 40)}` }
  })
  // With the columns complete, the header decides only which line is the first one; otherwise it may reveal them.
  const chooseHeader = (on: boolean) => {
    const header = on ? guessed : null
    const complete = required.every((field) => mapping.columns[field] !== null)
    onChange({ ...mapping, header, ...(complete ? {} : guess(header)) })
  }
  const choose = (field: Field, value: string) =>
    onChange({ ...mapping, columns: { ...mapping.columns, [field]: value === '' ? null : Number(value) } })
  return (
    <>
      <FileName name={file.name} onOther={onOther} />
      <fieldset className={styles.mapping}>
        <legend className={styles.legend}>{texts.columns}</legend>
        <div className={styles.fields}>
          {(Object.keys(labels) as Field[]).map((field) => (
            <NativeSelect
              key={field}
              label={labels[field]}
              data={[{ value: '', label: required.includes(field) ? texts.choosePlease : texts.none }, ...options]}
              value={String(mapping.columns[field] ?? '')}
              onChange={(event) => choose(field, event.currentTarget.value)}
            />
          ))}
          {children}
          <NativeSelect
            label={texts.dates}
            data={Object.entries(texts.dateOrders).map(([value, label]) => ({ value, label }))}
            value={mapping.dates}
            onChange={(event) => onChange({ ...mapping, dates: event.currentTarget.value === 'mdy' ? 'mdy' : 'dmy' })}
          />
          <Checkbox
            className={styles.headerChoice ?? ''}
            label={guessed === 0 ? texts.header : texts.headerAt(rows[guessed]?.number ?? 1)}
            checked={mapping.header !== null}
            onChange={(event) => chooseHeader(event.currentTarget.checked)}
          />
        </div>
      </fieldset>
    </>
  )
}
