import { randomUUID } from 'node:crypto'
import cookie from '@fastify/cookie'
import fastify, { type FastifyBaseLogger, type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import type { Call, CallParts, CallReply } from '#contract/call.ts'
import { type Problem, problemStatus } from '#contract/problem.ts'
import type { Log } from './log.ts'
import { Refusal } from './refusal.ts'

export type App = FastifyInstance

/** The account that owns every record of a call; the accounts slice says what else it is. */
export interface Account {
  id: string
}

/** Who is asking, and from which session. */
export interface Who {
  account: Account
  sessionId: string
}

/** Tells who a request comes from, or refuses it with `not_signed_in`. */
export type Identify = (request: FastifyRequest) => Promise<Who>

interface Http {
  request: FastifyRequest
  reply: FastifyReply
}

declare module 'fastify' {
  interface FastifyInstance {
    identify: Identify
  }
}

/** An HTTP server that answers calls and turns every error into a problem. */
export async function openApp(options: { log: Log; identify: Identify; trustProxy: boolean | string[] }): Promise<App> {
  const logger: FastifyBaseLogger = options.log
  const app: App = fastify({
    loggerInstance: logger,
    disableRequestLogging: true,
    trustProxy: options.trustProxy,
    bodyLimit: 1024 * 1024,
    requestTimeout: 30_000,
    routerOptions: { ignoreTrailingSlash: true },
    genReqId: () => randomUUID(),
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.decorate('identify', options.identify)
  await app.register(cookie)
  app.setErrorHandler((error, request, reply) => {
    const said = sayProblem(error)
    if (said.status >= 500 && !(error instanceof Refusal)) request.log.error({ err: error, reqId: request.id }, 'A call failed.')
    if (said.retryAfter !== undefined) reply.header('retry-after', said.retryAfter)
    return reply.status(said.status).header('cache-control', 'no-store').send(said.problem)
  })
  return app
}

/** Answers a private call: identified first, validated second, the reply checked against the contract. */
export function answer<C extends Call>(
  app: App,
  call: C,
  handle: (parts: CallParts<C>, who: Who, http: Http) => Promise<CallReply<C>>,
): void {
  if (call.open) throw new Error(`${call.path} is open: answer it with answerOpen.`)
  const identified = new WeakMap<FastifyRequest, Who>()
  register(
    app,
    call,
    (parts, http) => {
      const who = identified.get(http.request)
      if (!who) throw new Refusal('not_signed_in', 'Please sign in.')
      return handle(parts, who, http)
    },
    async (request) => {
      identified.set(request, await app.identify(request))
    },
  )
}

/** Answers a call that needs no session. */
export function answerOpen<C extends Call>(app: App, call: C, handle: (parts: CallParts<C>, http: Http) => Promise<CallReply<C>>): void {
  if (!call.open) throw new Error(`${call.path} is private: answer it with answer.`)
  register(app, call, handle)
}

function register<C extends Call>(
  app: App,
  call: C,
  handle: (parts: CallParts<C>, http: Http) => Promise<CallReply<C>>,
  identify?: (request: FastifyRequest) => Promise<void>,
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
    // Who asks is settled before what is asked is looked at: a stranger learns nothing from a validation error.
    ...(identify ? { onRequest: identify } : {}),
    handler: async (request, reply) => {
      reply.status(call.status)
      if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
      const parts = { params: request.params, query: request.query, body: request.body } as CallParts<C>
      return (await handle(parts, { request, reply })) ?? null
    },
  })
}

/** What a person is told about an error: refusals in their own sentence, invalid input by field, anything else in general words. */
function sayProblem(error: unknown): { status: number; problem: Problem; retryAfter?: number | undefined } {
  if (error instanceof Refusal) return { status: error.status, problem: error.problem, retryAfter: error.retryAfter }
  const { validation, validationContext, statusCode, code } = error as FastifyError
  if (validation) {
    const errors = validation.map((issue) => ({
      path: issue.instancePath.replace(/^\//, '').replaceAll('/', '.') || (validationContext ?? ''),
      message: issue.message ?? 'Please check this field.',
    }))
    const message = errors[0] ? errors[0].message : 'Please check what you entered.'
    return { status: problemStatus.invalid, problem: { message, code: 'invalid', errors } }
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return plain('too_large', 'This is more than 1 MB. Please send less at once.')
  if (
    code === 'FST_ERR_CTP_INVALID_JSON_BODY' ||
    code === 'FST_ERR_CTP_EMPTY_JSON_BODY' ||
    (statusCode === 400 && code?.startsWith('FST_'))
  )
    return plain('invalid', 'This is not valid JSON.')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return plain('invalid', 'Please send JSON with the header Content-Type: application/json.')
  return plain('fault', 'Something went wrong on our side. Please try again in a moment.')
}

function plain(code: Problem['code'], message: string): { status: number; problem: Problem } {
  return { status: problemStatus[code], problem: { message, code } }
}
