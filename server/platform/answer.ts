import { randomUUID } from 'node:crypto'
import cookie from '@fastify/cookie'
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { bodyLimits, businessHeader, type Call, type CallParts, type CallReply, type Role } from '#contract/call.ts'
import type { ApiClientKind } from '#contract/integrations.ts'
import { type Problem, problemStatus } from '#contract/problem.ts'
import type { Config } from '#server/config.ts'
import { actAs } from './actor.ts'
import { mostPartsOf, refuseManyParts, refuseManyValues, shortenLists } from './body.ts'
import type { PersonId } from './columns.ts'
import { isUnavailable } from './database.ts'
import { answerHeaders, hardenAnswers } from './headers.ts'
import type { Log } from './log.ts'
import { ProblemError } from './problem-error.ts'
import { Streamed } from './stream-json.ts'
import { nouns, texts } from './texts.ts'
import { traceCalls } from './traces.ts'
import { onBehalfOf } from './turns.ts'
import { asWork } from './work.ts'

export type App = FastifyInstance

/** The person that asks; the accounts slice adds the other fields. */
export interface Person {
  id: PersonId
}

/** The account that owns every record of a call, as the person saw it that asks; the accounts slice adds its other fields. */
export interface Account {
  id: string
  person: Person
}

/** A program that asks in a person's name: by the permission (an application) or the key of this id. */
export interface ApiClient {
  kind: ApiClientKind
  id: string
  name: string
}

export interface Principal {
  account: Account
  /** What the person may do in the business at the moment: less than they are where its plan has no team. */
  role: Role
  /** The role that they keep for when the plan has a team again, where `role` is less. */
  kept?: Role
  /** null: the person themselves. */
  apiClient: ApiClient | null
  /** The session of the person's browser. A program has none: where it is read in a program's call, that is refused with `not_allowed`. */
  readonly sessionId: string
}

/**
 * Authenticates a request for a call, or refuses it with `not_signed_in`, or with `not_allowed` where the call is not open to the principal or
 * needs a higher role. It may set headers of the reply.
 */
export type Authenticate = (request: FastifyRequest, call: Call, reply: FastifyReply) => Promise<Principal>

/** A call without a reply answers nothing. */
type Answer<C extends Call> = C['reply'] extends undefined ? void : CallReply<C> | Streamed<CallReply<C>>

/** Waits until an account may make one more call, or one more that reads or writes many records, or refuses with `too_many`. */
export interface CallLimits {
  enter(ownerId: string, reply: FastifyReply): Promise<void>
  enterHeavy(ownerId: string, reply: FastifyReply): Promise<void>
}

interface Http {
  request: FastifyRequest
  reply: FastifyReply
}

/** What a private call is handed. */
interface OwnHttp extends Http {
  /** Must be called before a call reads or writes many records. */
  enterHeavy(): Promise<void>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Characters of a JSON body. */
    bodyLength: number
  }
  interface FastifyReply {
    /** The handler of a call, once it runs. */
    handling: Promise<unknown> | null
  }
  interface FastifyInstance {
    authenticate: Authenticate
    callLimits: CallLimits
    /** Answers a browser's request for an unknown URL; null without a client build. */
    notFoundPage: { answer: ((request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>) | null }
  }
}

/** An HTTP server that answers calls and turns every error into a problem. `https`: whether people reach it that way. */
export async function openApp(options: {
  log: Log
  authenticate: Authenticate
  callLimits?: CallLimits
  trustProxy: Config['trustProxy']
  https?: boolean
}): Promise<App> {
  const logger: FastifyBaseLogger = options.log
  const https = options.https ?? false
  const trusted = options.trustProxy
  const app: App = fastify({
    loggerInstance: logger,
    logController: new OneLineEach(),
    trustProxy: typeof trusted === 'number' ? (_address, hop) => hop < trusted : trusted,
    bodyLimit: bodyLimits.open,
    routerOptions: { ignoreTrailingSlash: true },
    genReqId: () => randomUUID(),
    frameworkErrors: (_error, request, reply) => {
      const { status, problem } = plain('invalid', texts.malformedUrl)
      // Fastify types this reply more narrowly than any other, and runs no hooks for it.
      return (reply as FastifyReply)
        .status(status)
        .headers({ ...answerHeaders(request, { https }), 'cache-control': 'no-store' })
        .send(problem)
    },
  })
  const parse = app.getDefaultJsonParser('error', 'error')
  // Many API clients send the JSON content type with an empty body.
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null)
    request.bodyLength = body.length
    refuseManyValues(String(body), request.routeOptions.config.mostParts)
    return parse(request, String(body), done)
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.decorateRequest('bodyLength', 0)
  app.decorateReply('handling', null)
  app.decorate('authenticate', options.authenticate)
  app.decorate('callLimits', options.callLimits ?? { enter: async () => undefined, enterHeavy: async () => undefined })
  app.decorate('notFoundPage', { answer: null })
  hardenAnswers(app, { https })
  traceCalls(app)
  // Before the cookies are read.
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    refuseManyParts(raw.url ?? '', { raw: raw.rawHeaders, cookie: raw.headers.cookie })
    done()
  })
  // Closed at once, the connection would be reset before the client, still sending, has read the refusal. Node reads the rest and drops it.
  app.addHook('onSend', ({ headers }, reply, _payload, done) => {
    if (reply.statusCode === problemStatus.too_large && Number(headers['content-length']) <= mostDropped) reply.removeHeader('connection')
    done()
  })
  // Twice, because a body arrives in the context of its socket.
  app.addHook('onRequest', ({ ip }, _reply, done) => onBehalfOf(ip, done))
  app.addHook('preValidation', ({ ip }, _reply, done) => onBehalfOf(ip, () => asWork(done)))
  await app.register(cookie)
  app.setErrorHandler((error, request, reply) => {
    const said = problemOf(error, request)
    if (said.status === problemStatus.not_ready) request.log.warn({ err: error }, 'A request was rejected: the database does not answer.')
    else if (said.status >= 500 && !(error instanceof ProblemError)) request.log.error({ err: error }, 'A call failed.')
    if (said.retryAfter !== undefined) reply.header('retry-after', said.retryAfter)
    return reply.status(said.status).header('cache-control', 'no-store').send(said.problem)
  })
  app.setNotFoundHandler((request, reply) => {
    const asked = request.method === 'GET' || request.method === 'HEAD'
    if (app.notFoundPage.answer && asked && (request.headers.accept ?? '').includes('text/html'))
      return app.notFoundPage.answer(request, reply)
    const { status, problem } = plain('not_found', texts.nothingHere)
    return reply.status(status).header('cache-control', 'no-store').send(problem)
  })
  return app
}

/** One line a request: what was asked, never with what values. */
class OneLineEach extends LogController {
  override incomingRequest(): void {}
  override routeNotFound(): void {}
  override defaultErrorLog(): void {}
  override requestCompleted(_error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const { method, routeOptions } = request
    const { statusCode: status, elapsedTime } = reply
    request.log.info(
      { method, path: routeOptions.url ?? '(nothing there)', status, ms: Math.round(elapsedTime * 10) / 10 },
      `${method} ${routeOptions.url ?? '(nothing there)'} ${status}`,
    )
  }
}

/** Of a body that takes longer than this to arrive, the principal is authenticated again. */
const slowBodyMs = 1_000

/** To read and validate more characters than this is a heavy call already: some 10 ms of work. */
const longBody = 64 * 1024

/** Answers a private call: authenticated first, validated second, the reply checked against the contract. */
export function answer<C extends Call>(
  app: App,
  call: C,
  handle: (parts: CallParts<C>, principal: Principal, http: OwnHttp) => Promise<Answer<C>>,
): void {
  if (call.open) throw new Error(`${call.path} is open: answer it with answerOpen.`)
  const authenticated = new WeakMap<FastifyRequest, { principal: Principal; at: number }>()
  register(
    app,
    call,
    async (parts, http) => {
      const known = authenticated.get(http.request)
      if (!known) throw new ProblemError('not_signed_in', texts.signIn)
      // A body may follow its headers minutes later: its session may have ended meanwhile.
      const slow = performance.now() - known.at > slowBodyMs
      const principal = slow ? await app.authenticate(http.request, call, http.reply) : known.principal
      const { id } = principal.account
      const actor = { person: principal.account.person.id, program: principal.apiClient?.name ?? null, needed: call.by }
      return onBehalfOf(id, () =>
        actAs(actor, () => handle(parts, principal, { ...http, enterHeavy: () => app.callLimits.enterHeavy(id, http.reply) })),
      )
    },
    async (request, reply) => {
      reply.header('vary', `Authorization, ${businessHeader}`)
      const principal = await app.authenticate(request, call, reply)
      // A tab keeps to the business that it was answered about.
      reply.header(businessHeader, principal.account.id)
      // Before the body is read: bodies that wait take memory.
      await app.callLimits.enter(principal.account.id, reply)
      authenticated.set(request, { principal, at: performance.now() })
    },
    async (request, reply) => {
      const id = authenticated.get(request)?.principal.account.id
      if (id !== undefined && request.bodyLength > longBody) await app.callLimits.enterHeavy(id, reply)
    },
  )
}

/** Answers a call that needs no session. */
export function answerOpen<C extends Call>(app: App, call: C, handle: (parts: CallParts<C>, http: Http) => Promise<Answer<C>>): void {
  if (!call.open) throw new Error(`${call.path} is private: answer it with answer.`)
  register(app, call, handle)
}

function register<C extends Call>(
  app: App,
  call: C,
  handle: (parts: CallParts<C>, http: Http) => Promise<Answer<C>>,
  authenticate?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
  beforeReading?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): void {
  app.route({
    method: call.method,
    url: call.path,
    schema: {
      summary: call.summary,
      ...(call.params ? { params: call.params } : {}),
      ...(call.query ? { querystring: call.query } : {}),
      ...(call.body ? { body: call.body } : {}),
      ...(call.reply ? { response: { [call.status]: call.reply, ...(call.status === 200 ? { 202: call.reply } : {}) } } : {}),
    },
    bodyLimit: call.bodyLimit,
    config: { mostParts: mostPartsOf(call.body) },
    ...(call.body
      ? {
          preValidation: async (request, reply) => {
            await beforeReading?.(request, reply)
            await shortenLists(call.body as z.ZodType, request.body)
          },
        }
      : {}),
    // Authentication comes before validation: a stranger must learn nothing from a validation error.
    ...(authenticate ? { onRequest: authenticate } : {}),
    handler: async (request, reply) => {
      reply.status(call.status)
      if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
      const parts = { params: request.params, query: request.query, body: request.body } as CallParts<C>
      const handling = handle(parts, { request, reply })
      reply.handling = handling
      const answered = (await handling) ?? null
      if (answered instanceof Streamed && !reply.hasHeader('content-type')) reply.type('application/json; charset=utf-8')
      return answered
    },
  })
}

/** Replaces Zod's default messages, which are for developers. */
z.config({
  customError: (issue) => {
    if (issue.code === 'invalid_type')
      return issue.input === undefined ? texts.fillIn : texts.wrongType(nouns[issue.expected] ?? 'another value')
    if (issue.code === 'invalid_value') return texts.oneOf(issue.values.map(String))
    return undefined
  },
})

/** Bytes of a refused body that are read, so that its sender reads the refusal. */
const mostDropped = 8 * 1024 * 1024

/** Invalid fields that an answer names, and unknown ones: a program that sends more of them needs the reference. */
const mostErrors = 100
const mostUnknown = 10
const shortened = (name: string) => (name.length > 100 ? `${name.slice(0, 100)}…` : name)

/** Problem errors keep their message, invalid input is reported by field, anything else in general words. */
export function problemOf(
  error: unknown,
  { routeOptions }: FastifyRequest,
): { status: number; problem: Problem; retryAfter?: number | undefined } {
  if (error instanceof ProblemError) return { status: error.status, problem: error.problem, retryAfter: error.retryAfter }
  const { validation, validationContext, statusCode, code } = error as FastifyError
  if (validation) {
    let unknown = 0
    const errors = validation.slice(0, mostErrors).flatMap((issue) => {
      const path = issue.instancePath.replace(/^\//, '').replaceAll('/', '.')
      const { keys } = issue.params
      if (issue.keyword === 'unrecognized_keys' && Array.isArray(keys)) {
        const named = keys.slice(0, mostUnknown - unknown)
        unknown += named.length
        return named.map((key) => {
          const name = shortened(String(key))
          return { path: path ? `${path}.${name}` : name, message: texts.unknownField(name) }
        })
      }
      return [{ path: path || (validationContext ?? ''), message: issue.message ?? texts.checkField }]
    })
    const message = errors[0] ? errors[0].message : texts.checkInput
    return { status: problemStatus.invalid, problem: { message, code: 'invalid', errors } }
  }
  if (isUnavailable(error)) return { ...plain('not_ready', texts.databaseDown), retryAfter: 2 }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return plain('too_large', texts.tooLarge(routeOptions.bodyLimit))
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return plain('invalid', texts.sendJson)
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return plain('invalid', texts.invalidJson)
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return plain('invalid', texts.cutOff)
    default:
      if (statusCode === 400 && code === 'ECONNRESET') return plain('invalid', texts.cutOff)
      return statusCode === 400 && code?.startsWith('FST_ERR_CTP')
        ? plain('invalid', texts.unreadable)
        : plain('fault', texts.internalError)
  }
}

function plain(code: Problem['code'], message: string): { status: number; problem: Problem; retryAfter?: number | undefined } {
  return { status: problemStatus[code], problem: { message, code } }
}
