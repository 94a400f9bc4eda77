import { Button } from '@mantine/core'
import { IconBrandGoogle } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, type Location, matchPath, Navigate, useLocation, useNavigate } from 'react-router'
import { screens } from '#contract/screens.ts'
import { useServer } from '#web/platform/account.tsx'
import { PageMeta } from '#web/platform/page-meta.tsx'
import { useSession } from '#web/platform/session.ts'
import styles from './entry.module.css'

interface EntryPageProps {
  texts: { title: string; description: string; or: string; google: string; other: string; otherLink: string }
  otherPage: typeof screens.signIn | typeof screens.signUp
  /** False hides Google and the other page. */
  choice?: boolean
  children: ReactNode
}

/** The frame of signing in and signing up. Redirects people who are signed in. */
export function EntryPage({ texts, otherPage, choice = true, children }: EntryPageProps): ReactNode {
  const session = useSession()
  const { state } = useLocation()
  const server = useServer()
  if (session) return <Onward to={destination(state)} />
  return (
    <div className={styles.entry}>
      <PageMeta title={texts.title} description={texts.description} path={otherPage === screens.signUp ? screens.signIn : screens.signUp} />
      <EntryCard title={texts.title}>
        {children}
        {choice && server?.google && (
          <>
            <div className={styles.or}>{texts.or}</div>
            <Button
              component="a"
              href="/auth/google"
              variant="default"
              fullWidth
              leftSection={<IconBrandGoogle size={18} aria-hidden />}
              onClick={() => keepDestination(state)}
            >
              {texts.google}
            </Button>
          </>
        )}
        {choice && (
          <p className={styles.other}>
            {texts.other}{' '}
            <Link to={otherPage} state={state}>
              {texts.otherLink}
            </Link>
          </p>
        )}
      </EntryCard>
    </div>
  )
}

/** Leads on someone who is signed in, such as by another tab. A link that names its business is followed when a page is loaded. */
function Onward({ to }: { to: string }): ReactNode {
  const isLinked = new URL(to, window.location.origin).searchParams.has('business')
  useEffect(() => {
    if (isLinked) window.location.replace(to)
  }, [isLinked, to])
  return isLinked ? null : <Navigate to={to} replace />
}

interface EntryCardProps {
  title: string
  /** The small due line above the title. */
  line?: boolean
  children: ReactNode
}

/** The card of the entry screens. */
export function EntryCard({ title, line = true, children }: EntryCardProps): ReactNode {
  return (
    <main id="content" className={styles.page}>
      <div className={styles.card}>
        {line && (
          <div className={styles.line} aria-hidden>
            <i />
            <i />
            <i />
          </div>
        )}
        <h1 className={styles.title}>{title}</h1>
        {children}
      </div>
    </main>
  )
}

/**
 * The token of an emailed link (`#token=…`), or null. It is removed from the address immediately, so that it stays out of the history and
 * of screenshots.
 */
export function useLinkToken(): string | null {
  const { hash, pathname } = useLocation()
  const navigate = useNavigate()
  const [token, setToken] = useState(() => tokenIn(hash))
  useEffect(() => {
    // A second link opened in the same tab only changes the hash.
    const brought = tokenIn(hash)
    if (brought === null) return
    setToken(brought)
    void navigate(pathname, { replace: true })
  }, [hash, pathname, navigate])
  return token
}

function tokenIn(hash: string): string | null {
  return new URLSearchParams(hash.slice(1)).get('token') || null
}

/** The email that someone is to sign in or up with, as the page before knows it; else ''. */
export function wantedEmail(state: unknown): string {
  return typeof state === 'object' && state !== null && 'email' in state && typeof state.email === 'string' ? state.email : ''
}

const invitationKey = 'duely-invitation'

/** Keeps an invitation until it is answered, because the email that confirms an address opens another tab. Null: it was. */
export function keepInvitation(invitation: { token: string; email: string } | null): void {
  if (invitation === null) localStorage.removeItem(invitationKey)
  else localStorage.setItem(invitationKey, JSON.stringify(invitation))
}

/** Where the kept invitation of an email is answered; null without one. */
export function invitationOf(email: string): string | null {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(invitationKey) ?? 'null')
    if (wantedEmail(kept).toLowerCase() !== email.toLowerCase()) return null
    return typeof kept === 'object' && kept !== null && 'token' in kept ? `${screens.join}#token=${String(kept.token)}` : null
  } catch {
    return null
  }
}

const keptUnder = 'afterGoogle'

/**
 * The address after signing in: the dashboard screen, invitation or link that was asked for, with its query, or /dashboard. Must never leave them:
 * the state comes from the browser.
 */
export function destination(state: unknown): string {
  const from = wanted(state)
  const inside = from && [`${screens.dashboard}/*`, screens.join, screens.confirmEmail].some((one) => matchPath(one, from.pathname))
  if (!from || !inside) return screens.dashboard
  return `${from.pathname}${from.search}${from.hash}`
}

/** Keeps the destination in this tab during the redirect to Google. */
function keepDestination(state: unknown): void {
  sessionStorage.setItem(keptUnder, JSON.stringify(state ?? null))
}

/** Returns the kept destination once. Validated again: anything can write to sessionStorage. */
export function takeDestination(): string {
  const kept = sessionStorage.getItem(keptUnder)
  sessionStorage.removeItem(keptUnder)
  try {
    return destination(JSON.parse(kept ?? 'null'))
  } catch {
    return destination(null)
  }
}

function wanted(state: unknown): Pick<Location, 'pathname' | 'search' | 'hash'> | null {
  if (typeof state !== 'object' || state === null || !('from' in state)) return null
  const { from } = state
  if (typeof from !== 'object' || from === null || !('pathname' in from) || typeof from.pathname !== 'string') return null
  const text = (name: 'search' | 'hash'): string => {
    const value: unknown = Reflect.get(from, name)
    return typeof value === 'string' ? value : ''
  }
  return { pathname: from.pathname, search: text('search'), hash: text('hash') }
}
