import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { Notice } from '#web/ui/notice.tsx'
import { texts } from './texts.ts'

/** Says that the grouped wording is not in use where mails are not grouped. */
export function GroupingNotice(): ReactNode {
  const settings = useApiQuery(reminderCalls.settings)
  if (settings.data?.groupByClient !== false) return null
  return (
    <Notice
      tone="info"
      action={
        <Button component={Link} to="/dashboard/reminder-control" variant="default">
          {texts.ungrouped.action}
        </Button>
      }
    >
      {texts.ungrouped.text}
    </Notice>
  )
}
