import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..')
/** @type {import('node:child_process').ChildProcess | null} */
let current = null
/** @type {NodeJS.Signals | null} */
let asked = null

/** @param {string} line */
export function say(line) {
  process.stdout.write(`${line}\n`)
}

/** npm passes a signal to nobody but its shell, which is gone without a word: who is left without a parent has been asked to end. */
const parentWatch = 300

/** From here on a signal goes to whatever runs at that moment, and this process ends when that has ended. */
export function passSignalsOn() {
  const parent = process.env.npm_lifecycle_event ? process.ppid : null
  const watch = setInterval(() => {
    if (parent === null || process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, parentWatch)
  watch.unref()
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP']))
    process.on(signal, () => {
      asked = signal
      current?.kill(signal)
      if (!current) process.exit(exitCode(null, signal))
    })
}

export function isStopping() {
  return asked !== null
}

/**
 * Runs a program in the project's folder, in this process group, until it has ended. Where it fails this process ends with its code.
 * @param {string} program
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export async function run(program, args, options = {}) {
  const code = await codeOf(program, args, options)
  if (code !== 0 || asked) process.exit(code)
}

/**
 * The same, and answers its exit code.
 * @param {string} program
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<number>}
 */
export function codeOf(program, args, options = {}) {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit', ...options })
  current = child
  return new Promise((resolve) => {
    child.once('error', (error) => {
      say(`${program} cannot be run: ${error.message}`)
      current = null
      resolve(1)
    })
    child.once('exit', (code, signal) => {
      current = null
      resolve(exitCode(code, signal))
    })
  })
}

/**
 * What a shell would say: 128 and the signal's number where a signal ended it.
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
function exitCode(code, signal) {
  return code ?? (signal ? 128 + constants.signals[signal] : 1)
}
