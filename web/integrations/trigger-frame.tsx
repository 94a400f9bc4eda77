import type { ReactNode } from 'react'
import { Outlet, useSearchParams } from 'react-router'
import { LazyMount, lazyDialog } from '#web/ui/lazy-dialog.tsx'

const TriggerDialog = lazyDialog(async () => (await import('./trigger-dialog.tsx')).TriggerDialog)

/** Around every dashboard screen: `?trigger` opens the trigger dialog. */
export default function TriggerFrame(): ReactNode {
  const [address, setAddress] = useSearchParams()
  const wanted = address.has('trigger')
  const close = () =>
    setAddress(
      () => {
        // The current address: the screen below may have changed it.
        const after = new URLSearchParams(window.location.search)
        for (const name of ['trigger', 'state', 'code']) after.delete(name)
        return after
      },
      { replace: true, preventScrollReset: true },
    )
  return (
    <>
      <Outlet />
      <LazyMount wanted={wanted}>
        <TriggerDialog opened={wanted} onClose={close} />
      </LazyMount>
    </>
  )
}
