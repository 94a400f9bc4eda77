import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'

/** The time zone that the account lives in; undefined, which stands for the browser's own, until that is known. */
export function useZone(): string | undefined {
  return useApiQuery(reminderCalls.status).data?.timezone
}
