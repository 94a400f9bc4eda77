import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['test/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // The program lives for a minute: compiling its database for speed takes more CPU than it saves.
    env: { PROGRAM_FLAGS: '--liftoff-only' },
  },
})
