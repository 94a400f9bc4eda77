import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeReference } from '#server/platform/reference.ts'

/** npm run reference: updates docs/openapi.json from the contract. Its server address is that of a local Duely. */
const file = path.join(import.meta.dirname, '../docs/openapi.json')
writeFileSync(file, `${JSON.stringify(makeReference('http://localhost:3000'), null, 2)}\n`)
process.stdout.write('Updated docs/openapi.json.\n')
