import { useSyncExternalStore } from 'react'
import type { User } from '#contract/accounts.ts'

/** The session of this browser, kept in localStorage under `user` and `accessToken`. */
export interface Session {
  user: User
  accessToken: string
}

const listeners = new Set<() => void>()
let last: { key: string; session: Session | null } | null = null

/** The stored session, or null. The same object as long as nothing changed. */
export function readSession(): Session | null {
  const accessToken = localStorage.getItem('accessToken')
  const stored = localStorage.getItem('user')
  const key = `${accessToken}\n${stored}`
  if (last?.key !== key) last = { key, session: parse(accessToken, stored) }
  return last.session
}

function parse(accessToken: string | null, stored: string | null): Session | null {
  if (!accessToken || !stored) return null
  try {
    const kept: unknown = JSON.parse(stored)
    return isUser(kept) ? { user: kept, accessToken } : null
  } catch {
    return null
  }
}

/** Checked by hand: every public page needs this, and the validator is larger than such a page. */
function isUser(kept: unknown): kept is User {
  if (typeof kept !== 'object' || kept === null) return false
  const text = (name: keyof User) => typeof Reflect.get(kept, name) === 'string'
  return text('_id') && text('displayName') && text('email') && (!('googleId' in kept) || text('googleId'))
}

const businessKey = 'duely-business'

/** The business that this page is about, with its person. A later choice counts from the next page on: this one may stay, or come back from the browser's cache. */
let here: string | null = null

/** The business that this tab is about; null: not known yet, so the one that the session chose last. Kept with its person: another one may sign in. */
export function readBusiness(): string | null {
  here ??= sessionStorage.getItem(businessKey)
  const [person, business] = (here ?? '').split(' ')
  return business !== undefined && person === readSession()?.user._id ? business : null
}

/** A link in an email names the business that it is about: from now on this tab is about it. */
export function followLinkedBusiness(): void {
  const address = new URL(window.location.href)
  const business = address.searchParams.get('business')
  if (business === null || !readSession()) return
  keepBusiness(business)
  address.searchParams.delete('business')
  window.history.replaceState(window.history.state, '', address)
}

/** From now on this tab is about this business. */
export function keepBusiness(business: string): void {
  choose(business)
  here = sessionStorage.getItem(businessKey)
}

/**
 * Makes this tab be about another business, null: the one that the session chose last, and loads `path` as a new page: nothing of the one
 * before stays in memory. Until it has loaded, this page is about its own: someone who keeps an unsaved form stays here.
 */
export function openBusiness(business: string | null, path: string): void {
  choose(business)
  window.location.assign(path)
}

function choose(business: string | null): void {
  const session = readSession()
  if (business === null || !session) sessionStorage.removeItem(businessKey)
  else sessionStorage.setItem(businessKey, `${session.user._id} ${business}`)
}

/** Signs in on this browser and loads `path` as a new page; every other open tab follows. */
export function startSessionAndOpen(path: string, session: Session): void {
  localStorage.setItem('user', JSON.stringify(session.user))
  localStorage.setItem('accessToken', session.accessToken)
  window.location.assign(path)
}

/** Stores a new access token, unless the session has ended meanwhile. */
export function storeAccessToken(accessToken: string): void {
  if (!localStorage.getItem('user')) return
  localStorage.setItem('accessToken', accessToken)
  tell()
}

/** Stores the person's new name and email, unless the session has ended meanwhile. Without a change nothing is rendered again. */
export function storeUser(changed: User): void {
  const stored = readSession()?.user
  if (!stored || (Object.keys({ ...stored, ...changed }) as (keyof User)[]).every((key) => stored[key] === changed[key])) return
  localStorage.setItem('user', JSON.stringify(changed))
  tell()
}

/** Removes the session; screens that need one redirect to /signin. */
export function endSession(): void {
  forget()
  tell()
}

/** Removes the session and loads `path` as a new page, so that nothing of it stays in memory. */
export function endSessionAndOpen(path: string): void {
  forget()
  window.location.replace(path)
}

function forget(): void {
  for (const key of ['user', 'accessToken', 'refreshToken', 'duely-renewed']) localStorage.removeItem(key)
}

function tell(): void {
  document.documentElement.dataset.session = readSession() ? 'in' : 'out'
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  const heard = (event: StorageEvent) => {
    if (event.key === null || event.key === 'user' || event.key === 'accessToken') tell()
  }
  window.addEventListener('storage', heard)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', heard)
  }
}

/** The session, shared by all tabs; undefined until hydration, null when signed out. */
export function useSession(): Session | null | undefined {
  return useSyncExternalStore<Session | null | undefined>(subscribe, readSession, () => undefined)
}
