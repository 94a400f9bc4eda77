import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Instant } from '#server/platform/clock.ts'
import type { Chaos } from './scenario.ts'

/** A wall clock of its own for the programs that are started with `env`: it can be moved under them, and goes on from there. */
export interface MovedClock {
  env: Record<string, string>
  now(): Instant
  set(instant: Instant): void
  advance(duration: Temporal.DurationLike): void
}

/** libfaketime answers for the machine's wall clock; timers go on as they were. Null where it is not on this machine. */
export function openMovedClock({ stack }: Chaos, at: Instant = Temporal.Now.instant()): MovedClock | null {
  const library = findMovedClock()
  if (!library) return null
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-clock-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'offset')
  let ahead = 0
  const set = (instant: Instant) => {
    ahead = Math.round((instant.epochMilliseconds - Date.now()) / 1000)
    writeFileSync(file, `${ahead >= 0 ? '+' : ''}${ahead}\n`)
  }
  const now = () => Temporal.Instant.fromEpochMilliseconds(Date.now() + ahead * 1000)
  set(at)
  return {
    env: { LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' },
    now,
    set,
    advance: (duration) => set(now().toZonedDateTimeISO('UTC').add(duration).toInstant()),
  }
}

export function findMovedClock(): string | null {
  const roots = ['/usr/lib', '/usr/local/lib'].filter(existsSync)
  const folders = roots.flatMap((root) => [
    path.join(root, 'faketime'),
    ...readdirSync(root).map((name) => path.join(root, name, 'faketime')),
  ])
  return folders.map((folder) => path.join(folder, 'libfaketimeMT.so.1')).find(existsSync) ?? null
}
