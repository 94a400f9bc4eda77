import { ActionIcon } from '@mantine/core'
import { IconChartDots, IconDownload, IconTable } from '@tabler/icons-react'
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'
import { type Exported, insightCalls } from '#contract/insights.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { fetchFile, saveFile } from '#web/platform/send.ts'
import { useWidth } from '#web/ui/hooks.ts'
import { toast } from '#web/ui/toast.tsx'
import type { Finding } from './figures.ts'
import styles from './insights.module.css'
import { picture } from './picture.ts'
import { texts } from './texts.ts'

interface ChartCardProps {
  finding: Finding
  /** How the figures are counted; shown on request. */
  formula: string
  /** The file with its figures; null where the plan has none. */
  file: Exported | null
  /** Below the chart and the table. */
  foot?: ReactNode
  children: ReactNode
}

/** A chart with a finding as its title, or the table with the same figures. */
export function ChartCard({ finding, formula, file, foot, children }: ChartCardProps): ReactNode {
  const [asTable, setAsTable] = useState(false)
  const [explained, setExplained] = useState(false)
  const body = useRef<HTMLDivElement>(null)
  const id = useId()
  const some = finding.rows.length > 0
  return (
    <section className={styles.card} aria-labelledby={id}>
      <div className={styles.head}>
        <div className={styles.words}>
          <h2 id={id} className={styles.title}>
            {finding.title}
          </h2>
          <p className={styles.about}>
            {finding.about}{' '}
            <button type="button" className={styles.explain} aria-expanded={explained} onClick={() => setExplained(!explained)}>
              {texts.howCounted}
            </button>
          </p>
          {explained && <p className={styles.formula}>{formula}</p>}
        </div>
        {some && (
          <div className={styles.tools}>
            {file !== null && <Download file={file} title={finding.title} chart={() => (asTable ? null : body.current)} />}
            <ActionIcon
              className={styles.tool ?? ''}
              aria-label={`${asTable ? texts.asChart : texts.asTable}: ${finding.title}`}
              title={asTable ? texts.asChart : texts.asTable}
              onClick={() => setAsTable(!asTable)}
            >
              {asTable ? <IconChartDots size={19} stroke={1.7} /> : <IconTable size={19} stroke={1.7} />}
            </ActionIcon>
          </div>
        )}
      </div>
      {some && (asTable ? <Table finding={finding} /> : <div ref={body}>{children}</div>)}
      {foot}
    </section>
  )
}

function Table({ finding: { title, columns, rows } }: { finding: Finding }): ReactNode {
  return (
    <div className={styles.scroll}>
      <table className={styles.table} aria-label={title}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two clients may have one name.
            <tr key={at}>
              {cells.map((cell, column) => (
                <td key={columns[column]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** `chart`: the element with the chart; null while the table is shown. */
function Download({ file, title, chart }: { file: Exported; title: string; chart: () => HTMLElement | null }): ReactNode {
  const failed = (error: unknown) => toast('bad', texts.notDownloaded(errorMessage(error)))
  const csv = async () => {
    try {
      const { bytes, name } = await fetchFile(insightCalls.export, { query: { what: file } })
      saveFile(bytes, name)
      toast('good', texts.downloaded(name))
    } catch (error) {
      failed(error)
    }
  }
  const png = async (drawn: HTMLElement) => {
    try {
      saveFile(await picture(drawn, title), `duely-${file}.png`)
    } catch (error) {
      failed(error)
    }
  }
  const [opened, setOpened] = useState(false)
  const choose = (run: () => Promise<void>) => {
    setOpened(false)
    void run()
  }
  const drawn = opened ? chart() : null
  return (
    <div className={styles.download}>
      <ActionIcon
        className={styles.tool ?? ''}
        aria-label={`${texts.download}: ${title}`}
        aria-expanded={opened}
        title={texts.download}
        onClick={() => setOpened(!opened)}
      >
        <IconDownload size={19} stroke={1.7} />
      </ActionIcon>
      {opened && (
        <div className={styles.choices}>
          <button type="button" onClick={() => choose(csv)}>
            {texts.downloadCsv}
          </button>
          {drawn && (
            <button type="button" onClick={() => choose(() => png(drawn))}>
              {texts.downloadPng}
            </button>
          )}
        </div>
      )}
    </div>
  )
}

/** A part of a chart that has a figure of its own: where it is, and what it says. */
export interface Mark {
  key: string
  x: number
  y: number
  width: number
  height: number
  label: string
}

interface ChartProps {
  height: (width: number) => number
  /** The parts, in reading order. */
  marks: (width: number) => Mark[]
  onOpen?: (key: string) => void
  children: (width: number) => ReactNode
}

/** A drawing with a button over each of its marks: one tab stop, arrow keys move, and the focused one shows what it says. */
export function Chart({ height, marks: marksFor, onOpen, children }: ChartProps): ReactNode {
  const [frame, width] = useWidth<HTMLDivElement>()
  const [stop, setStop] = useState(0)
  const [named, setNamed] = useState<string | null>(null)
  const marks = width === null ? [] : marksFor(width)
  const shown = marks.find(({ key }) => key === named)
  const steer = (event: KeyboardEvent, index: number) => {
    const steps: Record<string, number> = {
      ArrowRight: index + 1,
      ArrowDown: index + 1,
      ArrowLeft: index - 1,
      ArrowUp: index - 1,
      Home: 0,
      End: marks.length - 1,
    }
    const next = steps[event.key]
    if (next === undefined || !marks[next]) return
    event.preventDefault()
    setStop(next)
    frame.current?.querySelectorAll<HTMLButtonElement>('[data-mark]')[next]?.focus()
  }
  return (
    <div ref={frame} className={styles.chart} style={{ height: width === null ? undefined : height(width) }}>
      {width !== null && (
        <svg width={width} height={height(width)} className={styles.drawing} data-chart aria-hidden="true">
          {children(width)}
        </svg>
      )}
      {marks.map(({ key, x, y, width: wide, height: high, label }, index) => (
        <button
          key={key}
          type="button"
          data-mark
          data-opens={onOpen !== undefined || undefined}
          tabIndex={index === Math.min(stop, marks.length - 1) ? 0 : -1}
          aria-label={label}
          className={styles.mark}
          style={{ left: x, top: y, width: wide, height: high }}
          onClick={() => (onOpen ? onOpen(key) : setNamed(key))}
          onKeyDown={(event) => steer(event, index)}
          onFocus={() => {
            setNamed(key)
            setStop(index)
          }}
          onBlur={() => setNamed(null)}
          onPointerEnter={() => setNamed(key)}
          onPointerLeave={() => setNamed(null)}
        />
      ))}
      {shown && width !== null && (
        <div
          className={styles.label}
          data-side={shown.x + shown.width / 2 > width - 130 ? 'right' : shown.x + shown.width / 2 < 130 ? 'left' : 'middle'}
          style={{ left: shown.x + shown.width / 2, top: shown.y + shown.height + 4 }}
          aria-hidden
        >
          {shown.label}
        </div>
      )}
    </div>
  )
}
