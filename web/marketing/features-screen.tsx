import type { ReactNode } from 'react'
import { Link } from 'react-router'
import button from '#web/ui/plain.module.css'
import { FeaturePicture } from './feature-picture.tsx'
import styles from './plain-page.module.css'
import { PlainPage } from './plain-page.tsx'
import { texts } from './texts.ts'

/** /features */
export default function FeaturesScreen(): ReactNode {
  const { features } = texts
  return (
    <PlainPage words={features} path="/features">
      <div className={styles.cards}>
        {features.list.map(({ picture, title, text }) => (
          <section key={title} className={styles.card}>
            <FeaturePicture name={picture} />
            <h2 className={styles.cardTitle}>{title}</h2>
            <p>{text}</p>
          </section>
        ))}
      </div>
      <div className={styles.end}>
        <h2 className={styles.endTitle}>{features.end}</h2>
        <Link to="/signup" className={button.filled} data-size="lg">
          {features.start}
        </Link>
      </div>
    </PlainPage>
  )
}
