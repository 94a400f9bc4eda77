import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { someoneAt, startProgram } from '#test/program.ts'

const script = path.join(import.meta.dirname, 'duely.ts')

/** Runs a command as an operator would, in a process of its own. */
async function duely(dataDir: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, PUBLIC_URL: 'https://duely.example.com' }
  return promisify(execFile)(process.execPath, [script, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (failed: { code: number; stdout: string; stderr: string }) => ({ code: failed.code, output: failed.stdout + failed.stderr }),
  )
}

test('an operator makes a link for a new password, while Duely runs and while it does not', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'duely-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) }
  expect(await duely(dataDir, 'reset-password', 'asha@example.com')).toEqual({
    code: 1,
    output: `There is no data of Duely in ${dataDir}. Set DATA_DIR to the folder that Duely runs on.\n`,
  })
  await using program = await startProgram({ DATA_DIR: dataDir, PUBLIC_URL: 'https://duely.example.com' })
  await someoneAt(program.url, 'asha@example.com')
  expect((await stat(path.join(dataDir, 'duely.sock'))).mode & 0o777).toBe(0o600)
  const running = await duely(dataDir, 'reset-password', 'asha@example.com')
  expect(running).toEqual({ code: 0, output: expect.stringMatching(/^https:\/\/duely\.example\.com\/reset-password#token=[\w-]{43}\n$/) })
  const answered = await fetch(`${program.url}/auth/reset-password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: running.output.trim().split('=')[1], newPassword: 'battery staple' }),
  })
  expect(answered.status).toBe(200)
  expect(await duely(dataDir, 'reset-password', 'nobody@example.com')).toEqual({
    code: 1,
    output: 'There is no account with the email nobody@example.com.\n',
  })
  expect(await duely(dataDir, 'drop-everything')).toEqual({ code: 1, output: expect.stringContaining('reset-password EMAIL') })
  // Killed, so that its socket stays behind.
  await program.end('SIGKILL')
  expect((await duely(dataDir, 'reset-password', 'asha@example.com')).output).toMatch(/#token=[\w-]{43}\n$/)
}, 60_000)
