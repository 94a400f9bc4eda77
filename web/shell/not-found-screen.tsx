import { IconMapQuestion } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { screens } from '#contract/screens.ts'
import { useSession } from '#web/platform/session.ts'
import button from '#web/ui/plain.module.css'
import { EmptyState } from '#web/ui/plain.tsx'
import styles from './shell.module.css'
import { texts } from './texts.ts'

export default function NotFoundScreen(): ReactNode {
  const session = useSession()
  return (
    <main id="content" className={styles.alone}>
      <title>{`${texts.notFound.title} · Duely`}</title>
      <EmptyState
        icon={<IconMapQuestion />}
        heading="h1"
        title={texts.notFound.title}
        text={texts.notFound.text}
        action={
          <Link to={session ? screens.dashboard : screens.landing} className={button.filled}>
            {session ? texts.notFound.dashboard : texts.notFound.home}
          </Link>
        }
      />
    </main>
  )
}
