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
      const [, list = ''] = /\[([^\]]*)\]\nendbfrange/.exec(streamOf(table)) ?? []
      letters.set(name, new Map([...list.matchAll(/<([^>]*)>/g)].map(([, hex = ''], glyph) => [glyph, fromHex(hex)])))
    }
  const pages = [...objects.values()].flatMap((body) =>
    /\/Type \/Page\b/.test(body) ? (/\/Contents (\d+) 0 R/.exec(body)?.[1] ?? []) : [],
  )
  return pages
    .map((id) => {
      let font = ''
      return [...streamOf(id).matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ|\bET\b/g)]
        .map(([, name, glyphs]) => {
          if (name !== undefined) font = name
          const shown = [...(glyphs ?? '').matchAll(/<([0-9a-f]*)>/g)].map(([, hex]) => hex).join('')
          return glyphs === undefined
            ? name === undefined
              ? '\n'
              : ''
            : (shown.match(/.{4}/g) ?? []).map((glyph) => letters.get(font)?.get(Number.parseInt(glyph, 16)) ?? '?').join('')
        })
        .join('')
    })
    .join('\n')
}

function fromHex(hex: string): string {
  return (hex.match(/.{4}/g) ?? []).map((unit) => String.fromCharCode(Number.parseInt(unit, 16))).join('')
}
