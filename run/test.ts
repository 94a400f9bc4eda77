import { AsyncLocalStorage } from 'node:async_hooks'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { z } from 'zod'
import { compileCache } from '#test/bundle.ts'
import { findHeadlessChromium } from '#test/chromium.ts'
import { ensureInitdb } from '#test/postgres.ts'
import { installPackage } from './install.mjs'

/*
 * npm test: checks, the weight of pages, tests on the embedded database and on PostgreSQL, the app for Zapier, journeys in a browser, and the
 * short rows of docs/reliability.md.
 * npm run test:full adds every test on both databases, each file with modules of its own, programs from their sources, a picture of every
 * screen, and every row.
 * One part alone: npm run test:unit -- server/mail
 */
interface Tally {
  passed: number
  failed: number
  /** What failed, and the first lines of why: said once more at the end, where it is looked for. */
  why?: string[]
}

const suiteOfJourneys = z.object({
  specs: z
    .array(
      z.object({
        title: z.string(),
        file: z.string(),
        line: z.number(),
        ok: z.boolean(),
        tests: z.array(z.object({ results: z.array(z.object({ errors: z.array(z.object({ message: z.string().default('') })) })) })),
      }),
    )
    .optional(),
  get suites() {
    return z.array(suiteOfJourneys).optional()
  },
})
type SuiteOfJourneys = z.infer<typeof suiteOfJourneys>

const root = path.join(import.meta.dirname, '..')
const folder = mkdtempSync(path.join(tmpdir(), 'duely-test-'))
/** Where everything has to be there, what is missing is a failure. */
const strict = Boolean(process.env.CI) && process.env.CI !== 'false'
/** `projects` are those of vitest.config.ts. */
const unit = ['pure', 'database', 'program']
const parts: Record<string, (args: string[]) => Promise<Tally>> = {
  checks: testChecks,
  sizes: testSizes,
  code: (args) => testCode([...unit, 'postgres'], args),
  zapier: testZapier,
  browser: testBrowser,
  faults: (args) => testRows('faults', args),
  attacks: (args) => testRows('attacks', args),
}
/** Asked for by name only: what `code` runs together. */
const single: typeof parts = {
  unit: (args) => testCode(unit, args),
  postgres: (args) => testCode(['postgres'], args),
}
const running = new Set<ChildProcess>()
let stopped = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void giveUp())
process.once('disconnect', () => void giveUp())
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const [asked, ...rest] = process.argv.slice(2)
if (asked === 'full')
  Object.assign(process.env, {
    TEST_POSTGRES: 'everything',
    TEST_ISOLATE: 'true',
    TEST_THOROUGH: 'true',
    PICTURES: path.join(root, 'test-results/pictures'),
  })
else Object.assign(process.env, { TEST_BUNDLED: 'true', NODE_COMPILE_CACHE: compileCache })
const chosen = asked === undefined || asked === 'full' ? parts : { [asked]: { ...parts, ...single }[asked] }
const total: Tally = { passed: 0, failed: 0 }
const failures: string[] = []
/** What runs at the same time: neither of the first two uses both cores, and the app for Zapier and the rows wait for servers more than they compute. */
const together = [['checks', 'sizes'], ['code'], ['browser', 'zapier'], ['faults', 'attacks']]
/** What the scripts of parts that run at the same time print, kept until the part has ended. */
const kept = new AsyncLocalStorage<string[]>()
for (const names of chosen === parts ? together : [Object.keys(chosen)])
  await Promise.all(names.map((name) => (names.length > 1 ? kept.run([], () => runPart(name, chosen[name])) : runPart(name, chosen[name]))))
if (total.passed + total.failed === 0) {
  process.stdout.write('No test was run.\n')
  total.failed = 1
}
if (failures.length > 0) process.stdout.write(`\n── failed ──\n${failures.join('\n')}\n`)
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed\n`)
process.exit(total.failed === 0 && !stopped ? 0 : 1)

async function runPart(name: string, test: ((args: string[]) => Promise<Tally>) | undefined): Promise<void> {
  if (stopped) return
  const began = performance.now()
  const header = `\n── ${name} ──\n`
  if (!kept.getStore()) process.stdout.write(header)
  const { passed, failed, why = [] } = test ? await test(rest) : missingPart(name)
  const output = kept.getStore()
  if (output) process.stdout.write(header + output.join(''))
  process.stdout.write(`── ${name}: ${Math.round((performance.now() - began) / 1000)} s ──\n`)
  total.passed += passed
  total.failed += failed
  if (failed > 0) failures.push(...(why.length > 0 ? why : ['see above']).map((reason) => `${name}: ${reason}`))
}

async function testChecks(): Promise<Tally> {
  return tallyOf(await run(['run/check.ts']))
}

async function testSizes(): Promise<Tally> {
  return tallyOf(await run(['run/sizes.ts']))
}

async function testCode(projects: string[], args: string[]): Promise<Tally> {
  const lacksPostgres = projects.includes('postgres') && !ensureInitdb()
  const present = lacksPostgres ? projects.filter((project) => project !== 'postgres') : projects
  const skipped = lacksPostgres
    ? missing('PostgreSQL 15 or later was not found', 'on Debian: apt-get install postgresql; on macOS: brew install postgresql')
    : { passed: 0, failed: 0 }
  if (present.length === 0) return skipped
  const onServer: Record<string, string> =
    present.includes('postgres') && present.includes('database') && asked === undefined ? { TEST_POSTGRES: 'mostly' } : {}
  const { passed, failed, why } = await runVitest('code', [...present.map((project) => `--project=${project}`), ...args], { env: onServer })
  return { passed, failed: failed + skipped.failed, why }
}

/** The app for Zapier is a package of its own: what it needs is installed beside it, and its tests start the program. */
async function testZapier(args: string[]): Promise<Tally> {
  if (!(await installPackage('zapier'))) return { passed: 0, failed: 1 }
  const types = tallyOf(await run(['node_modules/typescript/bin/tsc', '-p', 'zapier', '--checkers', '1']))
  const { passed, failed, why } = await runVitest('zapier', ['--config=zapier/vitest.config.js', ...args])
  return { passed: passed + types.passed, failed: failed + types.failed, why }
}

async function testBrowser(args: string[]): Promise<Tally> {
  const chromium = findHeadlessChromium()
  if (!chromium)
    return missing('No Chromium or Chrome was found', 'on Debian: apt-get install chromium; elsewhere set CHROMIUM to its path')
  const built = await run(['run/launch.mjs', 'build'])
  if (!built) return { passed: 0, failed: 1 }
  const report = path.join(folder, 'browser.json')
  const well = await run(['node_modules/@playwright/test/cli.js', 'test', ...args], {
    CHROMIUM: chromium,
    PLAYWRIGHT_JSON_OUTPUT_NAME: report,
  })
  const shape = z.object({
    stats: z.object({ expected: z.number(), unexpected: z.number(), flaky: z.number() }),
    errors: z.array(z.object({ message: z.string().default('') })),
    suites: z.array(suiteOfJourneys),
  })
  const { stats, errors, suites } = shape.parse(read(report) ?? { stats: { expected: 0, unexpected: 0, flaky: 0 }, errors: [], suites: [] })
  return atLeastOneFailure(well, {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky + errors.length,
    why: [...suites.flatMap(brokenJourneys), ...errors.map(({ message }) => beginningOf(message))],
  })
}

function testRows(part: 'faults' | 'attacks', args: string[]): Promise<Tally> {
  return runVitest(part, [part, ...(asked === 'full' ? [] : ['--short']), ...args], { script: 'run/reliability.ts' })
}

async function runVitest(
  name: string,
  args: string[],
  { script = 'node_modules/vitest/vitest.mjs', env = {} }: { script?: string; env?: Record<string, string> } = {},
): Promise<Tally> {
  const report = path.join(folder, `${name}.json`)
  const options = script.endsWith('vitest.mjs')
    ? ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    : ['--json', report]
  const well = await run([script, ...options, ...args], env)
  const shape = z.object({
    numPassedTests: z.number(),
    numFailedTests: z.number(),
    testResults: z.array(
      z.object({
        name: z.string(),
        message: z.string().default(''),
        assertionResults: z.array(z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() })),
      }),
    ),
  })
  const { numPassedTests, numFailedTests, testResults } = shape.parse(
    read(report) ?? { numPassedTests: 0, numFailedTests: 0, testResults: [] },
  )
  return atLeastOneFailure(well, {
    passed: numPassedTests,
    failed: numFailedTests,
    why: testResults.flatMap(({ name: file, message, assertionResults }) =>
      [
        ...(message ? [beginningOf(message)] : []),
        ...assertionResults
          .filter(({ status }) => status === 'failed')
          .map(({ fullName, failureMessages }) => `${fullName}: ${beginningOf(failureMessages?.join('\n') ?? '')}`),
      ].map((reason) => `${path.relative(root, file)}: ${reason}`),
    ),
  })
}

/** The report counts neither a file that failed to load nor an error outside a test. */
function atLeastOneFailure(well: boolean, tally: Tally): Tally {
  return { ...tally, failed: well ? tally.failed : Math.max(1, tally.failed) }
}

function brokenJourneys({ specs = [], suites = [] }: SuiteOfJourneys): string[] {
  const own = specs
    .filter(({ ok }) => !ok)
    .map(({ file, line, title, tests }) => {
      const messages = tests.flatMap(({ results }) => results.flatMap(({ errors }) => errors.map(({ message }) => message)))
      return `${file}:${line}: ${title}: ${beginningOf(messages.join('\n'))}`
    })
  return [...own, ...suites.flatMap(brokenJourneys)]
}

function beginningOf(message: string): string {
  const lines = stripVTControlCharacters(message).split('\n')
  return lines
    .filter((line) => !line.includes('/node_modules/'))
    .slice(0, 12)
    .join('\n  ')
}

function tallyOf(well: boolean): Tally {
  return well ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

function missingPart(name: string): Tally {
  process.stdout.write(`There is no part called ${name}. Use one of: ${Object.keys({ ...parts, ...single }).join(', ')}, full\n`)
  return { passed: 0, failed: 1 }
}

function missing(what: string, how: string): Tally {
  process.stdout.write(`\n!!!!!!!! ${what}: these tests are ${strict ? 'counted as failed' : 'SKIPPED'}. How to get it: ${how} !!!!!!!!\n`)
  return { passed: 0, failed: strict ? 1 : 0 }
}

function read(file: string): unknown {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}

/** Runs a script on this very Node; answers whether it went well. */
function run(args: string[], env: Record<string, string> = {}): Promise<boolean> {
  if (stopped) return Promise.resolve(false)
  const output = kept.getStore()
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: output ? ['inherit', 'pipe', 'pipe'] : 'inherit',
    env: { ...process.env, ...env },
  })
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => output?.push(text))
  running.add(child)
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (code) => {
      running.delete(child)
      resolve(code === 0)
    })
  })
}

async function giveUp(): Promise<void> {
  if (stopped) return
  stopped = true
  for (const child of running) child.kill('SIGTERM')
  process.exit(1)
}
