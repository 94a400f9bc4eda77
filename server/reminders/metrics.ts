import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { counter, gauge, type Metric } from '#server/platform/metrics.ts'
import { hostDown, hostOf } from './deliveries.ts'
import { isSentBy } from './mailboxes.ts'
import type { Sending } from './sending.ts'
import { ofAll } from './tables.ts'

const waiting = z.object({ state: z.string(), reason: z.string(), count: z.number() })
const queued = z.object({ job: z.string(), count: z.number(), oldest: z.number() })
const aged = z.object({ step: z.string(), age: z.number() })
const once = z.object({ due: z.number(), late: z.number(), oldest: z.number(), alive: z.number(), dead: z.number(), tick: z.number() })

/** What all processes on a database see alike. Every statement reads what waits, by its index, and nothing that is done. */
export async function measureDatabase(db: Database, now: Instant): Promise<Metric[]> {
  const at = sql`${now.toString()}::timestamptz`
  const emails = await rows(
    db,
    waiting,
    sql`SELECT state, coalesce(reason, '') AS reason, count(*)::int AS count FROM deliveries WHERE state IN ('queued', 'retrying') GROUP BY 1, 2
        UNION ALL SELECT state, coalesce(reason, ''), count(*)::int FROM deliveries WHERE state = 'held' GROUP BY 1, 2
        UNION ALL SELECT 'sending', '', count(*)::int FROM deliveries WHERE claimed_by IS NOT NULL ORDER BY 1, 2`,
  )
  const jobs = await rows(
    db,
    queued,
    sql`SELECT name AS job, count(*)::int AS count, greatest(0, extract(epoch FROM now() - min(not_before)))::float8 AS oldest FROM jobs WHERE turn > 0 GROUP BY name ORDER BY name`,
  )
  const steps = await rows(
    db,
    aged,
    sql`SELECT name AS step, extract(epoch FROM now() - succeeded_at)::float8 AS age FROM steps WHERE late_at > now() - interval '1 day' ORDER BY name`,
  )
  const [found] = await rows(
    db,
    once,
    sql`SELECT (SELECT count(*)::int FROM accounts WHERE next_run_at <= ${at}) AS due,
          (SELECT coalesce(extract(epoch FROM ${at} - min(next_run_at)), 0)::float8 FROM accounts WHERE next_run_at <= ${at}) AS late,
          (SELECT coalesce(extract(epoch FROM ${at} - min(next_try_at)), 0)::float8 FROM deliveries WHERE state IN ('queued', 'retrying') AND ${ofAll} AND next_try_at <= ${at}) AS oldest,
          (SELECT count(*)::int FROM processes WHERE heartbeat_at > now() - interval '20 seconds') AS alive,
          (SELECT count(*)::int FROM processes WHERE heartbeat_at <= now() - interval '20 seconds') AS dead,
          (SELECT coalesce(extract(epoch FROM now() - max(ticked_at)), 0)::float8 FROM processes) AS tick`,
  )
  if (!found) return []
  return [
    gauge('duely_runs_due', 'Accounts whose run is due and not made.', [{ value: found.due }]),
    gauge('duely_run_oldest_wait_seconds', 'For how long the run that waits longest has been due.', [{ value: found.late }]),
    gauge(
      'duely_emails_waiting',
      'Emails that are not sent yet, by state and reason.',
      emails.map(({ state, reason, count }) => ({ labels: { state, reason }, value: count })),
    ),
    gauge('duely_email_oldest_wait_seconds', 'For how long the email that waits longest could have been sent.', [{ value: found.oldest }]),
    gauge(
      'duely_jobs_waiting',
      'Background jobs that are wanted, by name.',
      jobs.map(({ job, count }) => ({ labels: { job }, value: count })),
    ),
    gauge(
      'duely_job_oldest_wait_seconds',
      'For how long the oldest of them could have begun.',
      jobs.map(({ job, oldest }) => ({ labels: { job }, value: oldest })),
    ),
    gauge('duely_workers', 'Worker processes by their heartbeat: dead ones had none for 20 seconds.', [
      { labels: { state: 'alive' }, value: found.alive },
      { labels: { state: 'dead' }, value: found.dead },
    ]),
    gauge('duely_tick_age_seconds', 'Since when no process has checked for due runs.', [{ value: found.tick }]),
    gauge(
      'duely_step_age_seconds',
      'Since when a step of the background work has not succeeded.',
      steps.map(({ step, age }) => ({ labels: { step }, value: age })),
    ),
  ]
}

/** Mail servers named at a time: those in trouble. */
const mostHosts = 50

const lostHost = z.object({ host: z.string(), emails: z.number(), accounts: z.number() })

/** The mail servers for which emails wait because they did not answer, in any process. */
export function findLostHosts(db: Database): Promise<z.output<typeof lostHost>[]> {
  return rows(
    db,
    lostHost,
    sql`SELECT ${hostOf} AS host, count(*)::int AS emails, count(DISTINCT d.owner_id)::int AS accounts FROM deliveries d, mail_configs m
        WHERE ${isSentBy} AND d.state = 'retrying' AND d.reason = ${hostDown} GROUP BY 1 ORDER BY 2 DESC LIMIT ${mostHosts}`,
  )
}

/** What one worker does at the moment, and has done since its start. */
export function measureSending({ slots, attaching, hosts, outcomes }: Sending): Metric[] {
  const known = hosts.state()
  const troubled = known.filter(({ down, waiting }) => down || waiting > 0).slice(0, mostHosts)
  return [
    counter(
      'duely_emails_total',
      'Replies of mail servers to emails of this process, by outcome, and emails that were too late.',
      [...outcomes].map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    gauge('duely_emails_in_flight', 'Emails that this process is sending.', [{ value: slots.inUse() + attaching.inUse() }]),
    gauge('duely_mail_hosts', 'Mail servers that this process used in the last 10 minutes, by state.', [
      { labels: { state: 'up' }, value: known.filter(({ down }) => !down).length },
      { labels: { state: 'down' }, value: known.filter(({ down }) => down).length },
    ]),
    gauge(
      'duely_mail_host_down',
      'Mail servers that do not answer (1), or for which mailboxes wait (0).',
      troubled.map(({ name, down }) => ({ labels: { host: name }, value: down ? 1 : 0 })),
    ),
    gauge(
      'duely_mail_host_waiting',
      'Mailboxes that wait to connect to a mail server.',
      troubled.map(({ name, waiting }) => ({ labels: { host: name }, value: waiting })),
    ),
  ]
}
