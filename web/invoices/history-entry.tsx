import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { type HistoryMail, holdReasonOf } from '#contract/reminders.ts'
import { adviceFor } from '#web/ui/advice.ts'
import { showClock, showComing } from '#web/ui/dates.ts'
import styles from './history.module.css'
import { historyTexts } from './history-texts.ts'
import { OutcomeIcon, OutcomeWord } from './outcome-mark.tsx'
import type { Entry } from './timeline.ts'
import { unbroken } from './unbroken.tsx'

const words = historyTexts

interface HistoryEntryProps {
  entry: Entry
  zone: string | undefined
  now: Date
  /** It is the last that happened to what is still owed: where it failed, what can be done about it is said. */
  advised: boolean
  onOpen: (mail: HistoryMail) => void
}

/** A mail, or a day on which it was decided that none goes out. */
export function HistoryEntry({ entry, zone, now, advised, onOpen }: HistoryEntryProps): ReactNode {
  if (entry.kind === 'day') {
    const { outcome, words: sentence } = entry.decision
    return (
      <li className={styles.entry}>
        <OutcomeIcon outcome={outcome} />
        <OutcomeWord outcome={outcome} />
        <p className={styles.words}>{sentence}</p>
      </li>
    )
  }
  const { mail, outcome, at } = entry
  const { subject } = mail
  return (
    <li className={styles.entry}>
      <OutcomeIcon outcome={outcome} />
      <div className={styles.line}>
        <OutcomeWord outcome={outcome} />
        <span className={styles.aside}>{[showClock(zone, new Date(at)), words.kinds[mail.kind]].join(' · ')}</span>
      </div>
      {subject !== null && <p className={styles.subject}>{unbroken(subject)}</p>}
      {mail.invoices > 1 && <p className={styles.words}>{words.several(mail.invoices)}</p>}
      <WhatBecame mail={mail} />
      {advised && mail.state === 'failed' && <p className={styles.words}>{adviceFor(mail.serverReply ?? '')}</p>}
      <Tries mail={mail} zone={zone} now={now} />
      {/* Its words are settled when it is first tried: before that there is nothing to show. */}
      {subject !== null && (
        <Button variant="subtle" className={styles.open ?? ''} aria-label={words.open(subject)} onClick={() => onOpen(mail)}>
          {words.show}
        </Button>
      )}
    </li>
  )
}

/** Why it stands as it does, with what the mail server answered. */
function WhatBecame({ mail }: { mail: HistoryMail }): ReactNode {
  const { state, reason, serverReply } = mail
  const why = reasonOf(mail)
  // A mail that was given up has our own sentence in the server's place.
  const ours = state === 'failed' && reason !== 'refused'
  return (
    <>
      {why !== null && <p className={styles.words}>{why}</p>}
      {serverReply !== null && serverReply !== '' && (
        <p className={styles.words}>
          {ours ? (
            serverReply
          ) : (
            <>
              {words.said} <q className={styles.said}>{serverReply}</q>
            </>
          )}
        </p>
      )}
    </>
  )
}

function reasonOf({ state, reason }: HistoryMail): string | null {
  switch (state) {
    case 'retrying':
      return words.notAccepted
    case 'held':
      return words.heldWhy[holdReasonOf(reason)]
    case 'cancelled':
      return words.stoppedFirst
    case 'superseded':
      return words.notOwed
    case 'queued':
    case 'sending':
    case 'sent':
    case 'failed':
      return null
  }
}

/** How often it was tried, where that says something, and when it is tried again. */
function Tries({ mail, zone, now }: { mail: HistoryMail; zone: string | undefined; now: Date }): ReactNode {
  const { attempt, state, nextTryAt } = mail
  const parts = [
    ...(attempt > 1 || (attempt === 1 && state !== 'sent') ? [words.tries(attempt)] : []),
    ...(nextTryAt !== null && new Date(nextTryAt) > now ? [words.nextTry(showComing(zone, new Date(nextTryAt), now))] : []),
  ]
  return parts.length > 0 && <p className={styles.aside}>{parts.join(' · ')}</p>
}
