import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { programFile } from '#test/bundle.ts'
import { row } from '#test/faults/row.ts'
import { copyTemplate, startProgram } from '#test/program.ts'
import { Browser } from './browser.ts'

/** Another user of the machine, and that of the Docker image. */
const [stranger, ofImage] = [65_534, 10_001]

const placesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name))

/** Those of the places on its input that it can read or write. */
const tryEach = `
const fs = require('node:fs')
const opens = (place, how) => { try { fs.closeSync(fs.openSync(place, how)); return true } catch { return false } }
const isFile = (place) => { try { return fs.lstatSync(place).isFile() } catch { return false } }
const opened = fs.readFileSync(0, 'utf8').split('\\n').filter((place) => isFile(place) && (opens(place, 'r') || opens(place, 'r+')))
process.stdout.write(opened.join('\\n'))`

row('137', 'another user of the machine, and a data folder and a backup that they can reach', { short: true }, async (trial) => {
  trial.mustHold('0 files opened; the server starts and writes the backup')
  if (process.getuid?.() !== 0) return trial.skip('only root can be several users')
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-files-'))
  trial.stack.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  // A bind mount that a container can write to, with what 0.2.0 has left in it.
  await copyTemplate(folder)
  for (const place of placesIn(folder)) {
    chmodSync(place, lstatSync(place).isDirectory() ? 0o755 : 0o666)
    chownSync(place, ofImage, ofImage)
  }
  chmodSync(folder, 0o777)
  // The stranger waits where secrets will be written.
  const backup = path.join(folder, 'backup.gz')
  const bait = [`${backup}.unfinished`, path.join(folder, 'secret-key.new')]
  for (const file of bait) {
    writeFileSync(file, '')
    chmodSync(file, 0o666)
    chownSync(file, stranger, stranger)
  }
  const before = process.umask(0)
  trial.stack.defer(() => void process.umask(before))
  await using program = await startProgram({ DATA_DIR: folder }, { uid: ofImage })
  const { status } = await new Browser(program.url).ask('GET /server')
  const asImage = { uid: ofImage, gid: ofImage, env: { PATH: process.env.PATH, DATA_DIR: folder }, encoding: 'utf8' } as const
  const { stdout } = spawnSync(process.execPath, [await programFile('duely'), 'backup', backup], asImage)
  const places = placesIn(folder)
  const tried = spawnSync(process.execPath, ['-e', tryEach], { uid: stranger, gid: stranger, input: places.join('\n'), encoding: 'utf8' })
  const opened = tried.stdout.split('\n').filter((place) => place !== '')
  const shown = opened.length === 0 ? '' : `, such as ${path.relative(folder, opened.find((one) => one === backup) ?? opened[0] ?? '')}`
  return {
    figure: `${opened.length} of ${places.length} files opened${shown}; server ${status}, ${/ has all data/.test(stdout) ? 'backup written' : stdout}`,
    holds: opened.length === 0 && tried.status === 0 && places.length > 1_000 && status === 200 && stdout.includes(' has all data'),
  }
})
