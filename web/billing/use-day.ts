import { accountCalls } from '#contract/accounts.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { dateIn, showDate } from '#web/ui/dates.ts'

/** Says on which day of the account's own calendar an instant is, as 16/03/2026; of the browser's until that is known. */
export function useDay(): (instant: string) => string {
  const profile = useApiQuery(accountCalls.profile, {}, { staleTime: 60_000 })
  return (instant) => showDate(dateIn(profile.data?.timezone, new Date(instant)))
}
