import { existsSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '#server/config.ts'
import { systemClock } from '#server/platform/clock.ts'
import { type Database, openConnection, openEmbedded, placeOf } from '#server/platform/database.ts'
import { recordOrigin, renounceOrigin } from '#server/platform/origin.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { loadSecretKey, readSecretKey, writeSecretKey } from '#server/platform/secret-key.ts'
import { StartError } from '#server/platform/start-error.ts'
import { version } from '#server/platform/version.ts'
import type { Command } from './command.ts'
import { type Copied, openCopy, readCopy } from './database-copy.ts'
import { fillFolder, fillServer, isInUse } from './fill.ts'

const checked = (copied: Copied) =>
  `${copied.rows} rows of ${copied.tables} tables were copied, ${copied.emails} emails among them. Counts and sums of both databases are equal.`

/** Reads the source as it is; nothing else works on it meanwhile. */
async function copyOf(source: Database) {
  return openCopy(readCopy(source, { version, at: systemClock.now().toString(), secretKey: null }))
}

function refuseRotation(secretKey: string): void {
  if (secretKey.includes('\n'))
    throw new StartError('The secret key is being rotated. Restart Duely and finish with npm run duely -- rotate-keys first.')
}

export const moveToServer: Command = {
  parameters: ['DATABASE_URL'],
  summary: 'moves all data from the embedded database to a new database on a PostgreSQL server',
  help: [
    'Stop Duely first. A database that is in use or holds tables is refused. PGPASSWORD may hold the password instead of the address.',
    'Afterwards DATA_DIR/postgres is renamed to postgres.moved, so that nothing is sent from it again, and a line says how to start.',
  ],
  async alone(readConfig, [url = '']) {
    const { databaseUrl, dataDir, secretKey: given } = readConfig()
    if (databaseUrl)
      throw new ProblemError('invalid', 'DATABASE_URL is set, so the data is on a server already. Unset it to move the data in DATA_DIR.')
    if (!/^postgres(?:ql)?:$/.test(URL.parse(url)?.protocol ?? ''))
      throw new ProblemError('invalid', 'DATABASE_URL must be an address such as postgres://duely@localhost:5432/duely.')
    const folder = path.join(dataDir, 'postgres')
    if (!existsSync(folder)) throw new StartError(`There is no Duely data in ${dataDir}. Set DATA_DIR to Duely’s data folder.`)
    const moved = `${folder}.moved`
    if (existsSync(moved)) throw new StartError(`${moved} exists, from an earlier move. Move it away first.`)
    const source = await openEmbedded(dataDir)
    let copied: Copied
    try {
      const secretKey = given || readSecretKey(dataDir)
      refuseRotation(secretKey)
      copied = await fillServer(url, await copyOf(source.pulse), {
        check: async (db) => void (await loadSecretKey(db, { given: secretKey, dataDir })),
        finish: recordOrigin,
      })
      // Renamed while it is locked: no process can start on it in between.
      await rename(folder, moved)
    } finally {
      await source.close()
    }
    const key = given ? 'the same SECRET_KEY' : `SECRET_KEY="$(cat ${path.resolve(dataDir, 'secret-key')})"`
    return [
      checked(copied),
      `${folder} is now ${moved}: delete it when you no longer need it.`,
      `Start every process with DATABASE_URL=${withoutPassword(url)} and ${key}.`,
    ]
  },
}

function withoutPassword(url: string): string {
  const shown = new URL(url)
  if (shown.password) shown.password = '***'
  return shown.toString()
}

export const moveToEmbedded: Command = {
  parameters: ['FOLDER'],
  summary: 'moves all data from the server at DATABASE_URL to an embedded database in a new data folder',
  help: [
    'Stop every process first. A server in use, and a folder that holds data, are refused. The secret key is written to FOLDER/secret-key.',
    'Should a process start on the server afterwards, it holds what waits there until owners approve it, as after a restore.',
  ],
  async alone(readConfig, [folder = '']) {
    const config: Config = readConfig()
    const { databaseUrl, secretKey } = config
    if (!databaseUrl) throw new ProblemError('invalid', 'DATABASE_URL is not set, so there is no server to move from.')
    refuseRotation(secretKey)
    const kept = readSecretKey(folder)
    if (kept && kept !== secretKey) throw new StartError(`${folder} has the secret key of another database. Name another folder.`)
    const source = await openConnection(databaseUrl, 'duely-move')
    try {
      if (await isInUse(source.db))
        throw new StartError(`Duely is running on the database at ${placeOf(databaseUrl)}. Stop every process first.`)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const copied = await fillFolder(folder, await copyOf(source.db), {
        check: async (db) => void (await loadSecretKey(db, { given: secretKey, dataDir: folder })),
        finish: async () => undefined,
      })
      writeSecretKey(folder, secretKey)
      await renounceOrigin(source.db)
      return [checked(copied), `Start Duely with DATA_DIR=${path.resolve(folder)}, without DATABASE_URL and SECRET_KEY.`]
    } finally {
      await source.close()
    }
  },
}
