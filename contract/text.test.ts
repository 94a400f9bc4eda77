import { expect, test } from 'vitest'
import type { z } from 'zod'
import { everyCall } from './index.ts'
import { entered, withoutMarks } from './text.ts'

const marks = ['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069']

test('marks that turn the direction of a text are removed, and the joiners of letters and emoji stay', () => {
  expect(entered().parse(` ${marks.join('a')}\u200f `)).toBe('a'.repeat(11))
  for (const text of ['می\u200cخواهم', 'ക്\u200d', '👩\u200d💻', 'नीम', 'שלום']) expect(withoutMarks(text)).toBe(text)
  expect(entered().min(1, 'Please enter a name.').safeParse('\u202e').error?.issues[0]?.message).toBe('Please enter a name.')
})

/** The parts of Zod's definitions that lead to other schemas. */
interface Def {
  type: string
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  innerType?: z.ZodType
  options?: z.ZodType[]
  valueType?: z.ZodType
  in?: z.ZodType
  getter?: () => z.ZodType
}

/** Each text field below a schema, by its path. A schema that changes what it reads is one field with what it reads. */
function textsOf(schema: z.ZodType, path: string): [string, z.ZodType][] {
  const def = schema._zod.def as unknown as Def
  const below = (inner: z.ZodType | undefined, name = '') => (inner ? textsOf(inner, `${path}${name}`) : [])
  const read = (one: z.ZodType): string =>
    one._zod.def.type === 'pipe' ? read((one._zod.def as unknown as { in: z.ZodType }).in) : one._zod.def.type
  if (read(schema) === 'string') return [[path, schema]]
  return [
    ...Object.entries(def.shape ?? {}).flatMap(([name, one]) => below(one, `.${name}`)),
    ...(def.options ?? []).flatMap((one) => below(one)),
    ...below(def.element, '[]'),
    ...below(def.valueType, '{}'),
    ...below(def.innerType),
    ...below(def.in),
    ...below(def.getter?.()),
  ]
}

const secrets = ['code', 'currentPassword', 'newPassword', 'pass', 'password', 'request', 'state', 'token', 'username']
const ids = [
  ...['_id', 'id', 'ids[]', 'clientEmails[]', 'clientId', 'clients[]', 'deliveryId', 'fingerprint', 'heirId', 'invoiceId', 'invoiceIds[]'],
  ...['messageId', 'personId', 'pid', 'razorpay_order_id', 'razorpay_payment_id', 'razorpay_signature', 'razorpay_subscription_id'],
  ...['date', 'image', 'kind', 'mailbox', 'redirect_uri', 'region', 'sequence', 'takeBack[]', 'timezone'],
]
/** What an owner writes to clients in full: whole sentences may need such marks. */
const wordings = ['content', 'customContent', 'customSubject', 'groupContent', 'groupSubject', 'subject']
/** As a file has them: what is recorded of a line is without the marks (bank-file.test.ts). */
const ofFiles = ['answer', 'headings', 'lines[].bankId', 'lines[].description', 'lines[].name', 'lines[].reference', 'question']

test('no call keeps marks of direction in a name, reference or note', () => {
  const fields = everyCall.flatMap(({ method, path, params, body }) =>
    [params, body].flatMap((schema) => (schema ? textsOf(schema as z.ZodType, `${method} ${path} `) : [])),
  )
  expect(fields.length).toBeGreaterThan(150)
  const kept = fields.filter(([, schema]) => {
    const read = schema.safeParse(`A\u202eb\u200fc`)
    return read.success && read.data !== withoutMarks(String(read.data))
  })
  const names = kept.map(([path]) => path.replace(/^.*[ .](?=\w)/, (before) => (before.endsWith('lines[].') ? 'lines[].' : '')))
  expect(new Set(names)).toEqual(new Set([...secrets, ...ids, ...wordings, ...ofFiles]))
})
