import { hash } from '@node-rs/argon2'
import { expect, test } from 'vitest'
import { hashPassword, isWeakHash, openGate, verifyPassword } from './passwords.ts'

test('a password is hashed with argon2id, salted, and recognised again', async () => {
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

test('a hash that cost less memory or fewer passes than today is weak', async () => {
  expect(isWeakHash(await hashPassword('correct horse'))).toBe(false)
  expect(isWeakHash(await hash('correct horse', { memoryCost: 12_288, timeCost: 3 }))).toBe(true)
  expect(isWeakHash(await hash('correct horse', { memoryCost: 19_456, timeCost: 1 }))).toBe(true)
})

test('only so many work at once, the rest wait in line, and beyond the line one is told to come back', async () => {
  const gate = openGate({ atOnce: 2, waiting: 3 })
  const begun: number[] = []
  const finish: (() => void)[] = []
  const enter = (n: number) =>
    gate.pass(async () => {
      begun.push(n)
      await new Promise<void>((resolve) => {
        finish[n] = resolve
      })
      return n
    })
  const entered = [0, 1, 2, 3, 4].map(enter)
  expect(begun).toEqual([0, 1])
  await expect(enter(5)).rejects.toMatchObject({ code: 'too_many', retryAfter: 5 })

  finish[1]?.()
  expect(await entered[1]).toBe(1)
  expect(begun).toEqual([0, 1, 2])
  finish[0]?.()
  await entered[0]
  finish[2]?.()
  await entered[2]
  expect(begun).toEqual([0, 1, 2, 3, 4])
  finish[3]?.()
  finish[4]?.()
  expect(await Promise.all(entered)).toEqual([0, 1, 2, 3, 4])
})

test('a task that fails gives its place back', async () => {
  const gate = openGate({ atOnce: 1, waiting: 1 })
  const failing = gate.pass(async () => {
    throw new Error('out of memory')
  })
  const waiting = gate.pass(async () => 'done')
  await expect(failing).rejects.toThrow('out of memory')
  expect(await waiting).toBe('done')
  expect(await gate.pass(async () => 'done again')).toBe('done again')
})
