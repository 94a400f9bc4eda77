import { lazy, type ReactNode, Suspense } from 'react'
import { Outlet, useOutletContext } from 'react-router'

const Components = lazy(async () => ({ default: (await import('./library.tsx')).Components }))

/** A part of a public page that only people who are signed in see: it brings the library with it. What it is given it hands on. */
export default function LibraryFrame(): ReactNode {
  const given: unknown = useOutletContext()
  return (
    <Suspense>
      <Components>
        <Outlet context={given} />
      </Components>
    </Suspense>
  )
}
