// Only on PostgreSQL: several processes share one database, which can go away and come back.
import net from 'node:net'
import { expect, inject, test } from 'vitest'
import { createDatabase, templateDatabase } from '#test/postgres.ts'
import { someoneAt, startProgram } from '#test/program.ts'

const server = inject('postgresUrl') ?? ''

const aDatabase = () => createDatabase(server, { copyOf: templateDatabase })

test('web and worker start together on one empty database, each in its role', async () => {
  const env = { DATABASE_URL: await createDatabase(server), SECRET_KEY: 'a secret key for tests, 32 characters' }
  const [web, worker] = await Promise.all([startProgram({ ...env, ROLE: 'web' }), startProgram({ ...env, ROLE: 'worker' })])
  await using _web = web
  await using _worker = worker
  await someoneAt(web.url, 'asha@example.com')
  expect((await fetch(`${worker.url}/health`)).status).toBe(200)
  expect((await fetch(`${worker.url}/server`)).status).toBe(404)
  expect(await Promise.all([web.end('SIGTERM'), worker.end('SIGTERM')])).toEqual([0, 0])
})

test('health reports that no worker checks due reminders', async () => {
  await using web = await startProgram({
    DATABASE_URL: await aDatabase(),
    SECRET_KEY: 'a secret key for tests, 32 characters',
    ROLE: 'web',
  })
  const health = await fetch(`${web.url}/health`)
  expect([health.status, await health.json()]).toEqual([
    200,
    { status: 'degraded', reason: expect.stringContaining('No worker has checked for due reminders'), version: expect.any(String) },
  ])
  expect((await fetch(`${web.url}/health?strict=1`)).status).toBe(503)
})

test('calls answer 503 while the database is down and work again afterwards', async () => {
  const target = new URL(await aDatabase())
  const sockets = new Set<net.Socket>()
  const listen = (port: number) =>
    new Promise<net.Server>((resolve) => {
      const proxy = net.createServer((near) => {
        const far = net.connect(Number(target.port), target.hostname)
        for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined))
        near.pipe(far)
        far.pipe(near)
      })
      proxy.listen(port, '127.0.0.1', () => resolve(proxy))
    })
  let proxy = await listen(0)
  const { port } = proxy.address() as net.AddressInfo
  const url = new URL(target)
  url.port = String(port)
  await using program = await startProgram({ DATABASE_URL: url.toString(), SECRET_KEY: 'a secret key for tests, 32 characters' })
  const asha = await someoneAt(program.url, 'asha@example.com')

  proxy.close()
  for (const socket of sockets) socket.destroy()
  expect((await fetch(`${program.url}/health`)).status).toBe(503)
  await expect(asha.send('GET', '/invoice')).rejects.toThrow(/ 503 .*"code":"not_ready"/)

  proxy = await listen(port)
  await expect.poll(async () => (await fetch(`${program.url}/health`)).status, { timeout: 60_000 }).toBe(200)
  expect(await asha.send('GET', '/invoice')).toEqual([])
  expect(await program.end('SIGTERM')).toBe(0)
  proxy.close()
  for (const socket of sockets) socket.destroy()
})
