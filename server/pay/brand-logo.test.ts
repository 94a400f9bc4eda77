import { crc32, deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readableOn } from '#contract/brand.ts'
import { businessCalls } from '#contract/business.ts'
import { clientCalls } from '#contract/clients.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { newId } from '#server/platform/columns.ts'
import { anInvoice, anOffice, aPerson } from '#test/factories.ts'
import { ask } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { readPdf } from '#test/read-pdf.ts'
import { buyOnce, openShop } from '#test/shop.ts'
import { rebuildPng } from './png.ts'
import { paymentLogos } from './tables.ts'

const morning = '2026-03-02T03:30:00Z'
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const number = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])

function chunk(name: string, data: Buffer): Buffer {
  const both = Buffer.concat([Buffer.from(name, 'latin1'), data])
  return Buffer.concat([number(data.length), both, number(crc32(both))])
}

interface Drawn {
  width?: number
  height?: number
  type?: number
  pixels?: Buffer
  /** Between its size and its pixels, and behind these. */
  before?: Buffer[]
  after?: Buffer[]
}

/** A picture of colours without transparency. */
function drawn({ width = 20, height = 10, type = 2, pixels, before = [], after = [] }: Drawn = {}): Buffer {
  const data = pixels ?? Buffer.alloc(height * (1 + width * 3), 0)
  const head = Buffer.concat([number(width), number(height), Buffer.from([8, type, 0, 0, 0])])
  const parts = [chunk('IHDR', head), ...before, chunk('IDAT', deflateSync(data)), ...after, chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([signature, ...parts])
}

test('a PNG is rebuilt from its picture alone, and anything else is refused', () => {
  const plain = drawn()
  expect(rebuildPng(plain)).toEqual({ image: plain, width: 20, height: 10 })
  // Texts, profiles, and the frames of an APNG are left out; so is what follows the end, such as a web page or an archive.
  const apng = [chunk('acTL', Buffer.alloc(8)), chunk('fcTL', Buffer.alloc(26))]
  const frames = [chunk('fdAT', Buffer.concat([number(1), deflateSync(Buffer.alloc(610))]))]
  const extra = [...apng, chunk('tEXt', Buffer.from('Comment\0<script>alert(1)</script>')), chunk('iCCP', Buffer.from('x'))]
  const polyglot = Buffer.concat([drawn({ before: extra, after: frames }), Buffer.from('<html><script>alert(1)</script>PK\x03\x04')])
  expect(rebuildPng(polyglot)?.image).toEqual(plain)
  const bomb = drawn({ width: 600, height: 200, pixels: Buffer.alloc(40_000_000) })
  const wrong: [string, Buffer][] = [
    ['a bomb', bomb],
    ['too few pixels', drawn({ pixels: Buffer.alloc(609) })],
    ['a filter that does not exist', drawn({ pixels: Buffer.alloc(610, 7) })],
    ['too wide', drawn({ width: 601, pixels: Buffer.alloc(10 * (1 + 601 * 3)) })],
    ['too high', drawn({ height: 201, pixels: Buffer.alloc(201 * 61) })],
    ['no size', drawn({ width: 0 })],
    ['a palette that is missing', drawn({ type: 3, pixels: Buffer.alloc(10 * 21) })],
    ['a second head', drawn({ before: [plain.subarray(8, 33)] })],
    ['a wrong checksum', Buffer.concat([plain.subarray(0, 40), Buffer.from([plain[40] ?? 0 ^ 1, 9]), plain.subarray(42)])],
    ['a cut', plain.subarray(0, -3)],
    ['a length beyond the file', Buffer.concat([plain.subarray(0, 8), number(0xffffffff), plain.subarray(12)])],
    ['too many bytes', drawn({ before: [chunk('tEXt', Buffer.alloc(62_000))] })],
    ['an SVG', Buffer.from('<svg onload="alert(1)">')],
  ]
  expect(wrong.flatMap(([what, file]) => (rebuildPng(file) === null ? [] : what))).toEqual([])
  fc.assert(
    fc.property(fc.nat(plain.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const changed = Buffer.from(plain)
      changed[at] = (changed[at] ?? 0) ^ by
      expect(rebuildPng(changed)).toBeNull()
    }),
  )
})

test('a text on any colour has a contrast of 4.5 at least', () => {
  const part = (value: number) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), (rgb) => {
      const its = 0.2126 * part(rgb >> 16) + 0.7152 * part((rgb >> 8) & 255) + 0.0722 * part(rgb & 255)
      const text = readableOn(`#${rgb.toString(16).padStart(6, '0')}`) === '#000000' ? 0 : 1
      expect((Math.max(its, text) + 0.05) / (Math.min(its, text) + 0.05)).toBeGreaterThanOrEqual(4.5)
    }),
  )
})

const identity = {
  name: 'Neem Studio GmbH',
  address: ['1 Neem Road', 'Pune'],
  taxLabel: 'GSTIN',
  taxNumber: '27ABCDE1234F1Z5',
  phone: '+91 20 1234',
  website: 'neem.example',
  footer: 'Amtsgericht <b>Pune</b>',
}

test('emails and client pages say what a business is under a thin line, with its logo; without anything they are as before', async () => {
  await using office = await anOffice({ now: morning, config: { publicUrl: 'https://duely.example', payLinks: true } })
  const { app, asha, smtp } = office
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  const { url } = (await ask(app, asha, payLinkCalls.create, { params: { id: _id } })).reply
  const page = async () => (await app.app.inject({ url: new URL(url).pathname })).body.replaceAll(/nonce="[^"]*"/g, '')
  const draft = async () => (await ask(app, asha, reminderCalls.draft, { body: { invoiceIds: [_id] } })).reply.email
  const before = [await draft(), await page()]
  const [client] = (await ask(app, asha, clientCalls.list)).reply
  const statement = async () =>
    (await app.app.inject({ url: `/clients/${client?._id}/statement?format=pdf`, headers: { authorization: `Bearer ${asha.token}` } }))
      .rawPayload
  expect(String(await statement())).not.toContain('/Subtype /Image')
  // A logo of the release before is on pages only.
  const old = drawn()
  await app.db.insert(paymentLogos).values({ id: newId(), ownerId: asha.id, type: 'image/png', image: old })
  expect((await draft())?.html).toBe(before[0] && typeof before[0] === 'object' ? before[0].html : '')
  expect((await ask(app, asha, businessCalls.read)).reply).toMatchObject({
    logo: `data:image/png;base64,${old.toString('base64')}`,
    logoInEmails: false,
    whiteLabel: true,
  })
  await ask(app, asha, businessCalls.removeLogo)
  expect([await draft(), await page()]).toEqual(before)

  expect((await ask(app, asha, businessCalls.change, { body: { brand: { ...identity, colour: '#FFD000' } } })).reply.brand).toEqual({
    ...identity,
    colour: '#ffd000',
  })
  expect((await ask(app, asha, businessCalls.change, { body: { brand: { address: ['1', '2', '3', '4', '5'] } } })).status).toBe(400)
  expect(
    (await ask(app, asha, businessCalls.saveLogo, { body: { image: Buffer.from('GIF89a').toString('base64') } })).problem?.message,
  ).toBe('Please choose a PNG of at most 60 KB and 600 × 200 pixels.')
  const file = Buffer.concat([drawn(), Buffer.from('<script>')])
  expect((await ask(app, asha, businessCalls.saveLogo, { body: { image: file.toString('base64') } })).status).toBe(204)
  const shown = await page()
  expect(shown).toContain(
    'Neem Studio GmbH<br>1 Neem Road<br>Pune<br>GSTIN 27ABCDE1234F1Z5<br>+91 20 1234 · neem.example<br>Amtsgericht &lt;b&gt;',
  )
  expect(shown).toContain('.btn.fill{background:#ffd000;color:#000000}')
  const pdf = await statement()
  expect(readPdf(pdf)).toContain(
    '\nNeem Studio GmbH\n1 Neem Road\nPune\nGSTIN 27ABCDE1234F1Z5\n+91 20 1234 · neem.example\nAmtsgericht <b>Pune</b>',
  )
  expect(String(pdf)).toContain('/Subtype /Image')
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  const { text = '', html = '', attachments } = await readEmail(smtp.mails[0]?.raw)
  expect(text).toMatch(
    /\n\n-- \nNeem Studio GmbH\n1 Neem Road\nPune\nGSTIN 27ABCDE1234F1Z5\n\+91 20 1234 · neem\.example\nAmtsgericht <b>Pune<\/b>\n?$/,
  )
  expect(html).toContain('<img src="cid:logo@duely" width="10" height="5" alt=""')
  expect(html).toContain('Amtsgericht &lt;b&gt;Pune&lt;/b&gt;')
  expect(attachments.map(({ contentId, mimeType, content }) => [contentId, mimeType, Buffer.from(content as ArrayBuffer)])).toEqual([
    ['<logo@duely>', 'image/png', drawn()],
  ])
  expect(`${text}${html}${shown}`).not.toContain('Duely</')
})

test('on a plan without white-label an email ends with a line of Duely’s, in the language of the client, and has no logo', async () => {
  await using shop = await openShop({ now: morning })
  const { app } = shop
  const asha = await aPerson(app)
  const { _id } = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  const end = async () =>
    (await ask(app, asha, reminderCalls.draft, { body: { invoiceIds: [_id] } })).reply.email?.text.split('\n\n').at(-1)
  expect(await end()).toBe('Sent with Duely')
  await ask(app, asha, businessCalls.change, { body: { language: 'de', brand: { phone: '0231' } } })
  expect(await end()).toBe('Gesendet mit Duely')
  const refused = [
    await ask(app, asha, businessCalls.saveLogo, { body: { image: drawn().toString('base64') } }),
    await ask(app, asha, businessCalls.change, { body: { brand: { colour: '#112233' } } }),
  ]
  for (const { problem } of refused)
    expect(problem).toMatchObject({ code: 'plan_limit', message: 'A logo and a colour of your own are part of Enterprise.' })
  await buyOnce(shop, asha, 'enterprise')
  expect(await end()).toBe('-- \n0231')
})
