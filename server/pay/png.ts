import { crc32, inflateSync } from 'node:zlib'
import { brandLogoSides, largestBrandLogo } from '#contract/brand.ts'

/** How each PNG begins. */
export const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Samples of a pixel by colour type, and the depths that each may have. */
const types: Record<number, { samples: number; depths: number[] }> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
}
const most: Record<string, number> = { IHDR: 1, PLTE: 1, tRNS: 1, IEND: 1 }

/** A picture that programs of clients are given. */
export interface Picture {
  image: Buffer
  width: number
  height: number
}

/**
 * A PNG rebuilt from the parts that its picture needs, without whatever else was in the file; null where it is no such PNG. Its pixels are unpacked
 * to exactly the size that it names, so no program that shows it unpacks more.
 */
export function rebuildPng(file: Buffer): Picture | null {
  if (file.length > largestBrandLogo || !file.subarray(0, 8).equals(pngSignature)) return null
  const kept: Buffer[] = [pngSignature]
  const pixels: Buffer[] = []
  const counts: Record<string, number> = {}
  let size: { width: number; height: number; bits: number; type: number } | null = null
  for (let at = 8; counts.IEND === undefined; ) {
    if (at + 12 > file.length) return null
    const length = file.readUInt32BE(at)
    const end = at + 12 + length
    if (length > file.length || end > file.length) return null
    const name = file.toString('latin1', at + 4, at + 8)
    const data = file.subarray(at + 8, end - 4)
    if (crc32(file.subarray(at + 4, end - 4)) !== file.readUInt32BE(end - 4)) return null
    const count = (counts[name] ?? 0) + 1
    counts[name] = count
    if (size === null) {
      if (name !== 'IHDR') return null
      size = sizeOf(data)
      if (!size) return null
    }
    if (count > (most[name] ?? Number.POSITIVE_INFINITY) || !inOrder(name, data, counts, size.type)) return null
    if (name === 'IDAT') pixels.push(data)
    if (['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'].includes(name)) kept.push(file.subarray(at, end))
    at = end
  }
  if (!size || (size.type === 3 && counts.PLTE === undefined) || !unpacks(pixels, size)) return null
  return { image: Buffer.concat(kept), width: size.width, height: size.height }
}

function sizeOf(data: Buffer): { width: number; height: number; bits: number; type: number } | null {
  if (data.length !== 13) return null
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)]
  const [depth = 0, type = 0, ...rest] = data.subarray(8)
  const known = types[type]
  // Compression and filters have one kind each; interlaced pictures have other rows, and no browser makes them.
  if (!known?.depths.includes(depth) || rest.some((one) => one !== 0)) return null
  if (width < 1 || height < 1 || width > brandLogoSides.width || height > brandLogoSides.height) return null
  return { width, height, bits: depth * known.samples, type }
}

function inOrder(name: string, data: Buffer, counts: Record<string, number>, type: number): boolean {
  const begun = counts.IDAT !== undefined
  if (name === 'PLTE') return !begun && data.length > 0 && data.length <= 768 && data.length % 3 === 0 && type !== 0 && type !== 4
  if (name === 'tRNS') return !begun && data.length > 0 && data.length <= 256 && type !== 4 && type !== 6
  if (name === 'IEND') return begun && data.length === 0
  return true
}

/** Whether the pixels are as many as the size says, each row with a filter that exists. */
function unpacks(pixels: Buffer[], { width, height, bits }: { width: number; height: number; bits: number }): boolean {
  const row = 1 + Math.ceil((width * bits) / 8)
  try {
    const all = inflateSync(Buffer.concat(pixels), { maxOutputLength: row * height + 1 })
    return all.length === row * height && Array.from({ length: height }, (_none, nth) => all[nth * row] ?? 9).every((filter) => filter < 5)
  } catch {
    return false
  }
}
