import { inflateSync } from 'node:zlib'

/** The words of a PDF of PDFKit: glyphs, by the table of each font that maps them to letters. */
export function readPdf(pdf: Buffer): string {
  const bytes = pdf.toString('latin1')
  const objects = new Map([...bytes.matchAll(/(\d+) 0 obj\n([\s\S]*?)\nendobj/g)].map(([, id = '', body = '']) => [id, body]))
  const streamOf = (id: string) => {
    const [, data] = /stream\n([\s\S]*)\nendstream/.exec(objects.get(id) ?? '') ?? []
    return data === undefined ? '' : inflateSync(Buffer.from(data, 'latin1')).toString('latin1')
  }
  const letters = new Map<string, Map<number, string>>()
  for (const body of objects.values())
    for (const [, name = '', id = ''] of body.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const [, table = ''] = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id) ?? '') ?? []
      const entries = [...streamOf(table).matchAll(/\[([^\]]*)\]/g)].flatMap(([, list = '']) => [...list.matchAll(/<([^>]*)>/g)])
      letters.set(name, new Map(entries.map(([, hex = ''], glyph) => [glyph, fromHex(hex)])))
    }
  const pages = [...objects.values()].flatMap((body) =>
    /\/Type \/Page\b/.test(body) ? (/\/Contents (\d+) 0 R/.exec(body)?.[1] ?? []) : [],
  )
  return pages
    .flatMap((id) => {
      let font = ''
      let line: string[] = []
      return [...streamOf(id).matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ|\bET\b/g)].flatMap(([, name, glyphs]) => {
        if (name !== undefined) font = name
        const shown = [...(glyphs ?? '').matchAll(/<([0-9a-f]*)>/g)].map(([, hex]) => hex).join('')
        line.push(...(shown.match(/.{4}/g) ?? []).map((glyph) => letters.get(font)?.get(Number.parseInt(glyph, 16)) ?? '?'))
        if (name !== undefined || glyphs !== undefined) return []
        const read = inReadingOrder(line)
        line = []
        return read
      })
    })
    .join('\n')
}

const toTheLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

/** What was drawn from left to right, where some of it is read to the left, as a viewer copies it. */
function inReadingOrder(glyphs: string[]): string {
  const rtl = glyphs.map((text) => toTheLeft.test(text))
  const neutral = glyphs.map((text) => !/[\p{L}\p{N}]/u.test(text))
  const read: string[] = []
  for (let from = 0; from < glyphs.length; from += 1) {
    let to = from + 1
    for (let next = to; rtl[from] && (rtl[next] || neutral[next]) && next < glyphs.length; next += 1) if (rtl[next]) to = next + 1
    read.push(...glyphs.slice(from, to).reverse())
    from = to - 1
  }
  return read.join('')
}

function fromHex(hex: string): string {
  return (hex.replaceAll(' ', '').match(/.{4}/g) ?? []).map((unit) => String.fromCharCode(Number.parseInt(unit, 16))).join('')
}
