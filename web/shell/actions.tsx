import { Loader } from '@mantine/core'
import { IconBolt, IconSend2 } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { billingCalls } from '#contract/billing.ts'
import type { CallReply } from '#contract/call.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { useRefusal } from '#web/platform/account.tsx'
import { errorMessage } from '#web/platform/problem.ts'
import { type ApiCache, useApiMutation, useApiQuery } from '#web/platform/query.ts'
import { endSessionAndOpen } from '#web/platform/session.ts'
import { toast } from '#web/ui/toast.tsx'
import styles from './shell.module.css'
import { texts } from './texts.ts'

/** The sidebar's actions. `onDone` closes the drawer around them. */
export function SidebarActions({ onDone }: { onDone?: () => void }): ReactNode {
  const trigger = useTrigger()
  const zapier = useZapier(onDone)
  const { mayNotTrigger, mayNotSubscribe } = useActionRefusals()
  return (
    <>
      <ul aria-label={texts.sidebar.actions} className={styles.actions}>
        <li>
          <button
            type="button"
            className={styles.sidebarLink}
            disabled={mayNotTrigger !== undefined}
            title={mayNotTrigger}
            onClick={() => {
              onDone?.()
              trigger()
            }}
          >
            <IconSend2 size={19} stroke={1.7} aria-hidden />
            {texts.sidebar.trigger}
          </button>
        </li>
        <li className={zapier.known ? undefined : styles.unknown}>
          <button
            type="button"
            className={styles.sidebarLink}
            disabled={mayNotSubscribe !== undefined}
            title={mayNotSubscribe}
            aria-disabled={zapier.busy || undefined}
            onClick={() => {
              if (!zapier.busy) zapier.press()
            }}
          >
            {zapier.busy ? <Loader size={19} color="currentColor" aria-hidden /> : <IconBolt size={19} stroke={1.7} aria-hidden />}
            <span aria-live="polite">{zapier.text}</span>
          </button>
          <div role="alert">{zapier.problem !== null && <p className={styles.problem}>{zapier.problem}</p>}</div>
        </li>
        {/* Who may not trigger may not subscribe. */}
        {mayNotSubscribe !== undefined && <li className={styles.refused}>{mayNotTrigger ?? mayNotSubscribe}</li>}
      </ul>
      <PlanLink onFollow={onDone} />
    </>
  )
}

/** Why the role of the person allows neither of the sidebar's actions, or only the first. */
export function useActionRefusals(): { mayNotTrigger: string | undefined; mayNotSubscribe: string | undefined } {
  return { mayNotTrigger: useRefusal('member'), mayNotSubscribe: useRefusal('admin') }
}

/** The account's plan, where plans are sold. The last of the sidebar, so that it moves nothing when it appears. */
function PlanLink({ onFollow }: { onFollow: (() => void) | undefined }): ReactNode {
  const { data } = useApiQuery(billingCalls.subscription)
  if (!data?.checkout) return null
  return (
    <Link to={withQuery(screens.profile, { tab: 'subscription' })} className={styles.planLink} onClick={onFollow}>
      <span className={styles.planLabel}>{texts.sidebar.plan}</span>
      {data.state}
    </Link>
  )
}

/** `?trigger` opens the trigger dialog over any screen of the dashboard. */
export function useTrigger(): () => void {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  return () => {
    const onDashboard = pathname.startsWith(screens.dashboard)
    const asked = new URLSearchParams(onDashboard ? window.location.search : '')
    asked.set('trigger', '')
    const search = `?${asked}`
    if (onDashboard) void navigate({ search }, { replace: true, preventScrollReset: true })
    else void navigate({ pathname: screens.dashboard, search })
  }
}

const t = texts.zapier

interface Zapier {
  /** False until the subscription has been loaded or has failed to load. */
  known: boolean
  /** The label of the button. */
  text: string
  /** Loading or changing. */
  busy: boolean
  press: () => void
  /** The last error, until the next press. */
  problem: string | null
}

/** The Zapier subscription and its toggle. `onDone` runs after a change. */
export function useZapier(onDone?: () => void): Zapier {
  const settings = useApiQuery(zapierCalls.subscription)
  const said = (done: string, more: string | null) => {
    toast('good', more === null ? done : `${done} ${more}`)
    onDone?.()
  }
  const failed = (what: string) => (error: Error) => toast('bad', `${what} ${errorMessage(error)}`)
  const update = (cache: ApiCache, settings: CallReply<typeof zapierCalls.subscription>) => cache.write(zapierCalls.subscription, settings)
  const subscribe = useApiMutation(zapierCalls.subscribe, {
    invalidates: [zapierCalls.subscription],
    update,
    onSuccess: ({ available, connected }) => said(t.subscribed, available ? (connected ? null : t.notConnected) : t.notRegistered),
    onError: failed(t.subscribeFailed),
  })
  const unsubscribe = useApiMutation(zapierCalls.unsubscribe, {
    invalidates: [zapierCalls.subscription],
    update,
    onSuccess: () => said(t.unsubscribed, t.paused),
    onError: failed(t.unsubscribeFailed),
  })
  if (!settings.data) {
    const busy = settings.isFetching
    return {
      known: settings.isError,
      text: busy ? t.looking : t.unknown,
      busy,
      press: () => void settings.refetch(),
      problem: settings.isError ? t.notKnown(errorMessage(settings.error)) : null,
    }
  }
  const subscribed = settings.data.sendReminders
  const [way, text, busyText, what] = subscribed
    ? [unsubscribe, t.unsubscribe, t.unsubscribing, t.unsubscribeFailed]
    : [subscribe, t.subscribe, t.subscribing, t.subscribeFailed]
  return {
    known: true,
    text: way.isPending ? busyText : text,
    busy: way.isPending,
    press: () => way.mutate({}),
    problem: way.isError ? `${what} ${errorMessage(way.error)}` : null,
  }
}

interface SignOut {
  /** The label of the button. */
  text: string
  /** True until the landing page has loaded. */
  leaving: boolean
  press: () => void
}

/** Ends the session, then opens the landing page. */
export function useSignOut(): SignOut {
  const signOut = useApiMutation(accountCalls.signOut, {
    onSuccess: () => endSessionAndOpen(screens.landing),
    onError: (error) => toast('bad', texts.signOutFailed(errorMessage(error))),
  })
  const leaving = signOut.isPending || signOut.isSuccess
  return {
    text: leaving ? texts.signingOut : texts.signOut,
    leaving,
    press: () => {
      if (!leaving) signOut.mutate({})
    },
  }
}
