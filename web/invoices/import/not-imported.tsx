import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { saveFile } from '#web/platform/send.ts'
import { writeCsv } from './csv.ts'
import styles from './import.module.css'
import { texts } from './texts.ts'
import type { NotImported } from './use-import.ts'

const listed = 8

interface NotImportedProps {
  lines: NotImported[]
  head: string[] | null
}

/** How many lines were not imported and why, a sentence for each reason. */
export function NotImportedList({ lines, head }: NotImportedProps): ReactNode {
  if (lines.length === 0) return null
  const byReason = new Map<string, number[]>()
  for (const { row, message } of lines) {
    const rows = byReason.get(message)
    if (rows) rows.push(row.number)
    else byReason.set(message, [row.number])
  }
  const reasons = [...byReason].sort(([, one], [, other]) => other.length - one.length)
  const more = reasons.slice(listed).reduce((sum, [, rows]) => sum + rows.length, 0)
  return (
    <section className={styles.notImported} aria-labelledby="not-imported">
      <h4 id="not-imported" className={styles.notImportedTitle}>
        {texts.notImported(lines.length)}
      </h4>
      <ul className={styles.reasons}>
        {reasons.slice(0, listed).map(([message, rows]) => (
          <li key={message}>
            {message} <span className={styles.lines}>{texts.lines(rows)}</span>
          </li>
        ))}
      </ul>
      {more > 0 && <p className={styles.dim}>{texts.moreReasons(more)}</p>}
      <SaveNotImported lines={lines} head={head} />
    </section>
  )
}

/** Saves the lines as they are in the file, with their number and the reason, so that they can be corrected and imported. */
export function SaveNotImported({ lines, head }: NotImportedProps): ReactNode {
  if (lines.length === 0) return null
  const save = () => {
    const width = Math.max(head?.length ?? 0, ...lines.map(({ row }) => row.cells.length))
    const padded = (cells: string[]) => Array.from({ length: width }, (_, column) => cells[column] ?? '')
    const names = head === null ? [] : [[texts.savedRow, ...padded(head), texts.savedReason]]
    const rows = lines.map(({ row, message }) => [String(row.number), ...padded(row.cells), message])
    saveFile(writeCsv([...names, ...rows]), texts.savedName)
  }
  return (
    <Button variant="default" leftSection={<IconDownload size={18} stroke={1.7} />} onClick={save}>
      {texts.save}
    </Button>
  )
}
