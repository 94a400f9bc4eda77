import type { DataRouter, RouteObject } from 'react-router'
import { MissingScreen } from './missing-screen.tsx'

interface Route {
  id: string
  module: string
  imports?: string[]
}

declare global {
  interface Window {
    /** The router's own list of screens and their files, from the page. */
    __reactRouterManifest?: { routes: Record<string, Route | undefined> }
  }
}

const arrived = new Set<string>()

/**
 * Where the code of a screen does not arrive, the router would load the page anew, which ends on a page of the browser's own while there is no
 * network, and goes round for ever where one file is missing. So the files are fetched before it looks for them; a screen of which one does not
 * come is said to be missing, in its place, and everything around it stays.
 */
export function standInForMissingCode(): void {
  const routes = window.__reactRouterManifest?.routes ?? {}
  let open: DataRouter | undefined
  // The router hands itself out here, before it loads anything.
  Object.defineProperty(window, '__reactRouterDataRouter', {
    configurable: true,
    get: () => open,
    set: (router: DataRouter) => {
      open = router
      for (const route of router.routes) guard(route, routes)
    },
  })
}

function guard({ id = '', lazy, children = [] }: RouteObject, routes: Record<string, Route | undefined>): void {
  for (const child of children) guard(child, routes)
  const files = routes[id]
  if (!files || typeof lazy !== 'object') return
  let asked: Promise<boolean> | null = null
  for (const [part, load] of Object.entries(lazy) as [string, (() => Promise<unknown>) | undefined][]) {
    if (!load) continue
    const guarded = async () => {
      asked ??= arrive([files.module, ...(files.imports ?? [])])
      if (await asked) return load()
      return part === 'Component' ? MissingScreen : undefined
    }
    Object.assign(lazy, { [part]: guarded })
  }
}

/** True when all of these files are here: those that came before, and those that are fetched now. */
async function arrive(addresses: string[]): Promise<boolean> {
  const came = await Promise.all(
    addresses.map(async (address) => {
      if (arrived.has(address)) return true
      const answered = await fetch(address).catch(() => null)
      // All of it, not only its beginning.
      const whole = answered?.ok === true && (await answered.arrayBuffer().catch(() => null)) !== null
      if (whole) arrived.add(address)
      return whole
    }),
  )
  return came.every(Boolean)
}
