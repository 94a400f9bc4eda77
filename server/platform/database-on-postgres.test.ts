// Only on PostgreSQL: connections that die or fall silent.
import net from 'node:net'
import { type SQL, sql } from 'drizzle-orm'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { answers, isUnavailable, openServer, rows } from './database.ts'
import { StartError } from './start-error.ts'

const refusal = (begun: Promise<unknown>) =>
  begun.then(
    () => null,
    (error: unknown) => (error instanceof StartError ? error.message : error),
  )

const server = inject('postgresUrl') ?? ''

test('a missing database is named', async () => {
  const url = new URL(server)
  url.pathname = '/nowhere'
  expect(await refusal(openServer(url.toString()))).toMatch(/^There is no such database at 127\.0\.0\.1:\d+\/nowhere/)
})

test('a connection that dies between two statements of a transaction ends that transaction and nothing else', async () => {
  const database = await openServer(server)
  const pids = async (statement: SQL) => rows(database.pulse, z.object({ pid: z.number() }), statement)
  const cut = await database.db
    .transaction(async (tx) => {
      const [mine] = await rows(tx, z.object({ pid: z.number() }), sql`SELECT pg_backend_pid() AS pid`)
      // Not as a condition on pg_stat_activity: the planner may evaluate it for every connection of the server.
      await pids(sql`SELECT ${mine?.pid}::int AS pid WHERE pg_terminate_backend(${mine?.pid}::int)`)
      await expect.poll(() => pids(sql`SELECT pid FROM pg_stat_activity WHERE pid = ${mine?.pid}`)).toEqual([])
      await tx.execute(sql`SELECT 1`)
    })
    .catch((error: unknown) => error)
  expect(isUnavailable(cut)).toBe(true)
  expect(await answers(database.db)).toBe(true)
  await database.close()
})

test('no connection compiles plans', async () => {
  const database = await openServer(server)
  for (const db of [database.db, database.background, database.pulse])
    expect(await rows(db, z.object({ jit: z.string() }), sql`SHOW jit`)).toEqual([{ jit: 'off' }])
  await database.close()
})

test('a silent server is detected and used again once it answers', async () => {
  const target = new URL(server)
  const sockets = new Set<net.Socket>()
  let silent = false
  // In between: swallows everything while switched on.
  const proxy = net.createServer((near) => {
    const far = net.connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => !silent && to.write(bytes)).on('error', () => undefined)
      from.on('close', () => to.destroy())
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.port = String((proxy.address() as net.AddressInfo).port)
  const database = await openServer(url.toString())
  expect(await answers(database.db)).toBe(true)

  silent = true
  const asked = database.db.execute(sql`SELECT 1`).catch((error: unknown) => error)
  expect(await answers(database.db)).toBe(false)
  const held = await asked
  expect(isUnavailable(held)).toBe(true)

  for (const socket of sockets) socket.destroy()
  silent = false
  await expect.poll(() => answers(database.db), { timeout: 20_000 }).toBe(true)
  await database.close()
  proxy.close()
  for (const socket of sockets) socket.destroy()
})
