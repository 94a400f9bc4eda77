import { Button } from '@mantine/core'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { type AuditEntry, accountCalls, type SignedInBrowser } from '#contract/accounts.ts'
import { businessCalls } from '#contract/business.ts'
import { texts } from '#web/accounts/texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { BusyButton } from '#web/ui/buttons.tsx'
import { confirm } from '#web/ui/confirm.tsx'
import { capitalized, showMoment } from '#web/ui/dates.ts'
import { FormError } from '#web/ui/notice.tsx'
import { Panel, Pill } from '#web/ui/panel.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './profile.module.css'

const t = texts.security.browsers
const invalidates = [accountCalls.sessions, accountCalls.audit]

/** The active sessions. Loaded once `visible`. */
export function SecurityBrowsers({ zone, byGoogle, visible }: { zone: string; byGoogle: boolean; visible: boolean }): ReactNode {
  const browsers = useApiQuery(accountCalls.sessions, {}, { enabled: visible })
  const endOthers = useApiMutation(accountCalls.endOtherSessions, { invalidates, onSuccess: () => toast('good', t.othersDone) })
  const ask = () =>
    void confirm({
      title: t.othersTitle,
      body: t.othersQuestion,
      tone: 'danger',
      action: t.others,
      busy: t.busy,
      failed: t.endFailed,
      onConfirm: () => endOthers.mutateAsync({}),
    })
  const others = browsers.data?.some(({ current }) => !current)
  return (
    <Panel
      title={t.title}
      aside={
        others && (
          <Button variant="default" onClick={ask}>
            {t.others}
          </Button>
        )
      }
    >
      <p className={styles.lead}>{byGoogle ? t.textWithGoogle : t.text}</p>
      <QueryView query={browsers} loading={t.loading} error={t.failed} empty={null}>
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
  const end = useApiMutation(accountCalls.endSession, { invalidates, onSuccess: () => toast('good', t.done(device)) })
  const Icon = /iPhone|Android|iPad/.test(device) ? IconDeviceMobile : IconDeviceDesktop
  return (
    <li className={styles.item}>
      <Icon size={22} stroke={1.6} aria-hidden className={styles.icon} />
      <div className={styles.what}>
        <div className={styles.rowName}>
          {device} {current && <Pill tone="paid">{t.current}</Pill>}
        </div>
        <div className={styles.rowQuiet}>
          {t.seen(current ? null : showMoment(zone, new Date(lastSeenAt), now), place, showMoment(zone, new Date(createdAt), now))}
        </div>
        {end.isError && <FormError message={t.endFailed(errorMessage(end.error))} />}
      </div>
      {!current && (
        <BusyButton
          variant="default"
          busy={end.isPending}
          busyText={t.busy}
          aria-label={t.endOf(device)}
          onClick={() => end.mutate({ params: { id: _id } })}
        >
          {t.end}
        </BusyButton>
      )}
    </li>
  )
}

const activityTexts = texts.security.activity
const fewAtFirst = 8
/** The server's page size: a shorter page is the last one. */
const wholePage = 100

/** An audit log, newest first, loaded once `visible`: the person's own, or that of the business with who did what. */
export function Activity({ log, zone, visible }: { log: 'own' | 'business'; zone: string | undefined; visible: boolean }): ReactNode {
  // The last entry of every page on screen: the cursor of the next page.
  const [ends, setEnds] = useState<string[]>([])
  return (
    <Panel title={activityTexts.title}>
      <p className={styles.lead}>{log === 'own' ? activityTexts.text : activityTexts.ofBusiness}</p>
      {[null, ...ends].map((before, at) => (
        <Entries
          key={before}
          log={log}
          before={before}
          zone={zone}
          visible={visible}
          isLast={at === ends.length}
          onOlder={(last) => setEnds((shown) => [...shown, last])}
        />
      ))}
    </Panel>
  )
}

interface EntriesProps {
  log: 'own' | 'business'
  before: string | null
  zone: string | undefined
  visible: boolean
  isLast: boolean
  onOlder: (last: string) => void
}

function Entries({ log, before, zone, visible, isLast, onOlder }: EntriesProps): ReactNode {
  const audit = log === 'own' ? accountCalls.audit : businessCalls.audit
  const found = useApiQuery(audit, before === null ? {} : { query: { before } }, { enabled: visible })
  const [all, setAll] = useState(before !== null)
  const now = new Date()
  return (
    <QueryView
      query={found}
      loading={activityTexts.loading}
      error={activityTexts.failed}
      empty={<p className={styles.rowQuiet}>{activityTexts.none}</p>}
    >
      {(entries) => {
        const shown = all ? entries : entries.slice(0, fewAtFirst)
        const last = entries.at(-1)
        return (
          <>
            <ul className={styles.list}>
              {shown.map((entry) => (
                <Entry key={entry._id} entry={entry} isNamed={log === 'business'} zone={zone} now={now} />
              ))}
            </ul>
            {shown.length < entries.length ? (
              <Button variant="default" mt={16} onClick={() => setAll(true)}>
                {activityTexts.more}
              </Button>
            ) : (
              isLast &&
              last &&
              entries.length === wholePage && (
                <Button variant="default" mt={16} onClick={() => onOlder(last._id)}>
                  {activityTexts.older}
                </Button>
              )
            )}
          </>
        )
      }}
    </QueryView>
  )
}

function Entry({ entry, isNamed, zone, now }: { entry: AuditEntry; isNamed: boolean; zone: string | undefined; now: Date }): ReactNode {
  const { at, text, device, address } = entry
  const by = [isNamed ? entry.by : '', device, address].filter((part) => part !== '').join(', ')
  return (
    <li className={styles.entry}>
      <time dateTime={at} className={styles.when}>
        {capitalized(showMoment(zone, new Date(at), now))}
      </time>
      <div className={styles.what}>
        <div>{text}</div>
        {by !== '' && <div className={styles.rowQuiet}>{by}</div>}
      </div>
    </li>
  )
}
