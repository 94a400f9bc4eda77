import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeReference } from '#server/platform/reference.ts'
import { bankFilesPage } from './bank-files-page.ts'

/** npm run reference: updates docs/openapi.json from the contract, with the address of a local Duely, and docs/bank-files.md from its layouts. */
const file = path.join(import.meta.dirname, '../docs/openapi.json')
writeFileSync(file, `${JSON.stringify(makeReference('http://localhost:3000'), null, 2)}\n`)
writeFileSync(path.join(import.meta.dirname, '../docs/bank-files.md'), bankFilesPage())
process.stdout.write('Updated docs/openapi.json and docs/bank-files.md.\n')
