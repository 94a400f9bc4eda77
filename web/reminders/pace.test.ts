import { expect, test } from 'vitest'
import { paceOf, type Sample, withSample } from './pace.ts'
import { texts } from './texts.ts'

test('the pace is that of the last seconds, not of the whole run', () => {
  let samples: Sample[] = []
  for (let second = 0; second <= 100; second += 1) {
    const done = second <= 50 ? second * 10 : 500 + (second - 50)
    samples = withSample(samples, { at: second * 1000, done })
  }
  expect(paceOf(samples, 100_000)).toBeCloseTo(1)
  expect(samples.length).toBeLessThan(30)
})

test('no pace is told from a single look, nor while nothing moves', () => {
  expect(paceOf([], 0)).toBeNull()
  expect(paceOf([{ at: 0, done: 3 }], 10_000)).toBeNull()
  expect(
    paceOf(
      [
        { at: 0, done: 0 },
        { at: 700, done: 5 },
      ],
      1_000,
    ),
  ).toBeNull()
})

test('pace and time left are told in round numbers', () => {
  expect(texts.run.pace(12.4)).toBe('12 a second')
  expect(texts.run.pace(0.5)).toBe('30 a minute')
  expect(texts.run.left(42)).toBe('less than a minute left')
  expect(texts.run.left(61)).toBe('about 2 minutes left')
  expect(texts.run.left(3_500)).toBe('about 1 hour left')
  expect(texts.run.left(10_000)).toBe('about 3 hours left')
})
