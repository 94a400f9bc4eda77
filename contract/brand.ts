import { z } from 'zod'
import { english } from './english.ts'
import type { Speech } from './speech.ts'
import { escapeHtml, type RenderedReminder } from './templates.ts'
import { entered, withoutMarks } from './text.ts'

const line = (most: number, message: string) =>
  entered(message)
    .max(most, message)
    .refine((text) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text), 'Please enter it on one line.')

/** The host of a web address with or without `https://`; empty where the text is none. */
function webHost(text: string): string {
  return /^(?:https?:\/\/)?([^\s/:@<>"']+)(?:\/[^\s<>"']*)?$/i.exec(text)?.[1] ?? ''
}

/** What emails and client pages say about a business. */
export const brand = z.strictObject({
  name: line(200, 'Please enter a name of at most 200 characters.').meta({ description: 'Its full or legal name.' }),
  address: z
    .array(line(100, 'Please enter lines of at most 100 characters.'))
    .max(4, 'Please enter an address of at most 4 lines.')
    .transform((lines) => lines.filter((one) => one !== ''))
    .meta({ description: 'At most 4 lines.' }),
  taxLabel: line(40, 'Please enter a label of at most 40 characters.').meta({ description: 'Such as `GSTIN` or `USt-IdNr.`' }),
  taxNumber: line(60, 'Please enter a number of at most 60 characters.'),
  phone: line(60, 'Please enter a phone number of at most 60 characters.'),
  website: line(200, 'Please enter an address of at most 200 characters.').refine(
    (text) => text === '' || webHost(text).slice(1, -1).includes('.'),
    'Please enter an address such as neem.example.',
  ),
  footer: entered()
    .max(300, 'Please enter a footer of at most 300 characters.')
    .refine((text) => !/[\p{Cc}--\n]/v.test(text), 'Please enter a footer without control characters.')
    .meta({ description: 'A last note, of at most 300 characters.' }),
  colour: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, 'Please enter a colour such as #1f6f54.')
    .transform((text) => text.toLowerCase())
    .nullable()
    .meta({ description: 'Of the rule and the buttons of client pages; null: ours. Needs white-label.' }),
})
export type Brand = z.output<typeof brand>

/** The same as it is stored. */
export const brandShown = z.object({
  name: z.string(),
  address: z.array(z.string()),
  taxLabel: z.string(),
  taxNumber: z.string(),
  phone: z.string(),
  website: z.string(),
  footer: z.string(),
  colour: z.string().nullable(),
})

export const noBrand: Brand = {
  name: '',
  address: [],
  taxLabel: '',
  taxNumber: '',
  phone: '',
  website: '',
  footer: '',
  colour: null,
}

/** The most bytes of a logo, and the most pixels of it. */
export const largestBrandLogo = 60 * 1024
export const brandLogoSides = { width: 600, height: 200 }

/** What is said about the business, line by line: the name first. */
export function brandLines({ name, address, taxLabel, taxNumber, phone, website, footer }: Brand): string[] {
  const tax = taxNumber === '' ? '' : [taxLabel, taxNumber].filter((part) => part !== '').join(' ')
  const reach = [phone, website].filter((part) => part !== '').join(' · ')
  return [name, ...address, tax, reach, ...footer.split('\n')].map((text) => withoutMarks(text).trim()).filter((text) => text !== '')
}

/** What an email has below its text. */
export interface MailBrand {
  brand: Brand
  /** Where its logo is, and how large; null without one. */
  logo: { src: string; width: number; height: number } | null
  /** Whether the last line is Duely's. */
  namesDuely: boolean
}

/** The brand of emails, by what `GET /business` answers. */
export function mailBrandOf(business: { brand: Brand; logo: string | null; logoInEmails: boolean; whiteLabel: boolean }): MailBrand {
  const { brand: its, logo, logoInEmails, whiteLabel } = business
  const shown = whiteLabel && logoInEmails && logo !== null ? { src: logo, ...sizeOfPng(logo) } : null
  return { brand: its, logo: shown, namesDuely: !whiteLabel }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The width and height of a PNG in a `data:` address. */
function sizeOfPng(address: string): { width: number; height: number } {
  const head = address.slice(address.indexOf(',') + 1)
  // Base64 has 6 bits in a character: a side below 65,536 is in the last 16 bits of a number of 32.
  const bits = (from: number, count: number) => {
    let value = 0
    for (let bit = from; bit < from + count; bit += 1)
      value = value * 2 + ((digits.indexOf(head[Math.floor(bit / 6)] ?? 'A') >> (5 - (bit % 6))) & 1)
    return value
  }
  const side = (at: number) => bits((at + 2) * 8, 16)
  return { width: side(16), height: side(20) }
}

/** A logo is shown at half of its pixels, so that it is sharp on every screen. */
const shownSide = (pixels: number) => Math.max(1, Math.round(pixels / 2))

/** A rendered email with what its business says about itself, in both parts; nothing said: as it was. */
export function withBrand<R extends RenderedReminder>(
  rendered: R,
  { brand: its, logo, namesDuely }: MailBrand,
  speech: Speech = english,
): R {
  const lines = brandLines(its)
  if (lines.length === 0 && logo === null && !namesDuely) return rendered
  const picture =
    logo === null
      ? ''
      : `<img src="${escapeHtml(logo.src)}" width="${shownSide(logo.width)}" height="${shownSide(logo.height)}" alt="" style="display:block;border:0;padding-bottom:10px">`
  const words = lines.map((text) => escapeHtml(speech.value(text))).join('<br>')
  const rule = '<div style="margin-top:28px;border-top:1px solid;opacity:.25;font-size:0;line-height:0">&nbsp;</div>'
  const identity =
    lines.length === 0 && logo === null
      ? ''
      : `${rule}<div style="padding-top:16px;font-size:14px;line-height:1.5">${picture}${words}</div>`
  const duely = namesDuely
    ? `<div style="padding-top:${identity === '' ? 28 : 12}px;font-size:14px;line-height:1.5">${speech.pay.sentWith}</div>`
    : ''
  const text = [...(lines.length === 0 ? [] : [`-- \n${lines.map(speech.value).join('\n')}`]), ...(namesDuely ? [speech.pay.sentWith] : [])]
  return { ...rendered, html: `${rendered.html}${identity}${duely}`, text: [rendered.text, ...text].join('\n\n') }
}

/** The luminance of a colour, as WCAG 2 defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Black or white, whichever is read better on a colour: one of them has a contrast of at least 4.5 : 1. */
export function readableOn(colour: string): '#000000' | '#ffffff' {
  const its = luminance(colour)
  return (its + 0.05) / 0.05 >= 1.05 / (its + 0.05) ? '#000000' : '#ffffff'
}
