import { IconBolt } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import button from '#web/ui/plain.module.css'
import { EmptyState } from '#web/ui/plain.tsx'
import styles from './page.module.css'
import { ReloadButton } from './reload-button.tsx'
import { texts } from './texts.ts'

/** A screen broke: words and a way back. Both ways load a new page, because what broke may still be in memory. */
export function CrashScreen(): ReactNode {
  return (
    <div className={styles.alone}>
      <title>{`${texts.crash.title} · Duely`}</title>
      <div role="alert">
        <EmptyState
          icon={<IconBolt />}
          heading="h1"
          title={texts.crash.title}
          text={texts.crash.text}
          action={
            <>
              <ReloadButton>{texts.crash.reload}</ReloadButton>
              <a href="/" className={button.quiet}>
                {texts.crash.home}
              </a>
            </>
          }
        />
      </div>
    </div>
  )
}
