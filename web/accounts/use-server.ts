import { accountCalls, type ServerAbilities } from '#contract/accounts.ts'
import { useApiQuery } from '#web/platform/query.ts'

/** What this server can do; undefined until it has said so. It says the same as long as it runs, so it is asked once. */
export function useServer(): ServerAbilities | undefined {
  return useApiQuery(accountCalls.server, {}, { staleTime: Number.POSITIVE_INFINITY }).data
}
