import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { ownRedirectPath } from '#contract/integrations.ts'
import { screens, withQuery } from '#contract/screens.ts'

/** Goes to the consent page with Duely's own request, from where the browser comes back to `?trigger`. */
export function useGoingForPermission(wanted: boolean): void {
  const navigate = useNavigate()
  useEffect(() => {
    if (!wanted) return
    const go = async () => {
      const here = new URLSearchParams(window.location.search)
      here.delete('trigger')
      // Whoever comes back to this address, or stays because something is not saved, is not asked again.
      await navigate({ search: `${here}` }, { replace: true, preventScrollReset: true })
      await navigate(withQuery(screens.oauthConsent, { redirect_uri: ownRedirectPath, state: randomState() }))
    }
    void go()
  }, [wanted, navigate])
}

function randomState(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
