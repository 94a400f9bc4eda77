import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Checkbox, NativeSelect } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './import.module.css'
import { type Columns, type Field, fields, needed } from './import-columns.ts'
import { importTexts } from './import-texts.ts'
import type { DateOrder } from './import-values.ts'
import type { FileLine } from './read-table.ts'

const words = importTexts

export interface Mapping {
  head: boolean
  columns: Columns
  dates: DateOrder
}

interface ImportMappingProps {
  mapping: Mapping
  lines: FileLine[]
  onChange: (mapping: Mapping) => void
}

/** Which column of the file is which field of an invoice, guessed, and changed where the guess was wrong. */
export function ImportMapping({ mapping, lines, onChange }: ImportMappingProps): ReactNode {
  const width = Math.max(0, ...lines.slice(0, 50).map(({ cells }) => cells.length))
  const first = lines[0]?.cells ?? []
  const sample = lines[mapping.head ? 1 : 0]?.cells ?? []
  const options = Array.from({ length: width }, (_, column) => {
    const name = (mapping.head ? first[column] : '') || words.column(column + 1)
    const example = sample[column] ?? ''
    return { value: String(column), label: example === '' ? name : `${name}: ${example.slice(0, 40)}` }
  })
  const choose = (field: Field, value: string) =>
    onChange({ ...mapping, columns: { ...mapping.columns, [field]: value === '' ? null : Number(value) } })
  return (
    <fieldset className={styles.mapping}>
      <legend className={styles.legend}>{words.columns}</legend>
      <div className={styles.fields}>
        {fields.map((field) => (
          <NativeSelect
            key={field}
            label={words.fields[field]}
            data={[{ value: '', label: needed.includes(field) ? words.choosePlease : words.none }, ...options]}
            value={String(mapping.columns[field] ?? '')}
            onChange={(event) => choose(field, event.currentTarget.value)}
          />
        ))}
        <NativeSelect
          label={words.dates}
          data={Object.entries(words.dateOrders).map(([value, label]) => ({ value, label }))}
          value={mapping.dates}
          onChange={(event) => onChange({ ...mapping, dates: event.currentTarget.value === 'mdy' ? 'mdy' : 'dmy' })}
        />
        <Checkbox
          className={styles.head ?? ''}
          label={words.head}
          checked={mapping.head}
          onChange={(event) => onChange({ ...mapping, head: event.currentTarget.checked })}
        />
      </div>
    </fieldset>
  )
}
