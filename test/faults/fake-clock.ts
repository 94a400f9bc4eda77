import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Instant } from '#server/platform/clock.ts'
import type { Trial } from './row.ts'

/** The wall clock of the programs that are started with `env`: it can be moved while they run, and ticks on from there. */
export interface FakeClock {
  env: Record<string, string>
  now(): Instant
  set(instant: Instant): void
  advance(duration: Temporal.DurationLike): void
}

/** libfaketime answers for the machine's wall clock; timers are not affected. */
export function openFakeClock(trial: Trial, at: Instant = Temporal.Now.instant()): FakeClock {
  const library = findFakeTime()
  if (!library) return trial.skip('there is no libfaketime on this machine')
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-clock-'))
  trial.stack.defer(() => rmSync(folder, { recursive: true, force: true }))
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

export function findFakeTime(): string | null {
  const roots = ['/usr/lib', '/usr/local/lib'].filter(existsSync)
  const folders = roots.flatMap((root) => ['', ...readdirSync(root)].map((name) => path.join(root, name, 'faketime')))
  return folders.map((folder) => path.join(folder, 'libfaketimeMT.so.1')).find(existsSync) ?? null
}
