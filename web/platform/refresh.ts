import { accountCalls } from '#contract/accounts.ts'
import { Problem, readProblem } from './problem.ts'
import { endSession, storeAccessToken } from './session.ts'
import { texts } from './texts.ts'

const lockName = 'duely-refresh'
const lockTtl = 15_000
/**
 * A fingerprint of the token that was replaced last. A cookie is visible to all tabs immediately, a write to localStorage reaches other
 * processes later.
 */
const replacedCookie = 'duely-replaced'
/** How long to wait for that write, in ms, before this tab sends a refresh of its own. */
const syncTimeout = 3_000
/** When this browser last got a new token, in ms since the epoch. */
const renewedKey = 'duely-renewed'
/** In ms: loading pages gets at most one new token in this time. */
const loadInterval = 60_000
let inFlight: Promise<boolean> | null = null

/**
 * Gets a new access token for the refresh cookie, once for all open tabs and calls. `stale` is the token that was refused: nothing is sent
 * if another tab has replaced it. Resolves to true with a new token, to false when the session has ended. Throws a Problem without an
 * answer: the person stays signed in.
 */
export function refreshSession(stale: string): Promise<boolean> {
  inFlight ??= withTabLock(() => renew(stale)).finally(() => {
    inFlight = null
  })
  return inFlight
}

/**
 * Gets a new access token because a page was loaded, at most once a minute per browser. A failure changes nothing: the next call that needs
 * a new token asks for it.
 */
export async function refreshOnLoad(): Promise<void> {
  await withTabLock(async () => {
    const stale = localStorage.getItem('accessToken')
    // A clock that was set back must not postpone this.
    const since = Math.abs(Date.now() - Number(localStorage.getItem(renewedKey)))
    if (stale && since >= loadInterval) await renew(stale)
  }).catch(() => undefined)
}

async function renew(stale: string): Promise<boolean> {
  const current = localStorage.getItem('accessToken')
  if (!current) return false
  if (current !== stale) return true
  if ((await lastReplaced()) === fingerprint(stale) && (await newTokenArrived(stale))) return true
  // Leaving the page must not lose the answer, whose cookie replaces the one that was just used up.
  const response = await fetch(accountCalls.refresh.path, { method: 'POST', credentials: 'include', keepalive: true }).catch(() => null)
  if (!response) throw new Problem('offline', texts.unreachable)
  if (response.status === 401) {
    endSession()
    return false
  }
  if (!response.ok) throw await readProblem(response)
  // The body does not arrive where the page is left meanwhile: that must not end the session.
  const body = await response.text().catch(() => null)
  if (body === null) throw new Problem('offline', texts.unreachable)
  const renewed = accountCalls.refresh.reply.safeParse(parsed(body))
  if (!renewed.success) {
    endSession()
    return false
  }
  storeAccessToken(renewed.data.accessToken)
  localStorage.setItem(renewedKey, String(Date.now()))
  await noteReplaced(stale)
  return true
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Plain http has no cookie store: there the server returns the same successor to both tabs for some seconds. */
async function lastReplaced(): Promise<string | undefined> {
  if (!('cookieStore' in window)) return undefined
  return (await window.cookieStore.get(replacedCookie).catch(() => null))?.value
}

async function noteReplaced(stale: string): Promise<void> {
  if (!('cookieStore' in window)) return
  const note = { name: replacedCookie, value: fingerprint(stale), expires: Date.now() + 60_000, sameSite: 'strict' as const }
  await window.cookieStore.set(note).catch(() => undefined)
}

/** Waits until another tab's new token has arrived; false after a timeout. */
async function newTokenArrived(stale: string): Promise<boolean> {
  for (let waited = 0; waited < syncTimeout; waited += 20) {
    if (localStorage.getItem('accessToken') !== stale) return true
    await pause(20)
  }
  return false
}

/** Identifies a token without revealing it (FNV-1a). */
function fingerprint(token: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < token.length; at += 1) hash = Math.imul(hash ^ token.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(36)
}

/** Runs `work` in one tab at a time. */
function withTabLock<T>(work: () => Promise<T>): Promise<T> {
  // Plain http has no Web Locks.
  return navigator.locks ? navigator.locks.request(lockName, work) : withStorageLock(work)
}

/**
 * A lock in localStorage: write a note unless a fresh one exists, wait, and check that it is still there. The note of a closed tab
 * expires. Two winners do no harm: the server returns the same successor to both for some seconds.
 */
async function withStorageLock<T>(work: () => Promise<T>): Promise<T> {
  const mine = `${Math.random().toString(36).slice(2)}`
  for (;;) {
    const [, until] = (localStorage.getItem(lockName) ?? '').split(' ')
    if (!until || Number(until) < Date.now()) {
      localStorage.setItem(lockName, `${mine} ${Date.now() + lockTtl}`)
      await pause(30)
      if (localStorage.getItem(lockName)?.startsWith(mine)) break
    }
    await pause(50)
  }
  try {
    return await work()
  } finally {
    if (localStorage.getItem(lockName)?.startsWith(mine)) localStorage.removeItem(lockName)
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds))
}
