import type { Instant } from '#server/platform/clock.ts'
import { domainOf, type Sender } from './sender.ts'

/** How much a mailbox may send: in any hour and in any 24 hours, and in any minute. Null where nothing limits it. */
export interface SendingLimits {
  /** Only its owner limits it by the hour. */
  perHour: number | null
  perDay: number | null
  perMinute: number | null
  /** Whose rule the one by the day is, for the owner to read; null: that of the owner. */
  provider: string | null
}

interface PublishedLimits {
  perDay: number | null
  perMinute: number | null
  provider: string
}

/**
 * What providers publish, as of November 2026; each of them may change it without notice, so a refusal teaches less downwards.
 * Gmail and Workspace: support.google.com/a/answer/166852. Exchange Online: learn.microsoft.com, "Exchange Online limits". Yahoo: help.yahoo.com SLN17518.
 */
const published: { hosts: string[]; domains?: string[]; limits: PublishedLimits }[] = [
  {
    hosts: ['smtp.gmail.com', 'gmail.googleapis.com'],
    domains: ['gmail.com', 'googlemail.com'],
    limits: { provider: 'Gmail', perDay: 500, perMinute: null },
  },
  {
    hosts: ['smtp.gmail.com', 'smtp-relay.gmail.com', 'gmail.googleapis.com'],
    limits: { provider: 'Google Workspace', perDay: 2_000, perMinute: null },
  },
  {
    hosts: ['graph.microsoft.com'],
    domains: ['outlook.com', 'hotmail.com', 'live.com', 'msn.com'],
    limits: { provider: 'Outlook.com', perDay: 300, perMinute: 30 },
  },
  {
    hosts: ['smtp.office365.com', 'outlook.office365.com', 'graph.microsoft.com'],
    limits: { provider: 'Exchange Online', perDay: 10_000, perMinute: 30 },
  },
  { hosts: ['smtp-mail.outlook.com'], limits: { provider: 'Outlook.com', perDay: 300, perMinute: 30 } },
  { hosts: ['smtp.mail.yahoo.com', 'smtp.bizmail.yahoo.com'], limits: { provider: 'Yahoo', perDay: 500, perMinute: null } },
]

/**
 * How long a learned limit applies. Too short costs one refused attempt; too long costs reminders, if the owner sent many emails by hand on the
 * day it was learned.
 */
const learnedFor = { minute: { hours: 1 }, day: { hours: 48 } }

const apiHosts = { gmail: 'gmail.googleapis.com', microsoft: 'graph.microsoft.com' }

type Limited = Pick<
  Sender,
  'provider' | 'host' | 'address' | 'perHour' | 'perDay' | 'learnedPerDay' | 'learnedPerDayAt' | 'learnedPerMinute' | 'learnedPerMinuteAt'
>

/** What the provider of a mailbox publishes. */
export function publishedLimits(sender: Pick<Sender, 'provider' | 'host' | 'address'>): PublishedLimits {
  const host = sender.provider === 'smtp' ? (sender.host ?? '').toLowerCase() : apiHosts[sender.provider]
  const domain = domainOf(sender.address)
  const found = published.find(({ hosts, domains }) => hosts.includes(host) && (!domains || domains.includes(domain)))
  return found?.limits ?? { provider: 'Your mail provider', perDay: null, perMinute: null }
}

/** What a mailbox may send: what its owner allows, else what its provider publishes, and what it turned out to allow where that is less. */
export function limitsOf(sender: Limited, now: Instant): SendingLimits {
  const known = publishedLimits(sender)
  const { learnedPerDay, learnedPerDayAt, learnedPerMinute, learnedPerMinuteAt } = sender
  const allowed = sender.perDay ?? known.perDay
  const perDay = less(allowed, isFresh(learnedPerDayAt, learnedFor.day, now) ? learnedPerDay : null)
  return {
    provider: perDay !== null && perDay === sender.perDay ? null : known.provider,
    perHour: sender.perHour,
    perDay,
    perMinute: less(known.perMinute, isFresh(learnedPerMinuteAt, learnedFor.minute, now) ? learnedPerMinute : null),
  }
}

function isFresh(learnedAt: Instant | null, lifetime: { hours: number }, now: Instant): boolean {
  return learnedAt !== null && Temporal.Instant.compare(learnedAt.add(lifetime), now) > 0
}

function less(known: number | null, learned: number | null): number | null {
  return known === null || learned === null ? (known ?? learned) : Math.min(known, learned)
}
