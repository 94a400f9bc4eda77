import { accountCalls, type ServerAbilities } from '#contract/accounts.ts'
import { useApiQuery } from '#web/platform/query.ts'

/** The server's abilities; undefined until loaded. They are constant while it runs, so they are loaded once. */
export function useServer(): ServerAbilities | undefined {
  return useApiQuery(accountCalls.server, {}, { staleTime: Number.POSITIVE_INFINITY }).data
}
