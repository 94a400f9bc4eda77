import { expect, test } from 'vitest'
import { openFakeCollector } from '#test/fakes/collector.ts'
import type { Timers } from './clock.ts'
import { openLog } from './log.ts'
import { counter, gauge } from './metrics.ts'
import { openExporter } from './otlp.ts'
import type { Span } from './traces.ts'

/** Timers that pass when a test says so. */
function handTimers() {
  let elapsed = 0
  const waiting = new Set<{ at: number; ms: number; go(): void }>()
  const pause: Timers['pause'] = (ms, until) =>
    new Promise((resolve) => {
      const one = { at: elapsed + ms, ms, go: () => resolve(void waiting.delete(one)) }
      if (until?.aborted) return resolve()
      waiting.add(one)
      until?.addEventListener('abort', one.go)
    })
  const timers: Timers = { elapsed: () => elapsed, after: () => () => undefined, pause }
  return {
    timers,
    pass(ms: number) {
      elapsed += ms
      for (const one of waiting) if (one.at <= elapsed) one.go()
    },
    /** Resolves once something waits for so long. */
    waits: (ms: number) => expect.poll(() => [...waiting].map((one) => one.ms)).toContain(ms),
  }
}

const span = (nth: number): Span => ({
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: nth.toString(16).padStart(16, '0'),
  parentId: null,
  kind: 'server',
  name: 'GET /invoice',
  attributes: { 'http.response.status_code': 200 },
  began: Date.now(),
  ended: Date.now() + 1.5,
  failed: false,
})

function open(endpoint: string, timers: Timers) {
  const logged: { status?: number; code?: string; dropped: number }[] = []
  const log = openLog({ level: 'info', terminal: false, destination: { write: (line: string) => void logged.push(JSON.parse(line)) } })
  const about = { headers: { 'x-team': 'duely' }, serviceName: 'duely', share: 1, version: '0.0.0', role: 'all', instance: 'here' }
  return { exporter: openExporter({ ...about, endpoint, log, timers }), logged }
}

test('spans wait while a collector is busy or down, are sent again, and no more than fit are kept', async () => {
  await using collector = await openFakeCollector()
  const { timers, pass, waits } = handTimers()
  const { exporter, logged } = open(collector.url, timers)
  const arrived = () => collector.spans().map(({ spanId }) => Number.parseInt(spanId, 16))
  for (const [answer, wait] of [
    [{ status: 429, headers: { 'retry-after': '7' } }, 7_000],
    [{ status: 503 }, 2_000],
    ['reset', 4_000],
  ] as const) {
    collector.receiver.answer(answer)
    exporter.add(span(collector.receiver.calls.length))
    pass(7_000)
    await waits(wait)
  }
  collector.receiver.answer({ status: 200 })
  collector.receiver.calls.length = 0
  pass(4_000)
  await waits(5_000)
  expect(arrived()).toEqual([0, 1, 2])
  expect(collector.receiver.calls[0]?.headers).toMatchObject({ 'x-team': 'duely', 'content-type': 'application/json' })
  expect(logged.map(({ status, code }) => status ?? code)).toEqual([429])

  // Many at once are sent at once, until there are more than fit.
  collector.receiver.answer('reset')
  for (let nth = 0; nth < 10_000; nth += 1) exporter.add(span(nth))
  await waits(1_000)
  collector.receiver.answer({ status: 200 })
  collector.receiver.calls.length = 0
  pass(1_000)
  await expect.poll(() => arrived().length).toBe(4_096)
  expect(new Set(arrived()).size).toBe(4_096)

  // What a collector refuses is not sent again.
  await waits(5_000)
  collector.receiver.answer({ status: 400 })
  collector.receiver.calls.length = 0
  exporter.add(span(1))
  pass(600_000)
  await waits(5_000)
  expect(collector.receiver.calls.filter(({ path }) => path === '/v1/traces')).toHaveLength(1)
  expect(logged.at(-1)).toMatchObject({ status: 400, dropped: 10_000 - 4_096 })

  // One that does not answer does not hold up the end of the process.
  collector.receiver.answer('silence')
  exporter.add(span(2))
  const closed = exporter.close()
  pass(1_000)
  await closed
})

test('metrics have their last values once a minute, histograms by bucket', async () => {
  await using collector = await openFakeCollector()
  const { timers, pass } = handTimers()
  const { exporter } = open(collector.url, timers)
  const labels = { route: 'GET /invoice' }
  exporter.measure(async () => [
    gauge('duely_runs_due', 'Due.', [{ value: 2 }]),
    counter('duely_calls_total', 'Calls.', [{ labels, value: 5 }]),
    {
      name: 'duely_call_seconds',
      help: 'Seconds.',
      type: 'histogram',
      values: [
        { suffix: '_bucket', labels: { ...labels, le: 0.05 }, value: 3 },
        { suffix: '_bucket', labels: { ...labels, le: 1 }, value: 4 },
        { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: 5 },
        { suffix: '_sum', labels, value: 2.5 },
        { suffix: '_count', labels, value: 5 },
      ],
    },
  ])
  pass(60_000)
  await expect.poll(() => collector.metrics()).toHaveLength(3)
  const [due, calls, seconds] = collector.metrics()
  expect(due).toMatchObject({ name: 'duely_runs_due', gauge: { dataPoints: [{ asDouble: 2 }] } })
  const attributes = [{ key: 'route', value: { stringValue: 'GET /invoice' } }]
  expect(calls).toMatchObject({ sum: { isMonotonic: true, dataPoints: [{ attributes, asDouble: 5 }] } })
  expect(seconds?.histogram?.dataPoints).toMatchObject([
    { attributes, count: '5', sum: 2.5, explicitBounds: [0.05, 1], bucketCounts: ['3', '1', '1'] },
  ])
  await exporter.close()
})
