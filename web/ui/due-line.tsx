import { Button } from '@mantine/core'
import { IconChartDots, IconList } from '@tabler/icons-react'
import { Fragment, type KeyboardEvent, type ReactNode, Suspense, useMemo, useState } from 'react'
import { formatMoney } from '#contract/money.ts'
import styles from './due-line.module.css'
import { type Dot, type DueItem, type DueLineLayout, dotLabel, layOutDueLine, longestName } from './due-line-layout.ts'
import { useWidth } from './hooks.ts'
import { LazyMount, lazyDialog } from './lazy-dialog.tsx'
import { texts } from './texts.ts'

const Crowd = lazyDialog(async () => (await import('./due-line-open.tsx')).DueLineCrowd)

const Table = lazyDialog(async () => (await import('./due-line-open.tsx')).DueTable)

interface DueLineProps {
  items: DueItem[]
  /** That of the account. */
  currency: string
  /** What the line shows, in a sentence, and the figures behind it. */
  finding: { title: string; text: string | null }
  /** Below the line; given the key of the dots' sizes. */
  foot: (key: ReactNode) => ReactNode
  onOpen: (id: string) => void
}

/** The due line: every open invoice as a dot left or right of today, or as a row of a table. One tab stop; arrow keys move, Enter opens. */
export function DueLine({ items, currency, finding, foot, onOpen }: DueLineProps): ReactNode {
  const [frame, width] = useWidth<HTMLDivElement>()
  const layout = useMemo(() => (width ? layOutDueLine(items, width, currency) : null), [items, width, currency])
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
    <>
      <div className={styles.head}>
        <div className={styles.finding}>
          <h2 className={styles.title}>{finding.title}</h2>
          {finding.text !== null && <p className={styles.about}>{finding.text}</p>}
        </div>
        {items.length > 0 && (
          <Button
            variant="default"
            className={styles.toggle ?? ''}
            leftSection={asTable ? <IconChartDots size={18} stroke={1.7} /> : <IconList size={18} stroke={1.7} />}
            onClick={() => setAsTable(!asTable)}
          >
            {asTable ? texts.dueLine.asLine : texts.dueLine.asTable}
          </Button>
        )}
      </div>
      <div ref={frame} className={styles.frame}>
        {asTable ? (
          <Suspense>
            <Table items={items} onOpen={onOpen} onClose={() => setAsTable(false)} />
          </Suspense>
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
                <line x1={layout.todayX} x2={layout.todayX} y1={4} y2={layout.baseline + 8} className={styles.today} />
                <text x={layout.todayX - 8} y={15} textAnchor="end" className={styles.todayText}>
                  {texts.dueLine.today}
                </text>
                {layout.ticks.map(({ x, text, anchor }) => (
                  <g key={text + anchor + x}>
                    <line x1={x} x2={x} y1={layout.baseline} y2={layout.baseline + 6} className={styles.axis} />
                    <text x={x} y={layout.baseline + 25} textAnchor={anchor} className={styles.tick}>
                      {text}
                    </text>
                  </g>
                ))}
              </svg>
            )}
            {dots.map((dot, index) => (
              <button
                key={dot.key}
                type="button"
                tabIndex={index === Math.min(stop, dots.length - 1) ? 0 : -1}
                aria-label={dotLabel(dot, currency).join(', ')}
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
            {layout?.names.map(({ key, name, amount, x, y }) => (
              <span key={key} className={styles.name} style={{ left: x, top: y }} aria-hidden>
                <strong style={{ maxWidth: longestName }}>{name}</strong>
                <span>{amount}</span>
              </span>
            ))}
            {shown && layout && width && <Label dot={shown} currency={currency} top={layout.baseline + 10} width={width} />}
          </>
        )}
        <LazyMount wanted={crowd !== null}>
          <Crowd dot={crowd} onOpen={onOpen} onClose={() => setCrowd(null)} />
        </LazyMount>
      </div>
      {foot(layout && !asTable && layout.key.length > 0 ? <Key sizes={layout.key} currency={items[0]?.currency ?? currency} /> : null)}
    </>
  )
}

/** Which radius a round amount has. */
function Key({ sizes, currency }: { sizes: DueLineLayout['key']; currency: string }): ReactNode {
  return (
    <span className={styles.key} aria-hidden="true">
      {texts.dueLine.key}
      {sizes.map(({ amount, radius }) => (
        <Fragment key={amount}>
          <svg width={radius * 2 + 2} height={radius * 2 + 2} aria-hidden="true">
            <circle cx={radius + 1} cy={radius + 1} r={radius - 0.5} />
          </svg>
          {formatMoney(amount, currency).replace(/\.0+$/, '')}
        </Fragment>
      ))}
    </span>
  )
}

/** Below the axis, over the ticks: above it, it would cover other dots and their names. */
function Label({ dot, currency, top, width }: { dot: Dot; currency: string; top: number; width: number }): ReactNode {
  const [name, amount, when] = dotLabel(dot, currency)
  const side = dot.x > width - 130 ? 'right' : dot.x < 130 ? 'left' : 'middle'
  return (
    <div className={styles.label} data-side={side} style={{ left: dot.x, top }} aria-hidden>
      <strong>{name}</strong>
      <span>{`${amount}, ${when}`}</span>
    </div>
  )
}
