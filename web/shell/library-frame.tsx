import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { Outlet, useOutletContext } from 'react-router'
import { MissingScreen } from './screen-frame.tsx'

const loadLibrary = () => import('./library.tsx')
const Components = lazy<ComponentType<{ children: ReactNode }>>(async () => ({
  default: await loadLibrary().then(
    (library) => library.Components,
    () => MissingScreen,
  ),
}))

/** A signed-in part of a public page: brings the library, and passes the outlet context on. */
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
