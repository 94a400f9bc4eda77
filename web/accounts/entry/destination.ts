import { type Location, matchPath } from 'react-router'
import { screens } from '#contract/screens.ts'

const keptUnder = 'afterGoogle'

/**
 * The address after signing in: the dashboard screen that was asked for, with its query, or /dashboard. Must never leave the dashboard:
 * the state comes from the browser.
 */
export function destination(state: unknown): string {
  const from = wanted(state)
  if (!from || matchPath(`${screens.dashboard}/*`, from.pathname) === null) return screens.dashboard
  return `${from.pathname}${from.search}${from.hash}`
}

/** Keeps the destination in this tab during the redirect to Google. */
export function keepDestination(state: unknown): void {
  sessionStorage.setItem(keptUnder, JSON.stringify(state ?? null))
}

/** Returns the kept destination once. Validated again: anything can write to sessionStorage. */
export function takeDestination(): string {
  const kept = sessionStorage.getItem(keptUnder)
  sessionStorage.removeItem(keptUnder)
  try {
    return destination(JSON.parse(kept ?? 'null'))
  } catch {
    return destination(null)
  }
}

function wanted(state: unknown): Pick<Location, 'pathname' | 'search' | 'hash'> | null {
  if (typeof state !== 'object' || state === null || !('from' in state)) return null
  const { from } = state
  if (typeof from !== 'object' || from === null || !('pathname' in from) || typeof from.pathname !== 'string') return null
  const text = (name: 'search' | 'hash'): string => {
    const value: unknown = Reflect.get(from, name)
    return typeof value === 'string' ? value : ''
  }
  return { pathname: from.pathname, search: text('search'), hash: text('hash') }
}
