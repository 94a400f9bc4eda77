import { useEffect, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'

/**
 * The token of a link that came by mail (`#token=…`), null where there is none. It is taken out of the address at once, so that it
 * stays neither in the history nor in a picture of the screen.
 */
export function useLinkToken(): string | null {
  const { hash, pathname } = useLocation()
  const navigate = useNavigate()
  const [token, setToken] = useState(() => tokenIn(hash))
  useEffect(() => {
    // Another link opened in the same tab changes nothing but the address.
    const brought = tokenIn(hash)
    if (brought === null) return
    setToken(brought)
    void navigate(pathname, { replace: true })
  }, [hash, pathname, navigate])
  return token
}

function tokenIn(hash: string): string | null {
  return new URLSearchParams(hash.slice(1)).get('token') || null
}
