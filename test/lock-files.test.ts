import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

const entrySchema = z.object({
  resolved: z.string().optional(),
  dev: z.boolean().optional(),
  integrity: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
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

/** A package’s code would run as the operator, before anything of it is imported. */
test.each(lockFiles)('of the packages in %s only Node and esbuild run a script when they are installed', (file) => {
  const packages = packagesOf(file)
  const scripted = Object.keys(packages).filter((place) => packages[place]?.hasInstallScript)
  const names = new Set(scripted.map((place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)))
  expect([...names].sort()).toEqual(file === 'package-lock.json' ? ['esbuild', 'node'] : [])
  const { allowScripts = {} } = z
    .object({ allowScripts: z.record(z.string(), z.literal(true)).optional() })
    .parse(JSON.parse(readFileSync(path.join(import.meta.dirname, '..', path.dirname(file), 'package.json'), 'utf8')))
  expect(Object.keys(allowScripts).sort()).toEqual([...names].sort())
})

test('what npm start installs is compared with the hashes of the lock file', () => {
  const packages = Object.entries(packagesOf('package-lock.json')).filter(([place, { dev }]) => place !== '' && !dev)
  expect(packages.length).toBeGreaterThan(100)
  expect(packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([place]) => place)).toEqual([])
})
