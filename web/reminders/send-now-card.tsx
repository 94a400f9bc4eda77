import { IconSend2 } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Panel } from '#web/ui/panel.tsx'
import styles from './control.module.css'
import { texts } from './texts.ts'
import type { Presses } from './use-presses.ts'

interface SendNowCardProps {
  mailbox: 'missing' | 'refuses' | 'works'
  /** How many mails would leave; null while that is not known. */
  mails: number | null
  /** How many invoices had a reminder today already. */
  reminded: number
  presses: Presses
  moving: boolean
}

/** One round by hand, whatever the schedule does. */
export function SendNowCard({ mailbox, mails, reminded, presses, moving }: SendNowCardProps): ReactNode {
  return (
    <Panel title={texts.sendNow.button}>
      <p className={styles.description} id="send-now-description">
        {texts.sendNow.description}
      </p>
      <p className={styles.reach}>
        {mailbox !== 'missing' && mails !== null && texts.sendNow[mailbox === 'works' ? 'reach' : 'held'](mails)}
        {mailbox === 'works' && (mails ?? 0) > 0 && reminded > 0 && ` ${texts.sendNow.reminded(reminded)}`}
      </p>
      <div className={styles.send}>
        <BusyButton
          variant="default"
          fullWidth
          leftSection={<IconSend2 size={18} stroke={1.7} />}
          busy={presses.sending || presses.looking === 'send'}
          busyText={texts.sendNow.busy}
          disabled={presses.starting || presses.stopping || (moving && !presses.sending)}
          aria-describedby="send-now-description"
          onClick={() => void presses.sendNow()}
        >
          {texts.sendNow.button}
        </BusyButton>
      </div>
    </Panel>
  )
}
