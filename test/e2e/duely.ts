import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test as base, expect, type Page } from '@playwright/test'
import { type DnsRecords, type FakeDns, openFakeDns } from '#test/fakes/dns-server.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { type Program, startProgram } from '#test/program.ts'

interface Started {
  /** What the name server of the program has; empty for most tests. */
  zone: Record<string, DnsRecords>
  dns: FakeDns
  /** The real program with the built client, on its own data; one for all tests of a worker. */
  program: Program
}

interface Beside {
  /** A mail server that has received nothing yet. */
  smtp: FakeSmtp
  complaints: string[]
}

/** A browser test with the program at `/`. Any error on the page's console, policy violations included, fails it. */
export const test = base.extend<Beside, Started>({
  zone: [async ({}, use) => use({}), { scope: 'worker' }],
  dns: [
    async ({ zone }, use) => {
      await using dns = await openFakeDns((name) => zone[name])
      await use(dns)
    },
    { scope: 'worker' },
  ],
  program: [
    async ({ dns }, use) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'duely-browser-'))
      const program = await startProgram({ DATA_DIR: folder, DNS_SERVERS: `127.0.0.1:${dns.port}` })
      await use(program)
      await program.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  smtp: async ({}, use) => {
    await using smtp = await openFakeSmtp()
    await use(smtp)
  },
  baseURL: async ({ program }, use) => use(program.url),
  complaints: [
    async ({ page }, use) => {
      const complaints: string[] = []
      listen(page, complaints)
      await use(complaints)
      expect(complaints, 'errors on the console').toEqual([])
    },
    { auto: true },
  ],
})

export { expect }

/** Only `npm run test:full` runs a test with this tag: cheaper ones show most of what it shows. */
export const full = { tag: '@full' }

function listen(page: Page, complaints: string[]): void {
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // The browser logs each refused call; the screen's own message is what the test checks.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text())
  })
}
