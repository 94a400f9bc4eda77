import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from '@playwright/test'
import { freePort } from '#test/program.ts'
import { full } from './duely.ts'

test('npm run dev serves a page that works at the first visit, and Ctrl-C ends it while the page is open', full, async ({ page }) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-dev-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const npm = spawn('npm', ['run', 'dev'], {
    cwd: path.join(import.meta.dirname, '../..'),
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: folder,
      DEV_SMTP_PORT: '0',
      DEV_MAIL_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Its own process group, as in a terminal: Ctrl-C signals all of it.
    detached: true,
  })
  const group = -(npm.pid ?? 0)
  let output = ''
  npm.stdout.on('data', (text) => (output += String(text)))
  try {
    await expect.poll(() => statusOf(`${url}/health`), { timeout: 120_000 }).toBe(200)
    expect(output).toContain(`Data is in ${folder}`)
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('response', (response) => response.status() >= 400 && complaints.push(`${response.status()} ${response.url()}`))
    await page.goto(`${url}/signup`)
    await page.getByLabel('Full Name').fill('Asha Rao')
    await page.getByLabel('Email').fill('asha@banyan.example')
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
    await page.getByRole('button', { name: 'Sign Up' }).click()
    await expect(page.getByText('No invoices yet')).toBeVisible()
    await expect(page.getByRole('link', { name: 'Privacy' })).toHaveAttribute('href', '/privacy')
    expect(complaints).toEqual([])

    const last = once(npm.stdout, 'close')
    process.kill(group, 'SIGINT')
    await last
  } finally {
    try {
      process.kill(group, 'SIGKILL')
    } catch {
      // The group has ended already.
    }
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
