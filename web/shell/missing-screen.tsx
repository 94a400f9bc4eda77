import { IconWifiOff } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useLocation, useNavigate, useNavigationType } from 'react-router'
import button from '#web/ui/plain.module.css'
import { EmptyState } from '#web/ui/plain.tsx'
import styles from './missing-screen.module.css'
import { ReloadButton } from './reload-button.tsx'
import { texts } from './texts.ts'

const missed = new Set<string>()

/** What stands in the place of a screen whose code did not arrive. Whoever comes back to it later need not ask for another try. */
export function MissingScreen(): ReactNode {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const wentHere = useNavigationType() !== 'POP'
  const [again] = useState(missed.has(pathname))
  useEffect(() => {
    missed.add(pathname)
  }, [pathname])
  return (
    <div className={styles.alone}>
      <title>{`${texts.missing.title} · Duely`}</title>
      <div role="alert">
        <EmptyState
          icon={<IconWifiOff />}
          heading="h1"
          title={texts.missing.title}
          text={texts.missing.text}
          action={
            <>
              <ReloadButton byItself atOnce={again}>
                {texts.missing.retry}
              </ReloadButton>
              {wentHere && (
                <button type="button" className={button.quiet} onClick={() => void navigate(-1)}>
                  {texts.missing.back}
                </button>
              )}
            </>
          }
        />
      </div>
    </div>
  )
}
