import { Button } from '@mantine/core'
import { IconBrandGoogle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, Navigate, useLocation } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { PageFacts } from '#web/platform/page-facts.tsx'
import { useRead } from '#web/platform/query.ts'
import { useSession } from '#web/platform/session.ts'
import { destination } from './destination.ts'
import look from './entry-page.module.css'

interface EntryPageProps {
  words: { title: string; description: string; or: string; google: string; other: string; otherLink: string }
  /** The page for those who are in the wrong place. */
  otherPage: '/signin' | '/signup'
  children: ReactNode
}

/** The frame of signing in and signing up. Who is signed in already goes straight on. */
export function EntryPage({ words, otherPage, children }: EntryPageProps): ReactNode {
  const session = useSession()
  const { state } = useLocation()
  const server = useRead(accountCalls.server, {}, { fresh: Number.POSITIVE_INFINITY })
  if (session) return <Navigate to={destination(state)} replace />
  return (
    <main id="content" className={look.page}>
      <PageFacts title={words.title} description={words.description} path={otherPage === '/signup' ? '/signin' : '/signup'} />
      <div className={look.card}>
        <div className={look.line} aria-hidden>
          <i />
          <i />
          <i />
        </div>
        <h1 className={look.title}>{words.title}</h1>
        {children}
        {server.data?.google && (
          <>
            <div className={look.or}>{words.or}</div>
            <Button component="a" href="/auth/google" variant="default" fullWidth leftSection={<IconBrandGoogle size={18} />}>
              {words.google}
            </Button>
          </>
        )}
        <p className={look.other}>
          {words.other}{' '}
          <Link to={otherPage} state={state}>
            {words.otherLink}
          </Link>
        </p>
      </div>
    </main>
  )
}
