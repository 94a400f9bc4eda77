import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconAlertCircle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { type AttentionItem, useAttention } from '#web/platform/attention.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { showComing } from '#web/ui/dates.ts'
import styles from './dashboard.module.css'
import { texts } from './texts.ts'

const t = texts.attention

/** One line at most: what needs the owner, else the most urgent of the rest, else that all is clear, once a reminder was sent. */
export function AttentionLine(): ReactNode {
  const { items } = useAttention()
  const { data: status } = useApiQuery(reminderCalls.status)
  // Before the first reminder there usually is nothing: a line that leaves again would move the list.
  if (!items?.length && status?.lastReminderSent === null) return null
  const needed = items?.filter(({ needsOwner }) => needsOwner) ?? []
  const [first] = items ?? []
  return (
    <div className={styles.strip} role="status">
      {items && (needed.length > 1 ? <Several items={needed} /> : first ? <One item={first} /> : <AllClear status={status} />)}
    </div>
  )
}

function Several({ items }: { items: AttentionItem[] }): ReactNode {
  const { open } = useAttention()
  const phone = useMediaQuery('(max-width: 47.99em)')
  // The reason of the first must be readable on a phone; the number is in front.
  const named = phone ? 1 : 2
  const more = phone ? 0 : items.length - named
  return (
    <>
      <IconAlertCircle size={19} stroke={1.7} aria-hidden className={styles.stripIcon} data-tone="bad" />
      <p className={styles.stripText}>
        <strong>{t.need(items.length)}</strong>{' '}
        {[...items.slice(0, named).map(({ summary }) => summary), ...(more > 0 ? [t.more(more)] : [])].join(' · ')}
      </p>
      <Button variant="subtle" className={styles.stripAction ?? ''} onClick={open}>
        {t.view}
      </Button>
    </>
  )
}

function One({ item }: { item: AttentionItem }): ReactNode {
  const { open } = useAttention()
  const { kind, summary, title, text, action, tone } = item
  const Icon = tone === 'info' ? IconInfoCircle : IconAlertCircle
  return (
    <>
      <Icon size={19} stroke={1.7} aria-hidden className={styles.stripIcon} data-tone={tone} />
      <p className={styles.stripText}>
        {/* An email address would fill the line of a phone. */}
        <strong>{`${kind === 'address' ? summary : title}.`}</strong> {text}
      </p>
      {action ? (
        <Button
          component={Link}
          to={action.to}
          {...(action.reload ? { reloadDocument: true } : {})}
          variant="subtle"
          className={styles.stripAction ?? ''}
        >
          {action.text}
        </Button>
      ) : (
        <Button variant="subtle" className={styles.stripAction ?? ''} onClick={open}>
          {t.view}
        </Button>
      )}
    </>
  )
}

function AllClear({ status }: { status: CallReply<typeof reminderCalls.status> | undefined }): ReactNode {
  const next =
    status?.reason === null && status.nextRunAt !== null
      ? t.next(showComing(status.timezone, new Date(status.nextRunAt), new Date()))
      : null
  return (
    <>
      <IconCircleCheck size={19} stroke={1.7} aria-hidden className={styles.stripIcon} data-tone="good" />
      <p className={styles.stripText}>
        <strong>{t.clear}</strong> {next}
      </p>
    </>
  )
}
