import { type ReactNode, useEffect } from 'react'
import { useBlocker } from 'react-router'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { texts } from './texts.ts'

/** Where somebody goes whose session has ended: to stay would keep nothing, as nothing can be saved any more. */
const afterTheEnd = '/signin'

/** Asks before a screen is left on which something is not saved; a tab that is closed asks in the browser's own words. One per screen: the router heeds no second. */
export function UnsavedGuard({ unsaved }: { unsaved: boolean }): ReactNode {
  const leaving = useBlocker(
    ({ currentLocation: { pathname: here }, nextLocation: { pathname: there } }) => unsaved && there !== here && there !== afterTheEnd,
  )
  useEffect(() => {
    if (!unsaved) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [unsaved])
  return (
    <ConfirmDialog
      opened={leaving.state === 'blocked'}
      title={texts.unsaved.title}
      confirm={texts.unsaved.leave}
      confirmBusy={texts.unsaved.leaving}
      cancel={texts.unsaved.stay}
      busy={false}
      tone="danger"
      onConfirm={() => leaving.proceed?.()}
      onCancel={() => leaving.reset?.()}
    >
      {texts.unsaved.text}
    </ConfirmDialog>
  )
}
