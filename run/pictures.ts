import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { chromium } from '@playwright/test'
import { chromiumFlags, findChromium } from '#test/chromium.ts'

const root = path.join(import.meta.dirname, '..')
const icon = readFileSync(path.join(root, 'public/icon.svg'), 'utf8')
const font = (name: string) =>
  `url("data:font/woff2;base64,${readFileSync(path.join(root, 'node_modules/@fontsource-variable', name)).toString('base64')}")`

/** The icon on an opaque background, for devices that crop it. */
const iconPage = (size: number) => `<style>
  body { display: grid; place-items: center; width: ${size}px; height: ${size}px; margin: 0; background: #0b0e14 }
  svg { width: 68%; height: 68% }
</style>${icon}`

/** The preview image of a shared link: the due line of one invoice. */
const sharePage = `<style>
  @font-face { font-family: Bricolage; font-weight: 200 800; src: ${font('bricolage-grotesque/files/bricolage-grotesque-latin-wght-normal.woff2')} }
  @font-face { font-family: Inter; font-weight: 100 900; src: ${font('inter/files/inter-latin-wght-normal.woff2')} }
  body { box-sizing: border-box; width: 1200px; height: 630px; padding: 64px 80px; margin: 0; font-family: Inter; color: #e9edf4; background: #0b0e14 }
  header { display: flex; gap: 16px; align-items: center; font: 700 38px Bricolage; letter-spacing: -0.02em }
  header svg { width: 44px; height: 44px }
  h1 { width: 960px; margin: 44px 0 0; font: 700 92px/1.02 Bricolage; letter-spacing: -0.035em }
  figure { position: relative; height: 130px; margin: 72px 0 0 }
  .axis { position: absolute; top: 84px; width: 100%; height: 3px; background: linear-gradient(90deg, #f2b84b, #ff7063 45%, #3fcf8e 80%, #232c3a 80%) }
  .due { position: absolute; top: 0; left: 30%; height: 100px; padding-left: 14px; font-size: 22px; font-weight: 600; border-left: 2px solid #e9edf4 }
  i { position: absolute; bottom: 46px; width: 34px; height: 34px; margin-left: -17px; border-radius: 50% }
  b { position: absolute; top: 104px; font-size: 22px; font-weight: 400; color: #93a0b5; white-space: nowrap; transform: translateX(-50%) }
</style>
<header>${icon}Duely</header>
<h1>Your invoices, followed up until they’re paid.</h1>
<figure><div class="axis"></div><div class="due">due date</div>
${[
  [10, '#f2b84b', 'sent'],
  [44, '#ff7063', 'reminder, 9:00'],
  [62, '#ff7063', 'reminder, 9:00'],
  [80, '#3fcf8e', 'paid, stops'],
]
  .map(([at, colour, text]) => `<i style="left:${at}%;background:${colour}"></i><b style="left:${at}%">${text}</b>`)
  .join('')}
</figure>`

const pictures = [
  { name: 'share.png', width: 1200, height: 630, html: sharePage },
  { name: 'apple-touch-icon.png', width: 180, height: 180, html: iconPage(180) },
  { name: 'icon-192.png', width: 192, height: 192, html: iconPage(192) },
  { name: 'icon-512.png', width: 512, height: 512, html: iconPage(512) },
]

const executablePath = findChromium()
const browser = await chromium.launch({ ...(executablePath ? { executablePath } : {}), args: chromiumFlags })
for (const { name, width, height, html } of pictures) {
  const page = await browser.newPage({ viewport: { width, height } })
  await page.setContent(html)
  await page.evaluate(() => document.fonts.ready)
  const png = await page.screenshot({ type: 'png' })
  writeFileSync(path.join(root, 'public', name), png)
  console.log(`public/${name}: ${Math.ceil(png.length / 1024)} KB`)
  await page.close()
}
await browser.close()
