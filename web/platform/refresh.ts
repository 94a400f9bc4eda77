import { accountCalls } from '#contract/accounts.ts'
import { Problem, readProblem } from './problem.ts'
import { endSession, keepAccessToken } from './session.ts'

const lockName = 'duely-refresh'
const lockLife = 15_000
/** What another tab wrote to localStorage just before it let go reaches this one's process a moment later. */
const settling = 200
let underWay: Promise<boolean> | null = null

/**
 * Gets a new access token for the refresh cookie, once for all open tabs, however many calls ask.
 * `stale` is the token that did not do: where another tab has replaced it meanwhile, nothing is sent.
 * True when there is a new token; false when the session is over, which it then is here too.
 * Throws a Problem where no answer came: then nothing is known, and nobody is signed out.
 */
export function refreshSession(stale: string): Promise<boolean> {
  underWay ??= alone(() => pause(settling).then(() => renew(stale))).finally(() => {
    underWay = null
  })
  return underWay
}

async function renew(stale: string): Promise<boolean> {
  const current = localStorage.getItem('accessToken')
  if (!current) return false
  if (current !== stale) return true
  const response = await fetch(accountCalls.refresh.path, { method: 'POST', credentials: 'include' }).catch(() => null)
  if (!response) throw new Problem('offline', 'The server cannot be reached. Please check your connection and try again.')
  if (response.status === 401) {
    endSession()
    return false
  }
  if (!response.ok) throw await readProblem(response)
  const renewed = accountCalls.refresh.reply.safeParse(await response.json().catch(() => null))
  if (!renewed.success) {
    endSession()
    return false
  }
  keepAccessToken(renewed.data.accessToken)
  return true
}

/** Runs `work` in one tab at a time. */
function alone<T>(work: () => Promise<T>): Promise<T> {
  // Plain http on a local network has no Web Locks.
  return navigator.locks ? navigator.locks.request(lockName, work) : aloneByStorage(work)
}

/**
 * The same by a note in localStorage: who finds no fresh note leaves one, waits a moment and looks whether it is still theirs.
 * A tab that died leaves a note that runs out. Two tabs at once do no harm: the server gives both the same successor for some seconds.
 */
async function aloneByStorage<T>(work: () => Promise<T>): Promise<T> {
  const mine = `${Math.random().toString(36).slice(2)}`
  for (;;) {
    const [, until] = (localStorage.getItem(lockName) ?? '').split(' ')
    if (!until || Number(until) < Date.now()) {
      localStorage.setItem(lockName, `${mine} ${Date.now() + lockLife}`)
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
