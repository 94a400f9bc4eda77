import { IconWifiOff } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import styles from './offline-notice.module.css'
import { isOnline } from './reload-button.tsx'
import { texts } from './texts.ts'

/** Says that there is no network, as long as there is none and the server does not answer without it. */
export function OfflineNotice(): ReactNode {
  const [offline, setOffline] = useState(false)
  useEffect(() => {
    let asked = 0
    const ask = async () => {
      asked += 1
      const nth = asked
      const away = !navigator.onLine && !(await isOnline())
      // An answer that was overtaken says nothing any more.
      if (nth === asked) setOffline(away)
    }
    const heard = () => void ask()
    heard()
    window.addEventListener('offline', heard)
    window.addEventListener('online', heard)
    return () => {
      asked = -1
      window.removeEventListener('offline', heard)
      window.removeEventListener('online', heard)
    }
  }, [])
  return (
    <div role="status">
      {offline && (
        <div className={styles.notice}>
          <IconWifiOff size={20} aria-hidden />
          <div>
            <strong>{texts.offline.title}</strong>
            {texts.offline.text}
          </div>
        </div>
      )}
    </div>
  )
}
