import { Button, type ButtonProps } from '@mantine/core'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { accountCalls, type Profile, type ServerAbilities } from '#contract/accounts.ts'
import { type Call, reaches, roleTexts } from '#contract/call.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { BusyButton } from '#web/ui/buttons.tsx'
import styles from '#web/ui/controls.module.css'
import { dateIn } from '#web/ui/dates.ts'
import { Notice } from '#web/ui/notice.tsx'
import { errorMessage } from './problem.ts'
import { useApiMutation, useApiQuery } from './query.ts'
import { readSession, storeUser } from './session.ts'
import { confirmEmailTexts as texts } from './texts.ts'

/** The server's abilities; undefined until loaded. They are constant while it runs, so they are loaded once. */
export function useServer(): ServerAbilities | undefined {
  return useApiQuery(accountCalls.server, {}, { staleTime: Number.POSITIVE_INFINITY }).data
}

const minute = 60_000

/** The account's time zone, the instant now (kept right to the minute) and the calendar date there; the browser's zone until it is known. */
export function useToday(): { zone: string | undefined; now: Date; today: string } {
  const profile = useApiQuery(accountCalls.profile, {}, { staleTime: 10 * minute })
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), minute)
    return () => clearInterval(timer)
  }, [])
  const zone = profile.data?.timezone
  return { zone, now, today: dateIn(zone, now) }
}

/** The business of this tab, as far as screens depend on it, with the name of the person; undefined until it is known. */
export function useBusiness(enabled = true): (Profile['business'] & { person: string }) | undefined {
  const profile = useApiQuery(accountCalls.profile, {}, { staleTime: 10 * minute, enabled }).data
  return profile && { ...profile.business, person: profile.displayName }
}

/** Keeps the stored name and email as the server knows them: a new email is confirmed in another tab or on another device. True until they are read. */
export function useStoredUser(enabled: boolean): boolean {
  const { data: profile, isLoading } = useApiQuery(accountCalls.profile, {}, { staleTime: 10 * minute, enabled })
  // Only when the answer changes: another tab may have stored a newer one.
  useEffect(() => {
    if (!profile || readSession()?.user._id !== profile._id) return
    const { _id, displayName, email, googleId } = profile
    storeUser({ _id, displayName, email, ...(googleId === undefined ? {} : { googleId }) })
  }, [profile])
  return isLoading
}

/** Why a role below the needed one may not do something; undefined where it may, or as long as it is not known. */
export function useRefusal(needed: Call['by']): string | undefined {
  const depends = needed === 'member' || needed === 'admin' || needed === 'owner'
  const business = useApiQuery(accountCalls.profile, {}, { staleTime: 10 * minute, enabled: depends }).data?.business
  if (!depends || !business || reaches(business.role, needed)) return undefined
  const { name, owner, kept } = business
  return kept !== null && reaches(kept, needed) ? roleTexts.noTeamPlan(name, owner) : roleTexts.needed(needed, name, owner)
}

/** Controls that need a role: disabled for a lower one, never hidden. `says`: with the reason below them, else only as their title. */
export function Allowed({
  by,
  says = false,
  children,
}: {
  by: 'member' | 'admin' | 'owner'
  says?: boolean
  children: ReactNode
}): ReactNode {
  const refused = useRefusal(by)
  if (refused === undefined) return children
  return (
    <>
      <fieldset disabled title={refused} className={styles.allowed}>
        {children}
      </fieldset>
      {says && <p className={styles.refused}>{refused}</p>}
    </>
  )
}

interface LinkButtonProps extends ButtonProps {
  /** The role that the screen is of use to. */
  by: Call['by']
  to: string
  state?: unknown
  children: ReactNode
}

/** A button that leads to a screen on which something is changed: disabled for a lower role, with the reason as its title. */
export function LinkButton({ by, to, state, ...button }: LinkButtonProps): ReactNode {
  const refused = useRefusal(by)
  if (refused !== undefined) return <Button disabled title={refused} {...button} />
  return <Button component={Link} to={to} state={state} {...button} />
}

/** In milliseconds; false where one person works alone: then the window's focus is enough. `enabled`: someone is signed in. */
export function useLiveInterval(enabled = true): number | false {
  return (useBusiness(enabled)?.members ?? 1) > 1 && 20_000
}

/** No reminder is sent before the account's email is confirmed, on servers that can send the link for it. */
export function useUnconfirmed(): boolean {
  const server = useServer()
  // The link may have been opened in another tab a moment ago.
  const profile = useApiQuery(accountCalls.profile, {}, { staleTime: 0 }).data
  return server?.systemMail === true && profile?.emailVerified === false
}

/** The account's currency: that of a new invoice, and named first among several. */
export function useCurrency(): string {
  return useApiQuery(accountCalls.profile, {}, { staleTime: 10 * minute }).data?.currency ?? 'INR'
}

/** Offers to send the confirmation link again; nothing where the email is confirmed, or the server can't send email. */
export function ConfirmEmailNotice({ title = texts.title }: { title?: string }): ReactNode {
  const unconfirmed = useUnconfirmed()
  const profile = useApiQuery(accountCalls.profile).data
  const sendLink = useApiMutation(accountCalls.sendConfirmation, { invalidates: [accountCalls.profile] })
  if (!unconfirmed || !profile) return null
  if (sendLink.isSuccess) return <Notice tone="good">{sendLink.data.message}</Notice>
  return (
    <Notice
      tone={sendLink.isError ? 'bad' : 'warn'}
      title={title}
      action={
        <BusyButton variant="default" busy={sendLink.isPending} busyText={texts.sending} onClick={() => sendLink.mutate({})}>
          {texts.sendLink}
        </BusyButton>
      }
    >
      {sendLink.isError ? errorMessage(sendLink.error) : texts.text(profile.email)}
    </Notice>
  )
}

const loadLeaving = () => import('#web/platform/leaving/leaving-banner.tsx')
/** Few accounts hold their emails, and for minutes a day. */
const LeavingMails = lazy(() =>
  loadLeaving().then(
    ({ LeavingBanner }) => ({ default: LeavingBanner }),
    () => ({ default: () => null }),
  ),
)

/** The emails of a daily run that wait to leave, while there are some. */
export function Leaving(): ReactNode {
  const status = useApiQuery(reminderCalls.status).data
  const refused = useRefusal('member')
  if (!status?.leavingRunId) return null
  return (
    <Suspense>
      <LeavingMails key={status.leavingRunId} id={status.leavingRunId} zone={status.timezone} refused={refused} />
    </Suspense>
  )
}
