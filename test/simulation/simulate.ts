/*
 * Runs the program in the background for days or years on virtual time, with faults that a seed decides, and checks after each day what it
 * promises. docs/reliability.md says what that is.
 *
 *   npm run simulate -- --seed 7 --days 365 --accounts 200
 *   npm run simulate -- --seeds 1..10000 --days 3 --accounts 4
 *
 * `--trace` prints the last lines of the trace also of a seed that held, `--list` one line for each seed.
 */
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { closeSeeds, runSeed } from './seeds.ts'

/** Seeds that one child runs, and lines of the trace that are printed of one that does not hold. */
const [seedsAtOnce, linesShown] = [50, 60]

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    days: { type: 'string', default: '3' },
    accounts: { type: 'string', default: '4' },
    processes: { type: 'string', default: '2' },
    trace: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const range = (values.seeds ?? values.seed ?? '1').split('..')
const [first, last] = [Number(range[0]), Number(range.at(-1))]
const [days, accounts] = [Number(values.days), Number(values.accounts)]
const wanted = last - first + 1
const broken = wanted > seedsAtOnce ? await inChildren() : await inThisProcess()
process.stdout.write(`${wanted - broken} of ${wanted} seeds kept every promise\n`)
process.exit(broken > 0 ? 1 : 0)

async function inThisProcess(): Promise<number> {
  let count = 0
  for (let seed = first; seed <= last; seed += 1) {
    const result = await runSeed({ seed, days, accounts })
    const lines = values.trace ? result.trace : result.broken === null ? [] : result.trace.slice(-linesShown)
    for (const line of lines) process.stdout.write(`${line}\n`)
    if (result.broken !== null || values.list || wanted === 1)
      process.stdout.write(
        `seed ${seed}: ${result.broken ?? 'kept'} (${result.emails} emails, ${result.statements} statements, trace ${result.fingerprint})\n`,
      )
    if (result.broken !== null) count += 1
  }
  await closeSeeds()
  return count
}

/** Parts of the range, so many at a time. Each child prints what it finds. */
async function inChildren(): Promise<number> {
  let next = first
  let count = 0
  const work = async () => {
    while (next <= last) {
      const part = `${next}..${Math.min(last, next + seedsAtOnce - 1)}`
      next += seedsAtOnce
      count += await inChild(part)
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(2, Number(values.processes))) }, work))
  return count
}

async function inChild(part: string): Promise<number> {
  const args = ['--seeds', part, '--days', values.days, '--accounts', values.accounts, ...(values.list ? ['--list'] : [])]
  const child = spawn(process.execPath, [import.meta.filename, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  await new Promise((resolve) => child.once('close', resolve))
  const [, kept, of] = /(\d+) of (\d+) seeds kept every promise\n$/.exec(said) ?? []
  process.stdout.write(kept === of ? said : said.slice(0, said.lastIndexOf('\n', said.length - 2) + 1))
  if (kept === undefined) throw new Error(`The seeds ${part} could not be run.`)
  return Number(of) - Number(kept)
}
