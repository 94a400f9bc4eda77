import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

const entrySchema = z.object({
  resolved: z.string().optional(),
  dev: z.boolean().optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
})
type Packages = Record<string, z.infer<typeof entrySchema>>
const lockSchema = z.object({ packages: z.record(z.string(), entrySchema) })
const lockFiles = ['package-lock.json', 'zapier/package-lock.json', 'bench/lighthouse/package-lock.json']

function packagesOf(file: string): Packages {
  return lockSchema.parse(JSON.parse(readFileSync(path.join(import.meta.dirname, '..', file), 'utf8'))).packages
}

/** Node looks for a package beside the one that imports it, then one node_modules up after the other. */
function isLocked(packages: Packages, place: string, name: string): boolean {
  if (`${place}${place && '/'}node_modules/${name}` in packages) return true
  return place !== '' && isLocked(packages, place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/'))), name)
}

// npm leaves out an optional package that the registry did not offer when the lock was written; `npm ci` refuses such a lock elsewhere.
test.each(lockFiles)('%s lists every optional package, whatever platform it is for', (file) => {
  const packages = packagesOf(file)
  const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(packages, place, name)),
  )
  expect(missing).toEqual([])
})

test.each(lockFiles)('%s names no registry', (file) => {
  expect(Object.values(packagesOf(file)).filter(({ resolved }) => resolved !== undefined)).toEqual([])
})

test('npm start installs none of the tools', () => {
  const packages = packagesOf('package-lock.json')
  const tools = ['@biomejs/biome', '@playwright/test', 'drizzle-kit', 'fast-check', 'knip', 'smtp-server', 'vitest']
  expect(tools.filter((name) => packages[`node_modules/${name}`]?.dev !== true)).toEqual([])
})
