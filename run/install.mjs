import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeOf, isStopping, say } from './process.mjs'

export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..')
const windows = process.platform === 'win32'
const pinnedNode = path.join(root, 'node_modules/node/bin', windows ? 'node.exe' : 'node')

/**
 * Installs what package-lock.json lists and node_modules lacks, the pinned Node included.
 * @param {{ tools: boolean }} options whether to install `devDependencies` too: the tools for tests, checks and measurements
 * @returns {Promise<string>} the path of the Node that must run everything else
 */
export async function install({ tools }) {
  if (!(await installPackage('.', tools))) process.exit(1)
  if (existsSync(pinnedNode)) return pinnedNode
  const wanted = readJson('package.json')?.dependencies?.node ?? ''
  if (major(process.versions.node) >= major(wanted)) return process.execPath
  say(
    `Duely needs Node ${wanted}, but npm didn't install it because install scripts are disabled (ignore-scripts). This machine has Node ${process.versions.node}.`,
  )
  say('Run this once, then start again: npm rebuild node --ignore-scripts=false')
  process.exit(1)
}

/**
 * Installs the package in a folder unless it is complete.
 * @param {string} folder
 * @param {boolean} [tools]
 * @returns {Promise<boolean>} whether everything is installed
 */
export async function installPackage(folder, tools = true) {
  const wanted = readJson(path.join(folder, 'package-lock.json'))?.packages ?? {}
  const installed = readJson(path.join(folder, 'node_modules/.package-lock.json'))?.packages
  if (installed && isComplete(wanted, installed, tools)) return true
  const where = folder === '.' ? '' : ` in ${folder}/`
  say(installed ? `Installing missing packages${where}.` : `Installing packages${where}. This takes a minute or two.`)
  // Without this, `npm start` would remove the tools that `npm test` installed.
  const keep = tools || Object.values(installed ?? {}).some((entry) => entry.dev)
  const options = [keep ? '--include=dev' : '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error']
  // `npm ci` empties node_modules first, so it must never run where a program may be running from it.
  if (!installed) {
    if ((await codeOf('npm', ['ci', ...options], npmOptions(folder))) === 0) return true
    if (isStopping()) return false
    say('`npm ci` failed: see above. Trying `npm install`, which also accepts a lock file that does not match package.json.')
  }
  return (await codeOf('npm', ['install', '--no-save', ...options], npmOptions(folder))) === 0
}

/** @param {string} folder */
function npmOptions(folder) {
  // npm must not run on the Node that it is about to replace.
  const own = path.join(root, 'node_modules')
  const search = (process.env.PATH ?? '').split(path.delimiter).filter((place) => !path.resolve(place).startsWith(own))
  const env = { ...process.env, PATH: search.join(path.delimiter), PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1', NODE_ENV: 'development' }
  return { shell: windows, cwd: path.join(root, folder), env }
}

/**
 * @typedef {Record<string, { version?: string, dev?: boolean, optional?: boolean, devOptional?: boolean }>} Packages
 * @param {Packages} wanted what the lock file lists
 * @param {Packages} installed npm's own list of what it installed
 * @param {boolean} tools
 */
function isComplete(wanted, installed, tools) {
  return Object.entries(wanted).every(([place, { version, dev, optional, devOptional }]) => {
    if (place === '' || (dev && !tools)) return true
    // An optional package may be for another platform.
    return installed[place] ? installed[place].version === version : Boolean(optional || devOptional)
  })
}

/**
 * @param {string} file
 * @returns {any} null where the file is missing or not JSON
 */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(path.join(root, file), 'utf8'))
  } catch {
    return null
  }
}

/** @param {string} version */
function major(version) {
  return Number(version.split('.')[0])
}
