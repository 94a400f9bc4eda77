import { encode as encodePng } from 'fast-png'
import { encode } from 'uqr'

/** Pixels of a module, and modules of the quiet zone, which is part of the picture. */
const scale = 4
const quiet = 4

/** The modules of a QR code with its quiet zone, ECC level M. `mask`: the one to use, without comparing all eight. */
export function qrModules(text: string, mask?: number): boolean[][] {
  return encode(text, { ecc: 'M', border: quiet, ...(mask === undefined ? {} : { maskPattern: mask }) }).data
}

/** Comparing the masks would take longer than the rest of an email. Any is read alike; this one leaves no pattern of lines. */
const maskOfEmails = 7

/** A QR code as a PNG of black and white, for emails. */
export function qrPng(text: string): Buffer {
  const modules = qrModules(text, maskOfEmails)
  const side = modules.length * scale
  const perRow = Math.ceil(side / 8)
  const data = new Uint8Array(perRow * side)
  for (const [y, line] of modules.entries()) {
    const row = data.subarray(y * scale * perRow, (y * scale + 1) * perRow).fill(0xff)
    for (const [x, dark] of line.entries()) {
      if (!dark) continue
      for (let at = x * scale; at < (x + 1) * scale; at += 1) row[at >> 3] = (row[at >> 3] ?? 0) & ~(0x80 >> (at & 7))
    }
    for (let down = 1; down < scale; down += 1) data.set(row, (y * scale + down) * perRow)
  }
  return Buffer.from(encodePng({ width: side, height: side, data, depth: 1, channels: 1 }))
}
