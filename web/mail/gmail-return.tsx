import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { errorMessage } from '#web/platform/problem.ts'
import { useApiMutation } from '#web/platform/query.ts'
import { Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import { gmailTexts } from './gmail-texts.ts'
import styles from './mail.module.css'

/** On the way back from Google: connects the mailbox by the code that came, and takes it out of the address at once. */
export function GmailReturn(): ReactNode {
  const [search, setSearch] = useSearchParams()
  const [problem, setProblem] = useState<string | null>(null)
  const seen = useRef(false)
  const fail = (message: string) => {
    setProblem(message)
    toast('bad', <span className={styles.brief}>{message}</span>)
  }
  const finish = useApiMutation(mailCalls.configureGmail, {
    invalidates: [mailCalls.config, reminderCalls.status, reminderCalls.preview, accountCalls.stats],
    onSuccess: () => {
      toast('good', gmailTexts.done)
    },
    onError: (error) => fail(gmailTexts.failed(errorMessage(error))),
  })
  useEffect(() => {
    const [code, state, error] = ['code', 'state', 'error'].map((name) => search.get(name))
    if (seen.current || (!code && !error)) return
    seen.current = true
    setSearch({}, { replace: true })
    if (code) finish.mutate({ body: { code, ...(state ? { state } : {}) } })
    else fail(gmailTexts.failed(error === 'access_denied' ? gmailTexts.denied : gmailTexts.notFinished))
  })
  if (finish.isPending) return <Notice tone="info">{gmailTexts.finishing}</Notice>
  return problem === null ? null : <Notice tone="bad">{problem}</Notice>
}
