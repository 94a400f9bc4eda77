import { encode } from 'uqr'

/** Modules of the quiet zone around a code. */
export const quiet = 4

/** By version, at level M: how many codewords of a block correct errors, and how many blocks there are (ISO/IEC 18004, table 9). */
const correctingOf = [
  10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 28, 28, 28,
]
const blocksOf = [
  1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45,
  47, 49,
]

/** Comparing the masks would take longer than all the rest. Any is read alike; this one leaves no pattern of lines. */
const maskPattern = 7
const isMasked = (x: number, y: number) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0

/** What the codes of a version have in common. */
interface Layout {
  side: number
  /** The modules row by row without any data: 1 is dark. */
  empty: Uint8Array
  /** Which modules have the bits of the codewords, in their order. */
  places: Uint16Array
  blocks: number
  /** Codewords: all, those of a block that correct errors, and those before the text. */
  codewords: number
  correcting: number
  before: number
}

const layouts = new Map<number, Layout>()

function layoutOf(version: number): Layout {
  const known = layouts.get(version)
  if (known) return known
  const { size: side, types, data } = encode('', { ecc: 'M', border: 0, maskPattern, minVersion: version, maxVersion: version })
  const empty = new Uint8Array(side * side)
  const places: number[] = []
  // In columns of two from the right, upwards and downwards in turn; the one of the timing pattern is left out.
  for (let column = 0; column < (side - 1) / 2; column += 1) {
    const right = side - 1 - 2 * column - (column >= (side - 7) / 2 ? 1 : 0)
    for (let row = 0; row < side; row += 1) {
      const y = column % 2 === 0 ? side - 1 - row : row
      for (const x of [right, right - 1]) if (types[y]?.[x] === 0) places.push(y * side + x)
    }
  }
  const withData = new Set(places)
  for (const [y, row] of data.entries())
    for (const [x, isDark] of row.entries()) empty[y * side + x] = Number(withData.has(y * side + x) ? isMasked(x, y) : isDark)
  const made = {
    side,
    empty,
    places: Uint16Array.from(places),
    blocks: blocksOf[version - 1] ?? 0,
    codewords: places.length >> 3,
    correcting: correctingOf[version - 1] ?? 0,
    before: version < 10 ? 2 : 3,
  }
  layouts.set(version, made)
  return made
}

/** Powers of 2 in the field of 256 elements, twice, and their exponents. */
const powers = new Uint8Array(510)
const exponents = new Uint8Array(256)
for (let at = 0, power = 1; at < 255; at += 1) {
  powers[at] = power
  powers[at + 255] = power
  exponents[power] = at
  power = (power << 1) ^ (power & 0x80 ? 0x11d : 0)
}
const powerOf = (exponent: number) => powers[exponent] ?? 0
const exponentOf = (power: number) => exponents[power] ?? 0

const generators = new Map<number, Uint8Array>()

/** The polynomial (x - 1)(x - 2)(x - 4)… of a degree, by the exponents of its coefficients below the first one, none of which is 0. */
function generatorOf(degree: number): Uint8Array {
  const known = generators.get(degree)
  if (known) return known
  let product = [1]
  for (let root = 0; root < degree; root += 1)
    product = [...product, 0].map((one, at) => one ^ (at === 0 ? 0 : powerOf((exponentOf(product[at - 1] ?? 0) + root) % 255)))
  const made = Uint8Array.from(product.slice(1), exponentOf)
  generators.set(degree, made)
  return made
}

/** The text with its length before it, and filled up. */
function dataOf(text: Buffer, { codewords, correcting, blocks, before }: Layout): Uint8Array {
  const data = new Uint8Array(codewords - correcting * blocks)
  // The first four bits name the kind of data, bytes, so every byte begins in the middle of a codeword.
  let half = 4
  let at = 0
  const add = (byte: number) => {
    data[at] = (half << 4) | (byte >> 4)
    half = byte & 15
    at += 1
  }
  if (before === 3) add(text.length >> 8)
  add(text.length & 255)
  for (const byte of text) add(byte)
  add(0)
  for (let filling = 0xec; at < data.length; at += 1, filling ^= 0xec ^ 0x11) data[at] = filling
  return data
}

/** The codewords of all blocks in turn, then those that correct errors in them. */
function codewordsOf(data: Uint8Array, { codewords, correcting, blocks }: Layout): Uint8Array {
  const all = new Uint8Array(codewords)
  const generator = generatorOf(correcting)
  const short = Math.floor(data.length / blocks)
  const shorter = blocks - (data.length % blocks)
  for (let block = 0, from = 0; block < blocks; block += 1) {
    const length = block < shorter ? short : short + 1
    const rest = new Uint8Array(correcting)
    for (let nth = 0; nth < length; nth += 1) {
      const codeword = data[from + nth] ?? 0
      all[nth * blocks + block - (nth < short ? 0 : shorter)] = codeword
      const factor = codeword ^ (rest[0] ?? 0)
      rest.copyWithin(0, 1)
      rest[correcting - 1] = 0
      if (factor === 0) continue
      const exponent = exponentOf(factor)
      for (let at = 0; at < correcting; at += 1) rest[at] = (rest[at] ?? 0) ^ powerOf(exponent + (generator[at] ?? 0))
    }
    for (let at = 0; at < correcting; at += 1) all[data.length + at * blocks + block] = rest[at] ?? 0
    from += length
  }
  return all
}

/**
 * A QR code of ECC level M without its quiet zone: the modules row by row, 1 is dark. The library, which draws what all codes of a version have in
 * common, takes eight times as long: at nine o'clock every email has a code.
 */
export function qrCode(text: string): { side: number; modules: Uint8Array } {
  const bytes = Buffer.from(text)
  for (let version = 1; version <= 40; version += 1) {
    const layout = layoutOf(version)
    if (bytes.length > layout.codewords - layout.correcting * layout.blocks - layout.before) continue
    const { side, empty, places } = layout
    const codewords = codewordsOf(dataOf(bytes, layout), layout)
    const modules = empty.slice()
    for (let bit = 0; bit < codewords.length * 8; bit += 1) {
      const place = places[bit] ?? 0
      modules[place] = (modules[place] ?? 0) ^ (((codewords[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1)
    }
    return { side, modules }
  }
  throw new RangeError('This text is too long for a QR code.')
}

/** The dark modules of a QR code in rows, with its quiet zone: where they begin, and how many follow. */
export function qrRuns(text: string): { side: number; runs: [x: number, y: number, length: number][] } {
  const { side, modules } = qrCode(text)
  const runs: [number, number, number][] = []
  for (const [at, dark] of modules.entries()) {
    const [x, y] = [(at % side) + quiet, Math.floor(at / side) + quiet]
    const last = runs.at(-1)
    if (dark === 1 && last && last[1] === y && last[0] + last[2] === x) last[2] += 1
    else if (dark === 1) runs.push([x, y, 1])
  }
  return { side: side + 2 * quiet, runs }
}
