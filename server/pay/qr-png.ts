import { crc32 } from 'node:zlib'
import { qrCode, quiet } from './qr-code.ts'

/** Pixels of a module. */
const scale = 4

/** A Huffman code as deflate writes it: the first bit is the lowest one. */
interface Code {
  bits: number
  length: number
}
const code = (bits: number, length: number): Code => ({ bits, length })

/** Two modules of a row, four pixels of one bit each: light is 1. Also the filter of a row, none, is two dark ones. */
const pairs = { dark: code(0b00, 2), light: code(0b10, 2), leftDark: code(0b001, 3), rightDark: code(0b101, 3) }
const endOfPicture = code(0b011, 3)
const repetition = code(0b111, 3)
/** How the lengths of these codes are written: a length of 1, 2 or 3, one code without any, 3 to 10, and 11 to 138 of them. */
const lengthOf = { one: code(0b101, 3), two: code(0b011, 3), three: code(0b00, 2) }
const unused = { one: code(0b001, 3), some: code(0b111, 3), many: code(0b10, 2) }
/** Their own lengths, in the order of deflate. */
const lengthsOfLengths = [0, 3, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 3, 0, 3]

/** The symbol of a length from 3, or a distance from 1, with how many bits follow it and what they say. `alike`: symbols with as many bits. */
function symbolOf(value: number, alike: 4 | 2): { symbol: number; extra: Code } {
  if (value < 2 * alike) return { symbol: value, extra: code(0, 0) }
  const length = Math.floor(Math.log2(value / alike))
  return { symbol: alike * length + (value >> length), extra: code(value & ((1 << length) - 1), length) }
}

/**
 * A QR code as a PNG of black and white, for emails. It is compressed (RFC 1951) by what is known of it: a row consists of four different bytes, and is
 * drawn four times. That takes less time and space than zlib, whose memory for each picture costs more than the rest of an email.
 */
export function qrPng(text: string): Buffer {
  const { side: across, modules } = qrCode(text)
  const side = (across + 2 * quiet) * scale
  const perRow = 1 + Math.ceil(side / 8)
  // The longest repetition that deflate has; also where the symbols below have another order.
  if (3 * perRow >= 258) throw new RangeError('This text is too long for a QR code.')
  const png = Buffer.alloc(200 + (across + 2 * quiet) * (perRow + 4))
  let at = png.write('\x89PNG\r\n\x1a\n', 'latin1')
  /** Length, name, data and checksum (PNG, section 5.3). */
  const addChunk = (name: string, addData: () => void) => {
    const begins = at
    at += 4
    at += png.write(name, at, 'latin1')
    addData()
    png.writeUInt32BE(at - begins - 8, begins)
    at = png.writeUInt32BE(crc32(png.subarray(begins + 4, at)), at)
  }
  let pending = 0
  let count = 0
  const add = ({ bits, length }: Code) => {
    pending |= bits << count
    for (count += length; count >= 8; count -= 8) {
      png[at] = pending & 0xff
      at += 1
      pending >>>= 8
    }
  }
  const addUnused = (symbols: number) => {
    for (let left = symbols; left > 0; ) {
      const many = Math.min(left, 138)
      if (many >= 11) {
        add(unused.many)
        add(code(many - 11, 7))
      } else if (many >= 3) {
        add(unused.some)
        add(code(many - 3, 3))
      } else for (let nth = 0; nth < many; nth += 1) add(unused.one)
      left -= many
    }
  }
  addChunk('IHDR', () => {
    at = png.writeUInt32BE(side, at)
    at = png.writeUInt32BE(side, at)
    // One bit a pixel, and zeros: grey, the only compression and filters there are, not interlaced.
    at = png.writeUIntBE(0x01_00_00_00_00, at, 5)
  })
  addChunk('IDAT', () => {
    const length = symbolOf(3 * perRow - 3, 4)
    const distance = symbolOf(perRow - 1, 2)
    at = png.writeUInt16BE(0x78_01, at)
    // The only block, and how many symbols its codes have.
    add(code(0b101, 3))
    add(code(length.symbol + 1, 5))
    add(code(distance.symbol, 5))
    add(code(lengthsOfLengths.length - 4, 4))
    for (const one of lengthsOfLengths) add(code(one, 3))
    add(lengthOf.two)
    addUnused(0x0f - 1)
    add(lengthOf.three)
    addUnused(0xf0 - 0x10)
    add(lengthOf.three)
    addUnused(0xff - 0xf1)
    add(lengthOf.two)
    add(lengthOf.three)
    addUnused(length.symbol)
    add(lengthOf.three)
    addUnused(distance.symbol)
    add(lengthOf.one)
    // A row of modules with the quiet zone, and one more to make pairs.
    const line = new Uint8Array(across + 2 * quiet + 1)
    // The checksum of what is compressed (RFC 1950): the sum of its bytes, and the sum of all these sums.
    let [sum, sums] = [1, 0]
    for (let y = -quiet; y < across + quiet; y += 1) {
      add(pairs.dark)
      if (y === across) line.fill(0)
      else if (y >= 0 && y < across) line.set(modules.subarray(y * across, (y + 1) * across), quiet)
      let ofRow = 0
      let sumsOfRow = 0
      for (let left = perRow - 1, x = 0; left > 0; left -= 1, x += 2) {
        const isDark = line[x] === 1
        const isNextDark = line[x + 1] === 1
        add(isDark ? (isNextDark ? pairs.dark : pairs.leftDark) : isNextDark ? pairs.rightDark : pairs.light)
        const byte = (isDark ? 0 : 0xf0) | (isNextDark ? 0 : 0x0f)
        ofRow += byte
        sumsOfRow += byte * left
      }
      add(repetition)
      add(length.extra)
      add(code(0, 1))
      add(distance.extra)
      for (let drawn = 0; drawn < scale; drawn += 1) {
        sums = (sums + perRow * sum + sumsOfRow) % 65_521
        sum = (sum + ofRow) % 65_521
      }
    }
    add(endOfPicture)
    add(code(0, (8 - count) % 8))
    at = png.writeUInt32BE(sums * 65_536 + sum, at)
  })
  addChunk('IEND', () => undefined)
  return png.subarray(0, at)
}
