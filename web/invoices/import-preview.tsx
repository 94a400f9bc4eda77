import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { Button, Checkbox } from '@mantine/core'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import styles from './import.module.css'
import { guessByContent, guessByHead, guessDates, hasHead, needed } from './import-columns.ts'
import { type Judged, judgeLines } from './import-lines.ts'
import { ImportMapping, type Mapping } from './import-mapping.tsx'
import { ImportRoom } from './import-room.tsx'
import { ImportTable } from './import-table.tsx'
import { importTexts } from './import-texts.ts'
import type { FileLine } from './read-table.ts'

const words = importTexts
const tabs = ['all', 'ready', 'bad', 'duplicate'] as const
type Tab = (typeof tabs)[number]

interface ImportPreviewProps {
  file: { name: string; lines: FileLine[] }
  invoices: Invoice[]
  onImport: (lines: Judged[], keepDuplicates: boolean) => void
  onOther: () => void
  onCancel: () => void
}

/** Which column is what, and what would become of every line. Nothing is saved yet. */
export function ImportPreview({ file, invoices, onImport, onOther, onCancel }: ImportPreviewProps): ReactNode {
  const [mapping, setMapping] = useState(() => guess(file.lines))
  const [tab, setTab] = useState<Tab>('all')
  const [keep, setKeep] = useState(false)
  const settled = useDeferredValue(mapping)
  const missing = needed.filter((field) => mapping.columns[field] === null)
  const judged = useMemo(
    () => judgeLines(settled.head ? file.lines.slice(1) : file.lines, settled.columns, settled.dates, invoices),
    [file, settled, invoices],
  )
  const counts = { all: judged.length, ready: 0, bad: 0, duplicate: 0 }
  for (const { state } of judged) counts[state] += 1
  const wanted = counts.ready + (keep ? counts.duplicate : 0)
  const shown = tab === 'all' ? judged : judged.filter(({ state }) => state === tab)
  return (
    <>
      <div className={styles.file}>
        <strong className={styles.fileName}>{file.name}</strong>
        <Button variant="subtle" className={styles.other ?? ''} onClick={onOther}>
          {words.chooseOther}
        </Button>
      </div>
      <ImportMapping mapping={mapping} lines={file.lines} onChange={setMapping} />
      {missing.length > 0 ? (
        <p className={styles.missing} role="status">
          {words.missing(missing.map((field) => words.fields[field].toLowerCase()).join(', '))}
        </p>
      ) : (
        <>
          <fieldset className={styles.tabs} aria-label={words.preview}>
            {tabs.map((name) => (
              <button key={name} type="button" className={styles.tab} aria-pressed={tab === name} onClick={() => setTab(name)}>
                {words.tabs[name](counts[name])}
              </button>
            ))}
          </fieldset>
          <ImportTable key={tab} lines={shown} />
          <div className={styles.below}>
            {counts.bad > 0 && <p className={styles.dim}>{words.badTail}</p>}
            {counts.duplicate > 0 && (
              <Checkbox label={words.keep} checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />
            )}
          </div>
        </>
      )}
      <ImportRoom wanted={wanted} />
      <div className={styles.buttons}>
        <Button variant="default" onClick={onCancel}>
          {words.cancel}
        </Button>
        <Button
          disabled={missing.length > 0 || wanted === 0}
          onClick={() =>
            onImport(
              judged.filter(({ state }) => state === 'ready' || (keep && state === 'duplicate')),
              keep,
            )
          }
        >
          {missing.length > 0 || wanted === 0 ? words.nothing : words.submit(wanted)}
        </Button>
      </div>
    </>
  )
}

function guess(lines: FileLine[]): Mapping {
  const first = lines[0]?.cells ?? []
  const head = hasHead(first)
  const content = guessByContent(head ? lines.slice(1) : lines)
  const columns = head ? guessByHead(first) : content
  // A column that the names did not give away may still show itself by what is in it.
  const taken = new Set(Object.values(columns))
  for (const field of needed) if (columns[field] === null && !taken.has(content[field])) columns[field] = content[field]
  return { head, columns, dates: guessDates(head ? lines.slice(1) : lines, columns.dueDate) }
}
