import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, matchPath, useLocation } from 'react-router'
import { causeOf, type SenderPause } from '#contract/mail.ts'
import { type Notice as NoticeRow, noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { showComing, showMoment } from '#web/ui/dates.ts'
import { Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './notices.module.css'
import { texts } from './texts.ts'

const t = texts.notices
/** Milliseconds between refetches. */
const seldom = 60_000
/** Shown before "Show all": one on a phone, so that the screen itself stays visible. */
const first = { wide: 3, narrow: 1 }
/** These screens show the same state themselves. */
const control = screens.reminderControl
const settings = screens.mailSettings

/** Above every screen of the dashboard: why sending is paused or delayed, and notifications until they are dismissed. */
export function Notices(): ReactNode {
  const { pathname } = useLocation()
  const isAt = (path: string) => matchPath(path, pathname) !== null
  const status = useApiQuery(reminderCalls.status, {}, { refetchInterval: seldom })
  const notices = useApiQuery(noticeCalls.list, {}, { refetchInterval: seldom })
  // Nothing without an answer: the screen below shows that the server is unreachable.
  if (!status.data) return null
  const { pause, trouble, timezone } = status.data
  return (
    <>
      {trouble !== null && !isAt(control) && (
        <Notice tone="warn" title={t.trouble}>
          {trouble}
        </Notice>
      )}
      {pause && !isAt(control) && !isAt(settings) && <Paused pause={pause} zone={timezone} />}
      <Stack notices={shownNotices(notices.data ?? [], pause)} zone={timezone} />
    </>
  )
}

/** The mailbox refuses: the mail server's answer, and the link to the settings. */
function Paused({ pause, zone }: { pause: SenderPause; zone: string }): ReactNode {
  const cause = causeOf(pause)
  return (
    <Notice
      tone="bad"
      title={t.paused[cause]}
      action={
        <Button component={Link} to={settings} variant="default">
          {t.openSettings}
        </Button>
      }
    >
      {cause === 'login_refused' ? (
        <>
          {t.said} <q>{pause.message}</q>{' '}
        </>
      ) : (
        `${pause.message} `
      )}
      {pause.until !== null && t.resumes(showComing(zone, new Date(pause.until), new Date()))}
    </Notice>
  )
}

function Stack({ notices, zone }: { notices: NoticeRow[]; zone: string }): ReactNode {
  const [all, setAll] = useState(false)
  const narrow = useMediaQuery('(max-width: 47.99em)', false, { getInitialValueInEffect: false })
  const few = narrow ? first.narrow : first.wide
  const list = useRef<HTMLUListElement>(null)
  const dismissed = useRef(false)
  const dismiss = useApiMutation(noticeCalls.dismiss, {
    invalidates: [noticeCalls.list],
    onError: (error) => toast('bad', t.dismissFailed(errorMessage(error))),
  })
  // The dismissed notification takes its button along: focus the next one, or the screen.
  const count = notices.length
  useEffect(() => {
    if (!dismissed.current) return
    dismissed.current = false
    const next = count > 0 ? list.current?.querySelector<HTMLElement>('button') : document.getElementById('content')
    next?.focus({ preventScroll: true })
  }, [count])
  const putAway = ({ _id }: NoticeRow) =>
    dismiss.mutate(
      { params: { id: _id } },
      {
        onSuccess: () => {
          dismissed.current = true
        },
      },
    )
  if (count === 0) return null
  return (
    <section aria-label={t.label} className={styles.stack}>
      <ul ref={list} className={styles.list}>
        {(all ? notices : notices.slice(0, few)).map((notice) => (
          <li key={notice._id} className={styles.notice}>
            {notice.kind === 'restored' ? (
              <IconInfoCircle size={20} aria-hidden className={styles.icon} />
            ) : (
              <IconAlertTriangle size={20} aria-hidden className={styles.icon} data-warns />
            )}
            <p className={styles.text}>
              <strong>{notice.title}</strong> {notice.text}{' '}
              <span className={styles.when}>{showMoment(zone, new Date(notice.createdAt), new Date())}</span>
            </p>
            <div className={styles.actions}>
              {notice.link !== null && (
                <Link to={notice.link} className={styles.link} aria-label={t.lookAt(notice.title)}>
                  {t.look}
                </Link>
              )}
              <BusyButton
                variant="default"
                busy={dismiss.isPending && dismiss.variables.params.id === notice._id}
                busyText={t.dismissing}
                aria-label={t.dismissOne(notice.title)}
                onClick={() => putAway(notice)}
              >
                {t.dismiss}
              </BusyButton>
            </div>
          </li>
        ))}
      </ul>
      {count > few && (
        <button type="button" className={styles.more} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t.fewer : t.all(count)}
        </button>
      )}
    </section>
  )
}

/** Drops notifications that the mailbox banner repeats: a refused login always, a used-up quota while the pause lasts. */
export function shownNotices(notices: NoticeRow[], pause: SenderPause | null): NoticeRow[] {
  return notices.filter(({ kind }) => kind !== 'login_refused' && (kind !== 'quota' || pause === null))
}
