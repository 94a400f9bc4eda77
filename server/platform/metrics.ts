import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from './answer.ts'
import { sameText } from './secrets.ts'

/** One name with its values, by labels. A counter only rises, from the start of the process. */
export interface Metric {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  values: Value[]
}

interface Value {
  labels?: Record<string, string | number>
  value: number
  /** What follows the name, in a histogram. */
  suffix?: '_bucket' | '_sum' | '_count'
}

export const gauge = (name: string, help: string, values: Value[]): Metric => ({ name, help, type: 'gauge', values })
export const counter = (name: string, help: string, values: Value[]): Metric => ({ name, help, type: 'counter', values })

/** The text format of Prometheus, version 0.0.4. */
export function metricsText(metrics: Metric[]): string {
  const lines = metrics.flatMap(({ name, help, type, values }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values.map(({ labels = {}, value, suffix = '' }) => `${name}${suffix}${labelText(labels)} ${Number.isFinite(value) ? value : 0}`),
  ])
  return `${lines.join('\n')}\n`
}

function labelText(labels: Record<string, string | number>): string {
  const all = Object.entries(labels).map(([name, value]) => `${name}="${String(value).replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`)
  return all.length === 0 ? '' : `{${all.join(',')}}`
}

/** Seconds up to which a call counts in a bucket. */
const buckets = [0.05, 0.25, 1, 5]

interface Route {
  statuses: Map<string, number>
  /** Calls by bucket, each in the first that it fits. */
  within: number[]
  seconds: number
}

/** Counts the calls of a process by the route that answered, never by the address that was asked for. */
export function countCalls(app: App): () => Metric[] {
  const routes = new Map<string, Route>()
  app.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const name = request.routeOptions.url === undefined ? 'none' : `${request.method} ${request.routeOptions.url}`
    const route = routes.get(name) ?? { statuses: new Map(), within: buckets.map(() => 0), seconds: 0 }
    routes.set(name, route)
    const status = `${Math.floor(reply.statusCode / 100)}xx`
    const seconds = reply.elapsedTime / 1000
    route.statuses.set(status, (route.statuses.get(status) ?? 0) + 1)
    route.seconds += seconds
    const at = buckets.findIndex((bound) => seconds <= bound)
    if (at >= 0) route.within[at] = (route.within[at] ?? 0) + 1
  })
  return () => {
    const all = [...routes].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const byStatus = all.flatMap(([route, { statuses }]) => [...statuses].map(([status, value]) => ({ labels: { route, status }, value })))
    return [
      counter('duely_calls_total', 'Calls answered by this process, by route and class of status.', byStatus),
      { name: 'duely_call_seconds', help: 'Time to answer a call, by route.', type: 'histogram', values: all.flatMap(timesOf) },
    ]
  }
}

function timesOf([route, { statuses, within, seconds }]: [string, Route]): Value[] {
  const all = [...statuses.values()].reduce((sum, one) => sum + one, 0)
  const upTo = buckets.map((le, at) => ({
    suffix: '_bucket' as const,
    labels: { route, le },
    value: within.slice(0, at + 1).reduce((sum, one) => sum + one, 0),
  }))
  return [
    ...upTo,
    { suffix: '_bucket', labels: { route, le: '+Inf' }, value: all },
    { suffix: '_sum', labels: { route }, value: seconds },
    { suffix: '_count', labels: { route }, value: all },
  ]
}

/** What this process is, and what it takes of the machine. */
export function measureProcess(about: { version: string; role: string }): Metric[] {
  const { rss } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    gauge('duely_info', 'Version and role of this process.', [{ labels: about, value: 1 }]),
    gauge('process_start_time_seconds', 'When this process started, since the epoch.', [{ value: Date.now() / 1000 - process.uptime() }]),
    gauge('process_resident_memory_bytes', 'Memory of this process.', [{ value: rss }]),
    counter('process_cpu_seconds_total', 'Time of the processor that this process took.', [{ value: (user + system) / 1e6 }]),
  ]
}

/** The database is asked at most this often, in ms, however often someone asks for the metrics. */
const freshFor = 10_000

/** Remembers what was measured in the database; one that does not answer adds nothing but that. */
export function rememberMetrics(measure: () => Promise<Metric[]>): () => Promise<Metric[]> {
  let known: { at: number; metrics: Promise<Metric[]> } | null = null
  return () => {
    if (known === null || performance.now() - known.at > freshFor) {
      const up = (value: number) => gauge('duely_database_up', 'Whether the database answered.', [{ value }])
      const metrics = measure().then(
        (found) => [up(1), ...found],
        () => [up(0)],
      )
      known = { at: performance.now(), metrics }
    }
    return known.metrics
  }
}

const header = z.object({ authorization: z.string().optional() })

/** `GET /metrics` for who has the token. */
export function answerMetrics(app: App, token: string, measure: () => Promise<Metric[]>): void {
  app.get('/metrics', { logLevel: 'warn', schema: { summary: 'What this process measures, for Prometheus.' } }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    const { authorization = '' } = header.parse(request.headers)
    if (!sameText(authorization, `Bearer ${token}`))
      return reply.status(401).header('www-authenticate', 'Bearer').send({ message: 'Send METRICS_TOKEN as a bearer token.' })
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(metricsText(await measure()))
  })
}
