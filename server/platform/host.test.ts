import { expect, test } from 'vitest'
import { isSpecialAddress, resolveHost } from './host.ts'
import { resolveName } from './resolve.ts'

const strict = { allowPrivateHosts: false }
const lax = { allowPrivateHosts: true }
const leadsTo =
  (...addresses: string[]) =>
  async () =>
    addresses

test.each([
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.7',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '3fff::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
])('%s is no address on the public internet', (address) => {
  expect(isSpecialAddress(address)).toBe(true)
})

test.each(['8.8.8.8', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2606:2800:21f:cb07:6820:80da:af6b:8b2c', '2a00:1450:4009::6d'])(
  '%s is an address on the public internet',
  (address) => {
    expect(isSpecialAddress(address)).toBe(false)
  },
)

test.each([
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '127.0.0.1.',
  'localhost',
  'LOCALHOST.',
  '[::1]',
  '::1',
  '[::ffff:127.0.0.1]',
  '[0:0:0:0:0:ffff:7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[fe80::1%lo]',
  '0',
  '１２７.0.0.1',
  'ⓛocalhost',
])('loopback written as %s is refused', async (host) => {
  expect(await resolveHost(host, { resolve: resolveName, ...strict })).toBe('special')
})

test('a name with one private address among public ones is refused', async () => {
  expect(await resolveHost('example.com', { resolve: leadsTo('93.184.215.14', '10.0.0.5'), ...strict })).toBe('unknown')
})

test('a public name is connected to at the vetted addresses', async () => {
  const addresses = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']
  const host = await resolveHost('smtp.bücher.example', { resolve: leadsTo(...addresses), ...strict })
  expect(host).toEqual({ name: 'smtp.xn--bcher-kva.example', addresses, isPrivate: false })
})

test('a name without an address is unknown', async () => {
  const resolve = () => Promise.reject(new Error('ENOTFOUND'))
  expect(await resolveHost('exmaple.com', { resolve, ...strict })).toBe('unknown')
})

test('an operator may allow private hosts', async () => {
  expect(await resolveHost('127.1', { resolve: resolveName, ...lax })).toMatchObject({ addresses: ['127.0.0.1'], isPrivate: true })
})

test('a name that also has a public address is not private, even if private hosts are allowed', async () => {
  const host = await resolveHost('example.com', { resolve: leadsTo('10.0.0.5', '93.184.215.14'), ...lax })
  expect(host).toMatchObject({ isPrivate: false })
})
