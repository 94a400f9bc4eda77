import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { referencePage, scalarScript } from './scalar.ts'

/* Puts /docs into the built client, as a page of its own beside the others. */
const client = path.join(import.meta.dirname, '../build/client')
const script = await scalarScript()
const scriptName = `scalar-${createHash('sha256').update(script).digest('base64url').slice(0, 8)}.js`
const page = referencePage({
  script: `/assets/${scriptName}`,
  inter: font('inter-latin-'),
  interExt: font('inter-latin-ext-wght-normal'),
  bricolage: font('bricolage-grotesque-latin-'),
  nonce: '__DUELY_NONCE__',
  address: '__DUELY_ADDRESS__',
})
writeFileSync(path.join(client, 'assets', scriptName), script)
mkdirSync(path.join(client, 'docs'), { recursive: true })
writeFileSync(path.join(client, 'docs/index.html'), page)

/** The address of the built font whose name begins like this. */
function font(beginning: string): string {
  const found = readdirSync(path.join(client, 'assets')).find((name) => name.startsWith(beginning))
  if (!found) throw new Error(`The build has no ${beginning}.`)
  return `/assets/${found}`
}
