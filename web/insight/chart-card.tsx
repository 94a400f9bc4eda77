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
      {some && (asTable ? <FigureTable finding={finding} /> : <div ref={body}>{children}</div>)}
      {foot}
    </section>
  )
}

export function FigureTable({ finding: { title, columns, rows } }: { finding: Pick<Finding, 'title' | 'columns' | 'rows'> }): ReactNode {
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
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    setOpened(false)
    button.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && opened) close()
  }
  const choose = (run: () => Promise<void>) => {
    close()
    void run()
  }
  const drawn = opened ? chart() : null
  return (
    <div className={styles.download}>
      <ActionIcon
        ref={button}
        className={styles.tool ?? ''}
        aria-label={`${texts.download}: ${title}`}
        aria-expanded={opened}
        title={texts.download}
        onClick={() => setOpened(!opened)}
        onKeyDown={onKeyDown}
      >
        <IconDownload size={19} stroke={1.7} />
      </ActionIcon>
      {opened && (
        <div className={styles.choices}>
          <button type="button" onClick={() => choose(csv)} onKeyDown={onKeyDown}>
            {texts.downloadCsv}
          </button>
          {drawn && (
            <button type="button" onClick={() => choose(() => png(drawn))} onKeyDown={onKeyDown}>
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

const copied = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-linecap',
  'stroke-linejoin',
  'stroke-dasharray',
  'opacity',
  'fill-opacity',
  'font-size',
  'font-weight',
  'text-anchor',
]
/** Twice as many pixels, for screens and print. */
const scale = 2
const [padding, lineHeight] = [24, 26]
const space = 'http://www.w3.org/2000/svg'

/** The drawings of a chart under its title as a PNG, in the colours of the present theme. */
async function picture(chart: HTMLElement, title: string): Promise<Blob> {
  const drawings = [...chart.querySelectorAll<SVGSVGElement>('svg[data-chart]')]
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(name).trim()
  const inner = Math.max(...drawings.map((one) => one.clientWidth))
  const lines = wrap(title, Math.floor(inner / 10))
  const sheet = document.createElementNS(space, 'svg')
  let top = padding + lines.length * lineHeight
  const words = lines.map((line, at) =>
    text(line, padding, padding + 18 + at * lineHeight, { size: 18, weight: 700, fill: color('--text') }),
  )
  const parts = drawings.map((drawing) => {
    const copy = drawing.cloneNode(true) as SVGSVGElement
    const [from, to] = [
      [drawing, ...drawing.querySelectorAll('*')],
      [copy, ...copy.querySelectorAll('*')],
    ]
    for (const [at, one] of from.entries()) {
      const computed = getComputedStyle(one)
      to[at]?.setAttribute('style', copied.map((name) => `${name}:${computed.getPropertyValue(name)}`).join(';'))
    }
    const name = drawing.closest<HTMLElement>('[data-name]')?.dataset.name
    if (name !== undefined) {
      words.push(text(name, padding, top + 18, { size: 14, weight: 400, fill: color('--dim') }))
      top += lineHeight
    }
    copy.setAttribute('x', String(padding))
    copy.setAttribute('y', String(top))
    copy.setAttribute('overflow', 'visible')
    top += drawing.clientHeight + 12
    return copy
  })
  const [width, height] = [inner + 2 * padding, top + padding]
  sheet.setAttribute('width', String(width))
  sheet.setAttribute('height', String(height))
  sheet.setAttribute('font-family', 'Inter, system-ui, sans-serif')
  sheet.append(...words, ...parts)
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(sheet))}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = width * scale
  canvas.height = height * scale
  const context = canvas.getContext('2d')
  if (!context) throw new Error('This browser draws no pictures.')
  context.scale(scale, scale)
  context.fillStyle = color('--surface')
  context.fillRect(0, 0, width, height)
  context.drawImage(image, 0, 0)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('This browser draws no pictures.'))), 'image/png')
  })
}

function text(words: string, x: number, y: number, about: { size: number; weight: number; fill: string }): SVGTextElement {
  const made = document.createElementNS(space, 'text')
  made.textContent = words
  for (const [name, value] of Object.entries({ x, y, 'font-size': about.size, 'font-weight': about.weight, fill: about.fill }))
    made.setAttribute(name, String(value))
  return made
}

function wrap(words: string, most: number): string[] {
  const lines = ['']
  for (const word of words.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length >= most) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
