import { spawn } from 'node:child_process'
import path from 'node:path'

const root = path.join(import.meta.dirname, '..')
const bin = (name: string) => path.join(root, 'node_modules/.bin', name)

/** What is looked at without running the program; the longest first, because they share the processors. */
const checks: Record<string, [program: string, ...args: string[]]> = {
  sizes: [process.execPath, 'run/sizes.ts'],
  lint: [bin('biome'), 'check', '--error-on-warnings'],
  unused: [bin('knip'), '--no-progress'],
  architecture: [bin('vitest'), 'run', 'architecture.test.ts'],
  'types of the server': [bin('tsc'), '--pretty', 'false', '-p', 'tsconfig.server.json'],
  'types of the client': [bin('tsc'), '--pretty', 'false', '-p', 'tsconfig.web.json'],
  'types of the contract': [bin('tsc'), '--pretty', 'false', '-p', 'tsconfig.contract.json'],
  'types of the tools': [bin('tsc'), '--pretty', 'false', '-p', 'tsconfig.tools.json'],
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
