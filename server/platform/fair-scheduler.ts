import { systemTimers, type Timers } from './clock.ts'

/** The slots of one account. */
export interface Slots extends Disposable {
  /** Waits for a slot. Rejects once `until` is aborted. */
  acquire(about?: AcquireOptions): Promise<Slot>
}

export interface Slot {
  /**
   * Counts from here on how long the work takes. Where it becomes slow while slow work has its share of the slots already, `onCrowdedOut` is
   * called: work that can be repeated should then end, because it gets one of the slots of slow work next time.
   */
  begin(onCrowdedOut?: () => void): void
  /** How long the work took is known: what the slot is kept for until its release counts as neither slow nor quick. */
  end(): void
  release(): void
}

interface AcquireOptions {
  /** Which of the account's servers the work is for: each is known as slow or quick for itself. */
  server?: string
  until?: AbortSignal
  /**
   * Waits until no other slot is held, and no other is given out meanwhile; but neither for longer than 2 s, because one slow piece of work
   * must not stop all others.
   */
  alone?: boolean
}

export interface FairScheduler {
  /** Registers an account with work to do until it is disposed of. Its usage is remembered for a while. */
  open(ownerId: string): Slots
  /** How many slots are held. */
  inUse(): number
}

interface SchedulerOptions {
  timers?: Timers
  /** At most so many at a time. */
  slots: number
  /** At most so many of one account at a time. */
  each?: number
  /** Work that takes longer than this, in ms, is slow, and has at most so many of the slots. */
  slow?: { afterMs: number; slots: number }
}

interface Account {
  /** Milliseconds for which it held slots that it has released, and since when it holds the others. */
  used: number
  held: Map<symbol, number>
  /** Its servers whose last work was slow, and those whose last work was not. */
  slow: Set<string>
  quick: Set<string>
  /** How many users it has at the moment, and when the last one left. */
  open: number
  leftAt: number
}

interface Waiting extends AcquireOptions {
  account: Account
  since: number
  go(slot: Slot): void
}

/** How long, in ms, work that is to be alone waits for other work, and other work for it. */
const alonePatience = 2_000
/** An account without users for this long, in ms, starts from zero. */
const remembered = 60_000

/**
 * Hands out a limited number of slots. When more work is waiting, the account that has held slots for the least time is next: however many
 * accounts with slow servers there are, another one waits for at most one of their slots. Slow work cannot take all slots either: for a server
 * that was slow, or one that is new while another of its account is slow, there is a slot only while slow work has less than its share.
 */
export function openFairScheduler({ slots, each = slots, slow, timers = systemTimers }: SchedulerOptions): FairScheduler {
  const accounts = new Map<string, Account>()
  /** Those with work to do: at nine o'clock very many more are remembered. */
  const present = new Set<Account>()
  let forgotAt = timers.elapsed()
  const waiting: Waiting[] = []
  let free = slots
  let freeForSlow = slow?.slots ?? slots
  /** Until when no work is admitted, in elapsed ms. */
  let aloneUntil = 0

  const forget = () => {
    const now = timers.elapsed()
    if (now - forgotAt < remembered / 4) return
    forgotAt = now
    for (const [id, one] of accounts) if (one.open === 0 && now - one.leftAt > remembered) accounts.delete(id)
  }
  const usageOf = ({ used, held }: Account) => {
    const now = timers.elapsed()
    return [...held.values()].reduce((sum, since) => sum + now - since, used)
  }
  const isSlow = ({ account, server = '' }: Waiting) => account.slow.has(server) || (account.slow.size > 0 && !account.quick.has(server))
  const mayStart = (one: Waiting) => one.account.held.size < each && (freeForSlow > 0 || !isSlow(one))

  const admit = (): void => {
    while (free > 0 && timers.elapsed() >= aloneUntil) {
      const [first, ...others] = waiting.filter(mayStart)
      if (!first) return
      const least = others.reduce((best, one) => (usageOf(one.account) < usageOf(best.account) ? one : best), first)
      if (least.alone && free < slots && timers.elapsed() - least.since < alonePatience) return
      waiting.splice(waiting.indexOf(least), 1)
      least.go(take(least))
    }
  }

  const take = (one: Waiting): Slot => {
    const { account, server = '', alone } = one
    const slot = Symbol()
    const since = timers.elapsed()
    let amongSlow = isSlow(one)
    let wasSlow = false
    let cancel: (() => void) | undefined
    account.held.set(slot, since)
    free -= 1
    if (amongSlow) freeForSlow -= 1
    if (alone) aloneUntil = since + alonePatience
    const endPatience = alone ? timers.after(alonePatience, admit) : undefined
    const becomeSlow = (onCrowdedOut?: () => void) => {
      wasSlow = true
      account.slow.add(server)
      account.quick.delete(server)
      if (amongSlow) return
      if (freeForSlow === 0) return onCrowdedOut?.()
      amongSlow = true
      freeForSlow -= 1
    }
    return {
      begin(onCrowdedOut) {
        cancel = slow && timers.after(slow.afterMs, () => becomeSlow(onCrowdedOut))
      },
      end() {
        cancel?.()
      },
      release() {
        if (!account.held.delete(slot)) return
        cancel?.()
        endPatience?.()
        if (alone) aloneUntil = 0
        account.used += timers.elapsed() - since
        if (cancel && !wasSlow) {
          account.slow.delete(server)
          account.quick.add(server)
        }
        free += 1
        if (amongSlow) freeForSlow += 1
        admit()
      },
    }
  }

  return {
    inUse: () => slots - free,
    open(ownerId) {
      forget()
      // A newcomer starts at the level of the others, or it would have every slot until it caught up.
      let least = Number.POSITIVE_INFINITY
      for (const { used } of present) least = Math.min(least, used)
      const known = accounts.get(ownerId)
      const account = known ?? { used: 0, held: new Map(), slow: new Set(), quick: new Set(), open: 0, leftAt: 0 }
      if (present.size > 0) account.used = Math.max(account.used, least)
      account.open += 1
      accounts.set(ownerId, account)
      present.add(account)
      return {
        acquire: (about = {}) =>
          new Promise((resolve, reject) => {
            const { until } = about
            until?.throwIfAborted()
            const giveUp = () => {
              waiting.splice(waiting.indexOf(one), 1)
              reject(until?.reason)
            }
            const go = (slot: Slot) => {
              until?.removeEventListener('abort', giveUp)
              resolve(slot)
            }
            const one: Waiting = { ...about, account, since: timers.elapsed(), go }
            until?.addEventListener('abort', giveUp)
            waiting.push(one)
            if (one.alone) timers.after(alonePatience, admit)
            admit()
          }),
        [Symbol.dispose]() {
          account.open -= 1
          account.leftAt = timers.elapsed()
          if (account.open === 0) present.delete(account)
        },
      }
    },
  }
}
