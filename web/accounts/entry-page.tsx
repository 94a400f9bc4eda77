import { Button } from '@mantine/core'
import { IconBrandGoogle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, Navigate, useLocation } from 'react-router'
import { screens } from '#contract/screens.ts'
import { PageMeta } from '#web/platform/page-meta.tsx'
import { useSession } from '#web/platform/session.ts'
import { destination, keepDestination } from './destination.ts'
import { EntryCard } from './entry-card.tsx'
import styles from './entry-page.module.css'
import { useServer } from './use-server.ts'

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
