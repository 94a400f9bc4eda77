import type { ReactNode } from 'react'
import { Link, Navigate } from 'react-router'
import { screens } from '#contract/screens.ts'
import darkWide from '#docs/pictures/dashboard-dark.webp'
import lightWide from '#docs/pictures/dashboard-light.webp'
import darkPhone from '#docs/pictures/dashboard-phone-dark.webp'
import lightPhone from '#docs/pictures/dashboard-phone-light.webp'
import { PageMeta, pageMeta } from '#web/platform/page-meta.tsx'
import { useSession } from '#web/platform/session.ts'
import button from '#web/ui/plain.module.css'
import styles from './landing.module.css'
import { ProductPicture } from './plain-page.tsx'
import { texts } from './texts.ts'

export default function LandingScreen(): ReactNode {
  const session = useSession()
  if (session) return <Navigate to={screens.dashboard} replace />
  const { landing } = texts
  return (
    <main id="content" className={styles.page}>
      <PageMeta title={landing.tab} description={landing.lead} path={screens.landing} />
      <section className={styles.hero}>
        <h1 className={styles.title}>{landing.title}</h1>
        <p className={styles.lead}>{landing.lead}</p>
        <div className={styles.actions}>
          <Link to={screens.signUp} className={button.filled} data-size="lg">
            {landing.start}
          </Link>
          <Link to={screens.signIn} className={button.bare} data-size="lg">
            {landing.signIn}
          </Link>
        </div>
        <p className={styles.plans} data-payments={pageMeta('payments')}>
          {landing.plans}
        </p>
        <Picture />
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
      <ProductPicture texts={landing.product} dark={{ wide: darkWide, phone: darkPhone }} light={{ wide: lightWide, phone: lightPhone }} />
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
      <SampleEmail />
      <section className={styles.end}>
        <h2 className={styles.heading}>{landing.end.title}</h2>
        <p>{landing.end.text}</p>
        <Link to={screens.signUp} className={button.filled} data-size="lg">
          {landing.start}
        </Link>
      </section>
    </main>
  )
}

function SampleEmail(): ReactNode {
  const { email } = texts.landing
  return (
    <section className={styles.email}>
      <div>
        <h2 className={styles.heading}>{email.title}</h2>
        <p className={styles.emailText}>{email.text}</p>
      </div>
      <figure className={styles.message} aria-label={email.label}>
        <dl className={styles.envelope}>
          <dt>{email.from}</dt>
          <dd>{email.sender}</dd>
          <dt>{email.subject}</dt>
          <dd className={styles.subject}>{email.about}</dd>
        </dl>
        {email.before.map((line) => (
          <p key={line}>{line}</p>
        ))}
        <p className={styles.facts}>
          <strong>{email.amount}</strong>
          {email.facts}
        </p>
        {email.after.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </figure>
    </section>
  )
}

/** Drawn once from left to right, unless the user prefers reduced motion. */
function Picture(): ReactNode {
  const { picture } = texts.landing
  const marks = [
    { at: 10, tone: 'unpaid', text: picture.sent },
    { at: 46, tone: 'overdue', text: picture.reminder },
    { at: 61, tone: 'overdue', text: picture.reminder },
    { at: 78, tone: 'paid', text: picture.paid },
  ]
  return (
    <figure className={styles.picture} role="img" aria-label={picture.label}>
      <div className={styles.axis} />
      <div className={styles.done} />
      <div className={styles.due}>
        <span>{picture.dueDate}</span>
      </div>
      {marks.map(({ at, tone, text }, index) => (
        <div key={at} className={styles.mark} data-tone={tone} style={{ left: `${at}%`, animationDelay: `${300 + index * 260}ms` }}>
          <i />
          <span>{text}</span>
        </div>
      ))}
    </figure>
  )
}
