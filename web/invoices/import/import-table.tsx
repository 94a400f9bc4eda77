import { Box } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useRef } from 'react'
import { formatRupees } from '#contract/money.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { showDate } from '#web/ui/dates.ts'
import { Pill } from '#web/ui/panel.tsx'
import styles from './import.module.css'
import type { CheckedRow } from './import-rows.ts'
import { texts } from './texts.ts'

/** Every line of the file and what would become of it; only those in sight are in the page. */
export function ImportTable({ lines }: { lines: CheckedRow[] }): ReactNode {
  const frame = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 58,
    overscan: 6,
  })
  if (lines.length === 0) return <p className={styles.noneHere}>{texts.noneHere}</p>
  const inView = rows.getVirtualItems()
  return (
    // Reached by the keyboard too, so that it can be scrolled.
    <Box component="section" ref={frame} className={styles.scroll ?? ''} tabIndex={0} aria-label={texts.preview}>
      <ol className={styles.lines} style={{ height: rows.getTotalSize(), paddingTop: inView[0]?.start ?? 0 }}>
        {inView.map(({ index, key }) => {
          const line = lines[index]
          return (
            line && (
              <li key={key} ref={rows.measureElement} data-index={index} data-state={line.state} className={styles.line}>
                <Line line={line} />
              </li>
            )
          )
        })}
      </ol>
    </Box>
  )
}

function Line({ line }: { line: CheckedRow }): ReactNode {
  const { draft, cells } = line
  return (
    <>
      <span className={styles.number}>
        <span className={styles.hidden}>{texts.line}</span> {line.line}
      </span>
      {draft ? (
        <>
          <span className={styles.who}>
            <span className={styles.name}>{draft.clientName}</span>
            <span className={styles.dim}>{draft.clientEmail}</span>
          </span>
          <span className={styles.sum}>
            <span className={styles.name}>{formatRupees(draft.amount)}</span>
            <span className={styles.dim}>{showDate(draft.dueDate)}</span>
          </span>
        </>
      ) : (
        <span className={styles.raw}>{cells.filter((cell) => cell !== '').join(' · ')}</span>
      )}
      <span className={styles.verdict}>
        {line.state === 'ready' && draft && <Pill tone={draft.status}>{invoiceTexts.status[draft.status]}</Pill>}
        {line.state !== 'ready' && <span className={styles.says}>{line.says}</span>}
      </span>
    </>
  )
}
