import { createRequire } from 'node:module'
import type { Bidi } from 'bidi-js'
import { type Choice, type Face, facesFor, firstFace, languageOf, type Weight } from './pdf-fonts.ts'
import type { Glyph } from './pdf-subset.ts'

/** Text of one colour. */
export interface Span {
  text: string
  color: string
}

export interface Style {
  font: Weight
  /** In points. */
  size: number
}

/** Glyphs of one font and direction, between two places where a line may break. */
export interface Run {
  face: Face
  color: string
  text: string
  glyphs: Glyph[]
  /** Odd where it runs to the left (UAX 9). */
  level: number
  width: number
}

/** From left to right, as it is drawn. */
export interface Line {
  runs: Run[]
  width: number
  /** Above and below the baseline, in points. */
  ascent: number
  descent: number
}

const require = createRequire(import.meta.url)
/** UAX 9. */
const bidi = (require('bidi-js') as () => Bidi)()
/** UAX 14. */
const LineBreaker = require('linebreak') as new (text: string) => { nextBreak(): { position: number } | null }
const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })
/** Thai has no spaces between words. */
const thaiWords = new Intl.Segmenter('th', { granularity: 'word' })

const box = '□'

/** A value inside a sentence: neither its direction nor that of the words beside it moves the other (UAX 9, isolates). */
export function isolate(text: string): string {
  return `\u2068${drawn(text).replace(/[\u2068\u2069]/g, '')}\u2069`
}

/** Without what is not drawn. A text of nothing else is a box: a value is never empty. */
function drawn(text: string): string {
  const kept = text
    .toWellFormed()
    .normalize()
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replaceAll('\t', ' ')
    .replace(/[[\p{Cc}\p{Default_Ignorable_Code_Point}]--[\n\u200c\u200d\u2068\u2069]]/gv, '')
  return kept === '' && text !== '' ? box : kept
}

/** Text in lines of at most `width` points. `own`: fonts of the operator, before those of the system. */
export function layOut(
  spans: Span[],
  style: Style,
  { own, width = Number.POSITIVE_INFINITY }: { own: string[]; width?: number | undefined },
): Line[] {
  const paragraphs: Span[][] = [[]]
  for (const { text, color } of spans)
    for (const [nth, part] of drawn(text).split('\n').entries()) {
      if (nth > 0) paragraphs.push([])
      paragraphs.at(-1)?.push({ text: part, color })
    }
  return paragraphs.flatMap((paragraph) => linesOf(paragraph, style, { own, width }))
}

function linesOf(spans: Span[], style: Style, { own, width }: { own: string[]; width: number }): Line[] {
  const text = spans.map((span) => span.text).join('')
  const { levels } = bidi.getEmbeddingLevels(text)
  const colors = spans.flatMap((span) => Array<string>(span.text.length).fill(span.color))
  const choice = { weight: style.font, own, language: languageOf(text) }
  const shaped = (from: number, to: number): Run[] => {
    const runs: Omit<Run, 'glyphs' | 'width'>[] = []
    for (const { segment, index } of characters.segment(text.slice(from, to))) {
      const [level = 0, color = ''] = [levels[from + index], colors[from + index]]
      for (const one of drawnBy(segment, choice)) {
        const last = runs.at(-1)
        if (last?.face === one.face && last.level === level && last.color === color) last.text += one.text
        else runs.push({ ...one, level, color })
      }
    }
    return runs.map((run) => {
      const glyphs = run.face.shape(run.text, run.level % 2 === 1)
      return { ...run, glyphs, width: (sum(glyphs.map(({ advance }) => advance)) / run.face.em) * style.size }
    })
  }
  const lines: Line[] = []
  let [runs, space]: [Run[], Run[]] = [[], []]
  const end = () => {
    lines.push(lineOf(runs, style))
    runs = []
  }
  const add = (more: Run[]) => {
    // The spaces at the end of a line are left out.
    if (runs.length > 0 && widthOf([...runs, ...space, ...more]) > width) end()
    else runs.push(...space)
    runs.push(...more)
    space = []
  }
  for (const [from, to] of pieces(text)) {
    const word = from + text.slice(from, to).trimEnd().length
    const whole = shaped(from, word)
    if (widthOf(whole) <= width) add(whole)
    else
      for (const [begin, stop] of filled(text, { from, to: word, width, widthOf: (...part) => widthOf(shaped(...part)) }))
        add(shaped(begin, stop))
    space.push(...shaped(word, to))
  }
  end()
  return lines
}

/** The places between which a line may break. */
function* pieces(text: string): Generator<[number, number]> {
  const ends = new Set([text.length])
  const breaker = new LineBreaker(text)
  for (let next = breaker.nextBreak(); next; next = breaker.nextBreak()) ends.add(next.position)
  if (/\p{Script=Thai}/u.test(text))
    for (const { index } of thaiWords.segment(text)) if (/\p{Script=Thai}{2}/u.test(text.slice(index - 1, index + 1))) ends.add(index)
  let from = 0
  for (const to of [...ends].sort((one, next) => one - next)) {
    if (to > from) yield [from, to]
    from = to
  }
}

interface Wide {
  from: number
  to: number
  width: number
  widthOf(from: number, to: number): number
}

/** A word that is wider than a line, as parts that fill lines. A character is never cut. */
function* filled(text: string, { from, to, width, widthOf: measure }: Wide): Generator<[number, number]> {
  let [begin, used] = [from, 0]
  for (const { segment, index } of characters.segment(text.slice(from, to))) {
    const at = from + index
    const more = measure(at, at + segment.length)
    if (used > 0 && used + more > width) {
      yield [begin, at]
      ;[begin, used] = [at, 0]
    }
    used += more
  }
  yield [begin, to]
}

/** What draws a character with its marks: the first font that has all of it. */
function drawnBy(character: string, choice: Choice): { face: Face; text: string }[] {
  if (/[\u2068\u2069]/.test(character)) return []
  const whole = faceFor(character, choice)
  if (whole) return [{ face: whole, text: character }]
  const [first, ...marks] = Array.from(character, (one) => ({ face: faceFor(one, choice), text: one }))
  // Of what has no base, such as a family of emoji, nothing else is drawn.
  return [first, ...(first?.face ? marks : [])].map((one) =>
    one?.face ? { face: one.face, text: one.text } : { face: firstFace(choice.weight), text: box },
  )
}

function faceFor(text: string, choice: Choice): Face | null {
  for (const face of facesFor(text, choice)) if (face.has(text) || face.has(text.normalize('NFD'))) return face
  return null
}

/** From left to right (UAX 9, L2), with runs of one font drawn together. */
function lineOf(logical: Run[], style: Style): Line {
  const runs = [...logical]
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level -= 1)
    for (let from = 0; from < runs.length; from += 1) {
      let to = from
      while ((runs[to]?.level ?? 0) >= level) to += 1
      if (to > from) runs.splice(from, to - from, ...runs.slice(from, to).reverse())
      from = to
    }
  const merged: Run[] = []
  for (const run of runs) {
    const last = merged.at(-1)
    if (last?.face !== run.face || last.color !== run.color || last.level !== run.level) merged.push({ ...run })
    else Object.assign(last, { glyphs: [...last.glyphs, ...run.glyphs], width: last.width + run.width })
  }
  const reach = extentOf(merged, firstFace(style.font))
  return { runs: merged, width: widthOf(merged), ascent: reach.up * style.size, descent: reach.down * style.size }
}

/** Marks that pile up higher run into the lines beside theirs. */
const highest = { up: 2, down: 1 }

/** How far glyphs reach above and below the baseline, in ems, at least as far as a line of the first font does. */
function extentOf(runs: Run[], { ascent, descent }: Face): { up: number; down: number } {
  let [up, down] = [ascent, descent]
  for (const { face, glyphs } of runs)
    for (const { id, y } of glyphs.flatMap(({ parts }) => parts)) {
      const reach = face.reach(id)
      if (!reach) continue
      up = Math.max(up, reach.up + y / face.em)
      down = Math.max(down, reach.down - y / face.em)
    }
  return { up: Math.min(up, highest.up), down: Math.min(down, highest.down) }
}

const widthOf = (runs: Run[]) => sum(runs.map(({ width }) => width))

function sum(numbers: number[]): number {
  return numbers.reduce((one, next) => one + next, 0)
}
