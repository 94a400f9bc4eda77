import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { Outlet, useOutletContext } from 'react-router'
import { MissingScreen } from './missing-screen.tsx'

const Components = lazy<ComponentType<{ children: ReactNode }>>(async () => ({
  default: await import('./library.tsx').then(
    (library) => library.Components,
    () => MissingScreen,
  ),
}))

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
