import { z } from 'zod'
import type { Call } from '#contract/call.ts'
import { everyCall } from '#contract/index.ts'

/** Part of every record of the account whose records other accounts must not see. */
export const mark = 'Zanzibar'

export const privateCalls = everyCall.filter((call) => !call.open)

/** The part of JSON Schema that the contract's bodies and queries use. */
export interface Shape {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Shape[]
  oneOf?: Shape[]
  format?: string
  minimum?: number
  properties?: Record<string, Shape>
  items?: Shape
}

/** A value of a schema with `text` in each text field; where a field may be several things, the `nth` of them, or the last. */
export function filled(shape: Shape, text: string, nth = 0): unknown {
  if (shape.enum) return shape.enum[0]
  if (shape.const !== undefined) return shape.const
  const choices = shape.anyOf ?? shape.oneOf ?? []
  const choice = choices[Math.min(nth, choices.length - 1)]
  if (choice) return filled(choice, text, nth)
  switch (shape.type) {
    case 'object':
      return Object.fromEntries(Object.entries(shape.properties ?? {}).map(([name, one]) => [name, filled(one, text, nth)]))
    case 'array':
      return [filled(shape.items ?? {}, text, nth)]
    case 'integer':
    case 'number':
      return Math.max(1, shape.minimum ?? 1)
    case 'boolean':
      return true
    default:
      return shape.format === 'email' ? 'meera@example.com' : shape.format === 'date' ? '2026-02-01' : text
  }
}

const shapes = new WeakMap<z.ZodType, Shape>()

/** Made once for each schema: it takes as long as the call that it is for. */
export function shapeOf(schema: z.ZodType): Shape {
  const known = shapes.get(schema) ?? makeShape(schema)
  shapes.set(schema, known)
  return known
}

function makeShape(schema: z.ZodType): Shape {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  // A schema with an id is kept in `$defs`; what refers to it must be followed, or its fields would never be filled.
  const inlined = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inlined)
    if (typeof value !== 'object' || value === null) return value
    if ('$ref' in value) return inlined($defs[String(value.$ref).replace('#/$defs/', '')])
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inlined(one)]))
  }
  return inlined(root) as Shape
}

/** Fields that no body may set; `id` is an account's. */
export function trespasses(id: string): Record<string, unknown>[] {
  return [{ ownerId: id }, { owner_id: id }, { userId: id }, { plan: 'enterprise' }, { role: 'admin' }, { googleSub: '1' }, { _id: id }]
}

/** Whether an answer refuses this field, and not the body for another reason. */
export function refusesField(status: number, body: string, name: string): boolean {
  const { errors = [] } = status === 400 ? (JSON.parse(body) as { errors?: { path: string }[] }) : {}
  return errors.some(({ path }) => path === name)
}

/** Every id in a text. */
export function idsIn(text: string): string[] {
  return [...new Set(text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [])]
}

/** A request of a call with `text` in each text field of path, query and body. */
export function requestWith(call: Call, text: string): { path: string; body: Record<string, unknown> | undefined } {
  const query = call.query ? `?${new URLSearchParams(filled(shapeOf(call.query), text) as Record<string, string>)}` : ''
  return {
    path: `${call.method} ${call.path.replace(/:\w+/g, encodeURIComponent(text))}${query}`,
    body: call.body ? (filled(shapeOf(call.body), text) as Record<string, unknown>) : undefined,
  }
}

/** The tables whose rows belong to an account, or with `person_id` to people alone: those of an account may name people. */
export async function ownedTables(run: RunStatement, column: 'owner_id' | 'person_id' = 'owner_id'): Promise<string[]> {
  const having = (name: string) =>
    `SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = '${name}'`
  const found = await run(
    `SELECT table_name AS name FROM (${having(column)}) named WHERE '${column}' = 'owner_id' OR table_name NOT IN (${having('owner_id')}) ORDER BY 1`,
  )
  return found.map(({ name }) => String(name))
}

/** Every stored row of an account and of its owner, one line each: the table, a space and its columns as JSON. */
export async function recordsOf(run: RunStatement, id: string): Promise<string[]> {
  const owned = [['accounts', 'id'], ...(await ownedTables(run)).map((table) => [table, 'owner_id'])]
  const personal = [['people', 'id'], ...(await ownedTables(run, 'person_id')).map((table) => [table, 'person_id'])]
  const owner = `(SELECT person_id FROM memberships WHERE owner_id = '${id}' AND role = 'owner')`
  const line = (table = '', column = '', value = '') =>
    `SELECT '${table} ' || to_json(t)::text AS line FROM "${table}" t WHERE t.${column} = ${value}`
  const selects = [
    ...owned.map(([table, column]) => line(table, column, `'${id}'`)),
    ...personal.map(([table, column]) => line(table, column, owner)),
  ]
  return (await run(`${selects.join(' UNION ALL ')} ORDER BY 1`)).map(({ line }) => String(line))
}

type RunStatement = (statement: string) => Promise<Record<string, unknown>[]>
