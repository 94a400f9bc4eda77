import type { ReactNode } from 'react'
import { PageMeta } from '#web/platform/page-meta.tsx'
import styles from './plain-page.module.css'

interface PlainPageProps {
  texts: { title: string; description: string; lead: string }
  path: string
  /** Appended to the lead. */
  more?: ReactNode
  children: ReactNode
}

export function PlainPage({ texts, path, more, children }: PlainPageProps): ReactNode {
  return (
    <main id="content" className={styles.page}>
      <PageMeta title={`${texts.title} · Duely`} description={texts.description} path={path} />
      <h1 className={styles.title}>{texts.title}</h1>
      <p className={styles.lead}>
        {texts.lead} {more}
      </p>
      {children}
    </main>
  )
}

/** The addresses of a screenshot: of a wide window, 1280 by 860 pixels, and of a phone, 390 by 720, twice as large. */
interface Screenshot {
  wide: string
  phone: string
}

interface ProductPictureProps {
  texts: { title: string; text: string; alt: string }
  dark: Screenshot
  light: Screenshot
}

/** A screenshot of the product (`npm run screens` takes it) in the theme of the page: the browser loads only the one that is shown. */
export function ProductPicture({ texts, dark, light }: ProductPictureProps): ReactNode {
  return (
    <section className={styles.product}>
      <h2 className={styles.productTitle}>{texts.title}</h2>
      <p className={styles.productText}>{texts.text}</p>
      {[
        { ...dark, className: styles.onDark },
        { ...light, className: styles.onLight },
      ].map(({ wide, phone, className }) => (
        <picture key={wide} className={className}>
          <source media="(max-width: 47.99em)" srcSet={phone} width={780} height={1440} />
          <img src={wide} alt={texts.alt} width={1280} height={860} loading="lazy" decoding="async" className={styles.productPicture} />
        </picture>
      ))}
    </section>
  )
}
