import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { readySequences } from '#contract/ready-sequences.ts'
import { sequenceDraft } from '#contract/sequences.ts'
import { createAccount, selectAccounts } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { readConfig } from '#server/config.ts'
import { sequences } from '#server/invoices/tables.ts'
import { storeSmtp } from '#server/mail/mail.ts'
import type { Account } from '#server/platform/answer.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, openEmbedded, openServer, rows } from '#server/platform/database.ts'
import { previewReminders } from '#server/reminders/reminders.ts'
import { readPlan, simulate } from '#server/reminders/simulate.ts'
import { sequenceSteps, stepTexts } from '#server/reminders/tables.ts'
import { createDatabase, openCluster } from '#test/postgres.ts'
import { addHistory, analyzed, counting, quantile, secretKey, statementsAt } from './measure.ts'

/**
 * What it costs to plan 30 days of an account with very many invoices, with smart reminders and without: how long it takes, how long no other call has
 * its turn, the memory, and the statements.
 *
 *   npm run bench:plan
 *   npm run bench:plan -- --invoices 10000
 */
const { values: given } = parseArgs({ options: { invoices: { type: 'string', default: '10000' } } })
const open = Number(given.invoices)
const repeats = 5
const config = readConfig({ SECRET_KEY: secretKey })

const [ready] = readySequences
const draft = sequenceDraft.parse(ready)

/** Four of five invoices of the history are paid, and learned from; the others follow 'Friendly to final'. */
async function anOwner(db: Database): Promise<{ account: Account; sequenceId: string; invoice: string }> {
  const now = Temporal.Now.instant()
  const about = { displayName: 'Asha Rao', email: 'asha@example.com', timezone: 'Asia/Kolkata', passwordHash: null, emailVerifiedAt: now }
  const { id, person } = await createAccount(db, about, now)
  await storeSmtp(db, secretKey, id, { host: '127.0.0.1', port: 2525, secure: true, user: 'asha@example.com', pass: 'not used' }, now)
  await addHistory(db, id, { invoices: open * 5, emails: 0 })
  await db.execute(
    sql`UPDATE invoices SET due_date = current_date - 20 + (amount_minor % 40)::int WHERE owner_id = ${id}::uuid AND status <> 'paid'`,
  )
  await db.execute(analyzed)
  const { name, everyDays, atMost, atLeast, steps } = draft
  const sequenceId = newId()
  await db.insert(sequences).values({ id: sequenceId, ownerId: id, name, everyDays, atMost, atLeast, createdAt: now, updatedAt: now })
  for (const { offset, tone, copyToMe, copyToSecondContact, ...texts } of steps) {
    await db.insert(sequenceSteps).values({ ownerId: id, sequenceId, offset, tone, copyToMe, copyToSecondContact })
    await db.insert(stepTexts).values({ ownerId: id, sequenceId, offset, language: 'en', ...texts })
  }
  const follows = { follows: 'own' as const, sequenceId, plansSteps: true }
  await db
    .update(accounts)
    .set({ remindersActive: true, nextRunAt: now.add({ hours: 1 }), ...follows })
    .where(eq(accounts.id, id))
  const [found] = await selectAccounts(db).where(eq(accounts.id, id))
  const account = found && { ...found, person }
  const [last] = await rows(
    db,
    z.object({ id: z.string() }),
    sql`SELECT id FROM invoices WHERE owner_id = ${id}::uuid AND status <> 'paid' ORDER BY due_date DESC, id LIMIT 1`,
  )
  if (!account || !last) throw new Error('There is no account with invoices.')
  return { account, sequenceId, invoice: last.id }
}

const line = (cells: (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`)

async function measure(place: string, db: Database, statements: () => Promise<number>): Promise<void> {
  const { account, sequenceId, invoice } = await anOwner(db)
  const changed = { ...draft, _id: sequenceId, steps: draft.steps.map((step) => ({ ...step, offset: step.offset + 2 })) }
  for (const smart of [false, true]) {
    const reading = { db, config, now: Temporal.Now.instant(), account: { ...account, smart } }
    const calls: Record<string, () => Promise<unknown>> = {
      'POST /reminder/simulate': () => simulate(reading, { sequences: [changed], days: 30 }),
      'GET /reminder/plan': () => readPlan(reading, { days: 30 }),
      'of one invoice': () => readPlan(reading, { days: 30, invoice }),
      'GET /reminder/preview': () => previewReminders(reading, reading.account, reading.now),
    }
    for (const [name, call] of Object.entries(calls)) {
      await call()
      const times: number[] = []
      const delay = monitorEventLoopDelay({ resolution: 1 })
      const before = await statements()
      let most = 0
      const watching = setInterval(() => {
        most = Math.max(most, process.memoryUsage().heapUsed)
      }, 5)
      globalThis.gc?.()
      const kept = process.memoryUsage().heapUsed
      delay.enable()
      for (let nth = 0; nth < repeats; nth += 1) {
        const began = performance.now()
        await call()
        times.push(performance.now() - began)
      }
      delay.disable()
      clearInterval(watching)
      const asked = ((await statements()) - before) / repeats
      const mb = (bytes: number) => `${Math.round(Math.max(0, bytes) / 1_048_576)} MB`
      line([
        place,
        name,
        smart ? 'on' : 'off',
        `${quantile(times, 0.5).toFixed(0)} ms`,
        `${(delay.max / 1e6).toFixed(0)} ms`,
        mb(most - kept),
        asked || '',
      ])
    }
  }
}

process.stdout.write(`${cpus().length} cores, Node ${process.versions.node}, ${open} open invoices of ${open * 5}\n`)
line(['database', 'call', 'smart', 'takes', 'no turn for others', 'memory', 'statements'])
const cluster = await openCluster({ settings: [counting] })
if (!cluster) throw new Error('There is no PostgreSQL on this machine.')
const url = await createDatabase(cluster.url)
const server = await openServer(url)
await measure('PostgreSQL', server.db, () => statementsAt(url))
await server.close()
await cluster.stop()
const folder = mkdtempSync(path.join(tmpdir(), 'duely-bench-'))
const embedded = await openEmbedded(folder)
await measure('embedded', embedded.db, async () => 0)
await embedded.close()
rmSync(folder, { recursive: true, force: true })
