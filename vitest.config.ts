import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The first line of a test file whose subject a PostgreSQL server can change, with the reason: locks, claims, triggers, the locale or driver
 * types. `Only` where it needs a server, `Also` where it runs on the embedded database too.
 */
const postgresMark = /^\/\/ (Also|Only) on PostgreSQL: ./

/** Test files by what they need, read from their imports, so that a new file lands in the right project. */
const files = globSync('{contract,server,web,test,dev,run}/**/*.test.ts', { exclude: ['test/{faults,attacks}/**'] }).map((file) => {
  const text = readFileSync(file, 'utf8')
  const needs = /^import .*'(?:#test|\.)\/program\.ts'|\bspawn\(|\bopenEmbedded\(|\bnew PGlite\(/m.test(text)
    ? 'program'
    : /^import .*'(?:#test|\.)\/(?:harness|factories)\.ts'/m.test(text)
      ? 'database'
      : 'pure'
  const mark = postgresMark.exec(text)?.[1]
  return { file, needs: mark === 'Only' ? 'postgres' : needs, postgres: mark !== undefined, starts: needs === 'program' }
})
const include = (needs: string) => files.filter((one) => one.needs === needs).map(({ file }) => file)

/** Every file gets modules of its own: slower, and shows whether files depend on each other. */
const isolate = process.env.TEST_ISOLATE === 'true'
/**
 * `everything`: all that needs a database runs on both. `mostly`: each file runs on one, because a test takes three times as long on the embedded
 * database. That has `test/contract.test.ts`, which makes every call, as it has the programs of all other tests; the server has the rest.
 * Otherwise what is marked runs on both, and the rest on the embedded database.
 */
const onServer = process.env.TEST_POSTGRES
const servers = files.filter(
  ({ file, needs, postgres }) =>
    postgres || (needs === 'database' && (onServer === 'everything' || (onServer === 'mostly' && file !== 'test/contract.test.ts'))),
)

/** Programs first: their tests wait more than they compute, and would be left alone with the machine at the end. */
class ProgramsFirst extends BaseSequencer {
  private readonly starting = new Set(files.filter(({ starts }) => starts).map(({ file }) => path.join(import.meta.dirname, file)))

  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specs)
    const { true: first = [], false: others = [] } = Object.groupBy(
      sorted,
      ({ moduleId }) => String(this.starting.has(moduleId)) as 'true' | 'false',
    )
    return [...first, ...others]
  }
}

/** Upper bounds only: a busy machine may need minutes to start a program. */
const limits = { testTimeout: 900_000, hookTimeout: 900_000, expect: { poll: { timeout: 120_000 } } }
const database = { ...limits, pool: 'forks' as const, isolate, setupFiles: ['test/database-setup.ts'] }

/** A program of a test lives for seconds: compiling its database for speed takes a quarter of the CPU of its start. */
const shortLived = { PROGRAM_FLAGS: '--liftoff-only' }

/** The rows of docs/reliability.md, one after the other: most of them need the machine for themselves. */
const rows = {
  globalSetup: ['test/faults/setup.ts'],
  pool: 'forks' as const,
  // One process, so that the last row counts the packets of all others.
  isolate: false,
  fileParallelism: false,
  sequence: { groupOrder: 1 },
  maxConcurrency: 6,
  // Each row has a limit of its own.
  testTimeout: 1_800_000,
  // What is measured is measured as it is served.
  env: process.env.RELIABILITY === 'short' ? shortLived : {},
}

export default defineConfig({
  test: {
    // More than there are cores: some tests wait for a timeout of a database or a server. Vitest would leave one core to itself.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: ProgramsFirst },
    projects: [
      { test: { ...limits, name: 'pure', include: include('pure'), pool: 'threads', isolate } },
      {
        test: {
          ...database,
          name: 'database',
          include: files
            .filter((one) => one.needs === 'database' && !(onServer === 'mostly' && servers.includes(one)))
            .map(({ file }) => file),
        },
      },
      {
        test: {
          ...database,
          name: 'postgres',
          include: servers.map(({ file }) => file),
          globalSetup: ['test/postgres-setup.ts'],
        },
      },
      { test: { ...limits, name: 'program', include: include('program'), pool: 'forks', isolate, env: shortLived } },
      // The short rows wait more than they compute, so two files run at the same time; those that mostly wait in as many files as have some.
      {
        test: {
          ...rows,
          name: 'faults',
          include: ['test/faults/*.test.ts'],
          ...(process.env.RELIABILITY === 'short' ? { fileParallelism: true, maxWorkers: 2 } : {}),
          ...(process.env.RELIABILITY_LANE === 'waiting' ? { fileParallelism: true, maxWorkers: 5 } : {}),
        },
      },
      { test: { ...rows, name: 'attacks', include: ['test/attacks/*.test.ts'] } },
    ],
  },
})
