// Also on PostgreSQL: two processes share one database.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import type { Run } from '#contract/reminders.ts'
import { type FakeSmtp, openFakeSmtp, type ReceivedMail } from '#test/fakes/smtp-server.ts'
import { createDatabase, query } from './postgres.ts'
import { type Program, someoneAt, startProgram } from './program.ts'
import { thorough, times } from './thorough.ts'

/** More for a thorough run: CRASH_MAILS=2000. */
const mails = Number(process.env.CRASH_MAILS ?? times(120, 300))
const inFlight = 8
/** Of each of four accounts, and of one that is drained. */
const [each, drained] = [times(20, 60), times(50, 100)]
const server = inject('postgresUrl')
/** One process that dies is the same on both databases: on a server it takes a minute, and only `npm run test:full` spends it. */
const alone = test.skipIf(server && !thorough)

// In `npm test` the simulation kills such a program, and row 129 two of them.
test.runIf(thorough)(
  `a run of ${mails} that is killed three times loses nothing, and repeats at most what was in flight, byte for byte`,
  async () => {
    await using smtp = await openFakeSmtp({ delayMs: 2 })
    await using place = await aPlace()
    const kills = 3
    let program = await startProgram(place.env)
    try {
      const asha = await someoneWhoIsOwed(program, smtp, 'asha@example.com', mails)
      void asha.send('POST', '/reminder/start').catch(() => undefined)
      for (let kill = 1; kill <= kills; kill += 1) {
        await smtp.received(Math.floor((mails * kill) / (kills + 1)))
        await program.end('SIGKILL')
        program = await startProgram(place.env)
      }
      const run = await finishedRun(program, 'asha@example.com')
      expect(run).toMatchObject({ kind: 'start', total: mails, sent: mails, failed: 0, open: 0 })
    } finally {
      await program.end('SIGKILL')
    }
    const sent = byRecipient(smtp.mails)
    expect(sent.size).toBe(mails)
    const repeated = [...sent.values()].filter((same) => same.length > 1)
    expect(smtp.mails.length - mails).toBeLessThanOrEqual(kills * inFlight)
    for (const same of repeated) {
      expect(new Set(same.map(({ messageId }) => messageId)).size).toBe(1)
      expect(same.every(({ raw }) => raw.equals(same[0]?.raw ?? Buffer.alloc(0)))).toBe(true)
    }
  },
  600_000,
)

alone('a run that is drained by SIGTERM loses nothing and repeats nothing', async () => {
  await using smtp = await openFakeSmtp({ delayMs: 5 })
  await using place = await aPlace()
  let program = await startProgram(place.env)
  try {
    const asha = await someoneWhoIsOwed(program, smtp, 'asha@example.com', drained)
    void asha.send('POST', '/reminder/start').catch(() => undefined)
    await smtp.received(15)
    expect(await program.end('SIGTERM')).toBe(0)
    const atEnd = smtp.mails.length
    expect(atEnd).toBeLessThan(drained)
    program = await startProgram(place.env)
    expect(await finishedRun(program, 'asha@example.com')).toMatchObject({ total: drained, sent: drained })
  } finally {
    await program.end('SIGKILL')
  }
  expect(smtp.mails.length).toBe(drained)
})

test.runIf(server)(
  'two processes on one Postgres send each reminder once',
  async () => {
    await using smtp = await openFakeSmtp({ delayMs: 2 })
    await using place = await aPlace()
    await using one = await startProgram(place.env)
    await using two = await startProgram({ ...place.env, ROLE: 'worker' })
    const people = ['asha', 'ravi', 'meera', 'kiran'].map((name) => `${name}@example.com`)
    const owed = await Promise.all(people.map((email) => someoneWhoIsOwed(one, smtp, email, each)))
    await Promise.all(owed.flatMap((someone) => [someone.send('POST', '/reminder/start'), someone.send('POST', '/reminder/start')]))
    for (const email of people) expect((await finishedRun(one, email)).open).toBe(0)
    expect(two.output()).not.toMatch(/"level":50/)
    expect(smtp.mails.length).toBe(4 * each)
    expect(byRecipient(smtp.mails).size).toBe(4 * each)
  },
  240_000,
)

/** An account with a mailbox on this server and one invoice each to many clients, ten days past due. */
async function someoneWhoIsOwed(program: Program, smtp: FakeSmtp, email: string, count: number) {
  const someone = await someoneAt(program.url, email)
  await someone.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  const dueDate = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 10 }).toString()
  const [name] = email.split('@')
  const lines = Array.from({ length: count }, (_none, nth) => ({
    clientName: `Client ${nth}`,
    clientEmail: `${name}.client${nth}@example.com`,
    amount: 100 + nth,
    dueDate,
  }))
  await someone.send('POST', '/invoices/import', { lines })
  return someone
}

/** The newest run with emails, once none of them is open. */
async function finishedRun(program: Program, email: string): Promise<Run> {
  const someone = await someoneAt(program.url, email)
  for (;;) {
    const runs = (await someone.send('GET', '/reminder/runs')) as Run[]
    const run = runs.find(({ kind, total, skipped }) => kind === 'start' && total > skipped)
    if (run?.finishedAt) return run
    await pause(200)
  }
}

function byRecipient(received: ReceivedMail[]): Map<string, ReceivedMail[]> {
  return Map.groupBy(received, ({ envelope }) => envelope.to[0] ?? '')
}

/** A data folder, or a database of its own if a server is given. */
async function aPlace(): Promise<AsyncDisposable & { env: Record<string, string> }> {
  if (!server) {
    const folder = await mkdtemp(path.join(tmpdir(), 'duely-'))
    return { env: { DATA_DIR: folder }, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
  }
  const url = await createDatabase(server)
  return {
    env: { DATABASE_URL: url, SECRET_KEY: 'a secret key for tests, 32 characters' },
    [Symbol.asyncDispose]: async () => void (await query(server, `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`)),
  }
}
