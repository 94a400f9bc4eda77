import { Box } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useRef } from 'react'
import { formatMoney } from '#contract/money.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { showDate } from '#web/ui/dates.ts'
import { Pill } from '#web/ui/panel.tsx'
import styles from './import.module.css'
import { balanceOf, type CheckedRow } from './import-rows.ts'
import { texts } from './texts.ts'

export function ImportTable({ rows }: { rows: CheckedRow[] }): ReactNode {
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
        <span className={styles.hidden}>{texts.row}</span> {row.number}
      </span>
      {draft && owed ? (
        <>
          <span className={styles.who}>
            <span className={styles.name}>{draft.clientName}</span>
            <span className={styles.dim}>{draft.clientEmail}</span>
          </span>
          <span className={styles.sum}>
            <span className={styles.name}>{formatMoney(owed.amount, owed.currency)}</span>
            {draft.amountPaid !== undefined && <span className={styles.dim}>{texts.of(formatMoney(draft.amount, owed.currency))}</span>}
            <span className={styles.dim}>{showDate(draft.dueDate)}</span>
          </span>
        </>
      ) : (
        <span className={styles.raw}>{cells.filter((cell) => cell !== '').join(' · ')}</span>
      )}
      <span className={styles.verdict}>
        {row.state === 'ready' && draft && <Pill tone={draft.status}>{invoiceTexts.status[draft.status]}</Pill>}
        {row.state !== 'ready' && <span className={styles.message}>{row.message}</span>}
      </span>
    </>
  )
}
