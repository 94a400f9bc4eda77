import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { referencePage, scalarScript } from './scalar.ts'

/* Adds the page /docs to the built client. */
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

/** The address of the built font with this prefix. */
function font(beginning: string): string {
  const found = readdirSync(path.join(client, 'assets')).find((name) => name.startsWith(beginning))
  if (!found) throw new Error(`The build contains no ${beginning}.`)
  return `/assets/${found}`
}
