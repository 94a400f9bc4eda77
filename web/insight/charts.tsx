import { scaleBand, scaleLinear } from 'd3-scale'
import { line } from 'd3-shape'
import type { ReactNode } from 'react'
import type { AdvancedInsights, Age, CurrencyAdvanced, CurrencyInsights } from '#contract/insights.ts'
import { ages } from '#contract/insights.ts'
import { formatMoney } from '#contract/money.ts'
import { showDate } from '#web/ui/dates.ts'
import { Chart, type Mark } from './chart-card.tsx'
import { shortMoney, showMonth } from './figures.ts'
import styles from './insights.module.css'
import { percent, texts } from './texts.ts'

const barTop = 30
const barHeight = 44
/** In pixels: a part that is there can be seen and pressed. */
const leastPart = 4

/** What is open as one bar; the due date parts what is late from the rest. Each part opens its invoices. */
export function AgeingBar({ currency, ageing }: CurrencyInsights, onOpen: (age: Age) => void): ReactNode {
  const t = texts.ageing
  const parts = (width: number) => {
    const some = ages.filter((age) => ageing[age] > 0)
    const total = some.reduce((sum, age) => sum + ageing[age], 0)
    const scale = scaleLinear([0, total], [0, width - some.length * leastPart])
    let x = 0
    return some.map((age) => {
      const part = { age, x, width: scale(ageing[age]) + leastPart }
      x += part.width
      return part
    })
  }
  const marks = (width: number): Mark[] =>
    parts(width).map(({ age, x, width: wide }) => ({
      key: age,
      x,
      y: barTop,
      width: wide,
      height: barHeight,
      label: `${t.age[age]}: ${formatMoney(ageing[age], currency)}`,
    }))
  return (
    <Chart height={() => barTop + barHeight + 12} marks={marks} onOpen={(age) => onOpen(age as Age)}>
      {(width) => {
        const drawn = parts(width)
        const due = drawn.find(({ age }) => age !== 'notDue')?.x ?? width
        return (
          <>
            <clipPath id="ageing">
              <rect x={0} y={barTop} width={width} height={barHeight} rx={10} />
            </clipPath>
            <g clipPath="url(#ageing)">
              {drawn.map(({ age, x, width: wide }) => (
                <rect
                  key={age}
                  data-age={age}
                  className={styles.part}
                  x={x + 1}
                  y={barTop}
                  width={Math.max(1, wide - 2)}
                  height={barHeight}
                />
              ))}
            </g>
            <line className={styles.zero} x1={due} x2={due} y1={barTop - 12} y2={barTop + barHeight + 10} />
            <text
              className={styles.strong}
              x={due > width - 90 ? due - 8 : due + 8}
              y={barTop - 12}
              textAnchor={due > width - 90 ? 'end' : 'start'}
            >
              {texts.dueDate}
            </text>
          </>
        )
      }}
    </Chart>
  )
}

interface Row {
  key: string
  name: string
  /** Left of zero, and right of it. */
  early: number
  late: number
  text: string
  label: string
}

const rowHeight = 36
const rowsTop = 26

interface RowsProps {
  rows: Row[]
  /** What is at zero, or left and right of it. */
  zero: string | [left: string, right: string] | null
  /** The unit of the axis; without one there is no axis. */
  unit: string | null
}

/** A row for each client: a dot left or right of a line, as on the due line. */
function Rows({ rows, zero, unit }: RowsProps): ReactNode {
  const names = (width: number) => Math.min(200, width * 0.36)
  const right = 20 + 7.5 * Math.max(3, ...rows.map(({ text }) => text.length))
  const scaleFor = (width: number) => {
    const [least, most] = [Math.min(0, ...rows.map(({ early }) => -early)), Math.max(1, ...rows.map(({ late }) => late))]
    const room = (least < 0 ? 18 : 0) + 6
    return scaleLinear([least, most], [names(width) + room, width - right])
  }
  const foot = unit === null ? 8 : 30
  const middle = (at: number) => rowsTop + at * rowHeight + rowHeight / 2
  return (
    <Chart
      height={() => rowsTop + rows.length * rowHeight + foot}
      marks={(width) =>
        rows.map(({ key, label }, at) => ({ key, x: 0, y: rowsTop + at * rowHeight + 2, width, height: rowHeight - 4, label }))
      }
    >
      {(width) => {
        const x = scaleFor(width)
        const bottom = rowsTop + rows.length * rowHeight
        const most = Math.max(4, Math.floor(names(width) / 7.4))
        const ticks = x.ticks(Math.floor((width - names(width)) / 80)).filter((tick) => tick > 0 && Number.isInteger(tick))
        return (
          <>
            {rows.map(({ key, name, early, late, text }, at) => (
              <g key={key}>
                <line className={styles.grid} x1={names(width)} x2={width - right + 8} y1={middle(at)} y2={middle(at)} />
                <text className={styles.words} x={0} y={middle(at) + 5}>
                  {name.length > most ? `${name.slice(0, most - 1)}…` : name}
                </text>
                {early > 0 && <Stem tone="early" from={x(0)} to={x(-early)} y={middle(at)} />}
                {(late > 0 || early === 0) && <Stem tone="late" from={x(0)} to={x(late)} y={middle(at)} />}
                <text className={styles.strong} x={x(Math.max(0, late)) + 12} y={middle(at) + 5}>
                  {text}
                </text>
              </g>
            ))}
            <line className={styles.zero} x1={x(0)} x2={x(0)} y1={4} y2={bottom} />
            {zero !== null && (
              <text className={styles.strong} x={x(0) + 8} y={14}>
                {typeof zero === 'string' ? zero : zero[1]}
              </text>
            )}
            {Array.isArray(zero) && (
              <text className={styles.strong} x={x(0) - 8} y={14} textAnchor="end">
                {zero[0]}
              </text>
            )}
            {unit !== null &&
              ticks.map((tick, at) => (
                <text key={tick} className={styles.tick} x={x(tick) - 4 * String(tick).length} y={bottom + 22}>
                  {at === ticks.length - 1 ? `${tick} ${unit}` : tick}
                </text>
              ))}
          </>
        )
      }}
    </Chart>
  )
}

function Stem({ tone, from, to, y }: { tone: 'early' | 'late'; from: number; to: number; y: number }): ReactNode {
  return (
    <g data-tone={tone} className={styles.stem}>
      <line x1={from} x2={to} y1={y} y2={y} />
      <circle cx={to} cy={y} r={6} />
    </g>
  )
}

export function DaysLateChart({ daysLate: { clients } }: CurrencyInsights): ReactNode {
  const rows = clients.map(({ clientId, email, name, paid, mean }) => {
    const text = texts.days(mean)
    return {
      key: clientId || email,
      name,
      early: Math.max(0, -mean),
      late: Math.max(0, mean),
      text,
      label: texts.daysLate.mark(name, mean > 0 ? `${text} ${texts.daysLate.unit}` : text, paid),
    }
  })
  return <Rows rows={rows} zero={texts.dueDate} unit={texts.daysLate.unit} />
}

export function LatePayersChart({ currency, latePayers }: CurrencyInsights): ReactNode {
  const rows = latePayers.map(({ clientId, email, name, overdue }) => ({
    key: clientId || email,
    name,
    early: 0,
    late: overdue,
    text: shortMoney(overdue, currency),
    label: texts.latePayers.mark(name, formatMoney(overdue, currency)),
  }))
  return <Rows rows={rows} zero={null} unit={null} />
}

export function PromisesChart({ promises: { clients } }: AdvancedInsights): ReactNode {
  const rows = clients.map(({ clientId, email, name, kept, broken }) => ({
    key: clientId || email,
    name,
    early: kept,
    late: broken,
    text: `${kept} / ${broken}`,
    label: texts.promises.mark(name, kept, broken),
  }))
  return <Rows rows={rows} zero={texts.promises.sides} unit={null} />
}

const effectHeight = 58

/** Of each n-th email: the share that paid within 3 days and within 7, with the interval around it. */
export function EffectChart({ effect }: AdvancedInsights): ReactNode {
  const shown = effect.flatMap(({ interval, ...one }) => (interval === null ? [] : [{ ...one, interval }]))
  const lines = shown.flatMap((one, row) =>
    ([3, 7] as const).map((days) => ({
      key: `${one.n} ${days}`,
      name: texts.effect.ordinal(one.n),
      days,
      share: (100 * (days === 3 ? one.within3 : one.within7)) / one.sent,
      interval: days === 3 ? one.interval.within3 : one.interval.within7,
      y: row * effectHeight + (days === 3 ? 18 : 40),
    })),
  )
  const most = Math.max(20, ...lines.map(({ interval }) => interval[1]))
  const names = 84
  const bottom = shown.length * effectHeight
  const scaleFor = (width: number) => scaleLinear([0, most], [names + 8, width - 96])
  return (
    <Chart
      height={() => bottom + 34}
      marks={(width) =>
        lines.map(({ key, name, days, share, interval, y }) => ({
          key,
          x: names,
          y: y - 11,
          width: width - names,
          height: 22,
          label: texts.effect.mark(name, percent(share), days, interval),
        }))
      }
    >
      {(width) => {
        const x = scaleFor(width)
        return (
          <>
            {x.ticks(width < 600 ? 3 : 6).map((tick) => (
              <g key={tick}>
                <line className={styles.grid} x1={x(tick)} x2={x(tick)} y1={4} y2={bottom} />
                <text className={styles.tick} x={x(tick)} y={bottom + 22} textAnchor="middle">
                  {percent(tick)}
                </text>
              </g>
            ))}
            {shown.map(({ n, sent }, row) => (
              <g key={n}>
                <text className={styles.strong} x={0} y={row * effectHeight + 24}>
                  {texts.effect.ordinal(n)}
                </text>
                <text className={styles.tick} x={0} y={row * effectHeight + 42}>
                  {texts.effect.sent(sent)}
                </text>
              </g>
            ))}
            {lines.map(({ key, days, share, interval: [low, high], y }) => (
              <g key={key} data-days={days} className={styles.share}>
                <rect x={x(low)} y={y - 5} width={Math.max(2, x(high) - x(low))} height={10} rx={5} />
                <circle cx={x(share)} cy={y} r={6} />
                <text className={styles.strong} x={x(high) + 8} y={y + 5}>
                  {percent(share)} <tspan className={styles.tick}>{key.startsWith('1 ') ? texts.effect.within[days] : ''}</tspan>
                </text>
              </g>
            ))}
          </>
        )
      }}
    </Chart>
  )
}

const forecastTop = 22
const forecastHeight = 160

/** Week by week: the middle of the forecasts as a line, and a band around 8 in 10 of them. */
export function ForecastChart({ currency, forecast }: CurrencyAdvanced): ReactNode {
  const left = 76
  const bottom = forecastTop + forecastHeight
  const y = scaleLinear([0, Math.max(1, ...forecast.map(({ high }) => high))], [bottom, forecastTop]).nice(3)
  const bands = (width: number) =>
    scaleBand(
      forecast.map(({ week }) => week),
      [left + 6, width],
    ).padding(0.3)
  return (
    <Chart
      height={() => bottom + 32}
      marks={(width) =>
        forecast.map(({ week, median, low, high }) => ({
          key: week,
          x: bands(width)(week) ?? 0,
          y: forecastTop,
          width: bands(width).bandwidth(),
          height: forecastHeight,
          label: texts.forecast.mark(
            showDate(week),
            ...([median, low, high].map((amount) => formatMoney(amount, currency)) as [string, string, string]),
          ),
        }))
      }
    >
      {(width) => {
        const x = bands(width)
        const wide = x.bandwidth()
        return (
          <>
            {y.ticks(3).map((tick) => (
              <g key={tick}>
                <line className={tick === 0 ? styles.axis : styles.grid} x1={left} x2={width} y1={y(tick)} y2={y(tick)} />
                {tick > 0 && (
                  <text className={styles.tick} x={0} y={y(tick) + 5}>
                    {shortMoney(tick, currency)}
                  </text>
                )}
              </g>
            ))}
            {forecast.map(({ week, median, low, high }, at) => (
              <g key={week} className={styles.band}>
                <rect x={x(week)} y={y(high)} width={wide} height={Math.max(1, y(low) - y(high))} rx={6} />
                <line x1={x(week)} x2={(x(week) ?? 0) + wide} y1={y(median)} y2={y(median)} />
                {wide > 66 && (
                  <text className={styles.strong} x={(x(week) ?? 0) + wide / 2} y={y(median) - 8} textAnchor="middle">
                    {shortMoney(median, currency)}
                  </text>
                )}
                {(wide > 40 || at % 2 === 0) && (
                  <text className={styles.tick} x={(x(week) ?? 0) + wide / 2} y={bottom + 24} textAnchor="middle">
                    {showDate(week).slice(0, 5)}
                  </text>
                )}
              </g>
            ))}
            <line className={styles.zero} x1={left} x2={left} y1={6} y2={bottom} />
            <text className={styles.strong} x={left + 8} y={16}>
              {texts.today}
            </text>
          </>
        )
      }}
    </Chart>
  )
}

const trendHeight = 70

/** Four small lines of twelve months, each from zero. */
export function TrendCharts({ currency, trend }: CurrencyAdvanced): ReactNode {
  const t = texts.trend
  const series = [
    {
      name: t.series.receivables,
      of: (at: number) => trend[at]?.receivables ?? null,
      show: (value: number) => shortMoney(value, currency),
    },
    { name: t.series.dso, of: (at: number) => trend[at]?.dso ?? null, show: t.days },
    { name: t.series.cei, of: (at: number) => trend[at]?.cei ?? null, show: percent },
    { name: t.series.onTime, of: (at: number) => trend[at]?.onTime ?? null, show: percent },
  ]
  return (
    <div className={styles.trend}>
      {series.map((one) => (
        <Spark key={one.name} months={trend.map(({ month }) => showMonth(month))} {...one} />
      ))}
    </div>
  )
}

interface SparkProps {
  name: string
  months: string[]
  of: (at: number) => number | null
  show: (value: number) => string
}

function Spark({ name, months, of, show }: SparkProps): ReactNode {
  const values = months.map((_month, at) => of(at))
  const y = scaleLinear([0, Math.max(1, ...values.map((value) => value ?? 0))], [trendHeight - 6, 8])
  const shown = (value: number | null | undefined) => (value == null ? texts.trend.nothing : show(value))
  const last = values.at(-1)
  return (
    <div data-name={name}>
      <p className={styles.dim}>{name}</p>
      <p className={styles.big}>{shown(last)}</p>
      <Chart
        height={() => trendHeight}
        marks={(width) => {
          const x = scaleLinear([0, months.length - 1], [6, width - 6])
          const step = x(1) - x(0)
          return values.map((value, at) => ({
            key: String(at),
            x: x(at) - step / 2,
            y: 0,
            width: step,
            height: trendHeight,
            label: `${name}, ${texts.trend.at(months[at] ?? '', shown(value))}`,
          }))
        }}
      >
        {(width) => {
          const x = scaleLinear([0, months.length - 1], [6, width - 6])
          const path = line<number | null>()
            .defined((value) => value !== null)
            .x((_value, at) => x(at))
            .y((value) => y(value ?? 0))(values)
          return (
            <>
              <line className={styles.axis} x1={0} x2={width} y1={trendHeight - 6} y2={trendHeight - 6} />
              <path className={styles.spark} d={path ?? ''} />
              {last != null && <circle className={styles.sparkEnd} cx={x(months.length - 1)} cy={y(last)} r={5} />}
            </>
          )
        }}
      </Chart>
      <p className={styles.ends}>
        <span>{texts.trend.at(months[0] ?? '', shown(values[0]))}</span>
        <span>{months.at(-1)}</span>
      </p>
    </div>
  )
}
