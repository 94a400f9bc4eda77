import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { sources } from './client.mjs'

test('the client is built again when a file changes that it imports from elsewhere', () => {
  const imported = [
    ...globSync('web/**/*.{ts,tsx}', { exclude: ['**/*.test.{ts,tsx}'] }),
    'vite.config.ts',
    'react-router.config.ts',
  ].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:from |import\()'(#[^?']+|\.{1,2}\/[^?']+)/g)].map(([, name = '']) =>
      name.startsWith('#') ? name.slice(1) : path.join(path.dirname(file), name),
    ),
  )
  expect(imported.length).toBeGreaterThan(1_000)
  const missed = imported.filter((name) => !sources.some((source) => name === source || name.startsWith(`${source}/`)))
  expect([...new Set(missed)]).toEqual([])
})
