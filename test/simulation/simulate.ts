/*
 * Runs the program in the background for days or years on virtual time, with faults that a seed decides, and checks after each day what it
 * promises. docs/simulation.md says what that is.
 *
 *   npm run simulate -- --seed 7 --days 365 --accounts 200
 *   npm run simulate -- --seeds 1..10000 --days 3 --accounts 4
 *
 * `--plants .` plants each of the faults of plants.ts whose name matches, and shows by which of the seeds it is found.
 * `--trace` prints the last lines of the trace also of a seed that held, `--list` one line for each seed.
 */
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { plants } from './plants.ts'
import { closeSeeds, runSeed } from './seeds.ts'

/** Seeds that one child runs, and lines of the trace that are printed of one that does not hold. */
const [seedsAtOnce, linesShown] = [500, 60]

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    days: { type: 'string', default: '3' },
    accounts: { type: 'string', default: '4' },
    processes: { type: 'string', default: '2' },
    trace: { type: 'boolean', default: false },
    plants: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
})
/** `1..40,7`: a seed may come again. */
const seeds = (values.seeds ?? values.seed ?? '1').split(',').flatMap((part) => {
  const [first = 1, last = first] = part.split('..').map(Number)
  return Array.from({ length: last - first + 1 }, (_, nth) => first + nth)
})
const [days, accounts] = [Number(values.days), Number(values.accounts)]
const wanted = seeds.length
if (values.plants !== undefined) process.exit((await plantAll(new RegExp(values.plants))) ? 0 : 1)
const broken = wanted > seedsAtOnce ? await inChildren() : await inThisProcess()
process.stdout.write(`${wanted - broken} of ${wanted} seeds kept every promise\n`)
process.exit(broken > 0 ? 1 : 0)

async function inThisProcess(): Promise<number> {
  let count = 0
  // One seed may run for hours.
  const onDay = (day: number, emails: number) => void (day % 10 === 0 && process.stderr.write(`day ${day} of ${days}: ${emails} emails\n`))
  for (const seed of seeds) {
    const result = await runSeed({ seed, days, accounts, ...(wanted === 1 ? { onDay } : {}) })
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

/** Answers whether each of these faults was found by one of the seeds. */
async function plantAll(which: RegExp): Promise<boolean> {
  const planted = plants.filter(({ name }) => which.test(name))
  let found = 0
  for (const plant of planted) {
    let said: string | null = null
    for (const seed of seeds) {
      if (said !== null) break
      const { broken: why } = await runSeed({ seed, days, accounts, plant })
      if (why !== null) said = `seed ${seed}: ${why.slice(0, 160)}`
    }
    if (said !== null) found += 1
    process.stdout.write(`${plant.name}: ${said ?? 'NOT FOUND'}\n`)
  }
  await closeSeeds()
  process.stdout.write(`${found} of ${planted.length} planted faults were found\n`)
  return found === planted.length
}

/** Parts of the range, so many at a time. Each child prints what it finds. */
async function inChildren(): Promise<number> {
  let count = 0
  const work = async () => {
    while (seeds.length > 0) {
      // Added after the wait: the other part may have counted meanwhile.
      const broken = await inChild(seeds.splice(0, seedsAtOnce).join(','))
      count += broken
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
