import { inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { decode } from 'fast-png'
import { encode } from 'uqr'
import { expect, test } from 'vitest'
import { upiLink } from '#contract/pay.ts'
import { readQrPng } from '#test/read-qr.ts'
import { times } from '#test/thorough.ts'
import { qrCode, quiet } from './qr-code.ts'
import { qrPng } from './qr-png.ts'

const upi = { id: 'asha@okaxis', name: 'Asha Traders', merchantCode: null }

/** Every version takes 1 s of CPU; more than 16 are for names of 80 letters beyond Latin. */
const [versions, longest] = [times(16, 40), times(450, 2_331)]

test('a code is module for module that of the library', () => {
  const library = (text: string) => encode(text, { ecc: 'M', border: 0, maskPattern: 7 })
  // One more byte than the version before has room for.
  const shortest = [0]
  for (let bytes = 0, version = 0; bytes <= longest; bytes += 1)
    if (qrCode('a'.repeat(bytes)).side > 17 + 4 * version) {
      version += 1
      shortest.push(bytes)
    }
  expect(shortest).toHaveLength(versions + 1)
  const texts = fc.sample(fc.string({ unit: 'grapheme', maxLength: 200 }), { numRuns: times(30, 2_000), seed: 7 })
  // A letter keeps the library from its codes for figures, which are another kind.
  const edges = shortest.slice(2).flatMap((bytes) => ['a'.repeat(bytes), 'é'.repeat(bytes / 2)])
  for (const text of [...edges, ...texts.map((text) => `a${text.toWellFormed()}`)]) {
    const { side, modules } = qrCode(text)
    const { size, data } = library(text)
    expect(side).toBe(size)
    expect(modules.join('')).toBe(data.flat().map(Number).join(''))
  }
  expect(() => qrCode('a'.repeat(2_332))).toThrow('This text is too long for a QR code.')
})

test('the picture of a code has its modules, four pixels each, and its quiet zone', () => {
  for (const length of [1, 14, 62, 100, 250, 600, times(900, 1_800)]) {
    const text = 'upi://pay?pa=asha@okaxis&pn='.repeat(70).slice(0, length)
    const { side, modules } = qrCode(text)
    const png = qrPng(text)
    const { width, height, data, depth, channels } = decode(png)
    const all = 4 * (side + 2 * quiet)
    expect([width, height, depth, channels]).toEqual([all, all, 1, 1])
    const perRow = Math.ceil(all / 8)
    const differing = Array.from({ length: all * all }, (_none, at) => {
      const [x, y] = [Math.floor((at % all) / 4) - quiet, Math.floor(at / all / 4) - quiet]
      const isDark = x >= 0 && x < side && y >= 0 && y < side && modules[y * side + x] === 1
      const [pixelX, pixelY] = [at % all, Math.floor(at / all)]
      return isDark === ((((data[pixelY * perRow + (pixelX >> 3)] ?? 0) >> (7 - (pixelX & 7))) & 1) === 0)
    }).filter((alike) => !alike)
    expect(differing).toEqual([])
    // Node's zlib also compares the checksum of the pixels.
    expect(inflateSync(png.subarray(41, 41 + png.readUInt32BE(33))).length).toBe(all * (1 + perRow))
  }
})

test('the picture of a UPI code is read as exactly its text', () => {
  for (const [name, amount] of [
    ['Asha', 1],
    ['Neem Studio & Söhne, Bengaluru', 9_999_999_999.99],
    ['न'.repeat(60), 3000.5],
  ] as const) {
    const text = upiLink({ ...upi, name }, { amount, currency: 'INR', reference: 'INV-0041' })
    expect(readQrPng(qrPng(text))).toBe(text)
  }
  for (let nth = 0; nth < times(40, 2_000); nth += 1) {
    const text = upiLink(
      { ...upi, name: `Asha ${nth * 7919}` },
      { amount: nth + 1, currency: 'INR', reference: `${nth}`.repeat((nth % 12) + 1) },
    )
    expect(readQrPng(qrPng(text))).toBe(text)
  }
})
