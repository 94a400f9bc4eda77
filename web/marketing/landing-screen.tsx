import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link, Navigate } from 'react-router'
import { useSession } from '#web/platform/session.ts'
import look from './landing.module.css'
import { LandingPicture } from './landing-picture.tsx'
import { texts } from './texts.ts'

/** / : for those who do not know Duely yet; who is signed in goes to the dashboard. */
export default function LandingScreen(): ReactNode {
  const session = useSession()
  if (session) return <Navigate to="/dashboard" replace />
  const { landing } = texts
  return (
    <main id="content" className={look.page}>
      <title>Duely: your invoices, paid on the day they're due</title>
      <meta name="description" content={landing.lead} />
      <section className={look.hero}>
        <h1 className={look.title}>{landing.title}</h1>
        <p className={look.lead}>{landing.lead}</p>
        <div className={look.actions}>
          <Button component={Link} to="/signup" size="lg">
            {landing.start}
          </Button>
          <Button component={Link} to="/signin" size="lg" variant="subtle" className={look.quiet ?? ''}>
            {landing.signIn}
          </Button>
        </div>
        <LandingPicture />
      </section>
      <section className={look.tiles}>
        {landing.tiles.map(({ figure, label, text }) => (
          <div key={label} className={look.tile}>
            <p className={look.figure}>
              <strong>{figure}</strong> {label}
            </p>
            <p className={look.tileText}>{text}</p>
          </div>
        ))}
      </section>
      <section className={look.steps}>
        <h2 className={look.heading}>{landing.steps.title}</h2>
        <ol className={look.list}>
          {landing.steps.list.map(({ title, text }) => (
            <li key={title} className={look.step}>
              <h3 className={look.stepTitle}>{title}</h3>
              <p>{text}</p>
            </li>
          ))}
        </ol>
      </section>
      <section className={look.end}>
        <h2 className={look.heading}>{landing.end.title}</h2>
        <p>{landing.end.text}</p>
        <Button component={Link} to="/signup" size="lg">
          {landing.start}
        </Button>
      </section>
    </main>
  )
}
