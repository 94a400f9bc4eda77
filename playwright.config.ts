import { defineConfig } from '@playwright/test'
import { chromiumFlags, findChromium } from '#test/chromium.ts'

const executablePath = findChromium()

/** Journeys in whatever Chromium this machine has, against the built client and the real server, which each file starts for itself. */
export default defineConfig({
  testDir: 'test/e2e',
  testMatch: '*.spec.ts',
  outputDir: 'test-results',
  timeout: 60_000,
  // Two browsers and the program share what may be a small machine.
  expect: { timeout: 15_000 },
  workers: 2,
  forbidOnly: Boolean(process.env.CI),
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_NAME ? [['list'], ['json']] : [['list']],
  use: {
    launchOptions: { ...(executablePath ? { executablePath } : {}), args: chromiumFlags },
    locale: 'en-IN',
    timezoneId: 'Asia/Kolkata',
    trace: 'retain-on-failure',
  },
})
