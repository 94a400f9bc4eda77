import { expect, test } from 'vitest'
import { readConfig } from '#server/config.ts'

test('FAILPOINT names a step and a probability', () => {
  expect(readConfig({ FAILPOINT: 'after-250' }).failPoint).toEqual({ name: 'after-250', chance: 1 })
  expect(readConfig({ FAILPOINT: 'claim:0.25' }).failPoint).toEqual({ name: 'claim', chance: 0.25 })
  expect(readConfig({}).failPoint).toBe(null)
})

test('FAILPOINT is refused in production', () => {
  expect(() => readConfig({ FAILPOINT: 'after-250', NODE_ENV: 'production' })).toThrow('FAILPOINT')
})

test('an unknown step or an invalid probability stops the start', () => {
  for (const wrong of ['lunch', 'claim:2', 'claim:0', 'claim:', 'claim:x'])
    expect(() => readConfig({ FAILPOINT: wrong })).toThrow('FAILPOINT must be')
})
