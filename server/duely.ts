import { existsSync } from 'node:fs'
import path from 'node:path'
import { operate, runAlone } from '#server/commands/commands.ts'
import { systemClock } from '#server/platform/clock.ts'
import { writeForOwnerOnly } from '#server/platform/data-folder.ts'
import { openEmbedded, openServer } from '#server/platform/database.ts'
import { type CommandResult, runInServer } from '#server/platform/operator-socket.ts'
import { loadSecretKey } from '#server/platform/secret-key.ts'
import { StartError } from '#server/platform/start-error.ts'
import { ConfigError, readConfig } from './config.ts'

/** The operator's commands: by the process that runs, else on the embedded database itself; with DATABASE_URL always there. */
writeForOwnerOnly()
try {
  const { lines, code } = await carryOut(process.argv.slice(2))
  for (const line of lines) process.stdout.write(`${line}\n`)
  process.exitCode = code
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof StartError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function carryOut(args: string[]): Promise<CommandResult> {
  const done = await runAlone(readConfig, args)
  if (done) return done
  const config = readConfig()
  const { databaseUrl, dataDir } = config
  if (!databaseUrl) {
    const said = await runInServer(dataDir, args)
    if (said) return said
    // Opening would create a new database at a mistyped path.
    if (!existsSync(path.join(dataDir, 'postgres')))
      throw new StartError(`There is no Duely data in ${dataDir}. Set DATA_DIR to Duely’s data folder.`)
  }
  const database = databaseUrl ? await openServer(databaseUrl) : await openEmbedded(dataDir)
  try {
    const secretKey = await loadSecretKey(database.db, { given: config.secretKey, dataDir })
    return await operate({ db: database.db, clock: systemClock, config: { ...config, secretKey } }, args)
  } finally {
    await database.close()
  }
}
