import { expect, test } from 'vitest'
import { vetHost } from './host.ts'

const strict = { allowPrivateHosts: false }
const code = (name: string) => expect.objectContaining({ code: name })

test('a mail server with one private address among public ones is refused like a name that does not exist', async () => {
  const resolve = async () => ['93.184.215.14', '10.0.0.5']
  await expect(vetHost({ host: 'smtp.example.com', port: 587 }, { resolve, ...strict })).rejects.toEqual(code('unknown_host'))
  await expect(vetHost({ host: '10.0.0.5', port: 587 }, { resolve, ...strict })).rejects.toEqual(code('host_refused'))
})

test('a mail server without an address is unknown', async () => {
  const resolve = () => Promise.reject(new Error('ENOTFOUND'))
  await expect(vetHost({ host: 'smtp.exmaple.com', port: 587 }, { resolve, ...strict })).rejects.toEqual(code('unknown_host'))
})

test.each([25, 465, 587, 2525])('port %i is for sending mail', async (port) => {
  const resolve = async () => ['93.184.215.14']
  expect(await vetHost({ host: 'smtp.example.com', port }, { resolve, ...strict })).toMatchObject({ name: 'smtp.example.com' })
})

test.each([1, 22, 80, 110, 3306, 6379, 11211])('port %i is refused', async (port) => {
  const resolve = async () => ['93.184.215.14']
  await expect(vetHost({ host: 'smtp.example.com', port }, { resolve, ...strict })).rejects.toEqual(code('port_refused'))
})

test('an operator may allow private hosts and any port', async () => {
  const resolve = async () => ['127.0.0.1']
  const vetted = await vetHost({ host: 'mail.internal', port: 1025 }, { resolve, allowPrivateHosts: true })
  expect(vetted).toMatchObject({ addresses: ['127.0.0.1'], isPrivate: true })
})
