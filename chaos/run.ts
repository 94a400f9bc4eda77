import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { installPackage } from '#test/machine.ts'
import { findInitdb } from '#test/postgres.ts'
import { asking } from './asking.ts'
import { clocks } from './clocks.ts'
import { openCluster } from './cluster.ts'
import { crashes } from './crashes.ts'
import { data } from './data.ts'
import { databases, findPooler } from './database.ts'
import { mailServers } from './mail-servers.ts'
import { findMovedClock } from './moved-clock.ts'
import { type Chaos, type Finding, type Scenario, seeded } from './scenario.ts'

const usage = `npm run chaos -- [--only 1,2] [--short] [--seed N] [--write]

Crashes, stops, freezes and misleads the real program and counts the mails.
  --only   these rows alone
  --short  a small selection, in less than a minute
  --seed   replays the chances of an earlier run
  --write  keeps the result in docs/reliability.md
`
const scenarios: Scenario[] = [...crashes, ...databases, ...mailServers, ...clocks, ...asking, ...data].sort((a, b) =>
  a.row.localeCompare(b.row, 'en', { numeric: true }),
)

interface Result {
  scenario: Scenario
  finding: Finding
  ms: number
}

const { values: asked } = parseArgs({
  options: {
    only: { type: 'string' },
    seed: { type: 'string' },
    short: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    alone: { type: 'boolean', default: false },
  },
})
process.exitCode = asked.help ? say(usage) : asked.alone ? await everything() : await apart()

/**
 * Runs the whole thing once more where it has a network of its own with nothing in it but loopback, if this machine allows that: then not a
 * byte can leave it, and it may have an address there that counts as public.
 */
async function apart(): Promise<number> {
  // Afterwards there is no network to fetch anything from.
  for (const [name, find] of [
    ['postgresql', findInitdb],
    ['libfaketime', findMovedClock],
    ['pgbouncer', findPooler],
  ] as const)
    if (!find()) installPackage(name)
  const allowed = spawnSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0
  if (!allowed) return everything()
  const child = spawn('unshare', ['--net', process.execPath, import.meta.filename, ...process.argv.slice(2), '--alone'], {
    stdio: 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

async function everything(): Promise<number> {
  const began = performance.now()
  const seed = Number(asked.seed ?? Math.floor(Math.random() * 1_000_000))
  const rows = asked.only?.split(',').map((row) => row.trim())
  const chosen = scenarios.filter(({ row, short }) =>
    rows ? rows.some((one) => one === row || one === row.split(' ')[0]) : !asked.short || short,
  )
  const publicAddress = asked.alone ? claimAddress('5.5.5.5') : null
  await using stack = new AsyncDisposableStack()
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())
  const cluster = await openCluster()
  if (cluster) stack.use(cluster)
  say(
    `${chosen.length} scenarios, seed ${seed}, Node ${process.versions.node}, ${cluster ? 'PostgreSQL and the embedded database' : 'no PostgreSQL on this machine: the embedded database alone'}${publicAddress ? ', in a network of its own' : ''}\n\n`,
  )
  const results: Result[] = []
  const perform = async (scenario: Scenario) => {
    const result = await tryOut(scenario, { seed, cluster, publicAddress, short: asked.short }, ending.signal)
    results.push(result)
    say(`${lineOf(result)}\n`)
  }
  for (const size of [6, 2, 1]) {
    const waiting = chosen.filter(({ atOnce = 1 }) => atOnce === size)
    const lanes = Array.from({ length: size }, async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await perform(next)
    })
    await Promise.all(lanes)
  }

  results.sort((a, b) => scenarios.indexOf(a.scenario) - scenarios.indexOf(b.scenario))
  const failed = results.filter(({ finding }) => 'holds' in finding && !finding.holds)
  const skipped = results.filter(({ finding }) => 'skipped' in finding)
  const sum = `${results.length - failed.length - skipped.length} of ${results.length} hold, ${failed.length} fail, ${skipped.length} could not be tried; ${Math.round((performance.now() - began) / 1000)} s, seed ${seed}`
  say(`\n${table(results)}\n${sum}\n`)
  if (asked.write) writeFileSync(path.join(import.meta.dirname, '../docs/reliability.md'), page(results, sum))
  return failed.length > 0 || ending.signal.aborted ? 1 : 0
}

async function tryOut(
  scenario: Scenario,
  about: Pick<Chaos, 'cluster' | 'publicAddress' | 'short'> & { seed: number },
  ending: AbortSignal,
): Promise<Result> {
  const began = performance.now()
  const most = (scenario.seconds ?? 300) * 1000
  const timeUp = AbortSignal.timeout(most)
  const over = AbortSignal.any([timeUp, ending])
  const stack = new AsyncDisposableStack()
  let finding: Finding
  try {
    if (ending.aborted) throw new Error('Stopped.')
    const given = new Promise<never>((_resolve, reject) => {
      over.addEventListener('abort', () => reject(new Error(`Not finished after ${Math.round((performance.now() - began) / 1000)} s.`)))
    })
    const chance = seeded(about.seed + Number.parseInt(scenario.row, 10) * 1_000)
    finding = await Promise.race([scenario.run({ ...about, random: chance, stack, over }), given])
  } catch (error) {
    finding = { figure: error instanceof Error ? error.message : String(error), holds: false }
  }
  await stack.disposeAsync().catch((error: unknown) => say(`  (clearing up after row ${scenario.row}: ${String(error)})\n`))
  return { scenario, finding, ms: performance.now() - began }
}

/** Only in a network of our own: there nobody else has it. */
function claimAddress(address: string): string | null {
  const done = (...args: string[]) => spawnSync('ip', args, { stdio: 'ignore' }).status === 0
  return done('link', 'set', 'lo', 'up') && done('addr', 'add', `${address}/32`, 'dev', 'lo') ? address : null
}

function verdict(finding: Finding): string {
  return 'skipped' in finding ? 'not tried' : finding.holds ? 'holds' : 'FAILS'
}

function figureOf(finding: Finding): string {
  return 'skipped' in finding ? finding.skipped : finding.figure
}

function lineOf({ scenario, finding, ms }: Result): string {
  return `${scenario.row.padEnd(14)}${verdict(finding).padEnd(10)}${scenario.name}: ${figureOf(finding)}  [${scenario.criterion}; ${Math.round(ms / 1000)} s]`
}

function table(results: Result[]): string {
  const lines = results.map(({ scenario, finding }) => [
    scenario.row,
    scenario.name,
    figureOf(finding),
    scenario.criterion,
    verdict(finding),
  ])
  const head = ['row', 'fault', 'figure', 'must hold', '']
  const widths = head.map((title, at) => Math.min(60, Math.max(title.length, ...lines.map((line) => line[at]?.length ?? 0))))
  return [head, ...lines].map((line) => line.map((cell, at) => cell.slice(0, 60).padEnd(widths[at] ?? 0)).join('  ')).join('\n')
}

function page(results: Result[], sum: string): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
  return `# What has been tried out

Every fault below was done to the real program in processes of its own, with a real PostgreSQL server or the embedded database and a mail
server that speaks the real protocol and fails where it is told to. Every mail was counted.

- When: ${new Date().toISOString().slice(0, 10)}, on ${availableParallelism()} cores, Node ${process.versions.node}
- How: \`npm run chaos -- ${process.argv
    .slice(2)
    .filter((word) => word !== '--alone')
    .join(' ')}\`
- Result: ${sum}

"Repeated" are mails that a crash between the mail server's "accepted" and the record of it made leave once more: the same bytes under the
same Message-ID, which no order of these two steps can rule out.

| row | fault | figure | must hold | |
|---|---|---|---|---|
${results
  .map(
    ({ scenario, finding }) =>
      `| ${[scenario.row, scenario.name, figureOf(finding), scenario.criterion, verdict(finding)].map(cell).join(' | ')} |`,
  )
  .join('\n')}
`
}

function say(text: string): 0 {
  process.stdout.write(text)
  return 0
}
