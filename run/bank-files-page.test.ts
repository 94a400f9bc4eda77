import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { bankFilesPage } from './bank-files-page.ts'

test('docs/bank-files.md matches the tables that files are read by; if not: npm run reference', () => {
  expect(readFileSync(path.join(import.meta.dirname, '../docs/bank-files.md'), 'utf8')).toBe(bankFilesPage())
})
