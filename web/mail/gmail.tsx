import { IconBrandGmail } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import type { SenderPause } from '#contract/sender-pause.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import { FormError, Notice } from '#web/ui/notice.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './mail.module.css'
import { texts } from './texts.ts'

const t = texts.gmail

/** Whether this server can send through Gmail; false until that is known. */
export function useGmail(): boolean {
  return useApiQuery(accountCalls.server, {}, { staleTime: Number.POSITIVE_INFINITY }).data?.google ?? false
}

/** Opens Google’s consent page. Renders nothing where Google is not set up on this server. */
export function GmailButton({ kind }: { kind: 'first' | 'again' }): ReactNode {
  const available = useGmail()
  const [problem, setProblem] = useState<string | null>(null)
  const start = useApiMutation(mailCalls.startGmail, {
    onSuccess: ({ url }) => window.location.assign(url),
    onError: (error) => {
      const message = t.startFailed(error instanceof Problem ? error.message : '')
      setProblem(message)
      toast('bad', <span className={styles.clamped}>{message}</span>)
    },
  })
  if (!available) return null
  return (
    <>
      <BusyButton
        leftSection={<IconBrandGmail size={18} stroke={1.7} aria-hidden />}
        // Stays busy until the browser has left for Google.
        busy={start.isPending || start.isSuccess}
        busyText={t.busy}
        onClick={() => {
          setProblem(null)
          start.mutate({})
        }}
      >
        {kind === 'first' ? t.connect : t.again}
      </BusyButton>
      {problem !== null && <FormError message={problem} />}
    </>
  )
}

/** The permission was revoked, by Google or by the user. */
export function GmailPause({ pause }: { pause: SenderPause }): ReactNode {
  return (
    <Notice tone="bad" title={t.paused.title} action={<GmailButton kind="again" />}>
      {pause.message !== '' && <p className={styles.text}>{pause.message}</p>}
      <p className={styles.text}>{t.paused.todo}</p>
    </Notice>
  )
}

/** Finishes the connection with the code in the address, and removes the code from the address first, because it works only once. */
export function GmailReturn(): ReactNode {
  const [search, setSearch] = useSearchParams()
  const [problem, setProblem] = useState<string | null>(null)
  const seen = useRef(false)
  const fail = (message: string) => {
    setProblem(message)
    toast('bad', <span className={styles.clamped}>{message}</span>)
  }
  const finish = useApiMutation(mailCalls.configureGmail, {
    invalidates: [mailCalls.config, reminderCalls.status, reminderCalls.preview, accountCalls.stats],
    onSuccess: () => {
      toast('good', t.done)
    },
    onError: (error) => fail(t.failed(errorMessage(error))),
  })
  useEffect(() => {
    const [code, state, error] = ['code', 'state', 'error'].map((name) => search.get(name))
    if (seen.current || (!code && !error)) return
    seen.current = true
    setSearch({}, { replace: true })
    if (code) finish.mutate({ body: { code, ...(state ? { state } : {}) } })
    else fail(t.failed(error === 'access_denied' ? t.denied : t.notFinished))
  })
  if (finish.isPending) return <Notice tone="info">{t.finishing}</Notice>
  return problem === null ? null : <Notice tone="bad">{problem}</Notice>
}
