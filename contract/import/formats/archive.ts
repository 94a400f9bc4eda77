import { Inflate } from 'fflate'
import { mostBytes } from './decode.ts'
import { FileProblem, texts } from './texts.ts'

/* A ZIP archive as banks offer it, with one file for each day or account. What it says of itself is compared with what is in it. */

export interface ArchiveFile {
  name: string
  bytes: Uint8Array
}

interface Listed {
  name: string
  isStored: boolean
  packed: number
  size: number
  checksum: number
  /** Where its own header begins. */
  at: number
}

/** Files of one archive: a statement for each day of a year. */
const mostFiles = 1_000

/** The names in an archive, from the directory at its end. Refuses one that is damaged, locked, or holds too much. */
export function listArchive(bytes: Uint8Array): Listed[] {
  if (bytes.length > mostBytes) throw new FileProblem(texts.tooBig)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // A comment of at most 65,535 bytes can be behind the directory.
  const first = Math.max(0, bytes.length - 22 - 65_535)
  let end = bytes.length - 22
  while (end >= first && view.getUint32(end, true) !== 0x06054b50) end -= 1
  if (end < first) throw new FileProblem(texts.archive.damaged)
  const count = view.getUint16(end + 10, true)
  if (count > mostFiles) throw new FileProblem(texts.archive.tooMany(mostFiles))
  const found: Listed[] = []
  let at = view.getUint32(end + 16, true)
  let sum = 0
  for (let number = 0; number < count; number += 1) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50) throw new FileProblem(texts.archive.damaged)
    const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)]
    const [nameLength, extraLength, noteLength] = [
      view.getUint16(at + 28, true),
      view.getUint16(at + 30, true),
      view.getUint16(at + 32, true),
    ]
    const size = view.getUint32(at + 24, true)
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    if ((flags & 1) !== 0) throw new FileProblem(texts.archive.locked)
    sum += size
    if (sum > mostBytes) throw new FileProblem(texts.archive.tooBig)
    // Folders, and what macOS and hidden files add.
    if (!name.endsWith('/') && !/^__MACOSX\/|(?:^|\/)\./.test(name)) {
      if (method !== 0 && method !== 8) throw new FileProblem(texts.archive.damaged)
      found.push({
        name,
        isStored: method === 0,
        packed: view.getUint32(at + 20, true),
        size,
        checksum: view.getUint32(at + 16, true),
        at: view.getUint32(at + 42, true),
      })
    }
    at += 46 + nameLength + extraLength + noteLength
  }
  return found
}

/** Whether it is a workbook, or a document of an office program: those are ZIP archives too. */
export function isWorkbook(files: { name: string }[]): boolean {
  return files.some(({ name }) => name === '[Content_Types].xml' || name === 'mimetype' || name === 'META-INF/manifest.xml')
}

/** A file of an archive. It must be as long as the directory says, and have the checksum that it says. */
export function unpack(bytes: Uint8Array, { name, isStored, packed, size, checksum, at }: Listed): ArchiveFile {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (at + 30 > bytes.length || view.getUint32(at, true) !== 0x04034b50) throw new FileProblem(texts.archive.damaged)
  const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true)
  const data = bytes.subarray(start, start + packed)
  if (data.length !== packed) throw new FileProblem(texts.archive.damaged)
  const content = isStored ? data : inflate(data, size)
  if (content.length !== size || crc32(content) !== checksum) throw new FileProblem(texts.archive.damaged)
  return { name, bytes: content }
}

/** Packed bytes that are inflated at a time: at most 1,032 times as many come out, and then the size is compared. */
const step = 16 * 1024

function inflate(data: Uint8Array, size: number): Uint8Array {
  const content = new Uint8Array(size)
  let length = 0
  const inflating = new Inflate((chunk) => {
    if (length + chunk.length > size) throw new FileProblem(texts.archive.damaged)
    content.set(chunk, length)
    length += chunk.length
  })
  try {
    for (let at = 0; at < data.length; at += step) inflating.push(data.subarray(at, at + step), at + step >= data.length)
  } catch {
    throw new FileProblem(texts.archive.damaged)
  }
  return content.subarray(0, length)
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff
  for (const byte of bytes) value = (crcTable[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}
