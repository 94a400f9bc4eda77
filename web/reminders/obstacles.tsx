import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { causeOf, type SenderPause } from '#contract/mail.ts'
import { Notice } from '#web/ui/notice.tsx'
import styles from './control.module.css'
import { comingMoment, dayAndTime, inSentence } from './moments.ts'
import { texts } from './texts.ts'

const toSettings = (
  <Button component={Link} to="/dashboard/mail-settings" variant="default">
    {texts.emailSettings}
  </Button>
)

/** There is no mailbox to send from. */
export function UnconfiguredNotice(): ReactNode {
  return (
    <Notice tone="warn" title={texts.unconfigured.title} action={toSettings}>
      {texts.unconfigured.text}
    </Notice>
  )
}

/** The mailbox refuses: nothing leaves until its owner has done something about it. */
export function PausedNotice({ pause, zone }: { pause: SenderPause; zone: string }): ReactNode {
  const cause = causeOf(pause)
  return (
    <Notice tone="bad" title={texts.pause.titles[cause]} action={toSettings}>
      <p className={styles.words}>
        {cause === 'login_refused' ? (
          <>
            {texts.pause.said} <q>{pause.message}</q>
          </>
        ) : (
          pause.message
        )}
      </p>
      <p className={styles.words}>
        {`${texts.pause.since(dayAndTime(zone, pause.since))} ${
          pause.until === null
            ? texts.pause.todo[pause.reason][pause.provider]
            : texts.pause.goesOn(inSentence(comingMoment(zone, pause.until, new Date())))
        }`}
      </p>
    </Notice>
  )
}
