import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { type Cluster, makeTemplate, openCluster } from '#test/postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL server that rows share; null where this machine has none. */
    postgres: Pick<Cluster, 'url' | 'bin'> | null
    /** An address of this machine that counts as public; null outside a network namespace of our own. */
    publicAddress: string | null
  }
}

const publicAddress = '5.5.5.5'
/** Private and special addresses: a connection to one of them must reach this machine, so that it is noticed. */
const specialAddresses = [
  '10.0.0.1/32',
  '100.64.0.1/32',
  '169.254.169.254/32',
  '172.16.0.1/32',
  '192.168.0.1/32',
  '198.18.0.1/32',
  'fd00::1/128',
  'fe80::99/128',
]

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await openCluster({ durable: true })
  if (cluster) await makeTemplate(cluster.url)
  project.provide('postgres', cluster && { url: cluster.url, bin: cluster.bin })
  const isolated = process.env.RELIABILITY_NETWORK === 'isolated'
  if (isolated) furnishNetwork()
  project.provide('publicAddress', isolated ? publicAddress : null)
  return async () => cluster?.stop()
}

/** Names resolve on this machine, which also has the addresses above. Only loopback is there, so no other machine can have them. */
function furnishNetwork(): void {
  for (const address of [`${publicAddress}/32`, ...specialAddresses])
    spawnSync('ip', ['addr', 'replace', address, 'dev', 'lo'], { stdio: 'ignore' })
  const own = path.join(mkdtempSync(path.join(tmpdir(), 'duely-resolver-')), 'resolv.conf')
  writeFileSync(own, 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n')
  spawnSync('mount', ['--bind', own, '/etc/resolv.conf'], { stdio: 'ignore' })
}
