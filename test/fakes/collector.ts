import { z } from 'zod'
import { type FakeReceiver, openFakeReceiver } from './receiver.ts'

const hex = (length: number) => z.string().regex(new RegExp(`^[0-9a-f]{${length}}$`))
const instant = z.string().regex(/^1\d{18}$/)
const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
])
const attributes = z.array(z.strictObject({ key: z.string(), value }))
const resource = z.strictObject({ attributes })
const scope = z.strictObject({ name: z.string(), version: z.string() })

const span = z.strictObject({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: hex(16).optional(),
  name: z.string(),
  kind: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  startTimeUnixNano: instant,
  endTimeUnixNano: instant,
  attributes,
  status: z.strictObject({ code: z.literal(2).optional() }),
})
const traces = z.strictObject({
  resourceSpans: z.array(z.strictObject({ resource, scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span) })) })),
})

const times = { attributes, startTimeUnixNano: instant, timeUnixNano: instant }
const points = z.array(z.strictObject({ ...times, asDouble: z.number() }))
const temporality = z.literal(2)
const metric = z.strictObject({
  name: z.string(),
  description: z.string(),
  gauge: z.strictObject({ dataPoints: points }).optional(),
  sum: z.strictObject({ aggregationTemporality: temporality, isMonotonic: z.literal(true), dataPoints: points }).optional(),
  histogram: z
    .strictObject({
      aggregationTemporality: temporality,
      dataPoints: z.array(
        z.strictObject({
          ...times,
          count: z.string(),
          sum: z.number(),
          explicitBounds: z.array(z.number()),
          bucketCounts: z.array(z.string()),
        }),
      ),
    })
    .optional(),
})
const metrics = z.strictObject({
  resourceMetrics: z.array(z.strictObject({ resource, scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric) })) })),
})

export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  attributes: Record<string, string | number>
  failed: boolean
}

/** A collector of OpenTelemetry: what arrives by OTLP over HTTP, in JSON, checked against the shapes of the specification. */
export interface FakeCollector extends AsyncDisposable {
  url: string
  receiver: FakeReceiver
  /** All spans, as they arrived. */
  spans(): ReceivedSpan[]
  /** The metrics that arrived last. */
  metrics(): z.output<typeof metric>[]
}

export async function openFakeCollector(): Promise<FakeCollector> {
  const receiver = await openFakeReceiver()
  const bodies = (path: string) => receiver.calls.filter((call) => call.path === path).map(({ body }) => JSON.parse(body) as unknown)
  return {
    url: receiver.url,
    receiver,
    spans: () =>
      bodies('/v1/traces').flatMap((body) =>
        traces.parse(body).resourceSpans.flatMap(({ scopeSpans }) =>
          scopeSpans.flatMap(({ spans }) =>
            spans.map(({ status, parentSpanId, ...one }) => ({
              ...one,
              parentSpanId,
              attributes: read(one.attributes),
              failed: status.code !== undefined,
            })),
          ),
        ),
      ),
    metrics: () => {
      const last = bodies('/v1/metrics').at(-1)
      return last === undefined ? [] : metrics.parse(last).resourceMetrics.flatMap((one) => one.scopeMetrics.flatMap((its) => its.metrics))
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
}

function read(of: z.output<typeof attributes>): Record<string, string | number> {
  return Object.fromEntries(
    of.map(({ key, value: it }) => [key, 'stringValue' in it ? it.stringValue : 'intValue' in it ? Number(it.intValue) : it.doubleValue]),
  )
}
