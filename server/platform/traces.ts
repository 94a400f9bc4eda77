import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'

type Attributes = Record<string, string | number>

/** What a call, statement, email or job took. It names none of their values: no parameter, no address, no amount and no error's own words. */
export interface Span {
  traceId: string
  spanId: string
  parentId: string | null
  kind: 'internal' | 'server' | 'client'
  name: string
  attributes: Attributes
  /** Milliseconds since the epoch, with fractions. */
  began: number
  ended: number
  failed: boolean
}

/** A span that has begun. */
interface OpenSpan {
  span: Span
  end(): void
}

interface Tracing {
  add(span: Span): void
  /** Of calls and jobs, so many of 1 are traced, each with all that belongs to it. */
  share: number
}

const current = new AsyncLocalStorage<OpenSpan | null>()
let tracing: Tracing | null = null

/** Spans that end from now on are handed to `add`. Without it nothing is measured. */
export function startTracing(to: Tracing): void {
  tracing = to
}

const clock = () => performance.timeOrigin + performance.now()

function begin(about: Pick<Span, 'kind' | 'name' | 'attributes'>, parent: OpenSpan | null): OpenSpan {
  const traceId = parent?.span.traceId ?? randomBytes(16).toString('hex')
  const parentId = parent?.span.spanId ?? null
  const span: Span = { ...about, traceId, parentId, spanId: randomBytes(8).toString('hex'), began: clock(), ended: 0, failed: false }
  return {
    span,
    end() {
      // Once: of a connection that is lost, several callers hear.
      if (span.ended !== 0) return
      span.ended = clock()
      tracing?.add(span)
    },
  }
}

const chosen = (to: Tracing) => to.share >= 1 || Math.random() < to.share

/** Does work that belongs to no other in a trace of its own. */
export function inTrace<T>(about: Pick<Span, 'name' | 'attributes'>, work: () => Promise<T>): Promise<T> {
  if (!tracing || !chosen(tracing)) return work()
  return run(begin({ ...about, kind: 'internal' }, null), work)
}

/** Does work in a span of the trace around it. `work` may add attributes. */
export function inSpan<T>(about: Pick<Span, 'name' | 'attributes'>, work: (attributes: Attributes) => Promise<T>): Promise<T> {
  const parent = tracing && current.getStore()
  if (!parent) return work({})
  const open = begin({ ...about, kind: 'client' }, parent)
  return run(open, () => work(open.span.attributes))
}

async function run<T>(open: OpenSpan, work: () => Promise<T>): Promise<T> {
  try {
    return await current.run(open, work)
  } catch (error) {
    fail(open.span, error)
    throw error
  } finally {
    open.end()
  }
}

/** Its kind, and a database's code: an error's message may quote what it is about. */
function fail(span: Span, error: unknown): void {
  span.failed = true
  if (!(error instanceof Error)) return
  span.attributes['error.type'] = error.constructor.name
  const { code } = error as { code?: unknown }
  if (typeof code === 'string' && /^[\w-]{1,40}$/.test(code)) span.attributes['error.code'] = code
}

/** The longest text of a statement that is kept. */
const longestText = 2_000

/** Begins the span of a statement where something is traced that it belongs to: what polls is not. Its text has `$1` in place of values. */
function beginStatement(text: string): OpenSpan | null {
  const parent = tracing && current.getStore()
  if (!parent) return null
  // A statement that begins with WITH is named by the first table that it writes.
  const [, written, writtenTo] =
    /^\s*with\b.*?\b(insert(?=\s+into)|delete(?=\s+from)|(?<!\b(?:for|key)\s)update)\s+(?:into\s+|from\s+)?"?(\w+)"?/is.exec(text) ?? []
  const [, operation = 'statement'] = written ? [text, written] : (/^\s*(\w+)/.exec(text) ?? [])
  const table = writtenTo ?? /\b(?:from|into|update)\s+(?:only\s+)?"?(\w+)"?/i.exec(text)?.[1]
  const name = table ? `${operation.toUpperCase()} ${table}` : operation.toUpperCase()
  return begin(
    { kind: 'client', name, attributes: { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, longestText) } },
    parent,
  )
}

/** Asks the database in a span. */
export function inStatement<T>(text: string, ask: () => Promise<T>): Promise<T> {
  const open = beginStatement(text)
  return open ? run(open, ask) : ask()
}

/** The way of `pg` to ask, with a callback or a promise. */
export type Ask = (...args: unknown[]) => unknown

/** The same for each statement of a connection of `pg`. */
export function traceStatements(ask: Ask): Ask {
  return (...args) => {
    const [first] = args
    const text = typeof first === 'string' ? first : (first as { text?: unknown } | null)?.text
    const open = typeof text === 'string' ? beginStatement(text) : null
    if (!open) return ask(...args)
    const done = args.at(-1)
    const ended = (error: unknown) => {
      if (error) fail(open.span, error)
      open.end()
    }
    if (typeof done === 'function')
      return ask(...args.slice(0, -1), (error: unknown, result: unknown) => {
        ended(error)
        ;(done as Ask)(error, result)
      })
    const answered = ask(...args) as Promise<unknown>
    answered.then(() => ended(null), ended)
    return answered
  }
}

/** What is asked all the time, by machines. */
const untold = new Set(['/health', '/metrics'])

/** Each call in a span, by the route that answers it: never by its address, which may hold a secret. */
export function traceCalls(app: FastifyInstance): void {
  if (!tracing) return
  const open = new WeakMap<FastifyRequest, OpenSpan>()
  const within = (request: FastifyRequest, done: () => void) => current.run(open.get(request) ?? null, done)
  app.addHook('onRequest', (request, _reply, done) => {
    const route = request.routeOptions.url ?? '(nothing there)'
    if (tracing && !untold.has(route) && chosen(tracing)) {
      const attributes = { 'http.request.method': request.method, 'http.route': route, 'duely.request_id': request.id }
      open.set(request, begin({ kind: 'server', name: `${request.method} ${route}`, attributes }, null))
    }
    within(request, done)
  })
  // Again, because a body arrives in the context of its socket.
  app.addHook('preHandler', (request, _reply, done) => within(request, done))
  app.addHook('onResponse', (request, reply, done) => {
    const its = open.get(request)
    if (its) {
      its.span.attributes['http.response.status_code'] = reply.statusCode
      its.span.failed = reply.statusCode >= 500
      its.end()
    }
    done()
  })
  // The caller has gone.
  app.addHook('onRequestAbort', (request, done) => {
    const its = open.get(request)
    if (its) {
      its.span.attributes['error.type'] = 'aborted'
      its.end()
    }
    done()
  })
}
