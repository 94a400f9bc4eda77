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

/** npm signals only its shell, which exits without forwarding: a process that has lost its parent must stop. In milliseconds. */
const parentWatch = 300

/** From here on signals are forwarded to the running program, and this process exits when that one has. */
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
 * Runs a program in the project's folder and process group until it exits. If it fails, this process exits with its code.
 * @param {string} program
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export async function run(program, args, options = {}) {
  const code = await codeOf(program, args, options)
  if (code !== 0 || asked) process.exit(code)
}

/**
 * Like `run`, but returns the exit code.
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
      say(`Can't run ${program}: ${error.message}`)
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
 * The exit code as a shell reports it: 128 plus the signal's number if a signal ended the program.
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
function exitCode(code, signal) {
  return code ?? (signal ? 128 + constants.signals[signal] : 1)
}
