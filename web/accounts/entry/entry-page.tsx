import { Button } from '@mantine/core'
import { IconBrandGoogle } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, Navigate, useLocation, useNavigate } from 'react-router'
import { screens } from '#contract/screens.ts'
import { useServer } from '#web/accounts/use-server.ts'
import { PageMeta } from '#web/platform/page-meta.tsx'
import { useSession } from '#web/platform/session.ts'
import { destination, keepDestination } from './destination.ts'
import styles from './entry.module.css'

interface EntryPageProps {
  words: { title: string; description: string; or: string; google: string; other: string; otherLink: string }
  /** The page for those who are in the wrong place. */
  otherPage: typeof screens.signIn | typeof screens.signUp
  /** False where there is one thing to do and no other way in is offered. */
  choice?: boolean
  children: ReactNode
}

/** The frame of signing in and signing up. Principal is signed in already goes straight on. */
export function EntryPage({ words, otherPage, choice = true, children }: EntryPageProps): ReactNode {
  const session = useSession()
  const { state } = useLocation()
  const server = useServer()
  if (session) return <Navigate to={destination(state)} replace />
  return (
    <div className={styles.entry}>
      <PageMeta title={words.title} description={words.description} path={otherPage === screens.signUp ? screens.signIn : screens.signUp} />
      <EntryCard title={words.title}>
        {children}
        {choice && server?.google && (
          <>
            <div className={styles.or}>{words.or}</div>
            <Button
              component="a"
              href="/auth/google"
              variant="default"
              fullWidth
              leftSection={<IconBrandGoogle size={18} aria-hidden />}
              onClick={() => keepDestination(state)}
            >
              {words.google}
            </Button>
          </>
        )}
        {choice && (
          <p className={styles.other}>
            {words.other}{' '}
            <Link to={otherPage} state={state}>
              {words.otherLink}
            </Link>
          </p>
        )}
      </EntryCard>
    </div>
  )
}

/** The card that a page of its own stands in: signing in, signing up and whatever leads back in. */
export function EntryCard({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <main id="content" className={styles.page}>
      <div className={styles.card}>
        <div className={styles.line} aria-hidden>
          <i />
          <i />
          <i />
        </div>
        <h1 className={styles.title}>{title}</h1>
        {children}
      </div>
    </main>
  )
}

/**
 * The token of a link that came by mail (`#token=…`), null where there is none. It is taken out of the address at once, so that it
 * stays neither in the history nor in a picture of the screen.
 */
export function useLinkToken(): string | null {
  const { hash, pathname } = useLocation()
  const navigate = useNavigate()
  const [token, setToken] = useState(() => tokenIn(hash))
  useEffect(() => {
    // Another link opened in the same tab changes nothing but the address.
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
