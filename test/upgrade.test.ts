// Only on PostgreSQL: processes of two versions share one database.
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, inject, test } from 'vitest'
import { version } from '#server/platform/version.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { createDatabase, query } from './postgres.ts'
import { someoneAt, startProgram } from './program.ts'
import { thorough } from './thorough.ts'

const root = path.join(import.meta.dirname, '..')
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'ignore'] })

/** 0.1.0 has to be stopped before an upgrade: its processes know payments as one sum. UPGRADE_FROM=COMMIT tries any other. */
const before = thorough ? (process.env.UPGRADE_FROM ?? newestTag()) : null

function newestTag(): string | null {
  try {
    const tags = git('tag', '--list', 'v*', '--sort=-v:refname').toString().trim().split('\n')
    return tags.find((tag) => tag !== '' && tag !== `v${version}` && tag !== 'v0.1.0') ?? null
  } catch {
    // An archive of the code has no history.
    return null
  }
}

/** The code of a commit in a folder, with its own packages where they are others. */
async function codeOf(commit: string, folder: string): Promise<void> {
  await mkdir(folder)
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', commit) })
  const same = git('show', `${commit}:package-lock.json`).equals(await readFile(path.join(root, 'package-lock.json')))
  if (same) symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  else execFileSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' })
}

const mails = 60

test.runIf(before !== null)(`an upgrade from ${before} side by side loses no email, and repeats none`, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-before-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
  await codeOf(before ?? '', path.join(folder, 'code'))
  const env = { DATABASE_URL: await createDatabase(inject('postgresUrl') ?? ''), SECRET_KEY: 'a secret key for tests, 32 characters' }
  await using smtp = await openFakeSmtp({ delayMs: 500 })
  await using old = await startProgram(env, { root: path.join(folder, 'code') })
  const asha = await someoneAt(old.url, 'asha@example.com')
  await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  for (let n = 0; n < mails; n += 1)
    await asha.send('POST', '/invoice', { clientName: `Client ${n}`, clientEmail: `c${n}@example.com`, amount: 10, dueDate: '2026-01-01' })
  const started = asha.send('POST', '/reminder/start').catch(() => undefined)
  await smtp.received(3)

  // The new one migrates the tables that the old one is working on.
  await using current = await startProgram(env)
  const there = await someoneAt(current.url, 'asha@example.com')
  expect(await asha.send('GET', '/invoice')).toHaveLength(mails)
  await asha.send('POST', '/invoice', { clientName: 'Meanwhile', clientEmail: 'later@example.com', amount: 10, dueDate: '2099-01-01' })
  expect(await there.send('GET', '/invoice')).toHaveLength(mails + 1)
  expect(smtp.mails.length).toBeLessThan(mails)
  await started
  expect(await old.end('SIGTERM')).toBe(0)

  await smtp.received(mails)
  await expect
    .poll(() => query(env.DATABASE_URL, 'SELECT state, count(*)::int AS count FROM deliveries GROUP BY state'), { timeout: 60_000 })
    .toEqual([{ state: 'sent', count: mails }])
  expect(smtp.mails.map(({ envelope }) => envelope.to[0]).toSorted()).toEqual(
    Array.from({ length: mails }, (_, n) => `c${n}@example.com`).toSorted(),
  )
  expect(`${old.output()}${current.output()}`).not.toMatch(/"level":[56]0/)
})
