import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type FakeReceiver, openFakeReceiver } from '#test/fakes/receiver.ts'
import { freePort, startProgram } from '#test/program.ts'
import { test as base } from './duely.ts'

export { expect } from './duely.ts'

interface Outside {
  /** Receives webhooks, and the browsers that OAuth redirects back. */
  receiver: FakeReceiver
  zapier: { clientId: string; clientSecret: string; redirectUri: string }
}

/** As `test`, with a program that has Zapier set up and may call private addresses. */
export const test = base.extend<object, Outside>({
  receiver: [
    async ({}, use) => {
      await using receiver = await openFakeReceiver()
      await use(receiver)
    },
    { scope: 'worker' },
  ],
  zapier: [
    async ({ receiver }, use) => {
      await use({ clientId: 'duely-for-zapier', clientSecret: 'a-secret-of-zapier-and-duely', redirectUri: `${receiver.url}/back` })
    },
    { scope: 'worker' },
  ],
  program: [
    async ({ zapier }, use) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'duely-browser-'))
      const port = String(await freePort())
      const program = await startProgram({
        DATA_DIR: folder,
        PORT: port,
        PUBLIC_URL: `http://127.0.0.1:${port}`,
        HOOK_ALLOW_PRIVATE_HOSTS: 'true',
        ZAPIER_CLIENT_ID: zapier.clientId,
        ZAPIER_CLIENT_SECRET: zapier.clientSecret,
        ZAPIER_REDIRECT_URIS: zapier.redirectUri,
      })
      await use(program)
      await program.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
    { scope: 'worker', timeout: 300_000 },
  ],
})
