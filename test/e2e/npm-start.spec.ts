import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from '@playwright/test'
import { copyTemplate, freePort } from '#test/program.ts'

test('npm start serves the built client, and ends when npm is ended', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-npm-'))
  // server/start.test.ts makes a database.
  await copyTemplate(folder)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const npm = spawn('npm', ['start'], {
    cwd: path.join(import.meta.dirname, '../..'),
    env: { PATH: process.env.PATH ?? '', HOME: folder, HOST: '127.0.0.1', PORT: String(port), DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await expect.poll(() => statusOf(`${url}/health`), { timeout: 120_000 }).toBe(200)
    const page = await fetch(url)
    expect(await page.text()).toContain('<title>')
    // The pipe closes with the last process of npm's group, the server.
    const last = once(npm.stdout, 'close')
    npm.kill('SIGTERM')
    await last
    expect(await statusOf(`${url}/health`)).toBe(0)
  } finally {
    npm.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  }
})

/** 0 if nothing listens. */
async function statusOf(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  )
}
