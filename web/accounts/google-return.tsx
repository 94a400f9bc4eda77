import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { Problem } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { arriveAt } from '#web/platform/session.ts'
import { Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import { takeDestination } from './destination.ts'
import { texts } from './texts.ts'

/** What an older way of coming back carried in the address. A token that arrives by an address is an attack: it is removed and refused. */
const legacy = ['success', 'name', 'provider', 'token', 'refresh', 'accessToken']

/** On the way back from Google: trades the code for a session, and says what went wrong. Whatever came is taken out of the address at once. */
export function GoogleReturn(): ReactNode {
  const [search, setSearch] = useSearchParams()
  const [problem, setProblem] = useState<string | null>(null)
  const seen = useRef(false)
  const exchange = useApiMutation(accountCalls.exchangeGoogleCode, {
    onSuccess: ({ user, accessToken }) => arriveAt(takeDestination(), { user, accessToken }),
    onError: (error) => {
      const message = error instanceof Problem && error.code === 'email_taken' ? error.message : texts.signIn.googleFailed
      setProblem(message)
      toast('bad', message)
    },
  })
  useEffect(() => {
    const code = search.get('code')
    const failed = search.has('error') || legacy.some((name) => search.has(name))
    if (seen.current || (code === null && !failed)) return
    seen.current = true
    setSearch({}, { replace: true })
    if (code !== null && !failed) return exchange.mutate({ body: { code, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone } })
    setProblem(texts.signIn.googleFailed)
    toast('bad', texts.signIn.googleFailed)
  }, [search, setSearch, exchange])
  if (exchange.isPending || exchange.isSuccess) return <Notice tone="info">{texts.signIn.busy}</Notice>
  return problem === null ? null : <Notice tone="bad">{problem}</Notice>
}
