import { scaleLinear } from 'd3-scale'
import type { ReactNode } from 'react'
import { useWidth } from '#web/ui/hooks.ts'
import styles from './sequences.module.css'
import { heard, type Rhythm } from './steps.ts'
import { dayOf, sequenceTexts as texts } from './texts.ts'

const height = 48
const baseline = 40
const lift = { friendly: 10, firm: 20, final: 30 }

/** A sequence on the due line: across is days, up is tone. A picture: its days are its name. */
export function SequenceLine({ rhythm }: { rhythm: Rhythm }): ReactNode {
  const [frame, width] = useWidth<HTMLDivElement>()
  const { emails } = heard(rhythm)
  const days = emails.filter(({ repeated }) => !repeated).map(({ day }) => dayOf(day))
  const rest = rhythm.everyDays === null ? '' : texts.repeating(rhythm.everyDays)
  const [first, last] = [Math.min(0, emails[0]?.day ?? 0), Math.max(7, emails.at(-1)?.day ?? 0)]
  const x = scaleLinear([first, last], [8, (width ?? 0) - 8])
  return (
    <div ref={frame} className={styles.line} role="img" aria-label={days.length === 0 ? texts.never : texts.line(days, rest)}>
      {width !== null && (
        <svg width={width} height={height} aria-hidden="true">
          <line className={styles.axis} x1={0} x2={width} y1={baseline} y2={baseline} />
          <line className={styles.due} x1={x(0)} x2={x(0)} y1={4} y2={baseline + 6} />
          {emails.map(({ day, tone, repeated }) => (
            <g key={day} data-tone={tone} data-repeated={repeated || undefined} className={styles.email}>
              <line x1={x(day)} x2={x(day)} y1={baseline} y2={baseline - lift[tone]} />
              <circle cx={x(day)} cy={baseline - lift[tone]} r={4.5} />
            </g>
          ))}
        </svg>
      )}
    </div>
  )
}
