import { expect, test } from 'vitest'
import { isSpecialAddress, resolveName, vetHost } from './host.ts'

const strict = { allowPrivateHosts: false }
const trouble = (name: string) => expect.objectContaining({ trouble: name })

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
  await expect(vetHost({ host, port: 587 }, { resolve: resolveName, ...strict })).rejects.toEqual(trouble('host_refused'))
})

test('a name with one private address among public ones is refused', async () => {
  const resolve = async () => ['93.184.215.14', '10.0.0.5']
  await expect(vetHost({ host: 'smtp.example.com', port: 587 }, { resolve, ...strict })).rejects.toEqual(trouble('host_refused'))
})

test('a public name is connected to at the addresses that were judged', async () => {
  const resolve = async () => ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']
  expect(await vetHost({ host: 'smtp.bücher.example', port: 465 }, { resolve, ...strict })).toEqual({
    name: 'smtp.xn--bcher-kva.example',
    addresses: ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
    isPrivate: false,
  })
})

test('a name without an address is unknown', async () => {
  const resolve = () => Promise.reject(new Error('ENOTFOUND'))
  await expect(vetHost({ host: 'smtp.exmaple.com', port: 587 }, { resolve, ...strict })).rejects.toEqual(trouble('unknown_host'))
})

test.each([1, 22, 80, 110, 3306, 6379, 11211])('port %i is refused', async (port) => {
  const resolve = async () => ['93.184.215.14']
  await expect(vetHost({ host: 'smtp.example.com', port }, { resolve, ...strict })).rejects.toEqual(trouble('port_refused'))
})

test('an operator may allow private hosts and any port', async () => {
  const vetted = await vetHost({ host: '127.1', port: 1025 }, { resolve: resolveName, allowPrivateHosts: true })
  expect(vetted).toMatchObject({ addresses: ['127.0.0.1'], isPrivate: true })
})

test('a name that also has a public address is not private, whatever the operator allows', async () => {
  const resolve = async () => ['10.0.0.5', '93.184.215.14']
  expect(await vetHost({ host: 'smtp.example.com', port: 587 }, { resolve, allowPrivateHosts: true })).toMatchObject({ isPrivate: false })
})
