import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openFairScheduler } from './fair-scheduler.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

type Scheduler = ReturnType<typeof openFairScheduler>

/** Work of an account, and its state after everything that could start has started. */
function start(scheduler: Scheduler, ownerId: string, server?: string) {
  const work = { running: false, crowdedOut: false, end: () => undefined as void }
  const onCrowdedOut = () => {
    work.crowdedOut = true
    work.end()
  }
  void scheduler
    .open(ownerId)
    .acquire(server === undefined ? {} : { server })
    .then(({ begin, release }) => {
      work.running = true
      begin(onCrowdedOut)
      work.end = () => {
        work.running = false
        release()
      }
    })
  return work
}
const settled = () => vi.advanceTimersByTimeAsync(0)
const runningOf = (works: { running: boolean }[]) => works.filter(({ running }) => running).length

test('the account that has held slots for the least time is next, not the one that waits longest', async () => {
  const scheduler = openFairScheduler({ slots: 2 })
  const busy = Array.from({ length: 6 }, () => start(scheduler, 'busy'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runningOf(busy)).toBe(2)
  const other = start(scheduler, 'other')
  busy[0]?.end()
  await settled()
  expect([other.running, runningOf(busy)]).toEqual([true, 1])
})

test('an account has at most its share at a time, and others use the rest', async () => {
  const scheduler = openFairScheduler({ slots: 10, each: 3 })
  const one = Array.from({ length: 8 }, () => start(scheduler, 'one'))
  const other = Array.from({ length: 2 }, () => start(scheduler, 'other'))
  await settled()
  expect([runningOf(one), runningOf(other)]).toEqual([3, 2])
  one[0]?.end()
  await settled()
  expect(runningOf(one)).toBe(3)
})

test('slow work has at most its share: the rest is crowded out and waits for it', async () => {
  const scheduler = openFairScheduler({ slots: 8, slow: { afterMs: 2_000, slots: 2 } })
  const slow = Array.from({ length: 8 }, (_none, nth) => start(scheduler, `slow ${nth}`))
  await settled()
  expect(runningOf(slow)).toBe(8)
  await vi.advanceTimersByTimeAsync(2_000)
  expect([runningOf(slow), slow.filter(({ crowdedOut }) => crowdedOut).length]).toEqual([2, 6])

  const again = Array.from({ length: 8 }, (_none, nth) => start(scheduler, `slow ${nth}`))
  const quick = Array.from({ length: 6 }, (_none, nth) => start(scheduler, `quick ${nth}`))
  await settled()
  expect([runningOf(again), runningOf(quick)]).toEqual([0, 6])
  quick[0]?.end()
  await settled()
  expect(runningOf(again)).toBe(0)
  slow.find(({ running }) => running)?.end()
  await settled()
  expect(runningOf(again)).toBe(1)
  // Once among the slow work it may take its time.
  await vi.advanceTimersByTimeAsync(60_000)
  expect([runningOf(again), again.filter(({ crowdedOut }) => crowdedOut).length]).toEqual([1, 0])
})

test('a server that is quick stays so beside a slow one of its account; a new one counts as slow until it was quick', async () => {
  const scheduler = openFairScheduler({ slots: 8, slow: { afterMs: 2_000, slots: 1 } })
  const quick = start(scheduler, 'one', 'quick')
  await settled()
  quick.end()
  const slow = start(scheduler, 'one', 'slow')
  await vi.advanceTimersByTimeAsync(2_000)
  const [again, fresh] = [start(scheduler, 'one', 'quick'), start(scheduler, 'one', 'fresh')]
  await settled()
  expect([again.running, fresh.running]).toEqual([true, false])
  slow.end()
  await settled()
  expect(fresh.running).toBe(true)
  fresh.end()
  start(scheduler, 'one', 'slow')
  const later = start(scheduler, 'one', 'fresh')
  await settled()
  expect(later.running).toBe(true)
})

test('work that has ended does not become slow while its slot is kept', async () => {
  const scheduler = openFairScheduler({ slots: 8, slow: { afterMs: 2_000, slots: 1 } })
  const kept = await scheduler.open('one').acquire()
  kept.begin()
  await vi.advanceTimersByTimeAsync(1_000)
  kept.end()
  await vi.advanceTimersByTimeAsync(60_000)
  const slow = start(scheduler, 'two')
  await vi.advanceTimersByTimeAsync(2_000)
  const [again, other] = [start(scheduler, 'one'), start(scheduler, 'two')]
  await settled()
  expect([slow.crowdedOut, again.running, other.running]).toEqual([false, true, false])
})

test('a caller that gives up waiting takes no slot', async () => {
  const scheduler = openFairScheduler({ slots: 1 })
  const first = start(scheduler, 'one')
  const impatient = new AbortController()
  const given = scheduler.open('two').acquire({ until: impatient.signal })
  const third = start(scheduler, 'three')
  await settled()
  impatient.abort(new Error('Enough.'))
  await expect(given).rejects.toThrow('Enough.')
  first.end()
  await settled()
  expect(third.running).toBe(true)
})

test('work that must be alone starts once all other has ended, and meanwhile no other starts, but neither for more than 2 s', async () => {
  const scheduler = openFairScheduler({ slots: 3 })
  const first = start(scheduler, 'other')
  await vi.advanceTimersByTimeAsync(10)
  const alone = startAlone(scheduler)
  const later = start(scheduler, 'other')
  await settled()
  expect([alone.running, later.running]).toEqual([false, false])
  first.end()
  await settled()
  expect([alone.running, later.running]).toEqual([true, false])
  await vi.advanceTimersByTimeAsync(2_000)
  expect([alone.running, later.running]).toEqual([true, true])
  const second = startAlone(scheduler)
  await vi.advanceTimersByTimeAsync(1_990)
  expect(second.running).toBe(false)
  await vi.advanceTimersByTimeAsync(10)
  expect(second.running).toBe(true)
})

function startAlone(scheduler: Scheduler): { running: boolean } {
  const work = { running: false }
  void scheduler
    .open('suspect')
    .acquire({ alone: true })
    .then(() => {
      work.running = true
    })
  return work
}
