import { ActionIcon, Button } from '@mantine/core'
import { IconChartDots, IconTable } from '@tabler/icons-react'
import { type KeyboardEvent, type ReactNode, useMemo, useState } from 'react'
import { formatRupees, fromMinor } from '#contract/money.ts'
import { lateness } from './dates.ts'
import styles from './due-line.module.css'
import { type Dot, type DueItem, dotLabel, layOutDueLine } from './due-line-layout.ts'
import { useWidth } from './hooks.ts'
import { LazyMount, lazyDialog } from './lazy-dialog.tsx'
import { texts } from './texts.ts'

const Crowd = lazyDialog(async () => (await import('./due-line-crowd.tsx')).DueLineCrowd)

interface DueLineProps {
  items: DueItem[]
  onOpen: (id: string) => void
}

/** The due line: every open invoice as a dot left or right of today, or as a row of a table. One tab stop; arrow keys move, Enter opens. */
export function DueLine({ items, onOpen }: DueLineProps): ReactNode {
  const [frame, width] = useWidth<HTMLDivElement>()
  const layout = useMemo(() => (width ? layOutDueLine(items, width) : null), [items, width])
  const [named, setNamed] = useState<string | null>(null)
  const [stop, setStop] = useState(0)
  const [crowd, setCrowd] = useState<Dot | null>(null)
  const [asTable, setAsTable] = useState(false)
  const dots = layout?.dots ?? []
  const shown = dots.find(({ key }) => key === named)
  const open = (dot: Dot) => (dot.items.length === 1 ? onOpen(dot.key) : setCrowd(dot))
  const steer = (event: KeyboardEvent<HTMLButtonElement>, index: number) => {
    const steps: Record<string, number> = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: dots.length - 1 }
    const next = steps[event.key]
    if (next === undefined || !dots[next]) return
    event.preventDefault()
    setStop(next)
    frame.current?.querySelectorAll<HTMLButtonElement>('[data-dot]')[next]?.focus()
  }
  return (
    <div ref={frame} className={styles.frame}>
      {items.length > 0 && (
        <ActionIcon
          className={styles.toggle ?? ''}
          aria-label={asTable ? texts.dueLine.asLine : texts.dueLine.asTable}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? <IconChartDots size={19} stroke={1.7} /> : <IconTable size={19} stroke={1.7} />}
        </ActionIcon>
      )}
      {asTable ? (
        <DueTable items={items} onOpen={onOpen} />
      ) : (
        <>
          {layout && width && (
            <svg
              width={width}
              height={layout.height}
              className={styles.line}
              data-named={shown !== undefined || undefined}
              aria-hidden="true"
            >
              <line x1={0} x2={width} y1={layout.baseline} y2={layout.baseline} className={styles.axis} />
              <line x1={layout.todayX} x2={layout.todayX} y1={14} y2={layout.baseline + 8} className={styles.today} />
              <text x={layout.todayX + 8} y={24} className={styles.todayText}>
                {texts.dueLine.today}
              </text>
              {layout.ticks.map(({ x, text, anchor }) => (
                <text key={text} x={x} y={layout.baseline + 26} textAnchor={anchor} className={styles.tick}>
                  {text}
                </text>
              ))}
            </svg>
          )}
          {dots.map((dot, index) => (
            <button
              key={dot.key}
              type="button"
              tabIndex={index === Math.min(stop, dots.length - 1) ? 0 : -1}
              aria-label={dotLabel(dot).join(', ')}
              className={styles.dot}
              data-dot
              data-late={dot.late || undefined}
              style={{ left: dot.x - dot.radius, top: dot.y - dot.radius, width: dot.radius * 2, height: dot.radius * 2 }}
              onClick={() => open(dot)}
              onKeyDown={(event) => steer(event, index)}
              onFocus={() => {
                setNamed(dot.key)
                setStop(index)
              }}
              onBlur={() => setNamed(null)}
              onPointerEnter={() => setNamed(dot.key)}
              onPointerLeave={() => setNamed(null)}
            >
              {dot.items.length > 1 && dot.radius >= 6 + 3 * String(dot.items.length).length ? dot.items.length : null}
            </button>
          ))}
          {shown && layout && width && <Label dot={shown} top={layout.baseline + 10} width={width} />}
        </>
      )}
      <LazyMount wanted={crowd !== null}>
        <Crowd dot={crowd} onOpen={onOpen} onClose={() => setCrowd(null)} />
      </LazyMount>
    </div>
  )
}

/** Below the axis, over the ticks: above it, it would cover the word "today" and the toggle. */
function Label({ dot, top, width }: { dot: Dot; top: number; width: number }): ReactNode {
  const [name, amount, when] = dotLabel(dot)
  const side = dot.x > width - 130 ? 'right' : dot.x < 130 ? 'left' : 'middle'
  return (
    <div className={styles.label} data-side={side} style={{ left: dot.x, top }} aria-hidden>
      <strong>{name}</strong>
      <span>{`${amount}, ${when}`}</span>
    </div>
  )
}

/** Rows at first, and at most. */
const first = 6
const most = 200

interface DueTableProps {
  items: DueItem[]
  onOpen: (id: string) => void
}

/** The accessible alternative to the due line, latest first. */
function DueTable({ items, onOpen }: DueTableProps): ReactNode {
  const [all, setAll] = useState(false)
  const sorted = items.toSorted((one, other) => other.daysLate - one.daysLate)
  const shown = sorted.slice(0, all ? most : first)
  const left = items.length - shown.length
  return (
    <>
      <table className={styles.table}>
        <caption className={styles.caption}>{texts.dueTable.caption}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.dueTable.client}</th>
            <th scope="col">{texts.dueTable.due}</th>
            <th scope="col">{texts.dueTable.amount}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ id, name, daysLate, late, amount }) => (
            <tr key={id}>
              <td>
                <button type="button" className={styles.name} onClick={() => onOpen(id)}>
                  <span className={styles.short}>{name}</span>
                </button>
              </td>
              <td data-late={late || undefined}>{lateness(daysLate)}</td>
              <td>{formatRupees(fromMinor(amount))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && !all && (
        <Button variant="default" mt={12} mb={8} onClick={() => setAll(true)}>
          {items.length > most ? texts.dueTable.showFirst(most) : texts.dueTable.showAll(items.length)}
        </Button>
      )}
      {left > 0 && all && <p className={styles.more}>{texts.dueTable.more(left)}</p>}
    </>
  )
}
