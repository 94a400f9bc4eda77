import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type ConnectPass, openHosts } from './hosts.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const passOf = async (entering: ReturnType<ReturnType<typeof openHosts>['enter']>): Promise<ConnectPass> => {
  const entry = await entering
  if (!('pass' in entry)) throw new Error(`No pass: ${JSON.stringify(entry)}`)
  return entry.pass
}

test('a host that fails three times in a row is asked by one mailbox at a time: at most ten tries in the first minute', async () => {
  const up: string[] = []
  const hosts = openHosts((host) => up.push(host))
  let [tries, refused] = [0, 0]
  const mailbox = async () => {
    const entry = await hosts.enter('mail.example.com')
    if (!('pass' in entry)) {
      refused += 1
      return
    }
    tries += 1
    setTimeout(() => entry.pass.failed('No answer.'), 10)
  }
  for (let second = 0; second < 60; second += 1) {
    for (let nth = 0; nth < 100; nth += 1) void mailbox()
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect([tries <= 10, tries + refused]).toEqual([true, 6_000])
  expect(await hosts.enter('mail.example.com')).toEqual({ down: 'No answer.' })

  expect('pass' in (await hosts.enter('other.example.com'))).toBe(true)
  await vi.advanceTimersByTimeAsync(15_000)
  ;(await passOf(hosts.enter('mail.example.com'))).connected()
  expect(up).toEqual(['mail.example.com'])
  expect('pass' in (await hosts.enter('mail.example.com'))).toBe(true)
})

test('an unknown host gets five connections first, and one more for each that is ready', async () => {
  const hosts = openHosts(() => undefined)
  const passes: ConnectPass[] = []
  for (let nth = 0; nth < 20; nth += 1) void passOf(hosts.enter('mail.example.com')).then((pass) => passes.push(pass))
  await vi.advanceTimersByTimeAsync(0)
  expect(passes.length).toBe(5)
  for (const pass of passes.slice()) pass.connected()
  await vi.advanceTimersByTimeAsync(0)
  expect(passes.length).toBe(15)
})

test('when the process stops, waiting for a host ends', async () => {
  const hosts = openHosts(() => undefined)
  for (let nth = 0; nth < 5; nth += 1) await hosts.enter('mail.example.com')
  const waiting = hosts.enter('mail.example.com')
  hosts.close()
  expect(await waiting).toEqual({ busy: true })
})
