import { defineConfig } from '@playwright/test'
import { chromiumFlags, findHeadlessChromium } from '#test/chromium.ts'
import { thorough } from '#test/thorough.ts'

const executablePath = findHeadlessChromium()
// The workers read this file too, and must not search or install again.
if (executablePath) process.env.CHROMIUM = executablePath

// A program of a test lives for minutes: compiling its database for speed takes more CPU than it saves. The workers inherit it.
process.env.PROGRAM_FLAGS ??= '--liftoff-only'

/** So does a page, for seconds, with its scripts. */
const shortLived = ['--js-flags=--sparkplug --no-opt --no-maglev']

/** Files whose program talks to a fake that the test directs: one worker keeps one such program, and runs its tests one after another. */
const withFakes = {
  shop: ['buying.spec.ts', 'audit-billing.spec.ts'],
  google: ['google.spec.ts', 'gmail.spec.ts', 'security.spec.ts', 'join.spec.ts', 'audit-account.spec.ts'],
  'api-clients': ['connections.spec.ts', 'failures.spec.ts', 'audit-connections.spec.ts'],
}

/** Browser tests in the Chromium of this machine, against the built client and the real server. */
export default defineConfig({
  testDir: 'test/e2e',
  outputDir: 'test-results',
  // Upper bounds only: three browsers and the programs may share a small, busy machine.
  timeout: 900_000,
  expect: { timeout: 60_000 },
  workers: 3,
  ...(thorough ? {} : { grepInvert: /@full/ }),
  forbidOnly: Boolean(process.env.CI),
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_NAME ? [['list'], ['json']] : [['list']],
  use: {
    // Without these an action on an element that is not there waits for the whole of the test's time.
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    launchOptions: { ...(executablePath ? { executablePath } : {}), args: [...chromiumFlags, ...shortLived] },
    locale: 'en-IN',
    timezoneId: 'Asia/Kolkata',
    contextOptions: { reducedMotion: 'reduce' },
    // Recording costs as much CPU as the test. There are no retries by default, which would hide an unstable test: trace one with `--retries 1`.
    trace: 'on-first-retry',
  },
  projects: [
    ...Object.entries(withFakes).map(([name, testMatch]) => ({ name, testMatch, workers: 1 })),
    { name: 'plain', testMatch: '*.spec.ts', testIgnore: Object.values(withFakes).flat(), fullyParallel: true },
  ],
})
