import { Button } from '@mantine/core'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { accountCalls, type SignedInBrowser } from '#contract/accounts.ts'
import { texts } from '#web/accounts/texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { showMoment } from '#web/ui/dates.ts'
import { FormError } from '#web/ui/notice.tsx'
import { Panel, Pill } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'

const words = texts.security.browsers
const invalidates = [accountCalls.sessions, accountCalls.audit]

/** The browsers that are signed in, each with the way to sign it out. `looked`: somebody is looking at it. */
export function SecurityBrowsers({ zone, looked }: { zone: string; looked: boolean }): ReactNode {
  const browsers = useApiQuery(accountCalls.sessions, {}, { enabled: looked })
  const endOthers = useApiMutation(accountCalls.endOtherSessions, { invalidates, onSuccess: () => toast('good', words.othersDone) })
  const ask = () =>
    void confirm({
      title: words.othersTitle,
      body: words.othersQuestion,
      tone: 'danger',
      action: words.others,
      busy: words.busy,
      failed: words.endFailed,
      onConfirm: () => endOthers.mutateAsync({}),
    })
  const others = browsers.data?.some(({ current }) => !current)
  return (
    <Panel
      title={words.title}
      aside={
        others && (
          <Button variant="default" onClick={ask}>
            {words.others}
          </Button>
        )
      }
    >
      <p className={styles.lead}>{words.text}</p>
      <QueryView query={browsers} loading={words.loading} error={words.failed} empty={null}>
        {(list) => (
          <ul className={styles.list}>
            {list.map((browser) => (
              <Browser key={browser._id} browser={browser} zone={zone} />
            ))}
          </ul>
        )}
      </QueryView>
    </Panel>
  )
}

function Browser({ browser, zone }: { browser: SignedInBrowser; zone: string }): ReactNode {
  const { _id, device, place, createdAt, lastSeenAt, current } = browser
  const now = new Date()
  const end = useApiMutation(accountCalls.endSession, { invalidates, onSuccess: () => toast('good', words.done(device)) })
  const Icon = /iPhone|Android|iPad/.test(device) ? IconDeviceMobile : IconDeviceDesktop
  return (
    <li className={styles.item}>
      <Icon size={22} stroke={1.6} aria-hidden className={styles.icon} />
      <div className={styles.what}>
        <div className={styles.rowName}>
          {device} {current && <Pill tone="paid">{words.current}</Pill>}
        </div>
        <div className={styles.rowQuiet}>
          {words.seen(current ? null : showMoment(zone, new Date(lastSeenAt), now), place, showMoment(zone, new Date(createdAt), now))}
        </div>
        {end.isError && <FormError message={words.endFailed(errorMessage(end.error))} />}
      </div>
      {!current && (
        <BusyButton
          variant="default"
          busy={end.isPending}
          busyText={words.busy}
          aria-label={words.endOf(device)}
          onClick={() => end.mutate({ params: { id: _id } })}
        >
          {words.end}
        </BusyButton>
      )}
    </li>
  )
}
