/** The slots of one mailbox. */
export interface MailboxSlots extends Disposable {
  /** Waits for a slot and returns how to release it. */
  acquire(): Promise<() => void>
}

export interface FairScheduler {
  /** Registers a mailbox with emails to send until it is disposed of. Its usage is remembered for a while. */
  open(ownerId: string): MailboxSlots
}

interface Mailbox {
  /** Milliseconds for which it has held slots. */
  used: number
  /** How many users it has at the moment, and when the last one left. */
  open: number
  leftAt: number
}

/** A mailbox without users for this long, in ms, starts from zero. */
const remembered = 60_000

/**
 * At most `slots` emails are claimed at a time. When more are waiting, the mailbox that has held slots for the least time is next: however
 * many slow mail servers there are, a fast one waits for at most one of their emails.
 */
export function openFairScheduler(slots: number): FairScheduler {
  const mailboxes = new Map<string, Mailbox>()
  const waiting: { mailbox: Mailbox; go(): void }[] = []
  let free = slots

  const admit = (): void => {
    if (free === 0 || waiting.length === 0) return
    const least = waiting.reduce((best, one) => (one.mailbox.used < best.mailbox.used ? one : best))
    waiting.splice(waiting.indexOf(least), 1)
    free -= 1
    least.go()
  }

  return {
    open(ownerId) {
      const now = performance.now()
      for (const [id, one] of mailboxes) if (one.open === 0 && now - one.leftAt > remembered) mailboxes.delete(id)
      // A newcomer starts at the level of the others, or it would have every slot until it caught up.
      const present = [...mailboxes.values()].filter((one) => one.open > 0).map(({ used }) => used)
      const least = present.length === 0 ? 0 : Math.min(...present)
      const mailbox = mailboxes.get(ownerId) ?? { used: 0, open: 0, leftAt: 0 }
      mailbox.used = Math.max(mailbox.used, least)
      mailbox.open += 1
      mailboxes.set(ownerId, mailbox)
      return {
        async acquire() {
          await new Promise<void>((go) => {
            waiting.push({ mailbox, go })
            admit()
          })
          const since = performance.now()
          return () => {
            mailbox.used += performance.now() - since
            free += 1
            admit()
          }
        },
        [Symbol.dispose]() {
          mailbox.open -= 1
          mailbox.leftAt = performance.now()
        },
      }
    },
  }
}
