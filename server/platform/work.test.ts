import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { asWork, cpuMs, measureWork, ownWork } from './work.ts'

function compute(ms: number): void {
  const until = cpuMs() + ms
  while (cpuMs() < until) Math.random()
}

test('a call is charged for its own stretches: not for waiting, nor for what others do meanwhile', async () => {
  const [end, start] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const measured = (stretches: number, ms: number) =>
    asWork(async () => {
      await start.promise
      const done = measureWork()
      for (let nth = 0; nth < stretches; nth += 1) {
        await (nth % 2 === 0 ? setImmediate() : pause(1))
        compute(ms)
      }
      await end.promise
      done()
      return ownWork().ms
    })
  const other = async () => {
    await start.promise
    for (let nth = 0; nth < 20; nth += 1) {
      await setImmediate()
      compute(5)
    }
  }
  const [long, short] = [measured(10, 8), measured(5, 2)]
  const others = [other(), asWork(other)]
  start.resolve(undefined)
  await Promise.all(others)
  await pause(100)
  end.resolve(undefined)
  const [ofLong, ofShort] = await Promise.all([long, short])
  // Half of what the others computed beside them.
  expect([ofLong >= 80, ofLong < 180, ofShort >= 10, ofShort < 110]).toEqual([true, true, true, true])
})

test('what is not measured costs nothing, and an end counts once', async () => {
  await asWork(async () => {
    compute(5)
    expect(ownWork().ms).toBe(0)
    const first = measureWork()
    const second = measureWork()
    first()
    first()
    await setImmediate()
    compute(5)
    second()
    await setImmediate()
    const { ms } = ownWork()
    compute(5)
    await setImmediate()
    expect(ms).toBeGreaterThanOrEqual(5)
    expect(ownWork().ms).toBe(ms)
  })
})
