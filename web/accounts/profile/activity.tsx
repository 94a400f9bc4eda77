import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type AuditEntry, accountCalls } from '#contract/accounts.ts'
import { texts } from '#web/accounts/texts.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { capitalized, showMoment } from '#web/ui/dates.ts'
import { Panel } from '#web/ui/panel.tsx'
import styles from './profile.module.css'

const words = texts.security.activity
const fewAtFirst = 8
/** As many as the server answers at once: fewer, and there are no older ones. */
const wholePage = 100

/** What happened to the account, newest first. `looked`: somebody is looking at it. */
export function SecurityActivity({ zone, looked }: { zone: string; looked: boolean }): ReactNode {
  // The last entry of every page that is shown, after which the next one begins.
  const [ends, setEnds] = useState<string[]>([])
  return (
    <Panel title={words.title}>
      <p className={styles.lead}>{words.text}</p>
      {[null, ...ends].map((before, at) => (
        <Entries
          key={before}
          before={before}
          zone={zone}
          looked={looked}
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
  looked: boolean
  isLast: boolean
  onOlder: (last: string) => void
}

function Entries({ before, zone, looked, isLast, onOlder }: EntriesProps): ReactNode {
  const log = useApiQuery(accountCalls.audit, before === null ? {} : { query: { before } }, { enabled: looked })
  const [all, setAll] = useState(before !== null)
  const now = new Date()
  return (
    <QueryView query={log} loading={words.loading} error={words.failed} empty={<p className={styles.rowQuiet}>{words.none}</p>}>
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
                {words.more}
              </Button>
            ) : (
              isLast &&
              last &&
              entries.length === wholePage && (
                <Button variant="default" mt={16} onClick={() => onOlder(last._id)}>
                  {words.older}
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
