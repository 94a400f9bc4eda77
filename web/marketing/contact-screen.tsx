import { IconExternalLink, IconMailOff } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { screens } from '#contract/screens.ts'
import { pageMeta } from '#web/platform/page-meta.tsx'
import button from '#web/ui/plain.module.css'
import { EmptyState } from '#web/ui/plain.tsx'
import styles from './plain-page.module.css'
import { PlainPage } from './plain-page.tsx'
import { texts } from './texts.ts'

/** Without a contact the stylesheet shows the second part; this must work without a script. */
export default function ContactScreen(): ReactNode {
  const { contact } = texts
  return (
    <PlainPage texts={contact} path={screens.contact}>
      <a
        href={pageMeta('support')}
        target="_blank"
        rel="noopener noreferrer"
        className={`${button.filled} ${styles.contact}`}
        data-size="lg"
      >
        {contact.open}
        <IconExternalLink size={18} aria-hidden />
        <span className={styles.unseen}>{contact.newTab}</span>
      </a>
      <div className={styles.none}>
        <EmptyState
          icon={<IconMailOff />}
          text={contact.none}
          action={
            <>
              <Link to={screens.landing} className={button.filled}>
                {contact.home}
              </Link>
              <Link to={screens.features} className={button.quiet}>
                {contact.features}
              </Link>
            </>
          }
        />
      </div>
    </PlainPage>
  )
}
