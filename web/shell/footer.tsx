import type { ReactNode } from 'react'
import { Link, useNavigate } from 'react-router'
import { pageMeta } from '#web/platform/page-meta.tsx'
import styles from './footer.module.css'
import { texts } from './texts.ts'

/** The foot of every page. Support leads to the operator's own page where there is one, else to what Duely can say about that. */
export function Footer(): ReactNode {
  const navigate = useNavigate()
  return (
    <footer className={styles.footer}>
      {/* The page may have been written last year. */}
      <span suppressHydrationWarning>{texts.footer.copyright(new Date().getFullYear())}</span>
      <span>{texts.footer.love}</span>
      <nav aria-label={texts.footer.label} className={styles.links}>
        <Link to="/features" className={styles.link}>
          {texts.nav.features}
        </Link>
        <Link to="/pricing" className={styles.link}>
          {texts.nav.pricing}
        </Link>
        <a
          href={pageMeta('support')}
          target="_blank"
          rel="noopener noreferrer"
          className={styles.link}
          onClick={(event) => {
            // Duely's own page needs no new tab; the page is written before it is known which of the two it is.
            if (pageMeta('support') !== '/contact' || event.ctrlKey || event.metaKey || event.shiftKey) return
            event.preventDefault()
            void navigate('/contact')
          }}
        >
          {texts.footer.support}
        </a>
      </nav>
    </footer>
  )
}
