import { spawn } from 'node:child_process'
import path from 'node:path'

const root = path.join(import.meta.dirname, '..')
const bin = (name: string) => path.join(root, 'node_modules/.bin', name)

/** Where TypeScript and Knip keep what they know of unchanged files, so that a second check reads only what changed. */
const kept = path.join(root, 'node_modules/.cache/duely')
/** One checker each: of four, which is usual, each checks much of the same again, and nine programs share the cores already. */
const types = (project: string): [string, ...string[]] => [
  bin('tsc'),
  ...['--pretty', 'false', '-p', `tsconfig.${project}.json`, '--checkers', '1'],
  ...['--incremental', '--tsBuildInfoFile', path.join(kept, `types/${project}.json`)],
]

/** Static checks; the longest first, because they share the cores. */
const checks: Record<string, [program: string, ...args: string[]]> = {
  lint: [bin('biome'), 'check', '--error-on-warnings'],
  unused: [bin('knip'), '--no-progress', '--cache', '--cache-location', path.join(kept, 'knip')],
  'types of the server': types('server'),
  'types of the client': types('web'),
  'types of the tools': types('tools'),
  structure: [process.execPath, 'run/structure.ts'],
  words: [process.execPath, 'run/words.ts'],
  holidays: [process.execPath, 'run/holiday-reach.ts'],
  'types of the contract': types('contract'),
}

const began = performance.now()
const results = await Promise.all(Object.entries(checks).map(([name, [program, ...args]]) => check(name, program, args)))
const failed = results.filter((well) => !well).length
process.stdout.write(`${results.length - failed} checks passed, ${failed} failed, ${seconds(began)}\n`)
process.exit(failed === 0 ? 0 : 1)

async function check(name: string, program: string, args: string[]): Promise<boolean> {
  const start = performance.now()
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, FORCE_COLOR: '0' } })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)))
  const well = await new Promise<boolean>((resolve) => {
    child.once('error', (error) => {
      said += error.message
      resolve(false)
    })
    child.once('close', (code) => resolve(code === 0))
  })
  process.stdout.write(`${well ? '✓' : '✗'} ${name} (${seconds(start)})\n${well ? '' : `${said.trimEnd()}\n`}`)
  return well
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
