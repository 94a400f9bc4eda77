import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bankLines, epcText, ownLinkUrl, type PayBlock, payBlock, upiLink } from './pay.ts'
import { bankSettings, ownLink, upiSettings } from './payment-settings.ts'

const upi = { id: 'asha@okaxis', name: 'Asha Traders', merchantCode: null }
const india = bankSettings.parse({ kind: 'india', accountName: 'Neem Studio', accountNumber: '5010 0234 567891', ifsc: 'hdfc0001234' })
const german = bankSettings.parse({ kind: 'iban', accountName: 'Neem GmbH', iban: 'DE89 3704 0044 0532 0130 00', bic: 'COBADEFFXXX' })
const payable = { reference: 'INV-0001', amount: 3000, currency: 'INR' }
const block: PayBlock = {
  methods: { upi, bank: india, ownLink: null },
  currency: 'INR',
  amount: 3000,
  total: 5000,
  references: ['INV-0041'],
  payLink: 'https://duely.example/pay/kT0vXw2rJ8mQ',
  pdfs: [],
  qr: 'cid:qr',
}
/** What could leave its field: separators, markup, line breaks and marks of direction. */
const hostile = fc.string({
  unit: fc.constantFrom('a', '9', '&', '=', '<', '"', "'", '\r', '\n', '\u202e', '%', '#', '₹', ' ', '/', '{'),
  maxLength: 60,
})

test('a UPI link is the shortest form that apps accept for a personal ID', () => {
  expect(upiLink(upi, payable)).toBe('upi://pay?pa=asha@okaxis&pn=Asha%20Traders&am=3000.00&cu=INR&tn=INV-0001')
})

test('a UPI link of a merchant carries its code and the reference as an order', () => {
  expect(upiLink({ ...upi, merchantCode: '5411' }, { ...payable, reference: 'INV/24-25/007', amount: 1234567.5 })).toBe(
    'upi://pay?pa=asha@okaxis&pn=Asha%20Traders&mc=5411&tr=INV2425007&am=1234567.50&cu=INR&tn=INV-24-25-007',
  )
})

test('the note of several invoices ends with a whole reference', () => {
  const references = ['INV 2026 0001', 'INV/2026/0002', 'INV 2026 0003', 'INV 2026 0004', 'INV 5']
  const link = upiLink({ ...upi, merchantCode: '5411' }, { ...payable, reference: references.join(' '), references })
  const { searchParams } = new URL(link)
  expect(searchParams.get('tn')).toBe('INV 2026 0001 INV-2026-0002 INV 2026 0003')
  expect(searchParams.get('tr')).toBe('INV20260001INV20260002INV20260003')
  const long = `${'ABCDE '.repeat(10)}7`
  expect(new URL(upiLink(upi, { ...payable, reference: long })).searchParams.get('tn')).toBe(long.slice(0, 50).trim())
  expect(upiLink(upi, { ...payable, reference: '', references: [] })).not.toContain('tn=')
})

test('no name or reference adds a field to a UPI link', () => {
  fc.assert(
    fc.property(hostile, hostile, (name, reference) => {
      const { protocol, searchParams } = new URL(upiLink({ ...upi, name }, { ...payable, reference }))
      expect(protocol).toBe('upi:')
      expect([...searchParams.keys()].every((key) => ['pa', 'pn', 'am', 'cu', 'tn'].includes(key))).toBe(true)
      expect(searchParams.get('pa')).toBe('asha@okaxis')
      expect(searchParams.get('am')).toBe('3000.00')
      expect(searchParams.get('tn') ?? '').toMatch(/^[A-Za-z0-9 .-]{0,50}$/)
    }),
  )
})

test('letters that are joined stay so, and marks of direction go', () => {
  const link = upiLink({ ...upi, name: '\u202eمی\u200cخواهم\u202c  Co\nLtd' }, payable)
  expect(new URL(link).searchParams.get('pn')).toBe('می\u200cخواهم Co Ltd')
})

test('an EPC code has its eleven lines', () => {
  if (german.kind !== 'iban') throw new Error('The German account was not read as an IBAN.')
  expect(epcText(german, { ...payable, currency: 'EUR' })).toBe(
    'BCD\n002\n1\nSCT\nCOBADEFFXXX\nNeem GmbH\nDE89370400440532013000\nEUR3000.00\n\n\nINV-0001',
  )
})

test('no name or reference adds a line to an EPC code or makes it larger than 331 bytes', () => {
  if (german.kind !== 'iban') throw new Error('The German account was not read as an IBAN.')
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string({ unit: 'grapheme', maxLength: 200 })), hostile, (accountName, reference) => {
      const code = epcText({ ...german, accountName }, { ...payable, reference, currency: 'EUR' })
      expect(code.split('\n')).toHaveLength(11)
      expect(code).not.toMatch(/[\r\u202e]/)
      expect(new TextEncoder().encode(code).length).toBeLessThanOrEqual(331)
    }),
  )
})

test('bank lines name the fields of each country and end with the reference', () => {
  const shown = (bank: unknown) => bankLines(bankSettings.parse(bank), 'INV-0001').map((line) => `${line.label}: ${line.shown}`)
  expect(shown(india)).toEqual(['Account name: Neem Studio', 'Account number: 50100234567891', 'IFSC: HDFC0001234', 'Reference: INV-0001'])
  expect(shown(german)).toEqual(['Account name: Neem GmbH', 'IBAN: DE89 3704 0044 0532 0130 00', 'BIC: COBADEFFXXX', 'Reference: INV-0001'])
  expect(shown({ kind: 'uk', accountName: 'Neem', sortCode: '20-00-00', accountNumber: '55779911' })).toEqual([
    'Account name: Neem',
    'Sort code: 20-00-00',
    'Account number: 55779911',
    'Reference: INV-0001',
  ])
  expect(shown({ kind: 'us', accountName: 'Neem', routingNumber: '021000021', accountNumber: '1234567' })).toEqual([
    'Account name: Neem',
    'Routing number: 021000021',
    'Account number: 1234567',
    'Reference: INV-0001',
  ])
  expect(shown({ kind: 'other', accountName: 'Neem', text: 'Bank: Nabil\nBranch 7' })).toEqual([
    'Account name: Neem',
    'Bank: Nabil',
    ': Branch 7',
    'Reference: INV-0001',
  ])
})

test('figures of a bank account are refused where they cannot be right', () => {
  const refused = (bank: object) => bankSettings.safeParse({ accountName: 'Neem', ...bank }).error?.issues[0]?.message
  expect(refused({ kind: 'india', accountNumber: '50100234567891', ifsc: 'HDFC1001234' })).toBe('Please enter an IFSC such as HDFC0001234.')
  expect(refused({ kind: 'us', routingNumber: '021000022', accountNumber: '1234567' })).toMatch(/^This routing number is not right/)
  expect(refused({ kind: 'iban', iban: 'DE89' })).toBe('This IBAN is not right. Please check its figures.')
  expect(upiSettings.safeParse({ id: 'asha.okaxis', name: 'Asha' }).error?.issues[0]?.message).toBe(
    'Please enter a UPI ID such as asha@okaxis.',
  )
})

test.each([
  'javascript:alert(1)',
  'data:text/html,hi',
  'http://pay.example/x',
  'https://{reference}.example/',
  'https://pay.example:{amount}/',
  'https://asha@pay.example/',
  'https://pay.example/#{reference}',
  'https://pay.example/{unknown}',
  'https://pay.example\\@evil.example/',
  'https://pay.example/a b',
  'https://',
])('%s is refused as an own link', (url) => {
  expect(ownLink.safeParse({ label: 'Pay by card', url }).success).toBe(false)
})

test('the variables of an own link are percent-encoded and cannot leave their place', () => {
  const link = ownLink.parse({ label: 'Pay by card', url: 'https://pay.example/{reference}?sum={amount}&in={currency}#top' })
  expect(ownLinkUrl(link, payable)).toBe('https://pay.example/INV-0001?sum=3000.00&in=INR#top')
  fc.assert(
    fc.property(hostile, (reference) => {
      const { origin, searchParams, pathname } = new URL(ownLinkUrl(link, { ...payable, reference: `x${reference}` }))
      expect([origin, [...searchParams.keys()], pathname.split('/').length]).toEqual(['https://pay.example', ['sum', 'in'], 2])
    }),
  )
})

test('the text of the block lists the pay page, the methods, what was paid and where to answer', () => {
  expect(payBlock(block)?.text).toBe(`Pay ₹3,000.00: https://duely.example/pay/kT0vXw2rJ8mQ

UPI ID: asha@okaxis
Account name: Neem Studio
Account number: 50100234567891
IFSC: HDFC0001234
Reference: INV-0041

₹2,000.00 of ₹5,000.00 has been received, thank you.
Paid already, or a question? Tell us there, or reply to this email.`)
})

test('without a pay page the block names the methods and asks for a reply', () => {
  const { text = '', html = '' } = payBlock({ ...block, payLink: null, total: 3000 }) ?? {}
  expect(text).toBe(`UPI ID: asha@okaxis
Account name: Neem Studio
Account number: 50100234567891
IFSC: HDFC0001234
Reference: INV-0041

Paid already, or a question? Please reply to this email.`)
  expect(html).not.toContain('href')
})

test('the block about several invoices leads to the statement and has no QR code', () => {
  const { text = '', html = '' } = payBlock({ ...block, amount: 17_250, total: 17_250, references: ['INV-0001', 'INV-0002'] }) ?? {}
  expect(text).toMatch(/^See and pay ₹17,250\.00: https:/)
  expect(text).toContain('Reference: INV-0001, INV-0002')
  expect(html).not.toContain('<img')
})

test('the HTML of the block has the lines of its text, the UPI code and no colour', () => {
  const { html = '' } = payBlock(block) ?? {}
  expect(html).toContain('<img src="cid:qr" width="160" height="160" alt="UPI QR code for ₹3,000.00"')
  for (const shown of ['asha@okaxis', 'Neem Studio', '50100234567891', 'HDFC0001234', 'INV-0041']) expect(html).toContain(`<b>${shown}</b>`)
  expect(html.replaceAll('color:inherit', '')).not.toMatch(/color|#[0-9a-f]{3}\b|rgb/)
})

test('only a word that is wider than a phone may break', () => {
  const of = (id: string) => payBlock({ ...block, methods: { upi: { ...upi, id }, bank: null, ownLink: null } })?.html ?? ''
  expect(of('a-very-long-name.of.a.company.in.bengaluru@okhdfcbank')).toContain('<td style="word-break:break-word"><b>a-very-long')
  expect(of('asha@okaxis')).not.toContain('word-break')
})

test('a block needs a method of the currency', () => {
  expect(payBlock({ ...block, methods: { upi: null, bank: null, ownLink: null } })).toBeNull()
  expect(payBlock({ ...block, methods: { upi, bank: null, ownLink: null }, currency: 'EUR' })).toBeNull()
})

test('paying online alone is a button to the pay page, for an amount in INR where there is a page', () => {
  const online = { ...block, total: 3000, methods: { upi: null, bank: null, ownLink: null, online: true } }
  expect(payBlock(online)?.text).toBe(`Pay ₹3,000.00: https://duely.example/pay/kT0vXw2rJ8mQ

Reference: INV-0041

Paid already, or a question? Tell us there, or reply to this email.`)
  expect(payBlock({ ...online, payLink: null })).toBeNull()
  expect(payBlock({ ...online, currency: 'EUR' })).toBeNull()
})

test('no field of the settings or of an invoice becomes markup or a line of its own', () => {
  fc.assert(
    fc.property(hostile, hostile, (accountName, reference) => {
      const made = payBlock({
        ...block,
        methods: { upi, bank: { ...india, accountName: `x${accountName}` }, ownLink: null },
        references: [`x${reference}`],
      })
      const plain = payBlock({ ...block, methods: { upi, bank: { ...india, accountName: 'x' }, ownLink: null }, references: ['x'] })
      const tags = (html = '') => html.match(/<[a-z/][^>]*>/g)
      expect(tags(made?.html)).toEqual(tags(plain?.html))
      expect(made?.text.split('\n').length).toBeLessThanOrEqual(plain?.text.split('\n').length ?? 0)
    }),
  )
})
