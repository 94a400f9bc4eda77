import { existsSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Database, migrate, openConnection, openEmbedded, placeOf, rows } from '#server/platform/database.ts'
import { StartError } from '#server/platform/start-error.ts'
import { type Copied, isEmpty, type OpenCopy, writeCopy } from './database-copy.ts'

export interface FillSteps {
  /** Before the rows are committed: refuses by throwing. */
  check(db: Database): Promise<void>
  /** On the tables of this version, after that. */
  finish(db: Database): Promise<void>
}

/** Whether processes of Duely are connected to a server's database, other than this one. */
export async function isInUse(db: Database): Promise<boolean> {
  const [found] = await rows(
    db,
    z.object({ used: z.boolean() }),
    sql`SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'duely%') AS used`,
  )
  return found?.used ?? false
}

/** Fills a new database on a server. Refuses with a StartError one that is in use or holds tables. */
export async function fillServer(url: string, copy: OpenCopy, steps: FillSteps): Promise<Copied> {
  const { db, close } = await openConnection(url, 'duely-restore')
  try {
    if (await isInUse(db)) throw new StartError(`Duely is running on the database at ${placeOf(url)}. Name a new, empty database.`)
    if (!(await isEmpty(db))) throw new StartError(`The database at ${placeOf(url)} already holds tables. Name a new, empty database.`)
    await migrate(db, copy.head.level)
    const copied = await writeCopy(db, copy, steps.check).catch(async (error: unknown) => {
      await empty(db)
      throw error
    })
    await migrate(db)
    await steps.finish(db)
    await db.execute(sql`ANALYZE`)
    return copied
  } finally {
    await close()
  }
}

/** As it was before: the next try finds no tables. */
async function empty(db: Database): Promise<void> {
  await db.execute(sql`DROP SCHEMA drizzle CASCADE`)
  const made = await rows(
    db,
    z.object({ what: z.string() }),
    sql`SELECT format('DROP TABLE %I CASCADE', relname) AS what FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        UNION ALL SELECT format('DROP FUNCTION %s CASCADE', p.oid::regprocedure) FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
          AND prokind = 'f' AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = p.oid AND deptype = 'e')`,
  )
  for (const { what } of made) await db.execute(sql.raw(what))
}

/** Makes a database in a data folder that has none; the folder gets it when it is complete. Refuses with a StartError. */
export async function fillFolder(dataDir: string, copy: OpenCopy, steps: FillSteps): Promise<Copied> {
  const folder = path.join(dataDir, 'postgres')
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new StartError(
      `${path.resolve(dataDir)} already holds data. Stop Duely and move ${folder} away, or set DATA_DIR to another folder.`,
    )
  const within = path.join(dataDir, 'unfinished')
  await rm(within, { recursive: true, force: true })
  try {
    const database = await openEmbedded(within, undefined, copy.head.level)
    let copied: Copied
    try {
      copied = await writeCopy(database.pulse, copy, steps.check)
      await migrate(database.pulse)
      await steps.finish(database.pulse)
      await database.pulse.execute(sql`VACUUM ANALYZE`)
    } finally {
      await database.close()
    }
    await rename(path.join(within, 'postgres'), folder)
    return copied
  } finally {
    await rm(within, { recursive: true, force: true })
  }
}
