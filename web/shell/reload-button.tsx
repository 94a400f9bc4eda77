import { type ReactNode, useEffect, useRef, useState } from 'react'
import button from '#web/ui/plain.module.css'
import styles from './reload-button.module.css'
import { texts } from './texts.ts'

interface ReloadButtonProps {
  children: string
  /** Does it by itself as soon as the browser is back on the network. */
  byItself?: boolean
  /** Does it at once. */
  atOnce?: boolean
}

/**
 * Loads the page anew, but only where the server answers: in the place of this page the browser would put one of its own, which leads nowhere.
 * Stands in a live region, which says what came of it.
 */
export function ReloadButton({ children, byItself = false, atOnce = false }: ReloadButtonProps): ReactNode {
  const [state, setState] = useState<'waiting' | 'trying' | 'unreachable'>('waiting')
  const trying = useRef(false)
  const reload = async () => {
    if (trying.current) return
    trying.current = true
    setState('trying')
    if (await isOnline()) return window.location.reload()
    trying.current = false
    setState('unreachable')
  }
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    if (atOnce) void latest.current()
  }, [atOnce])
  useEffect(() => {
    if (!byItself) return
    const again = () => void latest.current()
    window.addEventListener('online', again)
    return () => window.removeEventListener('online', again)
  }, [byItself])
  return (
    <>
      <button type="button" className={button.filled} aria-disabled={state === 'trying' || undefined} onClick={() => void reload()}>
        {state === 'trying' ? texts.reloading : children}
      </button>
      {state === 'unreachable' && <p className={styles.said}>{texts.unreachable}</p>}
    </>
  )
}

/** How long an answer is waited for, in ms. */
const patience = 10_000

/** Whether the server answers now, whatever the browser thinks of the network: one on this machine does without. */
export async function isOnline(): Promise<boolean> {
  const answered = await fetch('/health', { cache: 'no-store', signal: AbortSignal.timeout(patience) }).catch(() => null)
  return answered?.ok === true
}
