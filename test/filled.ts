import { z } from 'zod'

/** As much of JSON Schema as the contract's bodies and queries use. */
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

/** A value of a shape in which `text` stands wherever any text may. */
export function filled(shape: Shape, text: string): unknown {
  if (shape.enum) return shape.enum[0]
  if (shape.const !== undefined) return shape.const
  const choice = shape.anyOf?.[0] ?? shape.oneOf?.[0]
  if (choice) return filled(choice, text)
  switch (shape.type) {
    case 'object':
      return Object.fromEntries(Object.entries(shape.properties ?? {}).map(([name, one]) => [name, filled(one, text)]))
    case 'array':
      return [filled(shape.items ?? {}, text)]
    case 'integer':
    case 'number':
      return Math.max(1, shape.minimum ?? 1)
    case 'boolean':
      return true
    default:
      return shape.format === 'email' ? 'meera@example.com' : shape.format === 'date' ? '2026-02-01' : text
  }
}

export function shapeOf(schema: z.ZodType): Shape {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape
}

/** What nobody may say about themselves or their records in a body; `id` is an account's. */
export function trespasses(id: string): Record<string, unknown>[] {
  return [{ ownerId: id }, { owner_id: id }, { userId: id }, { plan: 'enterprise' }, { role: 'admin' }, { googleSub: '1' }, { _id: id }]
}

/** Every id in a text. */
export function idsIn(text: string): string[] {
  return [...new Set(text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [])]
}
