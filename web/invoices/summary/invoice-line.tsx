import { type ReactNode, useMemo } from 'react'
import { useWidth } from '#web/ui/hooks.ts'
import { half, type InvoiceDates, layOutInvoiceLine } from './line-layout.ts'
import styles from './summary.module.css'
import { summaryTexts as texts } from './texts.ts'

const baseline = 26
const height = 58

/** The invoice's own due line. A picture: the same dates are in the summary and the history. */
export function InvoiceLine({ dates }: { dates: InvoiceDates }): ReactNode {
  const [frame, width] = useWidth<HTMLDivElement>()
  const line = useMemo(() => (width ? layOutInvoiceLine(dates, width) : null), [dates, width])
  return (
    <div ref={frame} className={styles.line}>
      {line && width && (
        <svg width={width} height={height} aria-hidden="true">
          <Stretch from={0} to={width} tone="ahead" />
          <Stretch from={line.created} to={Math.min(line.due, line.paid ?? line.today)} tone="unpaid" />
          <Stretch from={line.due} to={line.paid ?? line.today} tone="overdue" />
          <circle cx={line.created} cy={baseline} r={3.5} className={styles.begin} />
          <line x1={line.due} x2={line.due} y1={baseline - 8} y2={baseline + 8} className={styles.dueMark} />
          {line.reminders.map(({ x, end }) => (
            <rect
              key={x}
              x={x - half}
              y={baseline - half}
              width={end - x + 2 * half}
              height={2 * half}
              rx={half}
              className={styles.reminder}
            />
          ))}
          {line.parts.map((x) => (
            <circle key={x} cx={x} cy={baseline} r={6} className={styles.paid} />
          ))}
          {line.part && (
            <text x={line.part.x} y={baseline - 13} textAnchor={line.part.anchor} className={styles.partLabel}>
              {line.part.text}
            </text>
          )}
          {line.next !== null && (
            <>
              <circle cx={line.next} cy={baseline} r={half} className={styles.next} />
              {line.next - line.today > 16 && !isCovered(line) && (
                <text x={Math.min(line.next - 4, width - 30)} y={baseline - 13} textAnchor="start" className={styles.label}>
                  {texts.line.next}
                </text>
              )}
            </>
          )}
          {line.paid === null ? (
            <line x1={line.today} x2={line.today} y1={4} y2={baseline + 10} className={styles.today} />
          ) : (
            <circle cx={line.paid} cy={baseline} r={7} className={styles.paid} />
          )}
          {line.labels.map(({ key, x, text, anchor }) => (
            <text key={key} x={x} y={baseline + 27} textAnchor={anchor} className={styles.label} data-strong={key === 'today' || undefined}>
              {text}
            </text>
          ))}
        </svg>
      )}
    </div>
  )
}

/** Whether the label of the newest part reaches the place of the next reminder's. */
function isCovered({ part, next }: ReturnType<typeof layOutInvoiceLine>): boolean {
  if (!part || next === null) return false
  const room = part.text.length * 7.4
  const end = part.anchor === 'start' ? part.x + room : part.anchor === 'end' ? part.x : part.x + room / 2
  return end + 8 > next - 4
}

function Stretch({ from, to, tone }: { from: number; to: number; tone: 'ahead' | 'unpaid' | 'overdue' }): ReactNode {
  return to > from ? <line x1={from} x2={to} y1={baseline} y2={baseline} className={styles.stretch} data-tone={tone} /> : null
}
