import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { texts } from './texts.ts'
import { toast } from './toast.tsx'

/**
 * A dialog whose code is fetched when it is first wanted. Where it cannot be fetched (offline, or a new release has taken its place), that
 * is said, and the screen around it stays.
 */
export function lazyDialog<P extends { onClose: () => void }>(
  load: () => Promise<ComponentType<P>>,
): LazyExoticComponent<ComponentType<P>> {
  return lazy(() =>
    load().then(
      (dialog) => ({ default: dialog }),
      () => ({ default: NotLoaded }),
    ),
  )
}

/** Holds such a dialog from when it is first wanted: it stays then, so that it can fade and be wanted again. */
export function LazyMount({ wanted, children }: { wanted: boolean; children: ReactNode }): ReactNode {
  const [ever, setEver] = useState(wanted)
  if (wanted && !ever) setEver(true)
  return ever ? <Suspense>{children}</Suspense> : null
}

function NotLoaded({ onClose }: { onClose: () => void }): ReactNode {
  const close = useRef(onClose)
  useEffect(() => {
    toast('bad', texts.notLoaded)
    close.current()
  }, [])
  return null
}
