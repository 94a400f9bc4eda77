import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createAccount } from '#server/accounts/accounts.ts'
import { openInsight } from '#server/insight/insight.ts'
import { type Database, type OpenDatabase, openEmbedded, openServer } from '#server/platform/database.ts'
import { createDatabase, openCluster } from '#test/postgres.ts'
import { addHistory, analyzed, quantile } from './measure.ts'

/**
 * How long the figures of Insights take to compute, on PostgreSQL and on the embedded database, and on PostgreSQL beside the invoices and emails of
 * other accounts.
 *
 *   npm run bench:insights
 *   npm run bench:insights -- --invoices 10000 --emails 8 --others 1000000
 */
const { values: given } = parseArgs({
  options: {
    invoices: { type: 'string', default: '10000' },
    emails: { type: 'string', default: '8' },
    others: { type: 'string', default: '1000000' },
  },
})
const repeats = 9

async function anOwner(db: Database, name: string): Promise<{ id: string; currency: string; timezone: string }> {
  const about = { displayName: 'Asha Rao', email: `${name}@example.com`, timezone: 'Asia/Kolkata', passwordHash: null }
  return createAccount(db, about, Temporal.Now.instant())
}

/** The median of both calls in ms, with nothing kept from before. */
async function measure(db: Database, owner: Awaited<ReturnType<typeof anOwner>>): Promise<{ read: number; advanced: number }> {
  const now = Temporal.Now.instant()
  const times = { read: [] as number[], advanced: [] as number[] }
  for (let nth = 0; nth < repeats; nth += 1)
    for (const call of ['read', 'advanced'] as const) {
      const insight = openInsight(db)
      const began = performance.now()
      await insight[call](owner, now)
      times[call].push(performance.now() - began)
    }
  return { read: quantile(times.read, 0.5), advanced: quantile(times.advanced, 0.5) }
}

function tell(where: string, { read, advanced }: { read: number; advanced: number }): void {
  process.stdout.write(`${where}: /insights ${read.toFixed(0)} ms, /insights/advanced ${advanced.toFixed(0)} ms\n`)
}

async function own({ db }: OpenDatabase): Promise<Awaited<ReturnType<typeof anOwner>>> {
  const owner = await anOwner(db, 'asha')
  await addHistory(db, owner.id, { invoices: Number(given.invoices), emails: Number(given.emails) })
  await db.execute(analyzed)
  return owner
}

process.stdout.write(`${cpus().length} cores, Node ${process.versions.node}, ${given.invoices} invoices with ${given.emails} emails each\n`)
const cluster = await openCluster()
if (!cluster) throw new Error('There is no PostgreSQL on this machine.')
const server = await openServer(await createDatabase(cluster.url))
try {
  const owner = await own(server)
  const alone = await measure(server.db, owner)
  tell(`PostgreSQL ${cluster.version}`, alone)
  const others = Number(given.others)
  for (let nth = 0; nth < 20; nth += 1)
    await addHistory(server.db, (await anOwner(server.db, `other${nth}`)).id, { invoices: others / 20, emails: 1 })
  await server.db.execute(analyzed)
  const beside = await measure(server.db, owner)
  tell(`beside ${others} of others`, beside)
  process.stdout.write(`ratio ${(beside.read / alone.read).toFixed(2)} and ${(beside.advanced / alone.advanced).toFixed(2)}\n`)
} finally {
  await server.close()
  await cluster.stop()
}
const folder = mkdtempSync(path.join(tmpdir(), 'duely-bench-'))
const embedded = await openEmbedded(folder)
tell('embedded', await measure(embedded.db, await own(embedded)))
await embedded.close()
rmSync(folder, { recursive: true, force: true })
