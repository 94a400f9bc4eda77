import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Button, Checkbox, NativeSelect } from '@mantine/core'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { billingCalls } from '#contract/billing.ts'
import type { Invoice } from '#contract/invoices.ts'
import { planThatLifts } from '#contract/plans.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Notice } from '#web/ui/notice.tsx'
import type { FileRow } from './csv.ts'
import styles from './import.module.css'
import {
  type CheckedRow,
  type Columns,
  checkRows,
  type DateOrder,
  type Field,
  fields,
  guessByContent,
  guessByHeader,
  guessDates,
  isHeader,
  requiredFields,
} from './import-rows.ts'
import { ImportTable } from './import-table.tsx'
import { texts } from './texts.ts'

const tabs = ['all', 'ready', 'bad', 'duplicate'] as const
type Tab = (typeof tabs)[number]

interface ImportPreviewProps {
  file: { name: string; rows: FileRow[] }
  invoices: Invoice[]
  onImport: (rows: CheckedRow[], keepDuplicates: boolean) => void
  onOther: () => void
  onCancel: () => void
}

/** The column mapping and a preview of every row. Nothing is saved yet. */
export function ImportPreview({ file, invoices, onImport, onOther, onCancel }: ImportPreviewProps): ReactNode {
  const [mapping, setMapping] = useState(() => guess(file.rows))
  const [tab, setTab] = useState<Tab>('all')
  const [keep, setKeep] = useState(false)
  const deferred = useDeferredValue(mapping)
  const missing = requiredFields.filter((field) => mapping.columns[field] === null)
  const checked = useMemo(
    () => checkRows(deferred.hasHeader ? file.rows.slice(1) : file.rows, deferred.columns, deferred.dates, invoices),
    [file, deferred, invoices],
  )
  const counts = { all: checked.length, ready: 0, bad: 0, duplicate: 0 }
  for (const { state } of checked) counts[state] += 1
  const wanted = counts.ready + (keep ? counts.duplicate : 0)
  const shown = tab === 'all' ? checked : checked.filter(({ state }) => state === tab)
  return (
    <>
      <div className={styles.file}>
        <strong className={styles.fileName}>{file.name}</strong>
        <Button variant="subtle" className={styles.other ?? ''} onClick={onOther}>
          {texts.chooseOther}
        </Button>
      </div>
      <ImportMapping mapping={mapping} rows={file.rows} onChange={setMapping} />
      {missing.length > 0 ? (
        <p className={styles.missing} role="status">
          {texts.missing(missing.map((field) => texts.fields[field].toLowerCase()).join(', '))}
        </p>
      ) : (
        <>
          <fieldset className={styles.tabs} aria-label={texts.preview}>
            {tabs.map((name) => (
              <button key={name} type="button" className={styles.tab} aria-pressed={tab === name} onClick={() => setTab(name)}>
                {texts.tabs[name](counts[name])}
              </button>
            ))}
          </fieldset>
          <ImportTable key={tab} rows={shown} />
          <div className={styles.below}>
            {counts.bad > 0 && <p className={styles.dim}>{texts.badSkipped}</p>}
            {counts.duplicate > 0 && (
              <Checkbox label={texts.keep} checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />
            )}
          </div>
        </>
      )}
      <PlanLimitNotice wanted={wanted} />
      <div className={styles.buttons}>
        <Button variant="default" onClick={onCancel}>
          {texts.cancel}
        </Button>
        <Button
          disabled={missing.length > 0 || wanted === 0}
          onClick={() =>
            onImport(
              checked.filter(({ state }) => state === 'ready' || (keep && state === 'duplicate')),
              keep,
            )
          }
        >
          {missing.length > 0 || wanted === 0 ? texts.nothing : texts.submit(wanted)}
        </Button>
      </div>
    </>
  )
}

function guess(rows: FileRow[]): Mapping {
  const first = rows[0]?.cells ?? []
  const hasHeader = isHeader(first)
  const content = guessByContent(hasHeader ? rows.slice(1) : rows)
  const columns = hasHeader ? guessByHeader(first) : content
  // A column that its name did not reveal may be recognised by its content.
  const taken = new Set(Object.values(columns))
  for (const field of requiredFields) if (columns[field] === null && !taken.has(content[field])) columns[field] = content[field]
  return { hasHeader, columns, dates: guessDates(hasHeader ? rows.slice(1) : rows, columns.dueDate) }
}

interface Mapping {
  hasHeader: boolean
  columns: Columns
  dates: DateOrder
}

interface ImportMappingProps {
  mapping: Mapping
  rows: FileRow[]
  onChange: (mapping: Mapping) => void
}

/** Maps columns of the file to fields of an invoice; the guess can be corrected. */
function ImportMapping({ mapping, rows, onChange }: ImportMappingProps): ReactNode {
  const width = Math.max(0, ...rows.slice(0, 50).map(({ cells }) => cells.length))
  const first = rows[0]?.cells ?? []
  const sample = rows[mapping.hasHeader ? 1 : 0]?.cells ?? []
  const options = Array.from({ length: width }, (_, column) => {
    const name = (mapping.hasHeader ? first[column] : '') || texts.column(column + 1)
    const example = sample[column] ?? ''
    return { value: String(column), label: example === '' ? name : `${name}: ${example.slice(0, 40)}` }
  })
  const choose = (field: Field, value: string) =>
    onChange({ ...mapping, columns: { ...mapping.columns, [field]: value === '' ? null : Number(value) } })
  return (
    <fieldset className={styles.mapping}>
      <legend className={styles.legend}>{texts.columns}</legend>
      <div className={styles.fields}>
        {fields.map((field) => (
          <NativeSelect
            key={field}
            label={texts.fields[field]}
            data={[{ value: '', label: requiredFields.includes(field) ? texts.choosePlease : texts.none }, ...options]}
            value={String(mapping.columns[field] ?? '')}
            onChange={(event) => choose(field, event.currentTarget.value)}
          />
        ))}
        <NativeSelect
          label={texts.dates}
          data={Object.entries(texts.dateOrders).map(([value, label]) => ({ value, label }))}
          value={mapping.dates}
          onChange={(event) => onChange({ ...mapping, dates: event.currentTarget.value === 'mdy' ? 'mdy' : 'dmy' })}
        />
        <Checkbox
          className={styles.headerChoice ?? ''}
          label={texts.header}
          checked={mapping.hasHeader}
          onChange={(event) => onChange({ ...mapping, hasHeader: event.currentTarget.checked })}
        />
      </div>
    </fieldset>
  )
}

/** Warns that the plan's monthly limit leaves no room for all rows. The server enforces the limit when the import runs. */
function PlanLimitNotice({ wanted }: { wanted: number }): ReactNode {
  const subscription = useApiQuery(billingCalls.subscription)
  const left = subscription.data?.usage.invoicesLeft ?? null
  if (left === null || wanted <= left) return null
  return <Notice tone="warn">{texts.planLimit(left, wanted - left, planThatLifts('invoicesPerMonth').title)}</Notice>
}
