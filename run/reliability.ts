import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { BaseSequencer, type Reporter, startVitest, type TestCase, type TestSpecification } from 'vitest/node'
import { findFakeTime } from '#test/faults/fake-clock.ts'
import { findHaproxy, findPgBouncer, findProgram, installPackage } from '#test/machine.ts'
import { findInitdb } from '#test/postgres.ts'
import { findMailServers } from '#test/real-mail/packages.ts'

/*
 * npm run chaos and npm run attack: the tests in test/faults/ and test/attacks/, one for each row of docs/reliability.md.
 */
const page = path.join(import.meta.dirname, '../docs/reliability.md')
const parts = {
  faults: {
    title: 'Faults',
    command: 'chaos',
    kind: 'fault',
    does: 'Crashes, stops, freezes and misleads the real program and counts the emails.',
    remarks: `Every email was counted. "Repeated" emails left a second time because the program crashed between the mail server's "accepted" and the
record of it: the same bytes under the same Message-ID, which no order of these two steps can avoid.`,
  },
  attacks: {
    title: 'Attacks',
    command: 'attack',
    kind: 'attack',
    does: 'Attacks the real program with an account, a mail server, a name server or a website of the attacker.',
    remarks: `The calls are those of the contract, so a new call is attacked from its first day. "Refused" is counted by status and code, not by text.
The network namespace has only loopback, with addresses that count as public, private and special.`,
  },
}

const { values: asked, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    seed: { type: 'string' },
    short: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const part = positionals[0] === 'attacks' ? 'attacks' : 'faults'
const { title, command, kind, does, remarks } = parts[part]
const seed = asked.seed ?? String(Math.floor(Math.random() * 1_000_000))

/** Only a row of the whole selection needs these. */
const forAvailability = { patroni: () => findProgram(['patroni']), 'etcd-server': () => findProgram(['etcd']), haproxy: findHaproxy }

/** In a network namespace with nothing but loopback, where this machine allows one: no packet can leave it, and any address can be ours. */
async function runIsolated(): Promise<void> {
  // Nothing can be installed once there is no network.
  const needed = { postgresql: findInitdb, libfaketime: findFakeTime, pgbouncer: findPgBouncer, ...(asked.short ? {} : forAvailability) }
  for (const [name, find] of Object.entries(needed)) if (!find()) installPackage(name)
  await findMailServers()
  const allowed = spawnSync('unshare', ['--net', '--mount', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0
  const script = [process.execPath, import.meta.filename, ...process.argv.slice(2)]
  const inNamespace = ['unshare', '--net', '--mount', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...script]
  const [program = '', ...args] = allowed ? inNamespace : script
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, RELIABILITY_NETWORK: allowed ? 'isolated' : 'shared' },
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  const [code] = (await once(child, 'exit')) as [number | null]
  process.exitCode = code ?? 1
}

/** The row that counts stray packets comes after all others. */
class EgressLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const last = ({ moduleId }: TestSpecification) => Number(moduleId.endsWith('egress.test.ts'))
    return files.toSorted((a, b) => last(a) - last(b) || a.moduleId.localeCompare(b.moduleId))
  }
}

async function runRows(): Promise<void> {
  process.env.RELIABILITY = asked.short ? 'short' : 'full'
  process.env.RELIABILITY_SEED = seed
  const began = performance.now()
  const done: TestCase[] = []
  const rows: Reporter = {
    onTestCaseResult(test) {
      const { row } = test.meta()
      if (!row) return
      done.push(test)
      process.stdout.write(`${row.number.padEnd(14)}${verdictOf(test).padEnd(10)}${row.name}: ${figureOf(test)}  [${row.criterion}]\n`)
    },
  }
  const numbers = asked.only?.split(',').map((number) => number.trim())
  // Rows that mostly wait do so side by side, then each of the others has the machine for itself.
  for (const lane of part === 'faults' && !asked.short && !asked.json ? ['waiting', 'busy'] : ['all']) {
    process.env.RELIABILITY_LANE = lane
    const vitest = await startVitest([], {
      project: [part],
      watch: false,
      reporters: [['default', { summary: false }], ...(asked.json ? ['json'] : []), rows],
      ...(asked.json ? { outputFile: { json: asked.json } } : {}),
      sequence: { sequencer: EgressLast },
      ...(numbers ? { testNamePattern: `row (${numbers.join('|')})[ :]` } : {}),
    })
    await vitest.close()
  }
  const time = `${Math.round((performance.now() - began) / 1000)} s, seed ${seed}`
  const lines = done.map(lineOf)
  process.stdout.write(`\n${summaryOf(lines)}; ${time}\n`)
  if (done.length === 0) process.exitCode = 1
  if (asked.write) write(lines, time)
}

const verdicts = { passed: 'holds', failed: 'FAILS', skipped: 'not tried', pending: 'not tried' }

function verdictOf(test: TestCase): string {
  return verdicts[test.result().state]
}

function figureOf(test: TestCase): string {
  const { state, errors = [], ...result } = test.result()
  const reason = 'note' in result ? result.note : undefined
  return (
    test.meta().row?.figure ??
    (state === 'skipped'
      ? (reason ?? '')
      : errors
          .map(({ message }) => message)
          .join('; ')
          .slice(0, 300))
  )
}

function lineOf(test: TestCase): string[] {
  const { number = '', name = '', criterion = '' } = test.meta().row ?? {}
  return [number, name, figureOf(test), criterion, verdictOf(test)].map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' '))
}

function summaryOf(lines: string[][]): string {
  const count = (verdict: string) => lines.filter((line) => line.at(-1) === verdict).length
  return `${count('holds')} of ${lines.length} hold, ${count('FAILS')} fail, ${count('not tried')} could not be tried`
}

/** Replaces these rows in their part of docs/reliability.md; other rows and the other part stay. */
function write(lines: string[][], time: string): void {
  const [head = '', ...sections] = readFileSync(page, 'utf8').split(/^(?=## )/m)
  const rowsOf = (section: string) =>
    section
      .split('\n')
      .filter((line) => /^\| \d/.test(line))
      .map((line) => line.slice(2, -2).split(' | '))
  const table = new Map<string, string[]>()
  const old = sections.find((section) => section.startsWith(`## ${title}`)) ?? ''
  for (const line of [...(asked.only ? rowsOf(old) : []), ...lines]) table.set(line[0] ?? '', line)
  const sorted = [...table.values()].sort(([a = ''], [b = '']) => a.localeCompare(b, 'en', { numeric: true }))
  const section = `## ${title}

- When: ${new Date().toISOString().slice(0, 10)}, on ${availableParallelism()} cores, Node ${process.versions.node}
- How: \`npm run ${command} -- --write\`
- Result: ${summaryOf(sorted)}${asked.only ? '' : `; ${time}`}

${remarks}

| row | ${kind} | figure | must hold | |
|---|---|---|---|---|
${sorted.map((line) => `| ${line.join(' | ')} |`).join('\n')}
`
  const others = Object.values(parts).map((one) =>
    one.title === title ? section : (sections.find((text) => text.startsWith(`## ${one.title}`)) ?? ''),
  )
  writeFileSync(page, head + others.map((text) => `${text.trimEnd()}\n`).join('\n'))
}

if (asked.help) {
  process.stdout.write(`npm run ${command} -- [--only 1,2] [--short] [--seed N] [--write]

${does}
  --only   only these rows
  --short  the selection that npm test runs
  --seed   repeats the random choices of an earlier run
  --write  updates docs/reliability.md
`)
} else if (process.env.RELIABILITY_NETWORK) await runRows()
else await runIsolated()
