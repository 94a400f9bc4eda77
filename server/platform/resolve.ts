import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { isSpecialAddress } from './host.ts'

/** Every address of a name. Rejects where there is none. `allowPrivateHosts`: also names that only this machine or its network knows. */
export type Resolve = (name: string, allowPrivateHosts: boolean) => Promise<string[]>

const hostsFile = process.platform === 'win32' ? String.raw`C:\Windows\System32\drivers\etc\hosts` : '/etc/hosts'
/** Milliseconds until a name server is asked again, and until a name counts as not answered. */
const [askedAgainAfter, patience] = [2_500, 8_000]
/** Milliseconds of a look-up that is refused, at least: a name that this machine or its network knows is answered sooner than others. */
const refusedAfter = 500
/** Of each family: a name with hundreds of addresses must not have this machine call each of them. */
const mostAddresses = 8
/** The answers of name servers that are surely none; others are no answers. */
const notThere = new Set(['ENODATA', 'ENOTFOUND', 'EBADNAME'])

/**
 * Asks the name servers of this machine itself, unless its hosts file has the name: the system's own look-up takes one of a few threads of this
 * process for as long as a name server is silent, so that people's names could keep those of all others waiting. `servers`, `ms` and `atLeast` are for tests.
 */
export const resolveName = async (
  name: string,
  allowPrivateHosts: boolean,
  { servers = [], ms = patience, atLeast = refusedAfter }: { servers?: string[]; ms?: number; atLeast?: number } = {},
): Promise<string[]> => {
  const over = pause(atLeast)
  const found = await lookUp(name, allowPrivateHosts, { servers, ms }).catch((error: unknown) => ({ error }))
  const isRefused = 'error' in found || found.some(isSpecialAddress)
  if (isRefused && !allowPrivateHosts) await over
  if ('error' in found) throw found.error
  return found
}

async function lookUp(name: string, allowPrivateHosts: boolean, { servers, ms }: { servers: string[]; ms: number }): Promise<string[]> {
  if (await isInHostsFile(name)) return askSystem(name)
  const resolver = new Resolver({ timeout: askedAgainAfter, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  // What is still asked for then is rejected with ECANCELLED.
  const over = setTimeout(() => resolver.cancel(), ms)
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  clearTimeout(over)
  const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value.slice(0, mostAddresses) : []))
  if (addresses.length > 0) return addresses
  const reasons = found.flatMap((one): NodeJS.ErrnoException[] => (one.status === 'rejected' ? [one.reason] : []))
  const unanswered = reasons.find(({ code }) => !notThere.has(code ?? ''))
  // A search domain, or a network without name servers, may know it.
  if (allowPrivateHosts && !unanswered) return askSystem(name)
  throw unanswered ?? reasons[0] ?? new Error('A name server answered no address.')
}

async function askSystem(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

async function isInHostsFile(name: string): Promise<boolean> {
  const text = await readFile(hostsFile, 'utf8').catch(() => '')
  const namesOf = (line: string) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/).slice(1)
  return text.split('\n').some((line) => namesOf(line).includes(name.toLowerCase()))
}
