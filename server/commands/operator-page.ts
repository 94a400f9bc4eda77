import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '#server/platform/answer.ts'
import { lastOfEach, readForm } from '#server/platform/body.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { linkedPageHeaders } from '#server/platform/headers.ts'
import type { Metric } from '#server/platform/metrics.ts'
import { sealedCookie } from '#server/platform/sealed-cookie.ts'
import { hashToken, newToken, sameText } from '#server/platform/secrets.ts'
import { version } from '#server/platform/version.ts'
import { findLostHosts, measureDatabase } from '#server/reminders/metrics.ts'
import { busiestAccounts } from '#server/reminders/processes.ts'
import type { Command } from './command.ts'

/** The row of `server_checks` that holds the one link that is valid: the hash of its token, and until when. */
const subject = 'operator-link'
const linkMinutes = 10
const pageMinutes = 30

export const operatorLink: Command = {
  parameters: [],
  summary: 'prints a link to the operator’s page: counts, processes, queue, mail servers and busiest accounts',
  help: [
    `It is valid for ${linkMinutes} minutes and one browser, which may look for ${pageMinutes} minutes. An earlier link ends.`,
    'The page shows no invoice and no client, and nothing can be changed there.',
  ],
  async run({ db, clock, config }) {
    const token = newToken()
    const value = `${hashToken(token)} ${clock.now().add({ minutes: linkMinutes }).toString()}`
    await db.execute(
      sql`INSERT INTO server_checks (subject, value) VALUES (${subject}, ${value}) ON CONFLICT (subject) DO UPDATE SET value = excluded.value`,
    )
    return [`${config.publicUrl}/operator?link=${token}`]
  },
}

/** Takes the link: it opens the page once. */
async function takeLink(db: Database, token: string, now: Instant): Promise<boolean> {
  const shape = z.object({ value: z.string() })
  const hash = hashToken(token)
  const taken = await rows(
    db,
    shape,
    sql`DELETE FROM server_checks WHERE subject = ${subject} AND starts_with(value, ${`${hash} `}) RETURNING value`,
  )
  const [kept = '', until = ''] = taken[0]?.value.split(' ') ?? []
  return sameText(kept, hash) && Temporal.Instant.compare(Temporal.Instant.from(until), now) > 0
}

/** Another `link` than one short text is none. */
const asked = z.object({ link: z.string().max(100).optional().catch(undefined) })

/** `GET /operator`: plain HTML without a script. A link only offers the button, so that what previews addresses does not use it up. */
export function operatorRoutes(app: App, { db, clock, config }: Deps): void {
  const cookie = sealedCookie(
    z.literal('operator'),
    { name: 'duely_operator', path: '/operator', sameSite: 'strict', seconds: pageMinutes * 60 },
    config,
  )
  const send = (reply: FastifyReply, status: number, page: Page) => {
    const nonce = randomBytes(16).toString('base64')
    return reply.status(status).headers(linkedPageHeaders(nonce)).send(documentOf(page, nonce))
  }
  const closed: Page = {
    title: 'This page is closed',
    body: '<p>Its link was used, or has expired. On the server, run <code>npm run duely -- operator-link</code> for a new one.</p>',
  }
  const hidden = { schema: { hide: true } } as const

  app.register((pages: App, _options, done) => {
    pages.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, async (_request: FastifyRequest, body: string) =>
      lastOfEach(readForm(body)),
    )
    pages.get('/operator', hidden, async (request, reply) => {
      const now = clock.now()
      const { link } = asked.parse(request.query)
      if (cookie.read(request, now) !== null) return send(reply, 200, { title: 'Duely', body: await overview(db, now), refresh: true })
      if (link === undefined) return send(reply, 403, closed)
      return send(reply, 200, {
        title: 'Operator’s page',
        body: `<p>It shows counts, processes, queue, mail servers and busiest accounts for ${pageMinutes} minutes, in this browser only.</p>
<form method="post" action="/operator"><input type="hidden" name="link" value="${e(link)}"><button>Open</button></form>`,
      })
    })
    pages.post('/operator', { ...hidden, bodyLimit: 1024 }, async (request, reply) => {
      const now = clock.now()
      const { link = '' } = asked.parse(request.body ?? {})
      if (!(await takeLink(db, link, now))) return send(reply, 403, closed)
      cookie.keep(reply, 'operator', now)
      return reply.redirect('/operator', 303)
    })
    done()
  })
}

interface Page {
  title: string
  body: string
  refresh?: true
}

const totals = z.object({
  accounts: z.number(),
  young: z.number(),
  daily: z.number(),
  held: z.number(),
  invoices: z.number(),
  size: z.string(),
  postgres: z.string(),
})
const worker = z.object({ id: z.string(), started: z.number(), beat: z.number(), tick: z.number().nullable(), leads: z.boolean() })

async function overview(db: Database, now: Instant): Promise<string> {
  const at = sql`${now.toString()}::timestamptz`
  const [all] = await rows(
    db,
    totals,
    sql`SELECT count(*)::int AS accounts, count(*) FILTER (WHERE created_at > ${at} - interval '7 days')::int AS young,
          count(*) FILTER (WHERE next_run_at IS NOT NULL)::int AS daily, count(*) FILTER (WHERE held_at IS NOT NULL)::int AS held,
          (SELECT count(*)::int FROM invoices WHERE status <> 'paid' AND deleted_at IS NULL) AS invoices,
          pg_size_pretty(pg_database_size(current_database())) AS size, current_setting('server_version') AS postgres
        FROM accounts`,
  )
  const processes = await rows(
    db,
    worker,
    sql`SELECT id::text, extract(epoch FROM now() - started_at)::float8 AS started, extract(epoch FROM now() - heartbeat_at)::float8 AS beat,
          extract(epoch FROM now() - ticked_at)::float8 AS tick, EXISTS (SELECT 1 FROM leases l WHERE l.process_id = p.id AND l.until > now()) AS leads
        FROM processes p ORDER BY started_at`,
  )
  const lost = await findLostHosts(db)
  const metrics = await measureDatabase(db, now)
  const busy = await busiestAccounts(db, now)
  return [
    `<p>Version ${e(version)} · PostgreSQL ${e(all?.postgres ?? '')} · ${e(all?.size ?? '')} · ${now.toString({ smallestUnit: 'second' })}</p>`,
    section(
      'Accounts',
      [],
      [
        ['Accounts', all?.accounts ?? 0],
        ['New in 7 days', all?.young ?? 0],
        ['With a daily run ahead', all?.daily ?? 0],
        ['On hold by you', all?.held ?? 0],
        ['Open invoices', all?.invoices ?? 0],
        ['Runs due and not made', oneOf(metrics, 'duely_runs_due')],
      ],
    ),
    section(
      'Emails that wait',
      ['State', 'Emails'],
      valuesOf(metrics, 'duely_emails_waiting', ['state', 'reason']).map(([state, reason, count = 0]) => [
        reason === '' ? `${state}` : `${state}: ${reason}`,
        count,
      ]),
      'None.',
    ),
    section(
      'Workers',
      ['Process', 'Started', 'Heartbeat', 'Checked runs'],
      processes.map(({ id, started, beat, tick, leads }) => [
        `${id.slice(-8)}${leads ? ', leads' : ''}${beat > 20 ? ', dead' : ''}`,
        ago(started),
        ago(beat),
        tick === null ? 'never' : ago(tick),
      ]),
      'No worker runs, so nothing is sent.',
    ),
    section(
      'Queue',
      ['Job', 'Waiting', 'Oldest'],
      valuesOf(metrics, 'duely_jobs_waiting', ['job']).map(([job = '', count = 0], nth) => [
        job,
        count,
        ago(Number(valuesOf(metrics, 'duely_job_oldest_wait_seconds', ['job'])[nth]?.[1] ?? 0)),
      ]),
      'Empty.',
    ),
    section(
      'Mail servers that do not answer',
      ['Server', 'Accounts', 'Emails'],
      lost.map(({ host, accounts, emails }) => [host, accounts, emails]),
      'None.',
    ),
    section(
      'Busiest accounts of the last hour',
      ['Account', 'Seconds', 'Sent', 'Failed', 'MB'],
      busy.map(({ email, seconds, sent, failed, bytes }) => [email, seconds.toFixed(1), sent, failed, (bytes / 1e6).toFixed(1)]),
      'No email was tried.',
    ),
  ].join('\n')
}

function oneOf(metrics: Metric[], name: string): number {
  return metrics.find((one) => one.name === name)?.values[0]?.value ?? 0
}

/** One line per value: its labels, then the value. */
function valuesOf(metrics: Metric[], name: string, labels: string[]): (string | number)[][] {
  const found = metrics.find((one) => one.name === name)?.values ?? []
  return found
    .filter(({ value }) => value > 0 || name !== 'duely_emails_waiting')
    .map((one) => [...labels.map((label) => one.labels?.[label] ?? ''), one.value])
}

function ago(seconds: number): string {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}

function section(title: string, head: string[], lines: (string | number)[][], none = ''): string {
  const cells = (line: (string | number)[], tag: 'td' | 'th') =>
    line.map((cell, at) => `<${tag}${at > 0 ? ' class="n"' : ''}>${e(String(cell))}</${tag}>`).join('')
  const top = head.length === 0 ? '' : `<thead><tr>${cells(head, 'th')}</tr></thead>`
  const body = lines.map((line) => `<tr>${cells(line, 'td')}</tr>`).join('')
  return `<section><h2>${e(title)}</h2>${lines.length === 0 ? `<p>${e(none)}</p>` : `<div><table>${top}<tbody>${body}</tbody></table></div>`}</section>`
}

/** Text in HTML. */
function e(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

const styles = `:root{--ground:#f6f6f2;--surface:#fff;--line:#e3e3dc;--text:#141922;--dim:#5d6778;--button:#2f62e6;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--ground:#0b0e14;--surface:#121720;--line:#232c3a;--text:#e9edf4;--dim:#93a0b5;--button:#386bed}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1200px;margin:0 auto;padding:32px 20px;display:grid;gap:16px;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr))}
header{grid-column:1/-1}h1{margin:0;font-size:28px;letter-spacing:-.02em}h2{margin:0 0 8px;font-size:16px}p{margin:0;color:var(--dim)}header~p{grid-column:1/-1}
section:last-child{grid-column:1/-1}section{background:var(--surface);border:1px solid var(--line);border-radius:14px;padding:16px 18px;min-width:0}section div{overflow-x:auto}
table{border-collapse:collapse;width:100%}th{color:var(--dim);font-weight:500;font-size:13px}th,td{text-align:left;padding:6px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}th{vertical-align:bottom}thead th{border-top:0}.n{text-align:right;padding-left:12px;overflow-wrap:normal;white-space:nowrap}thead .n{white-space:normal}
button{min-height:48px;padding:0 24px;font:inherit;font-weight:600;color:#fff;background:var(--button);border:0;border-radius:12px;cursor:pointer}:focus-visible{outline:2px solid var(--button);outline-offset:2px}code{overflow-wrap:anywhere}`

function documentOf({ title, body, refresh }: Page, nonce: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">${refresh ? '<meta http-equiv="refresh" content="30">' : ''}<title>${e(title)}</title>
<style nonce="${nonce}">${styles}</style></head><body><main><header><h1>${e(title)}</h1></header>
${body}
</main></body></html>
`
}
