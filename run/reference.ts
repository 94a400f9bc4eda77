import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeReference } from '#server/platform/reference.ts'

/** Writes docs/openapi.json anew from the contract: `npm run reference`. The address in it is that of a Duely on one's own machine. */
const file = path.join(import.meta.dirname, '../docs/openapi.json')
writeFileSync(file, `${JSON.stringify(makeReference('http://localhost:3000'), null, 2)}\n`)
process.stdout.write('docs/openapi.json is written.\n')
