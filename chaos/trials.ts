import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { installPackage } from '#test/machine.ts'
import { findInitdb } from '#test/postgres.ts'
import { openCluster } from './cluster.ts'
import { findPooler } from './database.ts'
import { findMovedClock } from './moved-clock.ts'
import { type Chaos, type Finding, type Scenario, seeded } from './scenario.ts'

/** The parts of docs/reliability.md, in their order; each run writes its own and leaves the others. */
const parts = { faults: 'Faults', attacks: 'Attacks' }

export interface Trials {
  /** The file that is run, to be run once more in a network of its own. */
  entry: string
  /** Its command, as npm knows it. */
  command: string
  /** What it is and what its options do. */
  usage: string
  scenarios: Scenario[]
  part: keyof typeof parts
  /** What the table calls a row's name: a fault, an attack. */
  what: string
  /** What a reader of the page must know besides. */
  remarks: string
  /** Called once in the network of its own, before anything is tried. */
  furnish?: () => void
}

interface Result {
  scenario: Scenario
  finding: Finding
  ms: number
}

const reliability = path.join(import.meta.dirname, '../docs/reliability.md')

/** Tries scenarios out as the command line asks, prints a table and answers the exit code: 1 where one fails. */
export async function tryThem(trials: Trials): Promise<number> {
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
  return asked.help ? say(trials.usage) : asked.alone ? everything(trials, asked) : apart(trials, asked)
}

interface Asked {
  only?: string
  seed?: string
  short: boolean
  write: boolean
  alone: boolean
}

/**
 * Runs the whole thing once more where it has a network of its own with nothing in it but loopback, if this machine allows that: then not a
 * byte can leave it, and it may have an address there that counts as public.
 */
async function apart(trials: Trials, asked: Asked): Promise<number> {
  // Afterwards there is no network to fetch anything from.
  for (const [name, find] of [
    ['postgresql', findInitdb],
    ['libfaketime', findMovedClock],
    ['pgbouncer', findPooler],
  ] as const)
    if (!find()) installPackage(name)
  const allowed = spawnSync('unshare', ['--net', '--mount', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0
  if (!allowed) return everything(trials, asked)
  const child = spawn('unshare', ['--net', '--mount', process.execPath, trials.entry, ...process.argv.slice(2), '--alone'], {
    stdio: 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

async function everything(trials: Trials, asked: Asked): Promise<number> {
  const scenarios = trials.scenarios.toSorted((a, b) => a.row.localeCompare(b.row, 'en', { numeric: true }))
  const began = performance.now()
  const seed = Number(asked.seed ?? Math.floor(Math.random() * 1_000_000))
  const rows = asked.only?.split(',').map((row) => row.trim())
  const chosen = scenarios.filter(({ row, short }) =>
    rows ? rows.some((one) => one === row || one === row.split(' ')[0]) : !asked.short || short,
  )
  const publicAddress = asked.alone ? claimAddress('5.5.5.5') : null
  if (publicAddress) trials.furnish?.()
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
  say(`\n${table(trials, results)}\n${sum}\n`)
  if (asked.write) keep(trials, results, sum)
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

function table({ what }: Trials, results: Result[]): string {
  const lines = results.map(({ scenario, finding }) => [
    scenario.row,
    scenario.name,
    figureOf(finding),
    scenario.criterion,
    verdict(finding),
  ])
  const head = ['row', what, 'figure', 'must hold', '']
  const widths = head.map((title, at) => Math.min(60, Math.max(title.length, ...lines.map((line) => line[at]?.length ?? 0))))
  return [head, ...lines].map((line) => line.map((cell, at) => cell.slice(0, 60).padEnd(widths[at] ?? 0)).join('  ')).join('\n')
}

/** Puts the result into its part of docs/reliability.md; what other runs wrote there stays. */
function keep(trials: Trials, results: Result[], sum: string): void {
  const written = existsSync(reliability) ? readFileSync(reliability, 'utf8') : ''
  const found = new Map(
    written
      .split(/^## /m)
      .slice(1)
      .map((text) => [text.split('\n', 1)[0] ?? '', `## ${text.trimEnd()}\n`]),
  )
  found.set(parts[trials.part], partOf(trials, results, sum))
  mkdirSync(path.dirname(reliability), { recursive: true })
  writeFileSync(
    reliability,
    `# What has been tried out

Everything below was done to the real program in processes of its own, with a real PostgreSQL server or the embedded database and servers of
others (mail, Google) that speak the real protocol and fail or lie where they are told to.

${Object.values(parts)
  .flatMap((title) => found.get(title) ?? [])
  .join('\n')}`,
  )
}

function partOf({ command, part, what, remarks }: Trials, results: Result[], sum: string): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
  const words = process.argv.slice(2).filter((word) => word !== '--alone')
  return `## ${parts[part]}

- When: ${new Date().toISOString().slice(0, 10)}, on ${availableParallelism()} cores, Node ${process.versions.node}
- How: \`${[`npm run ${command}`, ...(words.length > 0 ? ['--', ...words] : [])].join(' ')}\`
- Result: ${sum}

${remarks}

| row | ${what} | figure | must hold | |
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
