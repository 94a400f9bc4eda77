import { inject } from 'vitest'
import { openFakeDns } from '#test/fakes/dns-server.ts'
import type { Trial } from '#test/faults/row.ts'

/** What a name resolves to at the nth query, counted from 1 per name and family. */
type Answers = (name: string, nth: number) => { v4?: string[]; v6?: string[] } | undefined

/** A DNS server on port 53 of this machine; answers false where programs would not ask it. */
export async function openDnsServer({ stack }: Trial, answers: Answers): Promise<boolean> {
  if (!inject('publicAddress')) return false
  const opened = await openFakeDns((name, nth) => {
    const found = answers(name, nth)
    return found && { A: found.v4 ?? [], AAAA: found.v6 ?? [] }
  }, 53).catch(() => null)
  if (opened) stack.use(opened)
  return opened !== null
}
