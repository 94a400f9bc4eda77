import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Sender } from '#server/mail/mail.ts'
import { batch } from '#server/platform/batch.ts'
import type { Clock } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { failPoint } from '#server/platform/fail-point.ts'
import type { ComposedMail } from './compose.ts'
import { accept, type Copies, claim, unclaim } from './deliveries.ts'
import type { PendingDelivery } from './pending.ts'

/** Emails claimed or recorded by one statement. */
const size = 40

/** A claimed email: `claim` identifies this one try. */
export interface ClaimedDelivery {
  id: string
  claim: string
  attempt: number
  raw: Buffer
}

/** An email to be claimed, its sender, and its composed form: null where the stored bytes still apply. */
interface Wanted {
  mail: PendingDelivery
  composed: ComposedMail | null
  sender: Pick<Sender, 'senderId' | 'perHour' | 'perDay'>
  /** The date in the account's time zone. */
  today: string
}

interface Accepted {
  mail: ClaimedDelivery
  reply: string
  tookMs: number
  copies: Copies | null
}

/** The deliveries that this process has claimed. */
export interface Claims {
  /**
   * Claims one email, if it is still wanted at this moment: not claimed, not cancelled, in time, the invoice still owed and unchanged since
   * it was rendered, the same sender with the same limits and not paused. The bytes are stored before anything is sent. Null where it is not wanted.
   */
  claim(wanted: Wanted): Promise<ClaimedDelivery | null>
  /** Records that a mail server accepted an email. With a claim that was taken away meanwhile it changes nothing. */
  accepted(said: Accepted): Promise<void>
  /** The outcome of the email is recorded. */
  release(mail: ClaimedDelivery): void
  /**
   * Reclaims emails that this process claimed without learning of it: the database committed, and its answer was lost. None of them was
   * sent, because nothing is sent without that answer. Returns how many.
   */
  reclaimLost(): Promise<number>
}

/**
 * `statements`: how many of one kind may run at a time; more than one helps only where the database has several connections. Claims and
 * records are collected for `claimMs` and `recordMs`, so that one statement and one commit serve many.
 */
export function openClaims(about: {
  db: Database
  clock: Clock
  processId: string
  statements: number
  claimMs: number
  recordMs: number
}): Claims {
  const { db, clock, processId } = about
  /** Present from before a claim is requested. */
  const tickets = new Set<string>()
  // What the database refuses may be of another account.
  const together = (ms: number) => ({ concurrency: about.statements, size, collect: { ms, timers: clock }, alone: true })

  const take = async (all: (Wanted & { ticket: string })[]): Promise<(ClaimedDelivery | null)[]> => {
    const claimed = await claim(
      db,
      all.map(({ mail, composed, sender, today, ticket }) => ({
        id: mail.id,
        ticket,
        sender,
        sentFor: mail.sentFor,
        today,
        composed: composed && { ...composed, source: mail.source, clientEmail: mail.clientEmail },
        dropsInvoices: dropsInvoices(mail),
      })),
      { processId, now: clock.now() },
    )
    return all.map(({ ticket, composed }) => {
      const mine = claimed.find((one) => one.claim === ticket)
      const raw = mine?.raw ?? composed?.raw
      return mine && raw ? { ...mine, raw } : null
    })
  }
  const takeTogether = batch(together(about.claimMs), take)
  const record = async (all: Accepted[]) => {
    await accept(
      db,
      all.map(({ mail, ...said }) => ({ id: mail.id, claim: mail.claim, ...said })),
      clock.now(),
    )
    return all.map(() => undefined)
  }
  const recordTogether = batch(together(about.recordMs), record)

  return {
    async claim(wanted) {
      const ticket = newId()
      tickets.add(ticket)
      let claimed: ClaimedDelivery | null = null
      try {
        claimed = dropsInvoices(wanted.mail)
          ? ((await take([{ ...wanted, ticket }]))[0] ?? null)
          : await takeTogether({ ...wanted, ticket })
      } finally {
        if (!claimed) tickets.delete(ticket)
      }
      if (claimed) failPoint('claim')
      return claimed
    },
    async accepted(said) {
      await recordTogether(said)
    },
    release(mail) {
      tickets.delete(mail.claim)
    },
    async reclaimLost() {
      const taken = await rows(
        db,
        z.object({ claim: z.string() }),
        sql`SELECT claim FROM deliveries WHERE state = 'sending' AND claimed_by = ${processId}::uuid AND claim IS NOT NULL`,
      )
      // Must come after the query: a ticket exists before its claim can be read, and until the outcome is recorded.
      const lost = taken.filter((one) => !tickets.has(one.claim))
      return lost.length === 0
        ? 0
        : unclaim(
            db,
            lost.map((one) => one.claim),
          )
    },
  }
}

/** Whether a grouped email no longer lists everything it was made for. */
function dropsInvoices({ owed, madeFor }: PendingDelivery): boolean {
  return owed.count !== madeFor
}
