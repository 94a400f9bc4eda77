import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emailAddress } from './accounts.ts'
import { addressesIn, asciiAddress, readAddress } from './addresses.ts'

const domain = 'shop.example'

test.each([
  ['every sign of RFC 5321', `r&d!#$%'*+-/=?^_\`{|}~@${domain}`],
  ['an address of accounts payable', `ap/ar@${domain}`],
  ['one with an equals sign', `a=b@${domain}`],
  ['capitals, which stay', 'Asha.Rao@Shop.Example'],
  ['a domain with accents', 'asha@müller.example'],
  ['a domain in Devanagari', 'asha@उदाहरण.भारत'],
  ['a domain in Cyrillic', 'asha@почта.рф'],
  ['a domain in Chinese', 'asha@例子.中国'],
  ['a name with accents', 'jörg@müller.example'],
  ['a name in Hindi', 'आशा@उदाहरण.भारत'],
  ['a new top level', 'asha@shop.technology'],
])('%s can be entered: %s', (_what, address) => {
  expect(emailAddress.parse(address)).toBe(address)
  expect(readAddress(address)).toBe(address)
})

test.each([
  ['its domain was typed in ASCII', 'asha@xn--mller-kva.example', 'asha@müller.example'],
  ['its top level was typed in ASCII', 'asha@xn--80a1acny.xn--p1ai', 'asha@почта.рф'],
  ['its domain has capitals beyond ASCII', 'Asha@MÜLLER.example', 'Asha@müller.example'],
  ['its accents were typed apart', 'jo\u0308rg@mu\u0308ller.example', 'jörg@müller.example'],
  ['its name has capitals beyond ASCII', 'JÖRG@x.example', 'jörg@x.example'],
  ['it was typed with wide letters', 'asha＠ｓｈｏｐ。example', 'asha@shop.example'],
])('an address is stored in one form where %s', (_what, typed, stored) => {
  expect(emailAddress.parse(typed)).toBe(stored)
  expect(readAddress(stored)).toBe(stored)
  expect(stored).toBe(stored.replace(/[^ -~]+/g, (letters) => letters.toLowerCase()))
})

test('a mail server gets the domain in ASCII', () => {
  expect(asciiAddress('asha@müller.example')).toBe('asha@xn--mller-kva.example')
  expect(asciiAddress('आशा@उदाहरण.भारत')).toBe('आशा@xn--p1b6ci4b4b3a.xn--h2brj9c')
  expect(asciiAddress('Asha@Shop.Example')).toBe('Asha@shop.example')
  expect(asciiAddress('asha@x.example\r\nRCPT TO:<b@x.example>')).toBeNull()
})

test.each([
  `Asha Rao <asha@${domain}>`,
  `"Rao, Asha" <asha@${domain}>`,
  `Rao, Asha <asha@${domain}>`,
  `<asha@${domain}>`,
  `mailto:asha@${domain}`,
  `<mailto:asha@${domain}?subject=Invoice%201>`,
  `asha@${domain},`,
  ` asha@${domain} ; `,
  `asha@${domain}.`,
  `'asha@${domain}'`,
  `“asha@${domain}”`,
  `Asha Rao (asha@${domain})`,
  `\ufeffasha@\u200b${domain}\u2060`,
  `asha@${domain}\r\n`,
])('%j is taken apart where it is entered', (typed) => {
  expect(emailAddress.parse(typed)).toBe(`asha@${domain}`)
})

test('mailto: with an escaped name is read', () => {
  expect(emailAddress.parse(`mailto:r%26d@${domain}`)).toBe(`r&d@${domain}`)
})

test('a list is taken apart, and one field takes one address', () => {
  const list = `Asha <asha@${domain}>, ravi@${domain}; "Iyer, N." <n@${domain}>\nnobody`
  expect(addressesIn(list)).toEqual([`asha@${domain}`, `ravi@${domain}`, `n@${domain}`, 'nobody'])
  expect(emailAddress.safeParse(list).error?.issues.map(({ message }) => message)).toEqual(['Please enter one email address.'])
})

test.each([
  '',
  'asha',
  '@shop.example',
  'asha@',
  'asha@shop',
  'asha@shop..example',
  '.asha@shop.example',
  'asha.@shop.example',
  'as..ha@shop.example',
  'asha@rao@shop.example',
  'as ha@shop.example',
  'asha@shop.example/x',
  'asha@sh op.example',
  'asha@127.0.0.1',
  'asha@[127.0.0.1]',
  'asha@sh_op.example',
  'asha@shop.example?x',
  `${'a'.repeat(65)}@shop.example`,
  `${'आ'.repeat(22)}@shop.example`,
])('%j is no address', (text) => {
  expect(emailAddress.safeParse(text).success).toBe(false)
})

test('what is stored is read as itself, and its lower case names it', () => {
  const typed = fc.string({
    unit: fc.constantFrom('a', 'B', 'é', 'É', 'e\u0301', '@', '.', '-', 'ß', 'ı', 'İ', 'Σ', 'भा', '例', '＠', 'x', ' ', '<', ',', '"'),
    maxLength: 24,
  })
  fc.assert(
    fc.property(typed, (text) => {
      const parsed = emailAddress.safeParse(text)
      if (!parsed.success) return
      expect(emailAddress.parse(parsed.data)).toBe(parsed.data)
      expect(emailAddress.parse(parsed.data.toLowerCase())).toBe(parsed.data.toLowerCase())
      expect(asciiAddress(parsed.data)).toMatch(/^[^@\s]+@[a-z0-9.-]+$/)
    }),
    { numRuns: 3000 },
  )
})
