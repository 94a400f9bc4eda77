import path from 'node:path'
import { openEmbedded, openServer, placeOf } from '#server/platform/database.ts'
import type { Command } from './command.ts'

export const migrate: Command = {
  parameters: [],
  summary: 'brings the tables of the database to this version, or creates them, without starting Duely',
  help: ['Every start does the same. Use it to see how long it takes, or before you start several processes. Back up first.'],
  async alone(readConfig) {
    const { databaseUrl, dataDir } = readConfig()
    const began = performance.now()
    const database = databaseUrl ? await openServer(databaseUrl) : await openEmbedded(dataDir)
    await database.close()
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    return [
      `The database ${databaseUrl ? `at ${placeOf(databaseUrl)}` : `in ${path.resolve(dataDir)}`} has the tables of this version, after ${seconds} s.`,
    ]
  },
}
