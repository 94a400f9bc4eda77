import { spawn } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import path from 'node:path'

const root = path.join(import.meta.dirname, '..')
const bin = (name: string) => path.join(root, 'node_modules/.bin', name)

/** Where TypeScript and Knip keep what they know of files, so that a second check reads only what changed. */
const kept = ['types', 'knip'].map((name) => path.join(root, 'node_modules/.cache/duely', name))
// npm dates all files of packages 1985: those of another version would be taken for the same.
const installed = path.join(root, 'node_modules/.package-lock.json')
for (const folder of kept)
  if ((statSync(folder, { throwIfNoEntry: false })?.birthtimeMs ?? 0) < statSync(installed).mtimeMs)
    rmSync(folder, { recursive: true, force: true })

/** One checker each, because all share the cores. */
const types = ['contract', 'web', 'tools', 'server'].map((name) => `tsconfig.${name}.json`).concat('--checkers', '1', '--pretty', 'false')

/** Static checks; the longest first, because they share the cores. */
const checks: Record<string, [program: string, ...args: string[]]> = {
  lint: [bin('biome'), 'check', '--error-on-warnings'],
  unused: [bin('knip'), '--no-progress', '--cache', '--cache-location', 'node_modules/.cache/duely/knip'],
  types: [bin('tsc'), '--build', ...types],
  structure: [process.execPath, 'run/structure.ts'],
  words: [process.execPath, 'run/words.ts'],
  holidays: [process.execPath, 'run/holiday-reach.ts'],
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
