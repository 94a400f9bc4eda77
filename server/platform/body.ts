import { type core, z } from 'zod'
import { openPace, type Pace } from './pace.ts'
import { ProblemError } from './problem-error.ts'
import { texts } from './texts.ts'

/*
 * What is read of a request. Bytes alone are no bound: 1 MB of small parts costs a hundred times what one long text does, on the thread that
 * answers everyone. So parts are counted before anything is made of them.
 */

/** Parts of a body that has no schema, parameters of a form or of an address, and different names of fields. */
const mostParts = 100
const mostCookies = 200
const mostHeaders = 200
/** Lists and objects in one another. */
const deepest = 20
/** Parts of any body, whatever its schema allows: a bank file of 2,000 lines that pay two invoices each has 30,000. */
const mostOfAny = 50_000
/** Parts beyond those of a schema: an unknown field gets a better sentence than their number. */
const spare = 100
/** A value of an import is checked by the slice: so many parts one may have. */
const ofUnknown = 40

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The most parts of a JSON body. */
    mostParts?: number
  }
}

/** Refuses with `too_large` a request whose address or headers have more parts than any person or program sends. */
export function refuseManyParts(url: string, headers: { raw: string[]; cookie: string | undefined }): void {
  if (countOf(url, '&') >= mostParts) throw new ProblemError('too_large', texts.tooManyParameters(mostParts))
  if (headers.raw.length / 2 > mostHeaders) throw new ProblemError('too_large', texts.tooManyHeaders(mostHeaders))
  if (countOf(headers.cookie ?? '', ';') >= mostCookies) throw new ProblemError('too_large', texts.tooManyCookies(mostCookies))
}

/** The parameters of a form, each with all its values. Refuses with `too_large` more of them than any form has. */
export function readForm(text: string): Map<string, string[]> {
  if (countOf(text, '&') >= mostParts) throw new ProblemError('too_large', texts.tooManyParameters(mostParts))
  const given = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const all = given.get(name)
    if (all) all.push(value)
    else given.set(name, [value])
  }
  return given
}

/** Of each parameter its last value. */
export function lastOfEach(form: Map<string, string[]>): Record<string, string> {
  return Object.fromEntries([...form].map(([name, all]) => [name, all.at(-1) ?? '']))
}

function countOf(text: string, letter: string): number {
  let count = 0
  for (let at = text.indexOf(letter); at !== -1 && count <= mostParts + mostCookies; at = text.indexOf(letter, at + 1)) count += 1
  return count
}

/**
 * Refuses with `too_large` a text of JSON with more parts than `most`, with more different names of fields than any call has, or nested deeper. It
 * is read once, and nothing is made of it. What is no JSON is refused by its parser.
 */
export function refuseManyValues(text: string, most = mostParts): void {
  const names = new Set<string>()
  let [parts, depth] = [0, 0]
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        const from = at + 1
        at = endOfText(text, from)
        if (isName(text, at + 1) && names.add(text.slice(from, at)).size > mostParts)
          throw new ProblemError('too_large', texts.tooManyNames(mostParts))
        break
      }
      case 0x7b:
      case 0x5b:
        depth += 1
        if (depth > deepest) throw new ProblemError('too_large', texts.tooDeep(deepest))
        parts += 1
        break
      case 0x7d:
      case 0x5d:
        depth -= 1
        break
      case 0x2c:
        parts += 1
        break
      default:
    }
    if (parts > most) throw new ProblemError('too_large', texts.tooManyParts(most))
  }
}

/** Where the text that begins at `from` ends. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === 0x5c && before > from) before -= 1
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}

/** Whether a colon follows: the text before it names a field. */
function isName(text: string, from: number): boolean {
  let at = from
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1
  return text.charCodeAt(at) === 0x3a
}

/** The most parts of a body that its schema allows: what `refuseManyValues` counts. */
export function mostPartsOf(schema: core.$ZodType | undefined): number {
  return schema ? Math.min(mostOfAny, partsOf(schema as Schema) + spare) : mostParts
}

type Schema = core.$ZodTypes

function partsOf(schema: Schema): number {
  const { def } = schema._zod
  switch (def.type) {
    case 'object':
      return 1 + Object.values(def.shape).reduce((sum, one) => sum + 1 + partsOf(one as Schema), 0)
    case 'array':
      return 1 + mostItems(def) * (1 + partsOf(def.element as Schema))
    case 'union':
      return Math.max(...def.options.map((one) => partsOf(one as Schema)))
    case 'unknown':
      return ofUnknown
    case 'record':
    case 'tuple':
    case 'map':
    case 'set':
    case 'intersection':
    case 'lazy':
    case 'any':
      throw new Error(`The parts of a body with a ${def.type} are not counted yet.`)
    default: {
      const inner = innerOf(schema)
      return inner ? partsOf(inner) : 0
    }
  }
}

/** What a schema wraps, as it is handed in. */
function innerOf({ _zod: { def } }: Schema): Schema | null {
  if (def.type === 'pipe') return def.in as Schema
  return 'innerType' in def ? (def.innerType as Schema) : null
}

function mostItems({ checks }: core.$ZodArrayDef): number {
  const most = checks?.map((one) => one._zod.def).find((def) => def.check === 'max_length') as core.$ZodCheckMaxLengthDef | undefined
  if (!most) throw new Error('A list in a body has no most.')
  return most.maximum
}

/** Issues of one list, after which the rest of it is not read. */
const mostIssues = 100
/** Units of work of an item. */
const anItem = 100

/**
 * Shortens lists of a body that are refused in any case: one with more items than its schema allows, and one whose first items have enough wrong with
 * them. To list what is wrong with each of thousands would take a hundred times what reading it does.
 */
export async function shortenLists(schema: core.$ZodType, value: unknown, pace: Pace = openPace()): Promise<void> {
  await shorten(schema as Schema, value, pace)
}

async function shorten(schema: Schema, value: unknown, pace: Pace): Promise<void> {
  const { def } = schema._zod
  if (def.type === 'array') {
    if (!Array.isArray(value)) return
    const most = mostItems(def)
    if (value.length > most) value.length = most + 1
    const element = def.element as Schema
    let issues = 0
    for (const [at, item] of value.entries()) {
      await shorten(element, item, pace)
      if (value.length > mostIssues) issues += z.safeParse(element, item).error?.issues.length ?? 0
      if (issues >= mostIssues) {
        value.length = at + 1
        return
      }
      await pace.did(anItem)
    }
  } else if (def.type === 'object') {
    if (typeof value !== 'object' || value === null) return
    for (const [name, one] of Object.entries(def.shape))
      if (name in value) await shorten(one as Schema, (value as Record<string, unknown>)[name], pace)
  } else {
    const inner = innerOf(schema)
    if (inner) await shorten(inner, value, pace)
  }
}
