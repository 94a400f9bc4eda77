import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const brief = ['--days', '1', '--accounts', '2', '--list']

/** In a process of its own: a simulation replaces what Node says of time and chance. */
async function simulate(...args: string[]): Promise<string[]> {
  const { stdout } = await run(process.execPath, ['--liftoff-only', path.join(import.meta.dirname, 'simulate.ts'), ...args], {
    maxBuffer: 2 ** 26,
  }).catch((error: { stdout: string }) => error)
  return stdout.trimEnd().split('\n')
}

test('40 days with faults by 40 seeds keep every promise, and a seed has one trace, alone and among others', async () => {
  const all = await simulate('--seeds', '1..40', ...brief)
  expect(all.at(-1), all.slice(-100).join('\n')).toBe('40 of 40 seeds kept every promise')
  const [alone] = await simulate('--seed', '23', ...brief)
  expect(all).toContain(alone)
})
