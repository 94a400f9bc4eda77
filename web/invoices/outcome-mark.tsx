import {
  IconAlertTriangle,
  IconBan,
  IconCheck,
  IconCircleMinus,
  IconClock,
  IconClockPause,
  IconMoon,
  IconPlayerPause,
  IconRefresh,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './history.module.css'
import { historyTexts } from './history-texts.ts'
import type { Outcome } from './timeline.ts'

const marks = {
  sent: { icon: IconCheck, tone: 'good' },
  failed: { icon: IconAlertTriangle, tone: 'bad' },
  retrying: { icon: IconRefresh, tone: 'warn' },
  held: { icon: IconClockPause, tone: 'warn' },
  waiting: { icon: IconClock, tone: 'quiet' },
  cancelled: { icon: IconBan, tone: 'quiet' },
  superseded: { icon: IconCircleMinus, tone: 'quiet' },
  already_reminded: { icon: IconCircleMinus, tone: 'quiet' },
  paused: { icon: IconPlayerPause, tone: 'quiet' },
  not_running: { icon: IconMoon, tone: 'warn' },
  added_later: { icon: IconCircleMinus, tone: 'quiet' },
} as const satisfies Record<Outcome, { icon: typeof IconCheck; tone: string }>

/** The sign of an outcome, on the line of the timeline. */
export function OutcomeIcon({ outcome }: { outcome: Outcome }): ReactNode {
  const { icon: Icon, tone } = marks[outcome]
  return (
    <span className={styles.mark} data-tone={tone} aria-hidden>
      <Icon size={15} stroke={2} />
    </span>
  )
}

/** The same in a word. */
export function OutcomeWord({ outcome }: { outcome: Outcome }): ReactNode {
  return (
    <strong className={styles.outcome} data-tone={marks[outcome].tone}>
      {historyTexts.outcomes[outcome]}
    </strong>
  )
}
