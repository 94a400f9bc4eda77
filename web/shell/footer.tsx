import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { accountCalls } from '#contract/accounts.ts'
import { useRead } from '#web/platform/query.ts'
import look from './footer.module.css'
import { texts } from './texts.ts'

/** The foot of every page. Support leads to the operator's own page where there is one. */
export function Footer(): ReactNode {
  const server = useRead(accountCalls.server, {}, { fresh: Number.POSITIVE_INFINITY })
  const support = server.data?.supportUrl
  return (
    <footer className={look.footer}>
      <span>{texts.footer.copyright(new Date().getFullYear())}</span>
      <span>{texts.footer.love}</span>
      <nav aria-label={texts.footer.label} className={look.links}>
        <Link to="/features" className={look.link}>
          {texts.nav.features}
        </Link>
        <Link to="/pricing" className={look.link}>
          {texts.nav.pricing}
        </Link>
        {support ? (
          <a href={support} target="_blank" rel="noopener noreferrer" className={look.link}>
            {texts.footer.support}
          </a>
        ) : (
          <Link to="/contact" className={look.link}>
            {texts.footer.support}
          </Link>
        )}
      </nav>
    </footer>
  )
}
