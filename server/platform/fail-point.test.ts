import { expect, test } from 'vitest'
import { readConfig } from '#server/config.ts'

test('a process that is to die on purpose is told where, and how likely', () => {
  expect(readConfig({ FAILPOINT: 'after-250' }).failPoint).toEqual({ name: 'after-250', chance: 1 })
  expect(readConfig({ FAILPOINT: 'claim:0.25' }).failPoint).toEqual({ name: 'claim', chance: 0.25 })
  expect(readConfig({}).failPoint).toBe(null)
})

test('no process dies on purpose in production', () => {
  expect(() => readConfig({ FAILPOINT: 'after-250', NODE_ENV: 'production' })).toThrow('FAILPOINT')
})

test('a place that does not exist, or a chance that is none, stops the start', () => {
  for (const wrong of ['lunch', 'claim:2', 'claim:0', 'claim:', 'claim:x'])
    expect(() => readConfig({ FAILPOINT: wrong })).toThrow('FAILPOINT must be')
})
