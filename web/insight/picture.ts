const copied = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-linecap',
  'stroke-linejoin',
  'stroke-dasharray',
  'opacity',
  'fill-opacity',
  'font-size',
  'font-weight',
  'text-anchor',
]
/** Twice as many pixels, for screens and print. */
const scale = 2
const [padding, lineHeight] = [24, 26]
const space = 'http://www.w3.org/2000/svg'

/** The drawings of a chart under its title as a PNG, in the colours of the present theme. */
export async function picture(chart: HTMLElement, title: string): Promise<Blob> {
  const drawings = [...chart.querySelectorAll<SVGSVGElement>('svg[data-chart]')]
  const style = getComputedStyle(document.documentElement)
  const color = (name: string) => style.getPropertyValue(name).trim()
  const inner = Math.max(...drawings.map((one) => one.clientWidth))
  const lines = wrap(title, Math.floor(inner / 10))
  const sheet = document.createElementNS(space, 'svg')
  let top = padding + lines.length * lineHeight
  const words = lines.map((line, at) =>
    text(line, padding, padding + 18 + at * lineHeight, { size: 18, weight: 700, fill: color('--text') }),
  )
  const parts = drawings.map((drawing) => {
    const copy = drawing.cloneNode(true) as SVGSVGElement
    const [from, to] = [
      [drawing, ...drawing.querySelectorAll('*')],
      [copy, ...copy.querySelectorAll('*')],
    ]
    for (const [at, one] of from.entries()) {
      const computed = getComputedStyle(one)
      to[at]?.setAttribute('style', copied.map((name) => `${name}:${computed.getPropertyValue(name)}`).join(';'))
    }
    const name = drawing.closest<HTMLElement>('[data-name]')?.dataset.name
    if (name !== undefined) {
      words.push(text(name, padding, top + 18, { size: 14, weight: 400, fill: color('--dim') }))
      top += lineHeight
    }
    copy.setAttribute('x', String(padding))
    copy.setAttribute('y', String(top))
    copy.setAttribute('overflow', 'visible')
    top += drawing.clientHeight + 12
    return copy
  })
  const [width, height] = [inner + 2 * padding, top + padding]
  sheet.setAttribute('width', String(width))
  sheet.setAttribute('height', String(height))
  sheet.setAttribute('font-family', 'Inter, system-ui, sans-serif')
  sheet.append(...words, ...parts)
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(sheet))}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = width * scale
  canvas.height = height * scale
  const context = canvas.getContext('2d')
  if (!context) throw new Error('This browser draws no pictures.')
  context.scale(scale, scale)
  context.fillStyle = color('--surface')
  context.fillRect(0, 0, width, height)
  context.drawImage(image, 0, 0)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('This browser draws no pictures.'))), 'image/png')
  })
}

function text(words: string, x: number, y: number, about: { size: number; weight: number; fill: string }): SVGTextElement {
  const made = document.createElementNS(space, 'text')
  made.textContent = words
  for (const [name, value] of Object.entries({ x, y, 'font-size': about.size, 'font-weight': about.weight, fill: about.fill }))
    made.setAttribute(name, String(value))
  return made
}

function wrap(words: string, most: number): string[] {
  const lines = ['']
  for (const word of words.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length >= most) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
