import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { forMany, onBehalfOf, openTurns, type Turns } from './turns.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Takes turns, notes who has one in `order`, and keeps each for so many ms. */
function use(turns: Turns, order: string[], who: string, ms: number, count = 1): void {
  for (let nth = 0; nth < count; nth += 1)
    void onBehalfOf(who, () => turns.take()).then((giveBack) => {
      order.push(who)
      setTimeout(giveBack, ms)
    })
}

test('of those who wait, the one who used the places for the least time is next', async () => {
  const turns = openTurns({ places: 6 })
  const order: string[] = []
  for (const attacker of ['a', 'b', 'c']) use(turns, order, attacker, 100, 20)
  await vi.advanceTimersByTimeAsync(350)
  order.length = 0

  use(turns, order, 'neighbour', 1, 3)
  await vi.advanceTimersByTimeAsync(60)
  expect(order.slice(0, 3)).toEqual(['neighbour', 'neighbour', 'neighbour'])
})

test('those who use the same take turns', async () => {
  const turns = openTurns({ places: 1 })
  const order: string[] = []
  use(turns, order, 'a', 100, 10)
  use(turns, order, 'b', 100, 10)
  await vi.advanceTimersByTimeAsync(1_950)
  expect(order.slice(0, 10).filter((who) => who === 'b').length).toBe(5)
  expect(order.length).toBe(20)
})

test('one that used much waits longer, but not without end', async () => {
  const turns = openTurns({ places: 1 })
  const order: string[] = []
  use(turns, order, 'busy', 1_000)
  await vi.advanceTimersByTimeAsync(990)
  use(turns, order, 'busy', 10)
  let came = 0
  const arriving = setInterval(() => {
    came += 1
    use(turns, order, `new ${came}`, 10)
  }, 5)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(order.filter((who) => who === 'busy').length).toBe(1)
  await vi.advanceTimersByTimeAsync(10_000)
  clearInterval(arriving)
  expect(order.filter((who) => who === 'busy').length).toBe(2)
})

test('work for many goes first, also where one of them began it', async () => {
  const turns = openTurns({ places: 1 })
  const order: string[] = []
  use(turns, order, 'a', 100, 2)
  use(turns, order, 'b', 100)
  void onBehalfOf('a', () => forMany(() => turns.take())).then(() => order.push('many'))
  await vi.advanceTimersByTimeAsync(100)
  expect(order).toEqual(['a', 'many'])
})

test('a place that is returned twice is one place, and use is forgotten', async () => {
  const turns = openTurns({ places: 1 })
  const order: string[] = []
  const giveBack = await onBehalfOf('a', () => turns.take())
  await vi.advanceTimersByTimeAsync(500)
  use(turns, order, 'b', 1_000, 2)
  giveBack()
  giveBack()
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(['b'])
  // The half second of `a` is halved twenty times.
  for (let turn = 0; turn < 20; turn += 1) {
    await vi.advanceTimersByTimeAsync(30_000)
    use(turns, order, 'c', 1)
  }
  await vi.advanceTimersByTimeAsync(1_000)
  order.length = 0
  use(turns, order, 'd', 5)
  use(turns, order, 'a', 5)
  use(turns, order, 'e', 5)
  await vi.advanceTimersByTimeAsync(100)
  expect(order).toEqual(['d', 'a', 'e'])
})

test('gives up after its patience, and the place stays for others', async () => {
  const turns = openTurns({ places: 1, patienceMs: 8_000 })
  const giveBack = await turns.take()
  const refused = expect(turns.take()).rejects.toThrow('No turn within 8000 ms.')
  await vi.advanceTimersByTimeAsync(8_000)
  await refused
  giveBack()
  expect(await turns.take()).toBeTypeOf('function')
})

test('an account holds at most half of the places, so that another gets one immediately', async () => {
  const turns = openTurns({ places: 4 })
  const order: string[] = []
  use(turns, order, 'busy', 1_000, 10)
  use(turns, order, 'other', 10)
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(['busy', 'busy', 'other'])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(order.length).toBe(11)
})
