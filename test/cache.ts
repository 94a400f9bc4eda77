import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import path from 'node:path'

const root = path.join(import.meta.dirname, '..')

/** What tests keep from one run to the next. */
export const cache = path.join(root, 'node_modules/.cache/duely')

/** What a migrated database of the embedded engine is made of. */
export function migrationFiles(): string[] {
  const migrations = readdirSync(path.join(root, 'migrations')).filter((name) => name.endsWith('.sql'))
  return [
    'node_modules/@electric-sql/pglite/package.json',
    ...['meta/_journal.json', ...migrations.toSorted()].map((name) => `migrations/${name}`),
  ]
}

/** A folder that `make` fills once for each state of these files. */
export async function keptFolder(name: string, files: string[], make: (folder: string) => Promise<unknown>): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files) hash.update(file).update(readFileSync(path.join(root, file)))
  const done = path.join(cache, `${name}-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(done)) return done
  await mkdir(cache, { recursive: true })
  const making = await mkdtemp(`${done}.`)
  await make(making)
  // Tests also start programs as other users.
  await chmod(making, 0o755)
  // Several processes may get here together: the first one to finish gives the folder its name.
  await rename(making, done).catch(async (error: unknown) => {
    await rm(making, { recursive: true, force: true })
    if (!existsSync(done)) throw error
  })
  return done
}
