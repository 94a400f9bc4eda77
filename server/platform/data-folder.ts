import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartError } from './start-error.ts'

/** SQLITE_BUSY: another process holds the lock. */
const busy = 5
/** The bits of a mode that let in other users of the machine. */
const others = 0o077

/** What this process writes from now on is its user's alone. */
export function writeForOwnerOnly(): void {
  process.umask(others)
}

/** Two processes on one folder lose rows: the kernel holds this lock for as long as the process lives, also through kill -9. */
export function lockFolder(dataDir: string, folder: string): () => void {
  let lock: DatabaseSync
  let hasModes: boolean
  try {
    makeParents(path.resolve(dataDir))
    const probe = mkdtempSync(path.join(dataDir, '.writable-'))
    // A file system without them, as of a mounted Windows disk, has its own rules.
    hasModes = (statSync(probe).mode & others) === 0
    rmdirSync(probe)
    lock = new DatabaseSync(`${folder}.lock`, { timeout: 0 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartError(`The folder ${dataDir} cannot be written to (${code}). Set DATA_DIR to a writable folder.`, { cause: error })
  }
  try {
    lock.exec('PRAGMA journal_mode=DELETE')
    lock.exec('BEGIN EXCLUSIVE')
    if (hasModes) closeToOthers(folder)
  } catch (error) {
    lock.close()
    if (error instanceof StartError) throw error
    if ((error as { errcode?: number }).errcode === busy)
      throw new StartError(`Another Duely is already running on the folder ${dataDir}. Stop it, or set DATA_DIR to another folder.`)
    throw new StartError(`The folder ${dataDir} cannot be locked. Set DATA_DIR to one on a local disk.`, { cause: error })
  }
  return () => lock.close()
}

/** One folder at a time: Node's own recursive way never comes back where a folder that exists calls every child missing, as /proc does. */
function makeParents(folder: string): void {
  if (existsSync(folder)) return
  makeParents(path.dirname(folder))
  mkdirSync(folder, { mode: 0o700 })
}

/**
 * Takes the database from other users of the machine, who reached what 0.2.0 wrote wherever an operator had made DATA_DIR, as for a bind mount.
 * Refuses with a StartError where that is not possible.
 */
function closeToOthers(folder: string): void {
  if (!existsSync(folder)) return
  try {
    // The folder first: what is in it cannot be reached afterwards.
    close(folder, statSync(folder))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartError(
      `Other users of this machine can open ${folder}, and it belongs to one of them (${code}). Run: sudo chown -R ${process.getuid?.()}:${process.getgid?.()} ${folder}`,
      { cause: error },
    )
  }
  // A file may have a second name outside of the folder.
  const within = readdirSync(folder, { recursive: true, withFileTypes: true }).map(({ parentPath, name }) => path.join(parentPath, name))
  for (const place of [`${folder}.lock`, `${folder}.lock-journal`, ...within]) {
    const found = lstatSync(place, { throwIfNoEntry: false })
    if (found && !found.isSymbolicLink() && found.uid === process.geteuid?.()) close(place, found)
  }
}

function close(place: string, { mode }: { mode: number }): void {
  if (mode & others) chmodSync(place, mode & 0o700)
}

/** A new file of its owner alone. One that is there is removed first: opened, it would keep its owner and its mode. */
export function writeNew(file: string, text: string): void {
  rmSync(file, { force: true })
  writeFileSync(file, text, { mode: 0o600, flag: 'wx', flush: true })
}
