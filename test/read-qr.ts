import { decode } from 'fast-png'
import jsQR from 'jsqr'

/** The text of a QR code in a PNG of black and white; null where none is read. */
export function readQrPng(png: Uint8Array): string | null {
  const { width, height, data } = decode(png)
  const perRow = Math.ceil(width / 8)
  return readDark(width, height, (x, y) => (((data[y * perRow + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1) === 0)
}

/** The texts of the QR codes that a page draws as SVG, with their labels. */
export function readQrCodes(html: string): { label: string; text: string | null }[] {
  return [...html.matchAll(/<svg class="qr"[^>]*viewBox="0 0 (\d+) \d+"[^>]*aria-label="([^"]*)".*?stroke="#000" d="([^"]*)"/gs)].map(
    ([, side = '0', label = '', drawn = '']) => {
      const dark = new Set<string>()
      for (const [, x = '', y = '', length = ''] of drawn.matchAll(/M(\d+) (\d+)h(\d+)/g))
        for (let right = 0; right < Number(length); right += 1) dark.add(`${Number(x) + right} ${y}`)
      const scale = 4
      const size = Number(side) * scale
      return { label, text: readDark(size, size, (x, y) => dark.has(`${Math.floor(x / scale)} ${Math.floor(y / scale)}`)) }
    },
  )
}

function readDark(width: number, height: number, isDark: (x: number, y: number) => boolean): string | null {
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let at = 0; at < width * height; at += 1) if (isDark(at % width, Math.floor(at / width))) pixels.fill(0, at * 4, at * 4 + 3)
  return jsQR.default(pixels, width, height)?.data ?? null
}
