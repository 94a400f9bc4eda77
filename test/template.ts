import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { wrapEmbedded } from '#server/platform/database.ts'
import { keptFolder, migrationFiles } from './cache.ts'

/** PGlite from a migrated copy. */
export async function engineFromTemplate(): Promise<PGlite> {
  return PGlite.create({ loadDataDir: await templateFiles() })
}

/** The files of a migrated PGlite. */
export async function templateFiles(): Promise<Blob> {
  const name = 'files.tar'
  const folder = await keptFolder('template', migrationFiles(), async (making) => {
    const database = await wrapEmbedded(new PGlite())
    const dump = await database.embedded?.dumpDataDir('none')
    await writeFile(path.join(making, name), Buffer.from(await (dump as Blob).arrayBuffer()))
    await database.close()
  })
  return new Blob([readFileSync(path.join(folder, name))])
}
