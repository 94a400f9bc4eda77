import { crc32, deflateSync } from 'node:zlib'
import { encode } from 'uqr'

/** Pixels of a module, and modules of the quiet zone, which is part of the picture. */
const scale = 4
const quiet = 4

/** The modules of a QR code with its quiet zone, ECC level M. */
export function qrModules(text: string): boolean[][] {
  return encode(text, { ecc: 'M', border: quiet }).data
}

/** Comparing the masks would take longer than the rest of an email. Any is read alike; this one leaves no pattern of lines. */
const maskOfEmails = 7

/** A QR code as a PNG of black and white, for emails. */
export function qrPng(text: string): Buffer {
  // The library is slow in adding a border.
  const modules = encode(text, { ecc: 'M', border: 0, maskPattern: maskOfEmails }).data
  const side = (modules.length + 2 * quiet) * scale
  // Each row begins with its filter: none.
  const perRow = 1 + Math.ceil(side / 8)
  const data = Buffer.alloc(perRow * side, 0xff)
  for (let y = 0; y < side; y += 1) data[y * perRow] = 0
  for (const [y, line] of modules.entries()) {
    const top = (y + quiet) * scale
    const row = data.subarray(top * perRow, (top + 1) * perRow)
    for (const [x, dark] of line.entries()) {
      if (!dark) continue
      const left = (x + quiet) * scale
      for (let at = left; at < left + scale; at += 1) row[1 + (at >> 3)] = (row[1 + (at >> 3)] ?? 0) & ~(0x80 >> (at & 7))
    }
    for (let down = 1; down < scale; down += 1) data.set(row, (top + down) * perRow)
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(side, 0)
  head.writeUInt32BE(side, 4)
  // One bit a pixel, and zeros: grey, the only compression and filters there are, not interlaced.
  head[8] = 1
  return Buffer.concat([
    signature,
    pngChunk('IHDR', head),
    pngChunk('IDAT', deflateSync(data, { level: 1 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Length, name, data and checksum (PNG, section 5.3). A library compresses in JavaScript, which takes three times as long. */
function pngChunk(name: string, data: Buffer): Buffer {
  const both = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(both))
  return Buffer.concat([length, both, sum])
}
