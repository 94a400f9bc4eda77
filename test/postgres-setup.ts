import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { openServer } from '#server/platform/database.ts'
import { openCluster } from './postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server of this run, in the project that tests on one. */
    postgresUrl?: string
  }
}

/** The migrated database that every worker copies. */
export const templateDatabase = 'duely_template'

/** Starts a PostgreSQL server for the run and migrates one database on it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests count what is read while tables have no statistics, which an autovacuum would bring at any moment.
  const cluster = await openCluster({ settings: ['autovacuum=off'] })
  if (!cluster)
    throw new Error('PostgreSQL 15 or later was not found. On Debian: apt-get install postgresql; on macOS: brew install postgresql')
  const client = new pg.Client({ connectionString: cluster.url })
  await client.connect()
  await client.query(`CREATE DATABASE ${templateDatabase}`)
  await client.end()
  const template = new URL(cluster.url)
  template.pathname = `/${templateDatabase}`
  await openServer(template.toString()).then((database) => database.close())
  project.provide('postgresUrl', cluster.url)
  return cluster.stop
}
