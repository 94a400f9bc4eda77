import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { mkdtemp, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { sql } from 'drizzle-orm'
import type { Config } from '#server/config.ts'
import { systemClock } from '#server/platform/clock.ts'
import { type Database, openConnection, openEmbedded, placeOf } from '#server/platform/database.ts'
import { runInServer } from '#server/platform/operator-socket.ts'
import { recordOrigin, renounceOrigin } from '#server/platform/origin.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { loadSecretKey, readSecretKey, writeSecretKey } from '#server/platform/secret-key.ts'
import { StartError } from '#server/platform/start-error.ts'
import { version } from '#server/platform/version.ts'
import { holdRestored } from '#server/reminders/holds.ts'
import type { Command } from './command.ts'
import { type Copied, openCopy, readCopy } from './database-copy.ts'
import { type FillSteps, fillFolder, fillServer } from './fill.ts'

const withKey = '--with-key'
const megabyte = 2 ** 20

export const backup: Command = {
  parameters: ['FILE', `[${withKey}]`],
  summary: 'writes all data to a new file, while Duely runs',
  help: [
    'The file is compressed, readable by you alone, and restores into the embedded database or a server, also of a later version.',
    `Mailbox passwords in it are encrypted with the secret key, which is left out: keep it elsewhere, or add it with ${withKey}. Then the file opens everything.`,
  ],
  async alone(readConfig, given) {
    const [file, ...more] = given.filter((one) => one !== withKey)
    if (file === undefined || more.length > 0) throw new ProblemError('invalid', `Name one file: backup FILE [${withKey}].`)
    if (await stat(file).catch(() => null)) throw new ProblemError('invalid', `${file} exists. Choose another name.`)
    const config = readConfig()
    const secretKey = config.secretKey || readSecretKey(config.dataDir)
    const keyWanted = given.includes(withKey)
    if (keyWanted && !secretKey) throw new StartError('There is no secret key yet. Start Duely once.')
    const about = { version, at: systemClock.now().toString(), secretKey: keyWanted ? secretKey : null }
    await withSource(config, async (db) => writeFile(file, readCopy(db, about)))
    const { size } = await stat(file)
    return [
      `${path.resolve(file)} has all data, ${Math.max(0.1, size / megabyte).toFixed(1)} MB compressed.`,
      keyWanted
        ? 'It contains the secret key: with this file alone, every stored password can be decrypted. Keep it as safe as the key.'
        : `It does not contain the secret key. Keep ${config.secretKeyGiven ? 'SECRET_KEY' : path.resolve(config.dataDir, 'secret-key')} elsewhere: without it the backup can't be used.`,
    ]
  },
}

/** Opens what is to be copied: the server, or the embedded database, of which a copy is made first where a process runs on it. */
async function withSource(config: Config, use: (db: Database) => Promise<void>): Promise<void> {
  const opened = config.databaseUrl ? await openConnection(config.databaseUrl, 'duely-backup') : await openSource(config.dataDir)
  try {
    await use(opened.db)
  } finally {
    await opened.close()
  }
}

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A copy of all data must not stay at a place where the command is interrupted. `gone` removes it, `kept` leaves what is there. */
function interruptible(place: string): { gone(): Promise<void>; kept(): void } {
  const interrupted = (signal: NodeJS.Signals) => {
    rmSync(place, { recursive: true, force: true })
    process.kill(process.pid, signal)
  }
  for (const signal of endings) process.once(signal, interrupted)
  const kept = () => {
    for (const signal of endings) process.off(signal, interrupted)
  }
  return { gone: () => rm(place, { recursive: true, force: true }).finally(kept), kept }
}

async function openSource(dataDir: string): Promise<{ db: Database; close(): Promise<void> }> {
  await refuseMissing(dataDir)
  const within = await mkdtemp(path.join(path.resolve(dataDir), 'backup-'))
  const { gone } = interruptible(within)
  try {
    const said = await runInServer(dataDir, ['snapshot', within])
    if (said && said.code !== 0) throw new StartError(said.lines.join('\n'))
    const { pulse, close } = await openEmbedded(said ? within : dataDir)
    return { db: pulse, close: () => close().finally(gone) }
  } catch (error) {
    await gone()
    throw error
  }
}

/** Opening would create a new database at a mistyped path. */
async function refuseMissing(dataDir: string): Promise<void> {
  await stat(path.join(dataDir, 'postgres')).catch(() => {
    throw new StartError(`There is no Duely data in ${dataDir}. Set DATA_DIR to Duely’s data folder.`)
  })
}

/** Whole or not there: it gets its name when it is complete. */
async function writeFile(file: string, lines: AsyncIterable<string>): Promise<void> {
  const made = `${file}.unfinished`
  const text = async function* () {
    for await (const line of lines) yield `${line}\n`
  }
  const { gone, kept } = interruptible(made)
  try {
    // What another user has put there would keep its owner and its mode.
    await rm(made, { force: true })
    await pipeline(Readable.from(text()), createGzip({ level: 5 }), createWriteStream(made, { flags: 'wx', mode: 0o600, flush: true }))
    await rename(made, file)
    kept()
  } catch (error) {
    await gone()
    if (isFileError(error)) throw new StartError(`${file} cannot be written (${error.code}).`, { cause: error })
    throw error
  }
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}

export const snapshot: Command = {
  parameters: ['FOLDER'],
  summary: 'copies the files of the running embedded database into an empty folder; backup does this',
  async run({ db, snapshot }, [folder = '']) {
    if (!snapshot) throw new ProblemError('invalid', 'Duely does not run on an embedded database here. Use backup.')
    await db.execute(sql`CHECKPOINT`)
    await snapshot(folder)
    return [`The database was copied to ${folder}.`]
  },
}

export const restore: Command = {
  parameters: ['FILE'],
  summary: 'fills an empty database with a backup, and holds what waits in it',
  help: [
    'The embedded database in DATA_DIR, or with DATABASE_URL a new database on a server. One that holds data, or is in use, is refused.',
    'Emails that waited when the backup was made wait for their owners’ approval, because some may have been sent since.',
    'The secret key comes from SECRET_KEY, else from the backup, where it was made with --with-key, else from DATA_DIR/secret-key.',
  ],
  async alone(readConfig, [file = '']) {
    const config = readConfig()
    await stat(file).catch(() => {
      throw new ProblemError('not_found', `There is no file ${file}.`)
    })
    const copy = await openCopy(linesOf(file))
    const { dataDir, databaseUrl } = config
    const key = config.secretKey || copy.head.secretKey || readSecretKey(dataDir)
    if (!key)
      throw new StartError(`This backup has no secret key. Put the one it was made with into ${dataDir}/secret-key, or set SECRET_KEY.`)
    const kept = databaseUrl || config.secretKeyGiven ? '' : readSecretKey(dataDir)
    if (kept && kept !== key)
      throw new StartError(`${dataDir} has the secret key of another database. Set DATA_DIR to another folder, or move that file away.`)
    let held = 0
    const steps: FillSteps = {
      async check(db) {
        await loadSecretKey(db, { given: key, dataDir })
        // Should this process end before it has held what waits, the first that starts on the server does.
        if (databaseUrl) await renounceOrigin(db)
      },
      async finish(db) {
        held = await db.transaction((tx) => holdRestored(tx, systemClock.now()))
        if (databaseUrl) await recordOrigin(db)
      },
    }
    const copied = databaseUrl ? await fillServer(databaseUrl, copy, steps) : await fillFolder(dataDir, copy, steps)
    if (!databaseUrl && !config.secretKeyGiven) writeSecretKey(dataDir, key)
    return [
      `${described(copied)} of ${copied.head.at.slice(0, 16).replace('T', ' ')} UTC are in ${databaseUrl ? placeOf(databaseUrl) : path.resolve(dataDir)}.`,
      heldLine(held),
      'Ended sessions, revoked keys and old passwords of that time are valid again. docs/operating.md, "Backup", has what to do about payments.',
    ]
  },
}

/** A file that is damaged or cut off ends in a StartError. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  const text = createReadStream(file).pipe(createGunzip())
  try {
    yield* createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })
  } catch (error) {
    throw new StartError('The backup is damaged: it does not decompress. Nothing was written.', { cause: error })
  }
}

/** "12 invoices, 34 emails and 567 rows in all". */
export function described({ invoices, emails, rows }: Copied): string {
  return `${counted(invoices, 'invoice')}, ${counted(emails, 'email')} and ${counted(rows, 'row')} in all`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function heldLine(held: number): string {
  return held === 1 ? '1 reminder needs its owner’s approval.' : `${held} reminders need their owners’ approval.`
}

export const holdRestoredCommand: Command = {
  parameters: [],
  summary: 'holds every waiting reminder for its owner’s approval; use it after restoring a copy of the embedded database',
  run: async ({ db, clock }) => [heldLine(await db.transaction((tx) => holdRestored(tx, clock.now())))],
}
