/** One mailbox at the gate. */
export interface MailboxSlots extends Disposable {
  /** Waits for a place, and answers how to give it back. */
  acquire(): Promise<() => void>
}

export interface FairScheduler {
  /** A mailbox that has mails to send, by its owner, until it is disposed of. What it used is remembered for a while. */
  open(ownerId: string): MailboxSlots
}

interface Mailbox {
  /** Milliseconds it has had slots for. */
  used: number
  /** How many are at the gate for it, and when the last one left. */
  open: number
  leftAt: number
}

/** A mailbox that was not at the gate for so long, in ms, begins anew. */
const remembered = 60_000

/**
 * At most `slots` mails are in hand at a time, from the claim to the record. Where more would like to, the mailbox that has had its slots for
 * the least time goes first: however many slow mail servers there are, a fast one is not kept waiting for more than one of their mails.
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
      // Who comes late has missed nothing: it starts where the others are.
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
