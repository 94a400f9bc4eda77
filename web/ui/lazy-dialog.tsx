import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { texts } from './texts.ts'
import { toast } from './toast.tsx'

/** A dialog whose code is loaded on first use. If loading fails (offline, or a new release), a toast reports it and the screen stays. */
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

/** Mounts a lazy dialog on first use and keeps it mounted, so that it can fade out and open again. */
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
