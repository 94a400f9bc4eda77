import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeOf, run, say } from './process.mjs'

export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..')
const windows = process.platform === 'win32'
const pinnedNode = path.join(root, 'node_modules/node/bin', windows ? 'node.exe' : 'node')

/**
 * Installs what package-lock.json names and node_modules lacks, the pinned Node included. Does nothing where all is there.
 * @returns {Promise<string>} the Node to run everything else with
 */
export async function install() {
  if (!isInstalled('.')) {
    say('Installing what Duely needs. The first time this takes a minute or two.')
    await run('npm', npmInstall, npmOptions('.'))
  }
  if (existsSync(pinnedNode)) return pinnedNode
  const wanted = readJson('package.json')?.dependencies?.node ?? ''
  if (major(process.versions.node) >= major(wanted)) return process.execPath
  say(
    `Node ${wanted}, on which Duely runs, was not installed: npm is set to run no install scripts (ignore-scripts), and this machine's own Node is ${process.versions.node}.`,
  )
  say('Run this once, then start again: npm rebuild node --ignore-scripts=false')
  process.exit(1)
}

/**
 * The same for a package of its own in one of the folders. Answers whether all is there.
 * @param {string} folder
 * @returns {Promise<boolean>}
 */
export async function installPackage(folder) {
  return isInstalled(folder) || (await codeOf('npm', npmInstall, npmOptions(folder))) === 0
}

const npmInstall = ['install', '--no-save', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']

/** @param {string} folder */
function npmOptions(folder) {
  // npm would otherwise run on the very Node that it is about to replace.
  const own = path.join(root, 'node_modules')
  const search = (process.env.PATH ?? '').split(path.delimiter).filter((place) => !path.resolve(place).startsWith(own))
  const env = { ...process.env, PATH: search.join(path.delimiter), PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1', NODE_ENV: 'development' }
  return { shell: windows, cwd: path.join(root, folder), env }
}

/**
 * Whether node_modules holds what the lock file names; npm keeps its own list of what it installed.
 * @param {string} folder
 */
function isInstalled(folder) {
  const wanted = readJson(path.join(folder, 'package-lock.json'))?.packages
  const there = readJson(path.join(folder, 'node_modules/.package-lock.json'))?.packages
  if (!wanted || !there) return false
  return Object.entries(wanted).every(([place, { version, optional, devOptional }]) => {
    if (place === '') return true
    // What is optional may be for another machine.
    return there[place] ? there[place].version === version : Boolean(optional || devOptional)
  })
}

/**
 * @param {string} file
 * @returns {any} null where it is not there or is not JSON
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
