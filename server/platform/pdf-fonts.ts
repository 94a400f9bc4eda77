import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Bidi } from 'bidi-js'
import * as hb from 'harfbuzzjs'
import { type Glyph, isPlain, type Outlines } from './pdf-subset.ts'

export type Weight = 'regular' | 'bold'

export interface Face {
  name: string
  outlines: Outlines
  /** Units of the font in an em. */
  em: number
  /** Of a line, in ems. */
  ascent: number
  descent: number
  has(text: string): boolean
  /** From left to right; `rtl`: the text runs to the left. */
  shape(text: string, rtl: boolean): Glyph[]
  /** How far a glyph reaches above and below the baseline, in ems; null: not beyond a line. */
  reach(glyph: number): { up: number; down: number } | null
}

const require = createRequire(import.meta.url)
/** Of FontKit, as PDFKit loads it. */
const { create } = require('fontkit') as { create(bytes: Buffer): Outlines | { fonts: Outlines[] } }

const folder = path.join(import.meta.dirname, 'fonts')
/** Scripts with a font of their own in `fonts/`, and the characters that it is opened for. */
const scripts: [string, RegExp][] = [
  ['Devanagari', /\p{Script_Extensions=Devanagari}/u],
  ['Arabic', /\p{Script_Extensions=Arabic}/u],
  ['Bengali', /\p{Script_Extensions=Bengali}/u],
  ['Gujarati', /\p{Script_Extensions=Gujarati}/u],
  ['Gurmukhi', /\p{Script_Extensions=Gurmukhi}/u],
  ['Hebrew', /\p{Script_Extensions=Hebrew}/u],
  ['Kannada', /\p{Script_Extensions=Kannada}/u],
  ['Malayalam', /\p{Script_Extensions=Malayalam}/u],
  ['Oriya', /\p{Script_Extensions=Oriya}/u],
  ['Tamil', /\p{Script_Extensions=Tamil}/u],
  ['Telugu', /\p{Script_Extensions=Telugu}/u],
  ['Thai', /[\p{Script_Extensions=Thai}฿]/u],
]
/** Written without joining or reordering: a glyph for each character is right, and HarfBuzz needs no copy of a large font. */
const unjoined =
  /^[\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}\p{Script_Extensions=Hangul}\p{Script_Extensions=Bopomofo}\p{P}\p{S}\p{N}]+$/u

/** Where systems keep fonts with Chinese, Japanese and Korean: regular and bold. */
const ofSystem: [string, string?][] = [
  ...[
    '/usr/share/fonts/opentype/noto', // Debian, Ubuntu
    '/usr/share/fonts/google-noto-sans-cjk-fonts', // Fedora
    '/usr/share/fonts/google-noto-cjk', // Red Hat
    '/usr/share/fonts/noto-cjk', // Arch
    '/usr/share/fonts/noto', // Alpine
  ].map((at): [string, string] => [`${at}/NotoSansCJK-Regular.ttc`, `${at}/NotoSansCJK-Bold.ttc`]),
  ['/System/Library/Fonts/Hiragino Sans GB.ttc'],
  ['/System/Library/Fonts/AppleSDGothicNeo.ttc'],
  ['/System/Library/Fonts/Supplemental/Arial Unicode.ttf'],
  ['C:\\Windows\\Fonts\\msyh.ttc', 'C:\\Windows\\Fonts\\msyhbd.ttc'],
  ['C:\\Windows\\Fonts\\YuGothM.ttc', 'C:\\Windows\\Fonts\\YuGothB.ttc'],
  ['C:\\Windows\\Fonts\\malgun.ttf', 'C:\\Windows\\Fonts\\malgunbd.ttf'],
]

export interface Choice {
  weight: Weight
  /** Fonts of the operator. */
  own: string[]
  /** Of Han characters. */
  language: Language
}

/** Noto Sans: Latin, Greek, Cyrillic, Vietnamese. */
export const firstFace = (weight: Weight) => packaged('', weight)

/** The faces that may have a text, the first choice first, each opened when the one before has no glyph for it. */
export function* facesFor(text: string, { weight, own, language }: Choice): Generator<Face> {
  yield firstFace(weight)
  for (const [script, has] of scripts) if (has.test(text)) yield packaged(script, weight)
  const files = [...byWeight(own, weight), ...ofSystem.map(([regular, bold]) => (weight === 'bold' && bold ? bold : regular))]
  for (const file of files) {
    const face = other(file, language)
    if (face) yield face
  }
}

/** Which glyphs of Han characters: a Japanese name looks wrong with Chinese ones. */
export type Language = 'jp' | 'kr' | 'sc'

export function languageOf(text: string): Language {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'jp'
  return /\p{Script=Hangul}/u.test(text) ? 'kr' : 'sc'
}

/** Bold ones first for bold text, and last for any other. */
function byWeight(files: string[], weight: Weight): string[] {
  const isBold = (file: string) => /bold/i.test(path.basename(file))
  return files.toSorted((one, next) => (Number(isBold(next)) - Number(isBold(one))) * (weight === 'bold' ? 1 : -1))
}

const kept: Record<Weight, Map<string, Face>> = { regular: new Map(), bold: new Map() }

function packaged(script: string, weight: Weight): Face {
  const known = kept[weight].get(script)
  if (known) return known
  const collection = open(path.join(folder, `NotoSans${script}-${weight === 'bold' ? 'Bold' : 'Regular'}.ttf`))
  const face = faceOf(collection.fonts[0] as Outlines, collection)
  kept[weight].set(script, face)
  return face
}

/** Of one file: those with Han characters hold a font for each language. */
interface Collection {
  bytes: Buffer
  fonts: Outlines[]
  usable: Outlines[]
  faces: Map<Outlines, Face>
}

/** Fonts with Han characters are large: they are kept while documents use them, and as long as there is room. null: no such file, or none that can be read. */
const others = new Map<string, WeakRef<Collection> | null>()

function other(file: string, language: Language): Face | null {
  const known = others.get(file)
  if (known === null) return null
  try {
    const collection = known?.deref() ?? (existsSync(file) ? open(file) : null)
    others.set(file, collection && new WeakRef(collection))
    return collection && faceIn(collection, language)
  } catch {
    others.set(file, null)
    return null
  }
}

function open(file: string): Collection {
  const bytes = readFileSync(file)
  const font = create(bytes)
  const fonts = 'fonts' in font ? font.fonts : [font]
  // Outlines of other kinds cannot be cut down; a damaged table of characters is noticed here.
  const usable = fonts.filter((one) => ('glyf' in one.directory.tables || 'CFF ' in one.directory.tables) && one.hasGlyphForCodePoint(0x20))
  return { bytes, fonts, usable, faces: new Map() }
}

function faceIn(collection: Collection, language: Language): Face | null {
  const { usable, faces } = collection
  const outlines = usable.find(({ postscriptName }) => postscriptName.toLowerCase().includes(`cjk${language}`)) ?? usable[0]
  if (!outlines) return null
  const face = faces.get(outlines) ?? faceOf(outlines, collection)
  faces.set(outlines, face)
  return face
}

function faceOf(outlines: Outlines, collection: Collection): Face {
  const em = outlines.unitsPerEm
  let shaper: hb.Font | undefined
  const shapers = () => {
    shaper ??= new hb.Font(new hb.Face(new hb.Blob(collection.bytes), collection.fonts.indexOf(outlines)))
    return shaper
  }
  const covers = remembered((text) => [...text].every((one) => joins.test(one) || outlines.hasGlyphForCodePoint(one.codePointAt(0) ?? 0)))
  const shapes = {
    ltr: remembered((text) => (unjoined.test(text) ? oneByOne(outlines, text) : shape(shapers(), text, false))),
    rtl: remembered((text) => shape(shapers(), text, true)),
  }
  return {
    name: outlines.postscriptName,
    outlines,
    em,
    ascent: outlines.ascent / em,
    descent: -outlines.descent / em,
    has: covers,
    shape: (text, rtl) => shapes[rtl ? 'rtl' : 'ltr'](text),
    reach(glyph) {
      const extents = shaper?.glyphExtents(glyph)
      return extents ? { up: extents.yBearing / em, down: -(extents.yBearing + extents.height) / em } : null
    },
  }
}

/** The same words come again and again, in a document and in the next one. */
const mostRemembered = 2_000
const longestRemembered = 40

function remembered<T>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    if (text.length > longestRemembered) return make(text)
    if (known.size === mostRemembered) known.clear()
    const made = make(text)
    known.set(text, made)
    return made
  }
}

/** A joiner decides how its neighbours are drawn, and is not drawn itself. */
const joins = /[\u200c\u200d]/

function oneByOne(outlines: Outlines, text: string): Glyph[] {
  return Array.from(text, (one) => {
    const { id, advanceWidth } = outlines.glyphForCodePoint(one.codePointAt(0) ?? 0)
    return { key: `${id} ${one}`, text: one, parts: [{ id, x: 0, y: 0 }], advance: advanceWidth, width: advanceWidth }
  })
}

const buffer = new hb.Buffer()

/** A bracket in a text that runs to the left is drawn as the other one, and programs that read a document expect the one that is drawn. */
const { getMirroredCharacter: mirrored } = (require('bidi-js') as () => Bidi)()

function shape(font: hb.Font, text: string, rtl: boolean): Glyph[] {
  buffer.reset()
  buffer.setFlags(hb.BufferFlag.REMOVE_DEFAULT_IGNORABLES)
  buffer.addText(text)
  buffer.guessSegmentProperties()
  buffer.setDirection(rtl ? hb.Direction.RTL : hb.Direction.LTR)
  hb.shape(font, buffer)
  const glyphs: (Glyph & { from: number })[] = []
  for (const {
    codepoint: id,
    cluster: from,
    xAdvance: advance = 0,
    xOffset: x = 0,
    yOffset: y = 0,
  } of buffer.getGlyphInfosAndPositions()) {
    const last = glyphs.at(-1)
    const next = { from, key: '', text: '', parts: [{ id, x, y }], advance, width: advance }
    if (last?.from === from) glyphs.splice(-1, 1, joined(last, next))
    else glyphs.push(next)
  }
  // Marks that take no room are a part of the character before them.
  for (let nth = glyphs.length - 1; nth >= 0; nth -= 1) {
    const [one, next] = rtl ? [glyphs[nth], glyphs[nth + 1]] : [glyphs[nth - 1], glyphs[nth]]
    if (glyphs[nth]?.advance === 0 && one && next) glyphs.splice(rtl ? nth : nth - 1, 2, joined(one, next))
  }
  const begins = glyphs.map(({ from }) => from).sort((one, next) => one - next)
  return glyphs.map(({ from, ...glyph }) => {
    const own = text.slice(
      from,
      begins.find((begin) => begin > from),
    )
    const read = (rtl && mirrored(own)) || own
    const [part] = glyph.parts
    if (part && isPlain(glyph)) return { ...glyph, key: `${part.id} ${read}`, text: read, width: font.glyphHAdvance(part.id) }
    return { ...glyph, key: `${read} ${JSON.stringify(glyph.parts)}`, text: read }
  })
}

function joined<T extends Glyph & { from: number }>(one: T, next: T): T {
  const parts = next.parts.map((part) => ({ ...part, x: part.x + one.advance }))
  const advance = one.advance + next.advance
  return { ...one, from: Math.min(one.from, next.from), parts: [...one.parts, ...parts], advance, width: advance }
}
