import { readFileSync, renameSync } from 'node:fs'
import path from 'node:path'
import { eq } from 'drizzle-orm'
import { writeNew } from './data-folder.ts'
import type { Database } from './database.ts'
import { deriveKey, everyKey, hmac, newToken, sameText } from './secrets.ts'
import { StartError } from './start-error.ts'
import { serverChecks } from './tables.ts'

const subject = 'secret-key'

/**
 * The secret key that this database was first started with: the one `given` by the environment, else the one kept in `dataDir`,
 * made there at the first start. Another one would open no stored password and no session, so it is refused with a StartError.
 */
export async function loadSecretKey(db: Database, about: { given: string; dataDir: string }): Promise<string> {
  const file = fileIn(about.dataDir)
  const kept = about.given || readSecretKey(about.dataDir)
  const [known] = await db.select().from(serverChecks).where(eq(serverChecks.subject, subject))
  if (!kept && known)
    throw new StartError(
      `The secret key of this database is missing. Restore the file ${file} from a backup, or set SECRET_KEY to its previous value.`,
    )
  const secretKey = kept || makeKept(about.dataDir)
  const [value = '', ...before] = everyKey(secretKey, subject).map((key) => hmac(key, subject))
  if (!known) await db.insert(serverChecks).values({ subject, value }).onConflictDoNothing()
  const [check] = await db.select().from(serverChecks).where(eq(serverChecks.subject, subject))
  if (!check || ![value, ...before].some((one) => sameText(check.value, one)))
    throw new StartError(
      `${about.given ? 'SECRET_KEY' : `The key in ${file}`} is not the key this database was created with. Start Duely with the original key: stored secrets are encrypted with it.`,
    )
  return secretKey
}

/**
 * Begins to go over to another secret key, where Duely keeps it itself: a new one is put in front of the present one, and applies from the
 * next start on. Answers false where `secretKey` holds two already.
 */
export function beginRotation(secretKey: string, dataDir: string): boolean {
  if (secretKey.includes('\n')) return false
  writeSecretKey(dataDir, `${newToken()}\n${secretKey}`)
  return true
}

/** Ends it once nothing is sealed with the key before any more: the database knows the new one, and the file, where there is one, no other. */
export async function endRotation(db: Database, about: { secretKey: string; dataDir: string | null }): Promise<void> {
  const [current = ''] = about.secretKey.split('\n')
  const value = hmac(deriveKey(current, subject), subject)
  await db.update(serverChecks).set({ value }).where(eq(serverChecks.subject, subject))
  if (about.dataDir !== null) writeSecretKey(about.dataDir, current)
}

function fileIn(dataDir: string): string {
  return path.join(dataDir, 'secret-key')
}

/** The key that is kept in a data folder; empty where none is. */
export function readSecretKey(dataDir: string): string {
  const file = fileIn(dataDir)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new StartError(`The file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`, { cause: error })
  }
}

function makeKept(dataDir: string): string {
  const key = newToken()
  writeSecretKey(dataDir, key)
  return key
}

/** Readable by its owner alone, whole or not there, and on the disk before anything is sealed with it. */
export function writeSecretKey(dataDir: string, text: string): void {
  const file = fileIn(dataDir)
  writeNew(`${file}.new`, `${text}\n`)
  renameSync(`${file}.new`, file)
}
