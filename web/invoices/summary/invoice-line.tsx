import { type ReactNode, useMemo } from 'react'
import styles from '#web/invoices/form/form.module.css'
import { summaryTexts as texts } from '#web/invoices/form/texts.ts'
import { daysBetween, showDate } from '#web/ui/dates.ts'
import { useWidth } from '#web/ui/hooks.ts'

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

/** The dates of an invoice, `YYYY-MM-DD`. */
export interface InvoiceDates {
  created: string
  due: string
  today: string
  paid: string | null
  /** Payments of an invoice that is not paid yet, with their amounts as shown, the newest first. */
  parts: { date: string; amount: string }[]
  /** When reminders were accepted, in any order. */
  reminders: string[]
  /** When the next one goes out. */
  next: string | null
}

/** One reminder, or several that would overlap: a capsule from `x` to `end`. */
interface Mark {
  x: number
  end: number
}

interface Label {
  key: 'created' | 'due' | 'reminders' | 'today' | 'paid'
  x: number
  text: string
  anchor: 'start' | 'middle' | 'end'
}

interface LineLayout {
  created: number
  due: number
  today: number
  paid: number | null
  parts: number[]
  /** Above the newest part. */
  part: { x: number; text: string; anchor: 'start' | 'middle' | 'end' } | null
  next: number | null
  reminders: Mark[]
  /** Below the line, without overlaps. */
  labels: Label[]
}

/** Pixels kept free at both ends, for half a mark. */
const margin = 8
/** Half of a reminder's mark. */
const half = 4.5
/** The width of a character; rather too much. */
const letter = 7.4

/** The life of an invoice as a line of `width` pixels: created, due, reminded, paid or today, and what is next. */
export function layOutInvoiceLine(dates: InvoiceDates, width: number): LineLayout {
  const { created, due, today, paid, parts, reminders, next } = dates
  const all = [
    created,
    due,
    today,
    ...(paid === null ? [] : [paid]),
    ...(next === null ? [] : [next]),
    ...reminders,
    ...parts.map(({ date }) => date),
  ].toSorted()
  const [first = today, last = today] = [all[0], all.at(-1)]
  // At least a week, and a little room behind the last date.
  const days = Math.max(7, daysBetween(first, last) * 1.06)
  const xOf = (date: string) => margin + ((width - 2 * margin) * daysBetween(first, date)) / days
  const marks: Mark[] = []
  for (const x of [...new Set(reminders)].toSorted().map(xOf)) {
    const before = marks.at(-1)
    if (before && x - before.end < 2 * half + 3) before.end = x
    else marks.push({ x, end: x })
  }
  const [firstMark, lastMark] = [marks[0], marks.at(-1)]
  const wanted: Label[] = [
    paid === null
      ? { key: 'today', x: xOf(today), text: texts.line.today, anchor: 'middle' }
      : { key: 'paid', x: xOf(paid), text: texts.line.paid(showDate(paid).slice(0, 5)), anchor: 'middle' },
    { key: 'due', x: xOf(due), text: texts.line.due(showDate(due).slice(0, 5)), anchor: 'middle' },
    { key: 'created', x: xOf(created), text: texts.line.created(showDate(created).slice(0, 5)), anchor: 'middle' },
    ...(firstMark && lastMark
      ? [
          {
            key: 'reminders' as const,
            x: (firstMark.x + lastMark.end) / 2,
            text: texts.line.reminders(reminders.length),
            anchor: 'middle' as const,
          },
        ]
      : []),
  ]
  const [newest] = parts
  const [part] = newest
    ? withoutOverlaps([{ key: 'paid', x: xOf(newest.date), text: texts.line.part(newest.amount), anchor: 'middle' }], width)
    : []
  return {
    created: xOf(created),
    due: xOf(due),
    today: xOf(today),
    paid: paid === null ? null : xOf(paid),
    parts: [...new Set(parts.map(({ date }) => xOf(date)))],
    part: part ? besideLine(part, xOf(today), width) : null,
    next: next === null || paid !== null ? null : xOf(next),
    reminders: marks,
    labels: withoutOverlaps(wanted, width),
  }
}

/** A label above the line that would cross the vertical line at `x` is moved to its left, or to its right; null where neither has room. */
function besideLine({ text, ...label }: Label, x: number, width: number): LineLayout['part'] {
  const room = text.length * letter
  const left = label.x - (label.anchor === 'start' ? 0 : label.anchor === 'end' ? room : room / 2)
  if (left > x + 6 || left + room < x - 6) return { text, x: label.x, anchor: label.anchor }
  if (room <= x - 8) return { text, x: x - 8, anchor: 'end' }
  return x + 8 + room <= width ? { text, x: x + 8, anchor: 'start' } : null
}

/** The first of the labels that have room, moved inside the frame. */
function withoutOverlaps(wanted: Label[], width: number): Label[] {
  const placed: (Label & { left: number; right: number })[] = []
  for (const label of wanted) {
    const room = label.text.length * letter
    const left = Math.min(Math.max(0, label.x - room / 2), width - room)
    const right = left + room
    if (placed.some((other) => left < other.right + 8 && right > other.left - 8)) continue
    const anchor = left === 0 ? 'start' : right === width ? 'end' : 'middle'
    placed.push({ ...label, x: anchor === 'start' ? 0 : anchor === 'end' ? width : label.x, anchor, left, right })
  }
  return placed.map(({ key, x, text, anchor }) => ({ key, x, text, anchor }))
}
