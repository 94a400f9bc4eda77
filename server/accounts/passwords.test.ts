import { hash } from '@node-rs/argon2'
import { expect, test } from 'vitest'
import { hashPassword, isOldHash, limitHashing, verifyPassword } from './passwords.ts'

test('a password is hashed with argon2id and a salt, and verified', async () => {
  const [one, other] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(other).not.toBe(one)
  expect(await verifyPassword(one, 'correct horse')).toBe(true)
  expect(await verifyPassword(one, 'correct horsf')).toBe(false)
})

test('no password opens an account that has none', async () => {
  expect(await verifyPassword(null, '')).toBe(false)
  expect(await verifyPassword(null, 'correct horse')).toBe(false)
})

test('a hash with less memory or fewer passes than today’s is old', async () => {
  const password = 'correct horse'
  expect(await isOldHash(await hashPassword(password), password)).toBe(false)
  expect(await isOldHash(await hash(password, { memoryCost: 12_288, timeCost: 3 }), password)).toBe(true)
  expect(await isOldHash(await hash(password, { memoryCost: 19_456, timeCost: 1 }), password)).toBe(true)
})

test('a password is the same however a keyboard writes its accents and spaces', async () => {
  const [composed, apart] = ['Caf\u00e9 cr\u00e8me', 'Cafe\u0301\u00a0cre\u0300me']
  const known = await hashPassword(apart)
  for (const typed of [composed, apart]) expect([await verifyPassword(known, typed), await isOldHash(known, typed)]).toEqual([true, false])
  for (const other of ['Cafe creme', 'CAF\u00c9 CR\u00c8ME', 'Ｃaf\u00e9 cr\u00e8me'])
    expect(await verifyPassword(known, other)).toBe(false)
})

test('a hash of a password as it was typed opens the account that way, and is old', async () => {
  const typed = 'Cafe\u0301 cre\u0300me'
  const known = await hash(typed, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  expect([await verifyPassword(known, typed), await isOldHash(known, typed)]).toEqual([true, true])
  expect(await verifyPassword(known, typed.normalize())).toBe(false)
})

test('hashing runs a few tasks at a time, queues some, and answers 429 beyond that', async () => {
  const limited = limitHashing({ concurrency: 2, waiting: 3 })
  const begun: number[] = []
  const finish: (() => void)[] = []
  const enter = (n: number) =>
    limited(async () => {
      begun.push(n)
      await new Promise<void>((resolve) => {
        finish[n] = resolve
      })
      return n
    })
  const entered = [0, 1, 2, 3, 4].map(enter)
  await expect.poll(() => begun).toEqual([0, 1])
  await expect(enter(5)).rejects.toMatchObject({ code: 'too_many', retryAfter: 5 })

  finish[1]?.()
  expect(await entered[1]).toBe(1)
  await expect.poll(() => begun).toEqual([0, 1, 2])
  finish[0]?.()
  await entered[0]
  finish[2]?.()
  await entered[2]
  await expect.poll(() => begun).toEqual([0, 1, 2, 3, 4])
  finish[3]?.()
  finish[4]?.()
  expect(await Promise.all(entered)).toEqual([0, 1, 2, 3, 4])
})

test('a task that fails frees its slot', async () => {
  const limited = limitHashing({ concurrency: 1, waiting: 1 })
  const failing = limited(async () => {
    throw new Error('out of memory')
  })
  const waiting = limited(async () => 'done')
  await expect(failing).rejects.toThrow('out of memory')
  expect(await waiting).toBe('done')
  expect(await limited(async () => 'done again')).toBe('done again')
})
