import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { accountCalls, type Profile } from '#contract/accounts.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { keepUser } from '#web/platform/session.ts'
import { Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import { GoogleUnlinkDialog } from './google-unlink-dialog.tsx'
import { texts } from './texts.ts'

const words = texts.security.google

/** On the way back from Google to the profile: links the account, or unlinks it, and takes what came out of the address at once. */
export function GoogleLinkReturn({ profile }: { profile: Profile }): ReactNode {
  const [search, setSearch] = useSearchParams()
  const [problem, setProblem] = useState<string | null>(null)
  const [unlinking, setUnlinking] = useState<string | null>(null)
  const seen = useRef(false)
  const link = useApiMutation(accountCalls.linkGoogle, {
    invalidates: [accountCalls.profile, accountCalls.sessions, accountCalls.audit],
    onSuccess: ({ _id, displayName, email, googleId }) => {
      keepUser({ _id, displayName, email, ...(googleId === undefined ? {} : { googleId }) })
      toast('good', words.done)
    },
    onError: (error) => setProblem(errorMessage(error)),
  })
  useEffect(() => {
    const code = search.get('code')
    if (seen.current || (code === null && !search.has('error'))) return
    seen.current = true
    setSearch({ tab: 'security' }, { replace: true })
    if (code !== null && profile.googleId !== undefined) return setUnlinking(code)
    if (code !== null) return link.mutate({ body: { code } })
    setProblem(texts.signIn.googleFailed)
  }, [search, setSearch, link, profile.googleId])
  if (unlinking !== null) return <GoogleUnlinkDialog code={unlinking} email={profile.email} onClose={() => setUnlinking(null)} />
  if (link.isPending) return <Notice tone="info">{words.linking}</Notice>
  return problem === null ? null : <Notice tone="bad">{problem}</Notice>
}
