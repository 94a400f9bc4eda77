import { expect, test } from 'vitest'
import { webAddress } from './connection-parts.tsx'

const origin = 'https://duely.example'

test('after consent the browser may open web addresses, pages of Duely and app schemes', () => {
  expect(webAddress('https://zapier.com/back?code=1&state=x', origin)).toBe('https://zapier.com/back?code=1&state=x')
  expect(webAddress('http://127.0.0.1:4000/back', origin)).toBe('http://127.0.0.1:4000/back')
  expect(webAddress('com.example.phone:/return?code=1&state=x', origin)).toBe('com.example.phone:/return?code=1&state=x')
  expect(webAddress('/dashboard?trigger', origin)).toBe('https://duely.example/dashboard?trigger')
})

test('after consent the browser never opens a script or a file', () => {
  for (const address of ['javascript:alert(1)', 'JaVaScript:alert(1)', 'data:text/html,x', 'blob:https://x', 'myapp://back', 'http://', ''])
    expect(webAddress(address, origin), address).toBeNull()
})
