import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type AuditEntry, accountCalls } from '#contract/accounts.ts'
import { texts } from '#web/accounts/texts.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { capitalized, showMoment } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import styles from './profile.module.css'

const t = texts.security.activity
const fewAtFirst = 8
/** The server's page size: a shorter page is the last one. */
const wholePage = 100

/** The audit log, newest first. Loaded once `visible`. */
export function SecurityActivity({ zone, visible }: { zone: string; visible: boolean }): ReactNode {
  // The last entry of every page on screen: the cursor of the next page.
  const [ends, setEnds] = useState<string[]>([])
  return (
    <Panel title={t.title}>
      <p className={styles.lead}>{t.text}</p>
      {[null, ...ends].map((before, at) => (
        <Entries
          key={before}
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
  before: string | null
  zone: string
  visible: boolean
  isLast: boolean
  onOlder: (last: string) => void
}

function Entries({ before, zone, visible, isLast, onOlder }: EntriesProps): ReactNode {
  const log = useApiQuery(accountCalls.audit, before === null ? {} : { query: { before } }, { enabled: visible })
  const [all, setAll] = useState(before !== null)
  const now = new Date()
  return (
    <QueryView query={log} loading={t.loading} error={t.failed} empty={<p className={styles.rowQuiet}>{t.none}</p>}>
      {(entries) => {
        const shown = all ? entries : entries.slice(0, fewAtFirst)
        const last = entries.at(-1)
        return (
          <>
            <ul className={styles.list}>
              {shown.map((entry) => (
                <Entry key={entry._id} entry={entry} zone={zone} now={now} />
              ))}
            </ul>
            {shown.length < entries.length ? (
              <Button variant="default" mt={16} onClick={() => setAll(true)}>
                {t.more}
              </Button>
            ) : (
              isLast &&
              last &&
              entries.length === wholePage && (
                <Button variant="default" mt={16} onClick={() => onOlder(last._id)}>
                  {t.older}
                </Button>
              )
            )}
          </>
        )
      }}
    </QueryView>
  )
}

function Entry({ entry, zone, now }: { entry: AuditEntry; zone: string; now: Date }): ReactNode {
  const { at, text, device, address } = entry
  const by = [device, address].filter((part) => part !== '').join(', ')
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
