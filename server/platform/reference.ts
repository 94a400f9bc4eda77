import { z } from 'zod'
import type { Call } from '#contract/call.ts'
import { isOpenTo, scopeFor } from '#contract/integrations.ts'
import { type ProblemCode, problem, problemStatus } from '#contract/problem.ts'
import {
  bodyRefusals,
  type ExplainedCall,
  type ExplainedHeader,
  everyRefusal,
  explainedCalls,
  explainedEvents,
  inputRefusals,
  intro,
  keyRefusals,
  limitHeaders,
  subjects,
  webhookHeaders,
} from '#contract/reference.ts'
import type { App } from './answer.ts'

/** A part of an OpenAPI document: JSON. */
interface Part {
  [name: string]: unknown
}

/** Where the reference is: for programs, and as a page. */
const documentPath = '/openapi.json'

/**
 * Serves the reference for programs; a page that shows it is part of the built client.
 * The document is made when it is first asked for, because few processes ever are and it takes as long as everything else that registers calls.
 */
export function referenceRoutes(app: App, { publicUrl }: { publicUrl: string }): void {
  let document: string | undefined
  app.get(documentPath, (_request, reply) => {
    document ??= JSON.stringify(makeReference(publicUrl))
    return reply.headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' }).send(document)
  })
}

/** The OpenAPI 3.1 document of every call that programs may make, at this address. */
export function makeReference(publicUrl: string): Part {
  const shared: Part = {}
  const paths: Record<string, Part> = {}
  for (const explained of explainedCalls) {
    const { method, path } = explained.call
    const place = path.replace(/:(\w+)/g, '{$1}')
    paths[place] = { ...paths[place], [method.toLowerCase()]: operation(explained, shared) }
  }
  const webhooks = Object.fromEntries(explainedEvents.map((event) => [event.example.type, { post: webhook(event, shared) }]))
  schemaOf(problem, 'output', shared)
  return {
    openapi: '3.1.1',
    info: { title: 'Duely', version: '1', summary: 'Invoices, and the reminders that get them paid.', description: intro },
    servers: [{ url: publicUrl }],
    tags: Object.entries(subjects).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      schemas: sorted(shared),
      responses: Object.fromEntries(usualRefusals.map((one) => [one[0], refusal(statusOf(one), [one])])),
      headers: Object.fromEntries(limitHeaders.map((one) => [one.name, headerOf(one)])),
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key that a person created under Connections.' },
        oauth: {
          type: 'oauth2',
          description: 'A grant of a person to an app. Public clients must use PKCE with S256.',
          flows: {
            authorizationCode: {
              authorizationUrl: `${publicUrl}/oauth/authorize`,
              tokenUrl: `${publicUrl}/oauth/token`,
              refreshUrl: `${publicUrl}/oauth/token`,
              scopes: { read: 'Read the account’s data.', write: 'Change the account’s data, and send emails.' },
            },
          },
        },
      },
    },
  }
}

/** Every reason why a call may be refused, by code. */
export function refusalsOf({ call, refusals }: Pick<ExplainedCall, 'call' | 'refusals'>): Partial<Record<ProblemCode, string>> {
  const usual = {
    ...everyRefusal,
    ...(isOpenTo('key', call) ? keyRefusals : {}),
    ...(call.body ? bodyRefusals : call.query ? inputRefusals : {}),
  }
  const own = Object.entries(refusals).map(([code, why]) => [code, [why, usual[problem.shape.code.parse(code)]].filter(Boolean).join(' ')])
  return { ...usual, ...Object.fromEntries(own) }
}

function operation(explained: ExplainedCall, shared: Part): Part {
  const { call, name, subject, detail, example } = explained
  const needs = [scopeFor(call)]
  return {
    operationId: name,
    tags: [subject],
    summary: title(name),
    description: [call.summary, detail, whoMay(call)].filter(Boolean).join(' '),
    security: [...(isOpenTo('key', call) ? [{ key: needs }] : []), ...(isOpenTo('application', call) ? [{ oauth: needs }] : [])],
    ...listed('parameters', [
      ...parametersOf('path', call.params, example.params, shared, explained.params),
      ...parametersOf('query', call.query, example.query, shared),
      ...(explained.headers ?? []).map(({ name, ...header }) => ({ name, in: 'header', ...headerOf(header) })),
    ]),
    ...(call.body ? { requestBody: { required: true, content: json(schemaOf(call.body, 'input', shared), example.body) } } : {}),
    ...(explained.pdf === 'sent' ? { requestBody: { required: true, content: pdf } } : {}),
    responses: { ...successes(explained, shared), ...problems(explained) },
  }
}

function whoMay({ by }: Call): string {
  return by === null || by === 'self' ? '' : `Role: ${by === 'owner' ? by : `${by} or higher`}.`
}

/** `listInvoices`: List invoices. */
function title(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function successes({ call, example, answers = [], file, later, unchanged }: ExplainedCall, shared: Part): Part {
  const headers = {
    ...Object.fromEntries(limitHeaders.map(({ name }) => [name, { $ref: `#/components/headers/${name}` }])),
    ...Object.fromEntries(answers.map(({ name, ...header }) => [name, headerOf(header)])),
  }
  const body = file ? { [file]: {} } : call.reply && json(schemaOf(call.reply, 'output', shared), example.reply)
  const content = body ? { content: body } : {}
  return {
    [call.status]: { description: call.reply ? 'Done.' : 'Done; the response has no body.', headers, ...content },
    ...(later === undefined ? {} : { 202: { description: later, headers, ...content } }),
    ...(unchanged === undefined ? {} : { 304: { description: unchanged, headers } }),
  }
}

/** One response a status, with every code that it can carry. Where that is what holds for every call, the one that all of them share. */
function problems(explained: ExplainedCall): Part {
  return Object.fromEntries(
    [...Map.groupBy(Object.entries(refusalsOf(explained)), statusOf)].map(([status, reasons]) => {
      const [code, why] = reasons[0] ?? ['', '']
      const usual = reasons.length === 1 && usualRefusals.some(([one, words]) => one === code && words === why)
      return [status, usual ? { $ref: `#/components/responses/${code}` } : refusal(status, reasons)]
    }),
  )
}

type Reason = [code: string, why: string]

const usualRefusals: Reason[] = Object.entries({ ...everyRefusal, ...keyRefusals, ...bodyRefusals })

function statusOf([code]: Reason): number {
  return problemStatus[problem.shape.code.parse(code)]
}

function refusal(status: number, reasons: Reason[]): Part {
  const waits = status === problemStatus.too_many || status === problemStatus.not_ready
  return {
    description: reasons.map(([code, why]) => `\`${code}\`: ${why}`).join('\n\n'),
    ...(waits ? { headers: { 'Retry-After': headerOf(retryAfter) } } : {}),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
  }
}

const retryAfter = { description: 'The seconds to wait.', example: '30' }

function webhook({ summary, schema, example }: (typeof explainedEvents)[number], shared: Part): Part {
  return {
    operationId: `on${example.type.replaceAll(/(?:^|\.)\w/g, (found) => found.replace('.', '').toUpperCase())}`,
    tags: ['Webhooks'],
    summary,
    security: [],
    parameters: webhookHeaders.map(({ name, ...header }) => ({ name, in: 'header', required: true, ...headerOf(header) })),
    requestBody: { required: true, content: json(schemaOf(schema, 'output', shared), example) },
    responses: {
      '2XX': {
        description:
          'Accepted. Any other response, or none within 10 seconds, is retried after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h.',
      },
      410: { description: 'Gone: Duely removes this webhook.' },
    },
  }
}

function parametersOf(
  where: 'path' | 'query',
  schema: Call['params'],
  example: unknown,
  shared: Part,
  words: Record<string, string> = {},
): Part[] {
  if (!schema) return []
  const { properties, required } = objectShape.parse(schemaOf(schema, 'input', shared))
  const examples = z.record(z.string(), z.unknown()).parse(example ?? {})
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: required.includes(name),
    description: words[name] ?? description,
    schema: rest,
    ...(examples[name] === undefined ? {} : { example: examples[name] }),
  }))
}

const objectShape = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())),
  required: z.array(z.string()).default([]),
})

/** The JSON Schema of a schema. Schemas with an id are added to the shared ones and referenced. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', shared: Part): Part {
  const {
    $schema,
    $defs = {},
    ...own
  } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // Answers may have further fields one day, and whole numbers need no bounds of their own.
      if (io === 'output') delete jsonSchema.additionalProperties
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  for (const [id, part] of Object.entries($defs)) {
    const pointed = pointToShared(part)
    if (shared[id] !== undefined && JSON.stringify(shared[id]) !== JSON.stringify(pointed)) throw new Error(`Two schemas are called ${id}.`)
    shared[id] = pointed
  }
  return pointToShared(own)
}

function pointToShared(part: unknown): Part {
  return JSON.parse(JSON.stringify(part).replaceAll('"#/$defs/', '"#/components/schemas/')) as Part
}

/** A file (OpenAPI 3.1: bytes need no schema). */
const pdf: Part = { 'application/pdf': {} }

function json(schema: Part, example: unknown): Part {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } }
}

function headerOf({ description, example }: Omit<ExplainedHeader, 'name'>): Part {
  return { description, schema: { type: 'string' }, example }
}

function listed(name: string, parts: Part[]): Part {
  return parts.length === 0 ? {} : { [name]: parts }
}

function sorted(parts: Part): Part {
  return Object.fromEntries(Object.entries(parts).sort(([one], [other]) => (one < other ? -1 : 1)))
}
