import type { Config } from '#server/config.ts'
import type { Timers } from './clock.ts'
import type { Log } from './log.ts'
import type { Metric } from './metrics.ts'
import type { Span } from './traces.ts'

/*
 * OTLP over HTTP in JSON, as the specification of OpenTelemetry has it: https://opentelemetry.io/docs/specs/otlp/. A collector that is down, slow or
 * refuses costs no caller anything: spans wait in a list of limited length, and what does not fit is dropped and counted.
 */

/** Spans that wait at most, and those of one request. */
const [mostWaiting, mostAtOnce] = [4_096, 512]
/** How often spans are sent, and metrics, in ms. */
const [spansEvery, metricsEvery] = [5_000, 60_000]
/** For one answer, in ms; and for the last one, when the process stops. */
const [patience, lastPatience] = [10_000, 1_000]
/** Waits, in ms, after answers that ask to try again: doubled each time. */
const [leastWait, mostWait] = [1_000, 60_000]
/** How often it is logged that nothing arrives, in ms. */
const reportEvery = 600_000
/** By the specification, these mean that the same may be sent again. */
const again = new Set([429, 502, 503, 504])

export interface Exporter {
  add(span: Span): void
  /** Sends what is measured from now on. */
  measure(how: () => Promise<Metric[]>): void
  /** Sends what waits, if the collector is quick. */
  close(): Promise<void>
}

export function openExporter(
  about: NonNullable<Config['telemetry']> & { version: string; role: string; instance: string; log: Log; timers: Timers },
): Exporter {
  const { endpoint, headers, log, timers } = about
  const resource = {
    attributes: attributesOf({
      'service.name': about.serviceName,
      'service.version': about.version,
      'service.instance.id': about.instance,
      'duely.role': about.role,
    }),
  }
  const scope = { name: 'duely', version: about.version }
  const waiting: Span[] = []
  const closing = new AbortController()
  const startedAt = nanos(performance.timeOrigin)
  let dropped = 0
  let reportedAt = Number.NEGATIVE_INFINITY
  let measure: (() => Promise<Metric[]>) | null = null
  let wake = new AbortController()

  /** `again`: so many ms later the same may be taken. */
  const post = async (path: string, body: object, ms: number): Promise<'taken' | 'refused' | { again: number | null }> => {
    try {
      const answered = await fetch(`${endpoint}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ms),
        redirect: 'manual',
      })
      await answered.body?.cancel()
      if (answered.ok) return 'taken'
      report({ status: answered.status })
      const seconds = Number(answered.headers.get('retry-after') ?? Number.NaN)
      return again.has(answered.status) ? { again: Number.isFinite(seconds) ? seconds * 1_000 : null } : 'refused'
    } catch (error) {
      const { name, cause } = error as { name: string; cause?: { code?: string } }
      report({ code: cause?.code ?? name })
      return { again: null }
    }
  }
  const report = (why: object) => {
    if (timers.elapsed() - reportedAt < reportEvery) return
    reportedAt = timers.elapsed()
    log.warn({ ...why, dropped }, 'Traces and metrics do not arrive at OTEL_EXPORTER_OTLP_ENDPOINT. Duely works without them.')
  }

  const sendSpans = async (ms: number) => {
    const batch = waiting.slice(0, mostAtOnce)
    const said = await post('/v1/traces', { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: batch.map(spanOf) }] }] }, ms)
    if (said === 'refused') dropped += batch.length
    if (typeof said === 'string') waiting.splice(0, batch.length)
    return said
  }
  const spans = async () => {
    let failures = 0
    while (!closing.signal.aborted) {
      if (failures === 0 && waiting.length < mostAtOnce) await timers.pause(spansEvery, AbortSignal.any([closing.signal, wake.signal]))
      wake = new AbortController()
      if (waiting.length === 0 || closing.signal.aborted) continue
      const said = await sendSpans(patience)
      failures = typeof said === 'string' ? 0 : failures + 1
      if (typeof said !== 'string') await timers.pause(Math.min(mostWait, said.again ?? leastWait * 2 ** (failures - 1)), closing.signal)
    }
  }
  const sendMetrics = async (ms: number) => {
    const now = nanos(performance.timeOrigin + performance.now())
    const found = (await measure?.().catch(() => [])) ?? []
    if (found.length > 0)
      await post(
        '/v1/metrics',
        { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: found.map((one) => metricOf(one, startedAt, now)) }] }] },
        ms,
      )
  }
  const metrics = async () => {
    while (!closing.signal.aborted) {
      await timers.pause(metricsEvery, closing.signal)
      if (!closing.signal.aborted) await sendMetrics(patience)
    }
  }
  const running = [spans(), metrics()]

  return {
    add(span) {
      if (waiting.length >= mostWaiting) dropped += 1
      else waiting.push(span)
      if (waiting.length === mostAtOnce) wake.abort()
    },
    measure(how) {
      measure = how
    },
    async close() {
      closing.abort()
      await Promise.race([Promise.all(running), timers.pause(lastPatience)])
      await Promise.all([waiting.length > 0 ? sendSpans(lastPatience) : null, sendMetrics(lastPatience)])
    },
  }
}

/** Nanoseconds since the epoch of milliseconds: more digits than a number has. */
function nanos(ms: number): string {
  return ms.toFixed(6).replace('.', '')
}

function attributesOf(attributes: Record<string, string | number>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: typed(value) }))
}

function typed(value: string | number): object {
  if (typeof value === 'string') return { stringValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

const kinds = { internal: 1, server: 2, client: 3 }

function spanOf({ traceId, spanId, parentId, kind, name, attributes, began, ended, failed }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentId === null ? {} : { parentSpanId: parentId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanos(began),
    endTimeUnixNano: nanos(ended),
    attributes: attributesOf(attributes),
    status: failed ? { code: 2 } : {},
  }
}

const cumulative = 2

/** What `GET /metrics` says of one name, in OTLP's terms. */
function metricOf({ name, help, type, values }: Metric, startTimeUnixNano: string, timeUnixNano: string): object {
  const times = { startTimeUnixNano, timeUnixNano }
  if (type === 'histogram')
    return { name, description: help, histogram: { aggregationTemporality: cumulative, dataPoints: histogramsOf(values, times) } }
  const dataPoints = values.map(({ labels = {}, value }) => ({ attributes: attributesOf(labels), ...times, asDouble: value }))
  return type === 'counter'
    ? { name, description: help, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } }
    : { name, description: help, gauge: { dataPoints } }
}

/** Buckets that each count those below too become buckets that count their own. */
function histogramsOf(values: Metric['values'], times: object): object[] {
  const withoutBound = ({ labels: { le: _bound, ...labels } = {} }: Metric['values'][number]) => labels
  const byLabels = Map.groupBy(values, (one) => JSON.stringify(withoutBound(one)))
  return [...byLabels.values()].map((all) => {
    const buckets = all.filter(({ suffix }) => suffix === '_bucket')
    const valueOfSuffix = (suffix: string) => all.find((one) => one.suffix === suffix)?.value ?? 0
    return {
      attributes: all[0] ? attributesOf(withoutBound(all[0])) : [],
      ...times,
      count: String(valueOfSuffix('_count')),
      sum: valueOfSuffix('_sum'),
      explicitBounds: buckets.flatMap(({ labels }) => (typeof labels?.le === 'number' ? [labels.le] : [])),
      bucketCounts: buckets.map(({ value }, at) => String(value - (buckets[at - 1]?.value ?? 0))),
    }
  })
}
