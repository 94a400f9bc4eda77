import type { Deps } from '#server/platform/deps.ts'
import { type FairScheduler, openFairScheduler } from '#server/platform/fair-scheduler.ts'
import { type Begin, openBegin } from './begin.ts'
import { type Claims, openClaims } from './claims.ts'
import { wakeHost } from './deliveries.ts'
import { type Hosts, openHosts } from './hosts.ts'
import { wakeAccounts } from './jobs.ts'

/** Mailboxes served at a time in one process: each is a socket or a timer, and a few KB. */
export const mailboxesAtOnce = 2_000
/** Emails in flight at a time in one process: a crash repeats at most these. */
const inFlight = 256
/** An email that takes longer than `afterMs` is slow, and slow ones get a quarter. */
const slow = { afterMs: 2_000, slots: inFlight / 4 }

/**
 * Emails with PDFs in flight at a time in one process: each takes up to 25 MB of memory. They take as long as their size, so slow ones are those
 * of slow servers.
 */
const attached = { slots: 16, slow: { afterMs: 10_000, slots: 4 } }

/** What all mailboxes of a process share. */
export interface Sending {
  begin: Begin
  claims: Claims
  slots: FairScheduler
  /** For emails with PDFs. */
  attaching: FairScheduler
  hosts: Hosts
  /** The accounts whose emails are being sent. */
  serving: Set<string>
  /** How many emails had which outcome since the process started. */
  outcomes: Map<string, number>
  /** Mailboxes that wait for their minute's turn, by account: a timer wakes them, which this cancels. */
  resting: Map<string, () => void>
}

export function openSending(deps: Deps, about: { processId: string; embedded: boolean }): Sending {
  const { db, clock, queue, log } = deps
  const { processId, embedded } = about
  const onUp = (host: string) => {
    wakeHost(db, host, clock.now())
      .then((ownerIds) => wakeAccounts(db, queue, ownerIds))
      // They are tried within five minutes all the same.
      .catch((error: unknown) => log.warn({ err: error }, 'The emails to a mail server that is back could not be hurried.'))
  }
  return {
    begin: openBegin(deps, embedded ? 1 : 2),
    claims: openClaims({
      db,
      clock,
      processId,
      ...(embedded ? { statements: 1, claimMs: 5, recordMs: 20 } : { statements: 2, claimMs: 0, recordMs: 10 }),
    }),
    slots: openFairScheduler({ slots: inFlight, slow, timers: clock }),
    attaching: openFairScheduler({ ...attached, timers: clock }),
    hosts: openHosts(onUp, clock),
    serving: new Set(),
    resting: new Map(),
    outcomes: new Map(),
  }
}

export function countOutcome({ outcomes }: Pick<Sending, 'outcomes'>, outcome: string, emails = 1): void {
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + emails)
}
