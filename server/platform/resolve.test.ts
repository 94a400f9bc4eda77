import { expect, test } from 'vitest'
import { type DnsAnswers, openFakeDns } from '#test/fakes/dns-server.ts'
import { resolveName } from './resolve.ts'

async function ask(answers: DnsAnswers, name: string, { allowPrivateHosts = false, ms = 8_000, atLeast = 0 } = {}): Promise<string[]> {
  await using dns = await openFakeDns(answers)
  return await resolveName(name, allowPrivateHosts, { servers: [`127.0.0.1:${dns.port}`], ms, atLeast })
}

test('the addresses of both families are answered', async () => {
  const records = { A: ['5.5.5.5', '5.5.5.6'], AAAA: ['2a00:1450:4009::6d'] }
  expect(await ask(() => records, 'mail.example')).toEqual([...records.A, ...records.AAAA])
})

test('of a name with a hundred addresses eight are answered', async () => {
  const all = Array.from({ length: 100 }, (_, nth) => `5.5.5.${nth}`)
  expect(await ask(() => ({ A: all }), 'mail.example')).toEqual(all.slice(0, 8))
})

test('a name that is not there is refused with the reason, and one that is not answered in time with another one', async () => {
  await expect(ask(() => undefined, 'mail.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  await expect(ask(() => 'silent', 'mail.example', { ms: 100 })).rejects.toMatchObject({ code: 'ECANCELLED' })
})

test('names of the hosts file are those of this machine', async () => {
  expect(await resolveName('LOCALHOST', false, { servers: ['127.0.0.1:9'], atLeast: 0 })).toContain('127.0.0.1')
})

test('a name that is refused takes as long whether it is not there or in the network of the server', async () => {
  const took = async (answers: DnsAnswers) => {
    const began = performance.now()
    await ask(answers, 'wiki.example', { atLeast: 100 }).catch(() => undefined)
    return performance.now() - began
  }
  // A timer may be a millisecond early.
  for (const answers of [() => undefined, () => ({ A: ['10.0.0.1'] }), () => ({ A: ['5.5.5.5', '10.0.0.1'] })])
    expect(await took(answers)).toBeGreaterThan(98)
})
