/** Markers without a length: TEM, and RST0 to RST7. */
const isAlone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)
/** SOF0 to SOF15; DHT, JPG and DAC are between them. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** Height and width of a whole JPEG, from the header of its frame (SOF); null where it has none before its pixels, or is cut off. */
export function sidesOfJpeg(file: Buffer): [number, number] | null {
  if (file.length < 4 || file.readUInt16BE(0) !== 0xffd8 || file.readUInt16BE(file.length - 2) !== 0xffd9) return null
  for (let at = 2; at + 9 <= file.length && file[at] === 0xff; ) {
    const marker = file.readUInt8(at + 1)
    if (isFrame(marker)) return [file.readUInt16BE(at + 5), file.readUInt16BE(at + 7)]
    // SOS: the pixels begin. EOI: there are none.
    if (marker === 0xda || marker === 0xd9) return null
    if (marker === 0xff) at += 1
    else at += isAlone(marker) ? 2 : 2 + file.readUInt16BE(at + 2)
  }
  return null
}
