import { inject } from 'vitest'
import { type FakeDns, openFakeDns } from '#test/fakes/dns-server.ts'
import type { Trial } from '#test/faults/row.ts'

/** What a name resolves to at the nth query, counted from 1 per name and family; `silent`: it is never answered. */
type Answers = (name: string, nth: number) => { v4?: string[]; v6?: string[] } | 'silent' | undefined

/** A DNS server on port 53 of this machine; answers null where programs would not ask it. */
export async function openDnsServer({ stack }: Trial, answers: Answers): Promise<FakeDns | null> {
  if (!inject('publicAddress')) return null
  const opened = await openFakeDns((name, nth) => {
    const found = answers(name, nth)
    return found === 'silent' ? found : found && { A: found.v4 ?? [], AAAA: found.v6 ?? [] }
  }, 53).catch(() => null)
  return opened && stack.use(opened)
}
