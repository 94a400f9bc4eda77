import '@mantine/core/styles/InlineInput.layer.css'
import '@mantine/core/styles/Switch.layer.css'
import { Switch } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { reminderCalls } from '#contract/reminders.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { QueryView } from '#web/platform/query-view.tsx'
import { FormError } from '#web/ui/notice.tsx'
import { Panel } from '#web/ui/panel.tsx'
import styles from './control.module.css'
import { texts } from './texts.ts'

const words = texts.grouping

/** Whether a client with several overdue invoices gets one mail or several. */
export function Grouping(): ReactNode {
  const settings = useApiQuery(reminderCalls.settings)
  return (
    <Panel title={words.title}>
      <QueryView query={settings} loading={words.loading} error={words.failed} empty={null}>
        {({ groupByClient }) => <GroupSwitch on={groupByClient} />}
      </QueryView>
      <Link to="/dashboard/email-templates?tab=group" className={styles.template}>
        {words.template}
      </Link>
    </Panel>
  )
}

/** Saved by being pressed; when that fails it goes back to what is true. */
function GroupSwitch({ on }: { on: boolean }): ReactNode {
  const [wanted, setWanted] = useState<boolean | null>(null)
  const change = useApiMutation(reminderCalls.changeSettings, {
    invalidates: [reminderCalls.settings, reminderCalls.preview],
    onSuccess: () => setWanted(null),
    onError: () => setWanted(null),
  })
  return (
    <>
      <Switch
        size="md"
        label={words.label}
        description={words.says}
        checked={wanted ?? on}
        aria-busy={change.isPending}
        classNames={{
          track: styles.switchTrack ?? '',
          label: styles.switchLabel ?? '',
          description: styles.switchSays ?? '',
          body: styles.switchBody ?? '',
        }}
        onChange={(event) => {
          if (change.isPending) return
          setWanted(event.currentTarget.checked)
          change.mutate({ body: { groupByClient: event.currentTarget.checked } })
        }}
      />
      <FormError message={change.isError ? words.notSaved(errorMessage(change.error)) : null} />
    </>
  )
}
