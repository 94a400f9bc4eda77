import type { ReactNode } from 'react'
import { Link, Navigate } from 'react-router'
import { PageMeta } from '#web/platform/page-meta.tsx'
import { useSession } from '#web/platform/session.ts'
import button from '#web/ui/plain.module.css'
import styles from './landing.module.css'
import { LandingPicture } from './landing-picture.tsx'
import { texts } from './texts.ts'

/** / : for those who do not know Duely yet; who is signed in goes to the dashboard. */
export default function LandingScreen(): ReactNode {
  const session = useSession()
  if (session) return <Navigate to="/dashboard" replace />
  const { landing } = texts
  return (
    <main id="content" className={styles.page}>
      <PageMeta title={landing.tab} description={landing.lead} path="/" />
      <section className={styles.hero}>
        <h1 className={styles.title}>{landing.title}</h1>
        <p className={styles.lead}>{landing.lead}</p>
        <div className={styles.actions}>
          <Link to="/signup" className={button.filled} data-size="lg">
            {landing.start}
          </Link>
          <Link to="/signin" className={button.bare} data-size="lg">
            {landing.signIn}
          </Link>
        </div>
        <LandingPicture />
      </section>
      <section className={styles.tiles}>
        {landing.tiles.map(({ figure, label, text }) => (
          <div key={label} className={styles.tile}>
            <p className={styles.figure}>
              <strong>{figure}</strong> {label}
            </p>
            <p className={styles.tileText}>{text}</p>
          </div>
        ))}
      </section>
      <section className={styles.steps}>
        <h2 className={styles.heading}>{landing.steps.title}</h2>
        <ol className={styles.list}>
          {landing.steps.list.map(({ title, text }) => (
            <li key={title} className={styles.step}>
              <h3 className={styles.stepTitle}>{title}</h3>
              <p>{text}</p>
            </li>
          ))}
        </ol>
      </section>
      <Letter />
      <section className={styles.end}>
        <h2 className={styles.heading}>{landing.end.title}</h2>
        <p>{landing.end.text}</p>
        <Link to="/signup" className={button.filled} data-size="lg">
          {landing.start}
        </Link>
      </section>
    </main>
  )
}

/** A reminder as it arrives. */
function Letter(): ReactNode {
  const { letter } = texts.landing
  return (
    <section className={styles.letter}>
      <div>
        <h2 className={styles.heading}>{letter.title}</h2>
        <p className={styles.letterText}>{letter.text}</p>
      </div>
      <figure className={styles.mail} aria-label={letter.label}>
        <dl className={styles.envelope}>
          <dt>{letter.from}</dt>
          <dd>{letter.sender}</dd>
          <dt>{letter.subject}</dt>
          <dd className={styles.subject}>{letter.about}</dd>
        </dl>
        {letter.lines.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </figure>
    </section>
  )
}
