import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type FakeRazorpay, openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { freePort, startProgram } from '#test/program.ts'
import { test as base } from './duely.ts'

export { expect } from './duely.ts'

export interface Shop {
  razorpay: FakeRazorpay
  /** The email of every account, to add up their payments. */
  people: string[]
}

/** The program's settings for the provider. */
export function settingsFor({ settings }: FakeRazorpay): Record<string, string> {
  return {
    RAZORPAY_KEY_ID: settings.keyId,
    RAZORPAY_KEY_SECRET: settings.keySecret,
    RAZORPAY_WEBHOOK_SECRET: settings.webhookSecret,
    RAZORPAY_API_URL: settings.apiUrl,
    RAZORPAY_CHECKOUT_URL: settings.checkoutUrl,
  }
}

/** As `test`, with payments set up: they go to a fake Razorpay. */
export const test = base.extend<{ calm: null }, { port: number; shop: Shop }>({
  // Faults that a test injects into the provider end with it.
  calm: [
    async ({ shop }, use) => {
      await use(null)
      shop.razorpay.answer(() => undefined)
    },
    { auto: true },
  ],
  port: [async ({}, use) => use(await freePort()), { scope: 'worker' }],
  shop: [
    async ({ port }, use) => {
      await using razorpay = await openFakeRazorpay({ webhookUrl: `http://127.0.0.1:${port}/subscription/webhook` })
      await use({ razorpay, people: [] })
    },
    { scope: 'worker' },
  ],
  program: [
    async ({ port, shop }, use) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'duely-buying-'))
      const program = await startProgram({ DATA_DIR: folder, PORT: String(port), ...settingsFor(shop.razorpay) })
      await use(program)
      await program.end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
    { scope: 'worker', timeout: 300_000 },
  ],
})
