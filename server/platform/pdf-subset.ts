/*
 * The part of a font that a document embeds. FontKit makes it; what is here makes glyphs out of several, and small ones of fonts with Han characters.
 */

/** What draws one or several characters, which programs read in its place. In units of its font. */
export interface Glyph {
  /** Names it in its font: the parts with the text. */
  key: string
  text: string
  parts: Part[]
  advance: number
  /** Its advance in the font, without kerning. */
  width: number
}

interface Part {
  id: number
  x: number
  y: number
}

/** What FontKit knows of a font, as far as it is used here. */
export interface Outlines {
  unitsPerEm: number
  ascent: number
  descent: number
  postscriptName: string
  directory: { tables: object }
  hasGlyphForCodePoint(point: number): boolean
  glyphForCodePoint(point: number): { id: number; advanceWidth: number }
  getGlyph(id: number): {
    advanceWidth: number
    path: { commands: { command: string; args: number[] }[] }
    bbox: Record<'minX' | 'minY' | 'maxX' | 'maxY', number>
  }
  maxp: Record<
    'maxPoints' | 'maxContours' | 'maxCompositePoints' | 'maxCompositeContours' | 'maxComponentElements' | 'maxComponentDepth',
    number
  >
  createSubset(): Subset
}

/** Of FontKit, for TrueType or CFF outlines. */
interface Subset {
  font: Outlines
  glyphs: (number | Glyph)[]
  includeGlyph(glyph: number | Glyph): number
  encode(): Uint8Array
  // TrueType
  glyf: Uint8Array[]
  loca: { offsets: number[] }
  hmtx: { metrics: { advance: number; bearing: number }[] }
  offset: number
  _addGlyph(glyph: number | Glyph): void
  // CFF
  cff?: object
  charstrings: Uint8Array[]
  gsubrs: Uint8Array[]
  subsetCharstrings(): void
  createCIDFontdict(top: Record<string, unknown>): void
}

/** Whether a glyph is one of its font as it is. */
export function isPlain({ parts: [first, ...more] }: Glyph): boolean {
  return first?.x === 0 && first.y === 0 && more.length === 0
}

/**
 * The glyphs of a font that a document uses. Several that stand for characters together, such as a consonant with its vowel, become one, and one that
 * stands for several texts is there for each: so what is read is what was written, in every program.
 */
export function subsetOf(outlines: Outlines): Subset {
  const subset = outlines.createSubset()
  const places = new Map<string, number>([['0', 0]])
  subset.includeGlyph = (glyph) => {
    const key = typeof glyph === 'number' ? String(glyph) : glyph.key
    const place = places.get(key) ?? subset.glyphs.push(typeof glyph !== 'number' && isPlain(glyph) ? (glyph.parts[0]?.id ?? 0) : glyph) - 1
    places.set(key, place)
    return place
  }
  if (subset.cff) writeCharstrings(subset, outlines)
  else writeComposites(subset, outlines)
  return subset
}

function writeComposites(subset: Subset, outlines: Outlines): void {
  const { maxp } = outlines
  // What a program that draws the font makes room for. Its glyphs can be composites themselves.
  const most = 16
  const points = Math.min(65_535, most * Math.max(maxp.maxPoints, maxp.maxCompositePoints))
  const contours = Math.min(65_535, most * Math.max(maxp.maxContours, maxp.maxCompositeContours))
  const roomier = {
    ...maxp,
    maxComponentElements: Math.max(most, maxp.maxComponentElements),
    maxComponentDepth: maxp.maxComponentDepth + 1,
    maxCompositePoints: points,
    maxCompositeContours: contours,
  }
  subset.font = Object.create(outlines, { maxp: { value: roomier } })
  const addGlyph = subset._addGlyph
  subset._addGlyph = (glyph) => {
    if (typeof glyph === 'number') return addGlyph.call(subset, glyph)
    const bytes = composite(subset, outlines, glyph)
    subset.glyf.push(bytes)
    subset.loca.offsets.push(subset.offset)
    subset.hmtx.metrics.push({ advance: glyph.advance, bearing: bytes.readInt16BE(2) })
    subset.offset += bytes.length
  }
}

const wordsAreOffsets = 0x0003
const moreFollow = 0x0020

/** A composite glyph (OpenType, glyf). */
function composite(subset: Subset, outlines: Outlines, { parts }: Glyph): Buffer {
  const bytes = Buffer.alloc(10 + parts.length * 8)
  const boxes = parts.map(({ id, x, y }) => {
    const { minX, minY, maxX, maxY } = outlines.getGlyph(id).bbox
    return [minX + x, minY + y, maxX + x, maxY + y]
  })
  const edge = (nth: number, of: (...all: number[]) => number) =>
    of(...boxes.flatMap((one) => (Number.isFinite(one[nth]) ? (one[nth] ?? 0) : [])))
  const box = [edge(0, Math.min), edge(1, Math.min), edge(2, Math.max), edge(3, Math.max)]
  bytes.writeInt16BE(-1, 0)
  for (const [nth, value] of box.entries()) bytes.writeInt16BE(Number.isFinite(value) ? Math.round(value) : 0, 2 + nth * 2)
  for (const [nth, { id, x, y }] of parts.entries()) {
    const at = 10 + nth * 8
    bytes.writeUInt16BE(wordsAreOffsets | (nth < parts.length - 1 ? moreFollow : 0), at)
    bytes.writeUInt16BE(subset.includeGlyph(id), at + 2)
    bytes.writeInt16BE(Math.round(x), at + 4)
    bytes.writeInt16BE(Math.round(y), at + 6)
  }
  return bytes
}

/**
 * Glyphs of a CFF font call subroutines, of which a font with Han characters has tens of thousands, and FontKit would copy the list of them
 * (100 ms, 140 KB): each glyph is written without.
 */
function writeCharstrings(subset: Subset, outlines: Outlines): void {
  subset.cff = Object.create(subset.cff ?? null, { isCIDFont: { value: false } })
  subset.subsetCharstrings = () => {
    subset.gsubrs = []
    subset.charstrings = subset.glyphs.map((glyph) => {
      if (typeof glyph === 'number')
        return charstring(outlines, { parts: [{ id: glyph, x: 0, y: 0 }], advance: outlines.getGlyph(glyph).advanceWidth })
      return charstring(outlines, glyph)
    })
  }
  subset.createCIDFontdict = (top) => {
    top.FDArray = [{ Private: {} }]
    top.FDSelect = { version: 3, nRanges: 1, ranges: [{ first: 0, fd: 0 }], sentinel: subset.charstrings.length }
  }
}

const operators: Record<string, number> = { moveTo: 21, lineTo: 5, bezierCurveTo: 8 }
const endOfGlyph = 14

/** A Type 2 charstring (Adobe Technical Note 5177): its width, and each point relative to the one before. */
function charstring(outlines: Outlines, { parts, advance }: Pick<Glyph, 'parts' | 'advance'>): Uint8Array {
  const bytes: number[] = []
  let [left, bottom] = [0, 0]
  const write = (value: number) => {
    const fixed = Math.round(value * 65_536)
    if (fixed % 65_536 === 0) bytes.push(28, (fixed >> 24) & 255, (fixed >> 16) & 255)
    else bytes.push(255, (fixed >> 24) & 255, (fixed >> 16) & 255, (fixed >> 8) & 255, fixed & 255)
  }
  write(advance)
  for (const { id, x, y } of parts)
    for (const { command, args } of outlines.getGlyph(id).path.commands) {
      const operator = operators[command]
      if (operator === undefined) continue
      for (let nth = 0; nth < args.length; nth += 2) {
        const [right = 0, top = 0] = [(args[nth] ?? 0) + x, (args[nth + 1] ?? 0) + y]
        write(right - left)
        write(top - bottom)
        ;[left, bottom] = [right, top]
      }
      bytes.push(operator)
    }
  return Uint8Array.from([...bytes, endOfGlyph])
}
