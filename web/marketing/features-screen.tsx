import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { screens } from '#contract/screens.ts'
import darkWide from '#docs/pictures/reminder-control-dark.webp'
import lightWide from '#docs/pictures/reminder-control-light.webp'
import darkPhone from '#docs/pictures/reminder-control-phone-dark.webp'
import lightPhone from '#docs/pictures/reminder-control-phone-light.webp'
import button from '#web/ui/plain.module.css'
import styles from './plain-page.module.css'
import { PlainPage, ProductPicture } from './plain-page.tsx'
import { texts } from './texts.ts'

export default function FeaturesScreen(): ReactNode {
  const { features } = texts
  return (
    <PlainPage texts={features} path={screens.features}>
      <div className={styles.cards}>
        {features.list.map(({ picture, title, text }) => (
          <section key={title} className={styles.card}>
            <FeaturePicture name={picture} />
            <h2 className={styles.cardTitle}>{title}</h2>
            <p>{text}</p>
          </section>
        ))}
      </div>
      <ProductPicture texts={features.product} dark={{ wide: darkWide, phone: darkPhone }} light={{ wide: lightWide, phone: lightPhone }} />
      <div className={styles.end}>
        <h2 className={styles.endTitle}>{features.end}</h2>
        <Link to={screens.signUp} className={button.filled} data-size="lg">
          {features.start}
        </Link>
      </div>
    </PlainPage>
  )
}

type Tone = 'unpaid' | 'overdue' | 'paid' | 'dim'

function Dots({ dots }: { dots: [x: number, radius: number, tone: Tone][] }): ReactNode {
  return (
    <>
      <path className={styles.axis} d="M0 70H260" />
      {dots.map(([x, radius, tone]) => (
        <circle key={x} cx={x} cy={70 - radius} r={radius} data-tone={tone} />
      ))}
    </>
  )
}

// Drawn with the dots of the due line.
const pictures: Record<string, ReactNode> = {
  mornings: (
    <>
      <path className={styles.mark} d="M50 24V82" />
      <Dots
        dots={[
          [84, 9, 'overdue'],
          [126, 9, 'overdue'],
          [168, 9, 'overdue'],
          [210, 9, 'overdue'],
        ]}
      />
      <text x="84" y="92">
        9:00
      </text>
      <text x="126" y="92">
        9:00
      </text>
      <text x="168" y="92">
        9:00
      </text>
      <text x="210" y="92">
        9:00
      </text>
    </>
  ),
  line: (
    <>
      <path className={styles.mark} d="M118 16V82" />
      <Dots
        dots={[
          [22, 7, 'unpaid'],
          [52, 12, 'unpaid'],
          [92, 6, 'unpaid'],
          [142, 8, 'overdue'],
          [178, 17, 'overdue'],
          [232, 10, 'overdue'],
        ]}
      />
    </>
  ),
  email: (
    <>
      <rect className={styles.paper} x="20" y="12" width="220" height="80" rx="10" />
      <path className={styles.line} d="M36 32h46M36 52h30M152 52h58M36 72h96" />
      <rect className={styles.field} x="90" y="24" width="84" height="16" rx="8" />
      <rect className={styles.field} x="74" y="44" width="70" height="16" rx="8" />
    </>
  ),
  paid: (
    <>
      <path className={styles.mark} d="M70 24V82" />
      <Dots
        dots={[
          [104, 9, 'overdue'],
          [140, 9, 'overdue'],
          [190, 16, 'paid'],
        ]}
      />
      <path className={styles.check} d="M183 54l5 5 9-10" />
    </>
  ),
  sealed: (
    <>
      <rect className={styles.paper} x="20" y="30" width="220" height="44" rx="10" />
      {[48, 70, 92, 114, 136, 158].map((x) => (
        <circle key={x} cx={x} cy={52} r={5} data-tone="dim" />
      ))}
      <path className={styles.lock} d="M206 50v-6a7 7 0 0 1 14 0v6M203 50h20v14h-20z" />
    </>
  ),
  search: (
    <>
      <rect className={styles.paper} x="20" y="14" width="220" height="32" rx="10" />
      <circle className={styles.glass} cx="40" cy="29" r="6" />
      <path className={styles.glass} d="M44.5 33.5l5 5" />
      <path className={styles.line} d="M62 30h60" />
      <path className={styles.cursor} d="M130 22v16" />
      <path className={styles.line} d="M28 66h150M28 84h96" />
      <circle cx={226} cy={66} r={6} data-tone="overdue" />
      <circle cx={226} cy={84} r={6} data-tone="paid" />
    </>
  ),
}

function FeaturePicture({ name }: { name: string }): ReactNode {
  return (
    <svg viewBox="0 0 260 100" className={styles.picture} aria-hidden="true">
      {pictures[name]}
    </svg>
  )
}
