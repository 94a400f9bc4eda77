import { type Location, matchPath } from 'react-router'

/**
 * Where to go after signing in: back to the screen that was asked for, with its query, if it is one of the dashboard's;
 * to /dashboard otherwise, and never anywhere else.
 */
export function destination(state: unknown): string {
  const from = wanted(state)
  if (!from || matchPath('/dashboard/*', from.pathname) === null) return '/dashboard'
  return `${from.pathname}${from.search}${from.hash}`
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
