// Only on PostgreSQL: processes of two versions share one database.
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, inject, test } from 'vitest'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { createDatabase, query } from './postgres.ts'
import { someoneAt, startProgram } from './program.ts'
import { thorough } from './thorough.ts'

const root = path.join(import.meta.dirname, '..')
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000 })

/** Commits of versions, for a clone without tags. */
const commits: Record<string, string> = { 'v0.1.0': '9cd978e4b7f7bb02f2dca05999786f685c573b80' }

/** A version, where the repository has it or its origin still gives it: a shallow clone does not have it, an archive of the code has no history. */
function findVersion(name: string): string | null {
  const has = (commit: string) => tryGit('cat-file', '-e', `${commit}^{commit}`) !== null
  const commit = commits[name] ?? name
  if (has(name)) return name
  return has(commit) || (tryGit('fetch', '--quiet', '--depth=1', 'origin', commit) !== null && has(commit)) ? commit : null
}

/** 0.1.0 has to be stopped before an upgrade: its processes know no people. */
const stopsBefore = 'v0.1.0'

function newestVersion(): string | null {
  const tags = tryGit('tag', '--list', 'v*', '--sort=-v:refname')?.toString().trim().split('\n') ?? []
  return tags.find((tag) => tag !== '' && tag !== stopsBefore) ?? null
}

/** UPGRADE_FROM=COMMIT tries any other. */
const before = thorough ? (process.env.UPGRADE_FROM ?? newestVersion()) : null
const stopped = thorough ? findVersion(stopsBefore) : null

function tryGit(...args: string[]): Buffer | null {
  try {
    return git(...args)
  } catch {
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
const recipients = Array.from({ length: mails }, (_, n) => `c${n}@example.com`).toSorted()

/** A version that runs on a database of its own and is sending emails to a slow server. */
async function sendingFrom(commit: string) {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-before-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  await codeOf(commit, path.join(folder, 'code'))
  const env = { DATABASE_URL: await createDatabase(inject('postgresUrl') ?? ''), SECRET_KEY: 'a secret key for tests, 32 characters' }
  const smtp = stack.use(await openFakeSmtp({ delayMs: 500 }))
  const old = stack.use(await startProgram(env, { root: path.join(folder, 'code') }))
  const asha = await someoneAt(old.url, 'asha@example.com')
  await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  for (let n = 0; n < mails; n += 1)
    await asha.send('POST', '/invoice', { clientName: `Client ${n}`, clientEmail: `c${n}@example.com`, amount: 10, dueDate: '2026-01-01' })
  const started = asha.send('POST', '/reminder/start').catch(() => undefined)
  await smtp.received(3)
  const kept = stack.move()
  return { env, smtp, old, asha, started, [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose]() }
}

type Upgrading = Awaited<ReturnType<typeof sendingFrom>>

/** Every email was sent, once. */
async function expectOnce({ env, smtp }: Upgrading): Promise<void> {
  await smtp.received(mails)
  await expect
    .poll(() => query(env.DATABASE_URL, 'SELECT state, count(*)::int AS count FROM deliveries GROUP BY state'), { timeout: 60_000 })
    .toEqual([{ state: 'sent', count: mails }])
  expect(smtp.mails.map(({ envelope }) => envelope.to[0]).toSorted()).toEqual(recipients)
}

test.runIf(before !== null)(`an upgrade from ${before} side by side loses no email, and repeats none`, async () => {
  await using upgrading = await sendingFrom(before ?? '')
  const { env, smtp, old, asha, started } = upgrading
  // The new one migrates the tables that the old one is working on.
  await using current = await startProgram(env)
  const there = await someoneAt(current.url, 'asha@example.com')
  expect(await asha.send('GET', '/invoice')).toHaveLength(mails)
  await asha.send('POST', '/invoice', { clientName: 'Meanwhile', clientEmail: 'later@example.com', amount: 10, dueDate: '2099-01-01' })
  expect(await there.send('GET', '/invoice')).toHaveLength(mails + 1)
  expect(smtp.mails.length).toBeLessThan(mails)
  await started
  expect(await old.end('SIGTERM')).toBe(0)
  await expectOnce(upgrading)
  expect(`${old.output()}${current.output()}`).not.toMatch(/"level":[56]0/)
})

// Installs the packages of 0.1.0: minutes.
test.runIf(stopped !== null)(
  '0.1.0 is waited for, and what it leaves is sent by the next version, once',
  { timeout: 1_800_000 },
  async () => {
    await using upgrading = await sendingFrom(stopped ?? '')
    const { env, smtp, old, started } = upgrading
    const starting = startProgram(env)
    // The new one is there, and the tables are still those of the old one.
    const waits = () =>
      query(env.DATABASE_URL, "SELECT 1 FROM pg_stat_activity WHERE application_name = 'duely-migrate' AND datname = current_database()")
    await expect.poll(waits, { timeout: 60_000 }).not.toEqual([])
    expect(await query(env.DATABASE_URL, "SELECT to_regclass('people') AS people")).toEqual([{ people: null }])
    expect(smtp.mails.length).toBeLessThan(mails)
    expect(await old.end('SIGTERM')).toBe(0)
    await started
    await using current = await starting
    expect(current.output()).toContain('An older version of Duely is running on this database.')
    await expectOnce(upgrading)
    const asha = await someoneAt(current.url, 'asha@example.com')
    await asha.send('POST', '/invoice', { clientName: 'Later', clientEmail: 'later@example.com', amount: 10, dueDate: '2026-01-01' })
    expect(await asha.send('GET', '/invoice')).toHaveLength(mails + 1)
    expect(`${old.output()}${current.output()}`).not.toMatch(/"level":[56]0/)
  },
)
