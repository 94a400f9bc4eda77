import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { wrapEmbedded } from '#server/platform/database.ts'

const root = path.join(import.meta.dirname, '..')

/** PGlite from a migrated copy. */
export async function engineFromTemplate(): Promise<PGlite> {
  return PGlite.create({ loadDataDir: new Blob([readFileSync(await templateFile())]) })
}

/** The files of a migrated PGlite, made once per set of migrations. */
export async function templateFile(): Promise<string> {
  const journal = readFileSync(path.join(root, 'migrations/meta/_journal.json'))
  const stamp = createHash('sha256').update(journal).digest('hex').slice(0, 16)
  const folder = path.join(root, 'node_modules/.cache/duely')
  const file = path.join(folder, `template-${stamp}.tar`)
  if (!existsSync(file)) {
    const database = await wrapEmbedded(new PGlite())
    const dump = await database.embedded?.dumpDataDir('none')
    mkdirSync(folder, { recursive: true })
    const own = `${file}.${process.pid}`
    writeFileSync(own, Buffer.from(await (dump as Blob).arrayBuffer()))
    renameSync(own, file)
    await database.close()
  }
  return file
}
