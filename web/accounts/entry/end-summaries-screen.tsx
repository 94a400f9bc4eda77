import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { ownerLinkCalls } from '#contract/owner-links.ts'
import { screens } from '#contract/screens.ts'
import { texts } from '#web/accounts/texts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { Notice } from '#web/ui/notice.tsx'
import styles from './entry.module.css'
import { EntryCard } from './entry-page.tsx'

const t = texts.endSummaries

/** /summary/unsubscribe: by a button, because mail scanners open every link. Mail programs send a POST to the same address. */
export default function EndSummariesScreen(): ReactNode {
  const [address] = useSearchParams()
  const token = address.get('token')
  const end = useApiMutation(ownerLinkCalls.endSummaries)
  const problem = end.isError ? errorMessage(end.error) : token ? null : t.noToken
  return (
    <EntryCard title={t.title}>
      <title>{`${t.title} · Duely`}</title>
      {end.isSuccess ? (
        <Notice tone="good">{t.done}</Notice>
      ) : problem !== null ? (
        <Notice tone="bad">{problem}</Notice>
      ) : (
        <p className={styles.lead}>{t.lead}</p>
      )}
      {end.isSuccess || problem !== null ? (
        <Button component={Link} to={screens.reminderControl} variant="default" fullWidth>
          {t.onward}
        </Button>
      ) : (
        <BusyButton fullWidth busy={end.isPending} busyText={t.busy} onClick={() => end.mutate({ query: { token: token ?? '' } })}>
          {t.submit}
        </BusyButton>
      )}
    </EntryCard>
  )
}
