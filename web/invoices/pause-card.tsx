import { Button } from '@mantine/core'
import { IconPlayerPause } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { showDate } from '#web/ui/dates.ts'
import styles from './history.module.css'
import { pauseWords } from './pause-words.ts'
import { texts } from './texts.ts'
import type { Pausing } from './use-pausing.tsx'

/** The pause of an invoice: until when, about what, why, and the ways out. */
export function PauseCard({ invoice, pausing }: { invoice: Invoice; pausing: Pausing }): ReactNode {
  const { pause } = invoice
  if (pause === null) return null
  return (
    <div className={styles.paused}>
      <IconPlayerPause size={20} aria-hidden className={styles.pausedIcon} />
      <div className={styles.pausedWords}>
        <strong>{texts.pause.state(pause.until === null ? null : showDate(pause.until))}</strong>
        {pauseWords(invoice).map((line) => (
          <p key={line}>{line}</p>
        ))}
        <div className={styles.pausedActions}>
          <BusyButton variant="default" busy={pausing.resuming} busyText={texts.pause.resumeBusy} onClick={() => pausing.resume(invoice)}>
            {texts.pause.resume}
          </BusyButton>
          <Button variant="default" onClick={() => pausing.askToPause(invoice)}>
            {texts.pause.changeButton}
          </Button>
        </div>
      </div>
    </div>
  )
}
