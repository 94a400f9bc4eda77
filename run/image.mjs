// node run/image.mjs FOLDER: copies what the built server needs, and no package that only builds the client, as in the Dockerfile.
import { cpSync, existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ofClient } from './of-client.mjs'

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..')
/** Besides packages. The client is in `build/`; `server/` reads the rest when it runs. */
const own = ['build', 'contract', 'migrations', 'package.json', 'run/healthy.mjs', 'server']
/** @typedef {{ dependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Entry */
/** @type {Record<string, Entry>} */
const packages = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages

/**
 * Where Node finds a package that another one imports.
 * @param {string} from
 * @param {string} name
 */
function find(from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const place = path.posix.join(at, 'node_modules', name)
    if (packages[place]) return place
    if (at === '') return null
  }
}

/** @type {Set<string>} */
const needed = new Set()
/**
 * @param {string} from
 * @param {Entry | undefined} entry
 */
function follow(from, entry) {
  for (const name of Object.keys({ ...entry?.dependencies, ...entry?.optionalDependencies })) {
    if (from === '' && ofClient.test(name)) continue
    const place = find(from, name)
    if (place === null || needed.has(place)) continue
    needed.add(place)
    follow(place, packages[place])
  }
}
follow('', packages[''])

const target = process.argv[2]
if (!target) throw new Error('Name the folder to write to.')
const isOfTest = (/** @type {string} */ file) => /\.test\.tsx?$/.test(file)
for (const name of own) cpSync(path.join(root, name), path.join(target, name), { recursive: true, filter: (file) => !isOfTest(file) })
for (const place of needed) {
  const from = path.join(root, place)
  // Optional packages of other systems are listed and not installed. Nested ones are copied for themselves.
  if (existsSync(from))
    cpSync(from, path.join(target, place), {
      recursive: true,
      filter: (file) => !path.relative(from, file).split(path.sep).includes('node_modules'),
    })
}
