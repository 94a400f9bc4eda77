import { scaleLinear } from 'd3-scale'
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from 'react'
import { type Tone, tone as tones } from '#contract/sequence-choice.ts'
import type { SequenceStep } from '#contract/sequences.ts'
import { heard } from '#web/platform/sequences/steps.ts'
import { dayOf, sequenceTexts } from '#web/platform/sequences/texts.ts'
import { signed, editorTexts as texts } from '#web/templates/texts.ts'
import { type Draft, type DraftStep, type Faults, leastDay, mostDay, toneBeside } from './draft.ts'
import styles from './sequences.module.css'
import { DayInput } from './step-form.tsx'

const t = texts.score

const lanes: Record<Tone, number> = { final: 44, firm: 94, friendly: 144 }
const baseline = 196
const chipsTop = 208
const height = 250
/** Where the names of the tones are. */
const gutter = 76
/** Between the middles of two days that are typed. */
const chipGap = 46
/** Of what a finger can take hold of. */
const grip = 34

export interface ScoreProps {
  draft: Draft
  faults: Faults
  /** The key of a step. */
  selected: number
  onSelect: (key: number) => void
  onChange: (key: number, change: Partial<SequenceStep>) => void
}

/** Whether there is room for the score: on a phone, or with many steps, there is only the list. */
export function fitsScore(width: number, steps: number): boolean {
  return width >= 560 && gutter + steps * chipGap < width - 20
}

/** A sequence as a score: across is days from the due date, up is tone. Steps are dragged, typed, or moved with the arrow keys. */
export function Score({ width, draft, faults, selected, onSelect, onChange }: ScoreProps & { width: number }): ReactNode {
  const frame = useRef<HTMLDivElement>(null)
  const [dragged, setDragged] = useState<{ key: number; domain: [number, number] } | null>(null)
  const { steps } = draft
  const { emails } = heard(draft)
  const x = scaleLinear(dragged?.domain ?? domainOf(draft), [gutter + 20, width - 24])
  const said = new Set(emails.map(({ offset }) => offset))
  const repeats = emails.filter(({ repeated }) => repeated)
  // A step that passes another one must not move in the document: it would lose the pointer and the focus.
  const placed = steps.map((step, nth) => ({ step, nth })).toSorted((one, other) => one.step.key - other.step.key)
  const chips = spread(
    steps.map(({ offset }) => x(offset)),
    [gutter, width - 22],
  )

  const drag = (event: PointerEvent<HTMLButtonElement>, { key, offset, tone }: DraftStep) => {
    const box = frame.current?.getBoundingClientRect()
    if (dragged?.key !== key || !box) return
    const day = Math.min(mostDay, Math.max(leastDay, Math.round(x.invert(event.clientX - box.left))))
    const up = event.clientY - box.top
    const next = tones.options.toSorted((one, other) => Math.abs(lanes[one] - up) - Math.abs(lanes[other] - up))[0] ?? tone
    if (day !== offset || next !== tone) onChange(key, { offset: day, tone: next })
  }
  const steer = (event: KeyboardEvent<HTMLButtonElement>, { key, offset, tone }: DraftStep) => {
    const by = event.shiftKey ? 7 : 1
    const changes: Record<string, Partial<SequenceStep>> = {
      ArrowLeft: { offset: Math.max(leastDay, offset - by) },
      ArrowRight: { offset: Math.min(mostDay, offset + by) },
      ArrowUp: { tone: toneBeside(tone, 1) },
      ArrowDown: { tone: toneBeside(tone, -1) },
    }
    const change = changes[event.key]
    if (!change) return
    event.preventDefault()
    onChange(key, change)
  }
  return (
    <div ref={frame} className={styles.score} style={{ height }}>
      <svg width={width} height={height} aria-hidden="true">
        {tones.options.map((tone) => (
          <g key={tone} data-tone={tone} className={styles.lane}>
            <line x1={gutter} x2={width} y1={lanes[tone]} y2={lanes[tone]} />
            <text x={0} y={lanes[tone] + 5}>
              {sequenceTexts.tones[tone]}
            </text>
          </g>
        ))}
        {[...steps, ...repeats.map((one) => ({ ...one, key: -one.offset }))].map(({ key, offset, tone }, nth, all) => {
          const end = x(all[nth + 1]?.offset ?? offset)
          return (
            <rect
              key={key}
              data-tone={tone}
              className={styles.area}
              x={x(offset)}
              y={lanes[tone]}
              width={Math.max(0, end - x(offset))}
              height={baseline - lanes[tone]}
            />
          )
        })}
        <line className={styles.axis} x1={gutter} x2={width} y1={baseline} y2={baseline} />
        <line className={styles.dueMark} x1={x(0)} x2={x(0)} y1={8} y2={baseline + 6} />
        <text className={styles.dueText} x={x(0) + 8} y={18}>
          {sequenceTexts.dueDate}
        </text>
        {repeats.map(({ offset, tone }, nth) => {
          const before = x(repeats[nth - 1]?.offset ?? steps.at(-1)?.offset ?? 0)
          const y = lanes[tone]
          return (
            <g key={offset} data-tone={tone} className={styles.repeat}>
              <line x1={x(offset)} x2={x(offset)} y1={baseline} y2={y} />
              <circle cx={x(offset)} cy={y} r={6.5} />
              {x(offset) - before > 66 && (
                <>
                  <path d={`M${before + 10} ${y - 10}Q${(before + x(offset)) / 2} ${y - 20} ${x(offset) - 10} ${y - 10}`} />
                  <text x={(before + x(offset)) / 2} y={y - 22} textAnchor="middle">
                    {t.repeats(draft.everyDays ?? 0)}
                  </text>
                </>
              )}
              {x(offset) - (chips.at(-1) ?? 0) > 40 && (nth === 0 || x(offset) - x(repeats[nth - 1]?.offset ?? 0) > 40) && (
                <text className={styles.repeatDay} x={x(offset)} y={chipsTop + 23} textAnchor="middle">
                  {signed(offset)}
                </text>
              )}
            </g>
          )
        })}
        {steps.map(({ key, offset, tone, was }) => (
          <g key={key} data-tone={tone} data-silent={!said.has(offset) || undefined} className={styles.stem}>
            {was !== null && was !== offset && (
              <>
                <path className={styles.ghost} d={`M${x(offset)} ${lanes[tone]}H${x(was)}`} />
                <circle className={styles.ghost} cx={x(was)} cy={lanes[tone]} r={9} />
                <text x={x(was) + (was > offset ? 14 : -14)} y={lanes[tone] + 5} textAnchor={was > offset ? 'start' : 'end'}>
                  {t.was(was)}
                </text>
              </>
            )}
            <line x1={x(offset)} x2={x(offset)} y1={baseline} y2={lanes[tone]} />
          </g>
        ))}
      </svg>
      {placed.map(({ step, nth }) => (
        <button
          key={step.key}
          type="button"
          data-step
          data-tone={step.tone}
          data-silent={!said.has(step.offset) || undefined}
          aria-pressed={step.key === selected}
          aria-label={t.step(nth + 1, dayOf(step.offset), sequenceTexts.tones[step.tone])}
          className={styles.dot}
          style={{ left: x(step.offset) - grip / 2, top: lanes[step.tone] - grip / 2, width: grip, height: grip }}
          onFocus={() => onSelect(step.key)}
          onClick={() => onSelect(step.key)}
          onKeyDown={(event) => steer(event, step)}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId)
            onSelect(step.key)
            // The scale must not change under the finger.
            setDragged({ key: step.key, domain: domainOf(draft) })
          }}
          onPointerMove={(event) => drag(event, step)}
          onPointerUp={() => setDragged(null)}
          onPointerCancel={() => setDragged(null)}
        >
          <i />
        </button>
      ))}
      {placed.map(({ step, nth }) => (
        <DayInput
          key={step.key}
          className={styles.chip}
          label={t.day(nth + 1)}
          value={step.offset}
          signed
          data={{ tone: step.tone, selected: step.key === selected, invalid: faults.steps.get(step.key)?.offset !== undefined }}
          style={{ left: (chips[nth] ?? 0) - 20, top: chipsTop }}
          onFocus={() => onSelect(step.key)}
          onChange={(offset) => onChange(step.key, { offset })}
        />
      ))}
    </div>
  )
}

/** From before the first email, and the due date, to after the last. */
function domainOf(draft: Draft): [number, number] {
  const days = [
    0,
    ...draft.steps.flatMap(({ offset, was }) => (was === null ? [offset] : [offset, was])),
    ...heard(draft).emails.map(({ offset }) => offset),
  ].filter((day) => day >= leastDay)
  const [first, last] = [Math.min(...days), Math.max(...days)]
  const beyond = Math.max(2, Math.round((last - first) * 0.05))
  return [first - beyond, last + Math.max(beyond, 3)]
}

/** The middles of the chips: below their dots, but apart. */
function spread(wanted: number[], [least, most]: [number, number]): number[] {
  const places = [...wanted]
  for (let nth = 1; nth < places.length; nth += 1) places[nth] = Math.max(places[nth] ?? 0, (places[nth - 1] ?? 0) + chipGap)
  let limit = most
  for (let nth = places.length - 1; nth >= 0; nth -= 1) {
    places[nth] = Math.max(least, Math.min(places[nth] ?? 0, limit))
    limit = (places[nth] ?? 0) - chipGap
  }
  return places
}

/** The same as rows: the only form on a phone, and a table for screen readers. */
export function StepList({ draft, faults, selected, onSelect }: Omit<ScoreProps, 'onChange'>): ReactNode {
  const { emails, endless } = heard(draft)
  const repeats = emails.filter(({ repeated }) => repeated).map(({ offset }) => offset)
  const said = new Set(emails.map(({ offset }) => offset))
  const firstLate = draft.steps.findIndex(({ offset }) => offset > 0)
  const due = (
    <li key="due" className={styles.rowDue}>
      <span>{sequenceTexts.dueDate}</span>
    </li>
  )
  const more = t.repeated(draft.everyDays ?? 0, repeats.length === 0 ? '' : t.until(repeats.slice(0, 3), !endless && repeats.length <= 3))
  return (
    <ol className={styles.rows} aria-label={t.steps}>
      {draft.steps.map((step, nth) => (
        <Row
          key={step.key}
          step={step}
          due={nth === firstLate ? due : null}
          selected={step.key === selected}
          silent={!said.has(step.offset)}
          fault={Object.values(faults.steps.get(step.key) ?? {})[0]}
          onSelect={() => onSelect(step.key)}
        />
      ))}
      {firstLate < 0 && due}
      {repeats.length > 0 && (
        <li className={styles.rowRepeat} data-tone={draft.steps.at(-1)?.tone}>
          <i aria-hidden />
          <span>
            <strong>{more.title}</strong>
            <small>{more.text}</small>
          </span>
        </li>
      )}
    </ol>
  )
}

interface RowProps {
  step: DraftStep
  due: ReactNode
  selected: boolean
  silent: boolean
  fault: string | undefined
  onSelect: () => void
}

function Row({ step: { offset, tone, subject }, due, selected, silent, fault, onSelect }: RowProps): ReactNode {
  return (
    <>
      {due}
      <li data-tone={tone} data-silent={silent || undefined}>
        <button type="button" className={styles.row} aria-pressed={selected} onClick={onSelect}>
          <i aria-hidden />
          <span>
            <strong>{dayOf(offset)}</strong>
            <small data-fault={fault !== undefined || undefined}>{fault ?? subject}</small>
          </span>
          <em>{sequenceTexts.tones[tone]}</em>
        </button>
      </li>
    </>
  )
}
