import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { programFile } from '#test/bundle.ts'
import { thorough, times } from '#test/thorough.ts'

const run = promisify(execFile)

/** In a process of its own: a simulation replaces what Node says of time and chance. */
async function simulate(...args: string[]): Promise<string[]> {
  const { stdout } = await run(process.execPath, ['--liftoff-only', await programFile('simulate'), ...args], { maxBuffer: 2 ** 26 }).catch(
    (error: { stdout: string }) => error,
  )
  return stdout.trimEnd().split('\n')
}

// 15 seeds take four seconds, 40 in `npm run test:full` ten.
test('days with faults by many seeds keep every promise, and a seed has one trace, also after others', async () => {
  const seeds = times(15, 40)
  const all = await simulate('--seeds', `1..${seeds},13`, '--days', '1', '--accounts', '1', '--list')
  expect(all.at(-1), all.slice(-100).join('\n')).toBe(`${seeds + 1} of ${seeds + 1} seeds kept every promise`)
  expect(all.filter((line) => line === all.at(-2)).length).toBe(2)
})

test('faults that are planted between the program and its database are found', { timeout: 1_800_000 }, async () => {
  const few = ['--plants', 'lost commit|counted twice|without a decision', '--seeds', '1..4', '--accounts', '2', '--days', '1']
  const all = ['--plants', '.', '--seeds', '1..25', '--accounts', '3', '--days', '2']
  const said = await simulate(...(thorough ? all : few))
  expect(said.at(-1), said.join('\n')).toBe(thorough ? '12 of 12 planted faults were found' : '3 of 3 planted faults were found')
})

test.runIf(thorough)('a seed has one trace in every process, with more accounts and days', async () => {
  const [one, other] = [
    await simulate('--seed', '7', '--days', '5', '--accounts', '6'),
    await simulate('--seeds', '7,8', '--list', '--days', '5', '--accounts', '6'),
  ]
  expect(other).toContain(one[0])
})
