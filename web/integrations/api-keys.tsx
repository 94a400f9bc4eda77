import { Button } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { type ApiKey, integrationCalls } from '#contract/integrations.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { dateIn, showDate, showMoment } from '#web/ui/dates.ts'
import { Panel, Pill } from '#web/ui/panel.tsx'
import { ApiKeyDialog } from './api-key-dialog.tsx'
import styles from './connections.module.css'
import { ShowAll } from './show-all.tsx'
import { texts } from './texts.ts'
import { useLackOfApiAccess } from './use-api-access.ts'
import { useRemoval } from './use-removal.ts'
import { useZone } from './use-zone.ts'

const words = texts.keys
/** So many milliseconds before its end a key is marked. */
const soon = 7 * 86_400_000

/** The keys for programs of one's own. */
export function ApiKeys(): ReactNode {
  const keys = useApiQuery(integrationCalls.keys)
  const lack = useLackOfApiAccess()
  const [adding, setAdding] = useState(false)
  const { around, remove } = useRemoval<ApiKey>({
    call: integrationCalls.removeKey,
    invalidates: [integrationCalls.keys],
    length: keys.data?.length,
    texts: {
      question: words.question,
      consequence: () => words.consequence,
      action: words.revoke,
      busy: words.revoking,
      done: words.revoked,
      failed: words.revokeFailed,
    },
  })
  return (
    <Panel
      title={words.title}
      aside={
        !lack && (
          <Button variant="default" leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setAdding(true)}>
            {words.add}
          </Button>
        )
      }
    >
      <div ref={around} tabIndex={-1} className={styles.around}>
        <p className={styles.lead}>{words.text}</p>
        <QueryView
          query={keys}
          loading={words.loading}
          error={words.failed}
          empty={<p className={styles.none}>{lack ? words.lacking(lack.lifts.title) : words.none}</p>}
        >
          {(list) => (
            <>
              {lack && <p className={styles.none}>{words.kept(lack.lifts.title)}</p>}
              <ShowAll list={list}>
                {(shown) => (
                  <ul className={styles.list}>
                    {shown.map((key) => (
                      <Key key={key._id} apiKey={key} onRevoke={() => remove(key)} />
                    ))}
                  </ul>
                )}
              </ShowAll>
            </>
          )}
        </QueryView>
        <p className={styles.links}>
          <a href="/docs" className={styles.link}>
            {words.reference}
          </a>
        </p>
      </div>
      <ApiKeyDialog opened={adding} onClose={() => setAdding(false)} />
    </Panel>
  )
}

function Key({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: () => void }): ReactNode {
  const { name, ending, scopes, createdAt, expiresAt, lastUsedAt } = apiKey
  const zone = useZone()
  const now = new Date()
  const day = (instant: string) => showDate(dateIn(zone, new Date(instant)))
  const left = expiresAt === null ? null : new Date(expiresAt).getTime() - now.getTime()
  const facts = [
    scopes.includes('write') ? words.readWrite : words.readOnly,
    words.created(day(createdAt)),
    expiresAt === null ? words.noEnd : words.expires(day(expiresAt)),
    lastUsedAt === null ? texts.never : texts.used(showMoment(zone, new Date(lastUsedAt), now)),
  ]
  return (
    <li className={styles.item}>
      <IconKey size={22} stroke={1.6} aria-hidden className={styles.icon} />
      <div className={styles.what}>
        <div className={styles.name}>
          {name} <code className={styles.ending}>{words.ending(ending)}</code>
          {left !== null && left <= 0 && <Pill tone="overdue">{words.expired}</Pill>}
          {left !== null && left > 0 && left < soon && <Pill tone="unpaid">{words.soon}</Pill>}
        </div>
        <div className={styles.quiet}>{facts.join(' · ')}</div>
      </div>
      <Button variant="default" aria-label={words.revokeOne(name)} onClick={onRevoke}>
        {words.revoke}
      </Button>
    </li>
  )
}
