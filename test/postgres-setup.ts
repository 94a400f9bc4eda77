import type { TestProject } from 'vitest/node'
import { makeTemplate, openCluster } from './postgres.ts'

/** Starts a PostgreSQL server for the run and migrates one database on it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests count what is read while tables have no statistics, which an autovacuum would bring at any moment.
  const cluster = await openCluster({ settings: ['autovacuum=off'] })
  if (!cluster)
    throw new Error('PostgreSQL 15 or later was not found. On Debian: apt-get install postgresql; on macOS: brew install postgresql')
  await makeTemplate(cluster.url)
  project.provide('postgresUrl', cluster.url)
  return cluster.stop
}
