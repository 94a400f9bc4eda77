import { Box } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useRef } from 'react'
import { formatRupees } from '#contract/money.ts'
import { showDate } from '#web/ui/dates.ts'
import { Pill } from '#web/ui/pill.tsx'
import look from './import.module.css'
import type { Judged } from './import-lines.ts'
import { importTexts } from './import-texts.ts'
import { texts } from './texts.ts'

const words = importTexts

/** Every line of the file and what would become of it; only those in sight are in the page. */
export function ImportTable({ lines }: { lines: Judged[] }): ReactNode {
  const frame = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 58,
    overscan: 6,
  })
  if (lines.length === 0) return <p className={look.noneHere}>{words.noneHere}</p>
  const inView = rows.getVirtualItems()
  return (
    // Reached by the keyboard too, so that it can be scrolled.
    <Box component="section" ref={frame} className={look.scroll ?? ''} tabIndex={0} aria-label={words.preview}>
      <ol className={look.lines} style={{ height: rows.getTotalSize(), paddingTop: inView[0]?.start ?? 0 }}>
        {inView.map(({ index, key }) => {
          const line = lines[index]
          return (
            line && (
              <li key={key} ref={rows.measureElement} data-index={index} data-state={line.state} className={look.line}>
                <Line line={line} />
              </li>
            )
          )
        })}
      </ol>
    </Box>
  )
}

function Line({ line }: { line: Judged }): ReactNode {
  const { draft, cells } = line
  return (
    <>
      <span className={look.number}>
        <span className={look.hidden}>{words.line}</span> {line.line}
      </span>
      {draft ? (
        <>
          <span className={look.who}>
            <span className={look.name}>{draft.clientName}</span>
            <span className={look.dim}>{draft.clientEmail}</span>
          </span>
          <span className={look.sum}>
            <span className={look.name}>{formatRupees(draft.amount)}</span>
            <span className={look.dim}>{showDate(draft.dueDate)}</span>
          </span>
        </>
      ) : (
        <span className={look.raw}>{cells.filter((cell) => cell !== '').join(' · ')}</span>
      )}
      <span className={look.verdict}>
        {line.state === 'ready' && draft && <Pill tone={draft.status}>{texts.status[draft.status]}</Pill>}
        {line.state !== 'ready' && <span className={look.says}>{line.says}</span>}
      </span>
    </>
  )
}
