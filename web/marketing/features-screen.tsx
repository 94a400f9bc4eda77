import type { ReactNode } from 'react'
import look from './plain-page.module.css'
import { PlainPage } from './plain-page.tsx'
import { texts } from './texts.ts'

/** /features */
export default function FeaturesScreen(): ReactNode {
  return (
    <PlainPage title={texts.features.title} lead={texts.features.lead}>
      <div className={look.cards}>
        {texts.features.list.map(([title, text]) => (
          <section key={title} className={look.card}>
            <h2 className={look.cardTitle}>{title}</h2>
            <p>{text}</p>
          </section>
        ))}
      </div>
    </PlainPage>
  )
}
