import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DueItem, layOutDueLine } from './due-line-layout.ts'

const anItem = fc.record({
  id: fc.uuid(),
  name: fc.string(),
  amount: fc.integer({ min: 1, max: 999_999_999_999 }),
  daysLate: fc.integer({ min: -4000, max: 4000 }),
})
const items = (max: number) =>
  fc
    .uniqueArray(anItem, { maxLength: max, selector: ({ id }) => id })
    .map((list): DueItem[] => list.map((item) => ({ ...item, late: item.daysLate > 0 })))
const widths = fc.integer({ min: 280, max: 1200 })

test('every open invoice is on the due line exactly once', () => {
  fc.assert(
    fc.property(items(300), widths, (list, width) => {
      const drawn = layOutDueLine(list, width).dots.flatMap((dot) => dot.items.map(({ id }) => id))
      expect(drawn.toSorted()).toEqual(list.map(({ id }) => id).toSorted())
    }),
  )
})

test('overdue invoices are right of today, others left, all inside the frame', () => {
  fc.assert(
    fc.property(items(200), widths, (list, width) => {
      const { dots, todayX } = layOutDueLine(list, width)
      for (const { x, radius, items: together } of dots) {
        for (const { daysLate } of together) expect(daysLate > 0 ? x > todayX : x < todayX).toBe(true)
        expect(x - radius).toBeGreaterThanOrEqual(0)
        expect(x + radius).toBeLessThanOrEqual(width)
      }
    }),
  )
})

test('many invoices become few dots that do not overlap and add up', () => {
  const crowd: DueItem[] = Array.from({ length: 1000 }, (_, index) => {
    const daysLate = ((index * 7919) % 140) - 70
    return { id: String(index), name: 'Kaveri Foods', amount: 100 + index, daysLate, late: daysLate > 0 }
  })
  const { dots } = layOutDueLine(crowd, 1000)
  expect(dots.length).toBeLessThan(40)
  expect(dots.reduce((total, { amount }) => total + amount, 0)).toBe(crowd.reduce((total, { amount }) => total + amount, 0))
  for (const [index, dot] of dots.entries()) {
    const next = dots[index + 1]
    if (next) expect(next.x - next.radius).toBeGreaterThanOrEqual(dot.x + dot.radius)
  }
})

test('the area of a dot is its amount', () => {
  const two = [
    { id: 'a', name: 'A', amount: 40_000, daysLate: 3, late: true },
    { id: 'b', name: 'B', amount: 10_000, daysLate: -9, late: false },
  ]
  const { dots } = layOutDueLine(two, 900)
  const [small, large] = dots.map(({ radius }) => radius)
  expect((large ?? 0) / (small ?? 1)).toBeCloseTo(2)
})

test('a group dot is large enough for its number', () => {
  fc.assert(
    fc.property(items(99), widths, (list, width) => {
      for (const { items: together, radius } of layOutDueLine(list, width).dots)
        if (together.length > 1) expect(radius).toBeGreaterThanOrEqual(together.length > 9 ? 12 : 9)
    }),
  )
})

test('no dot covers another, the word today or the toggle', () => {
  fc.assert(
    fc.property(items(60), widths, (list, width) => {
      const { dots, todayX } = layOutDueLine(list, width)
      for (const [index, one] of dots.entries()) {
        for (const other of dots.slice(index + 1))
          expect(Math.hypot(one.x - other.x, one.y - other.y)).toBeGreaterThanOrEqual(one.radius + other.radius)
        const top = one.y - one.radius
        if (one.x + one.radius > width - 36) expect(top).toBeGreaterThanOrEqual(36)
        if (one.x > todayX && one.x - one.radius < todayX + 46) expect(top).toBeGreaterThanOrEqual(28)
      }
    }),
  )
})

test('nine equal invoices of one day are one dot labelled 9', () => {
  const nine: DueItem[] = Array.from({ length: 9 }, (_, index) => ({
    id: String(index),
    name: 'Nila Printers',
    amount: 2_230_000,
    daysLate: 324,
    late: true,
  }))
  for (const width of [324, 900]) expect(layOutDueLine(nine, width).dots.map(({ items: together }) => together.length)).toEqual([9])
})
