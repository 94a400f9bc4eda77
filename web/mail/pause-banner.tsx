import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { causeOf, type SenderPause } from '#contract/mail.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { dateIn, showClock, showComing, showDate } from '#web/ui/dates.ts'
import { Notice } from '#web/ui/notice.tsx'
import styles from './mail.module.css'
import { texts } from './texts.ts'

/** Nothing leaves at the moment: the mail server's own words, since when, and what to do about it. */
export function PauseBanner({ pause, host, onMend }: { pause: SenderPause; host: string | null; onMend: () => void }): ReactNode {
  const profile = useApiQuery(accountCalls.profile)
  const since = new Date(pause.since)
  const zone = profile.data?.timezone
  const when = `${showDate(dateIn(zone, since))}, ${showClock(zone, since)}`
  return (
    <Notice
      tone="bad"
      title={texts.pause.titles[pause.reason]}
      action={<Button onClick={onMend}>{texts.pause.action[pause.reason]}</Button>}
    >
      <p className={styles.words}>
        {causeOf(pause) === 'login_refused' ? (
          <>
            {texts.pause.said(host ?? texts.pause.theServer)} <q>{pause.message}</q>
          </>
        ) : (
          pause.message
        )}
      </p>
      <p
        className={styles.words}
      >{`${texts.pause.since(when)} ${pause.until === null ? texts.pause.todo[pause.reason] : texts.pause.goesOn(showComing(zone, new Date(pause.until), new Date()))}`}</p>
    </Notice>
  )
}
