import type { Config } from '#server/config.ts'
import type { Clock } from './clock.ts'
import type { Database } from './database.ts'
import type { Queue } from './job.ts'
import type { Log } from './log.ts'

/** What routes and jobs are given: made once in start.ts, passed along, never looked up. */
export interface Deps {
  db: Database
  clock: Clock
  queue: Queue
  config: Config
  log: Log
}
