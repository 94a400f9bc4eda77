import { useEffect } from 'react'
import { createPath, useBlocker } from 'react-router'
import { pageMeta } from '#web/platform/page-meta.tsx'

/**
 * The provider's script may run on the pricing page only, and a browser keeps the policy and the scripts of the page that was loaded while
 * screens change inside it. So the pricing page is loaded as a page of its own before its checkout is wanted, and left the same way.
 * False while it is not: it is being loaded anew then.
 */
export function useOwnDocument(wanted: boolean): boolean {
  const own = pageMeta('checkout') === 'on'
  const foreign = !own && !loadedHere()
  useEffect(() => {
    if (wanted && foreign) window.location.reload()
  }, [wanted, foreign])
  const leaving = useBlocker(({ currentLocation, nextLocation }) => own && currentLocation.pathname !== nextLocation.pathname)
  useEffect(() => {
    if (leaving.state === 'blocked') window.location.assign(createPath(leaving.location))
  }, [leaving])
  return !foreign
}

/** Whether this very page was loaded, and not another one from which people came here: loading it again would change nothing. */
function loadedHere(): boolean {
  const [loaded] = performance.getEntriesByType('navigation')
  return loaded !== undefined && new URL(loaded.name).pathname === window.location.pathname
}
