import { writeFileSync } from 'node:fs'

/*
 * Loaded into a program, it measures the longest stretch in which its main thread does one thing after the other, in ms of CPU: unlike time, that is
 * the same on a busy machine. SIGUSR2 writes it to a file and starts again.
 */

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
let [longest, before] = [0, cpuMs()]
setInterval(() => {
  const now = cpuMs()
  longest = Math.max(longest, now - before)
  before = now
}, 1).unref()

process.on('SIGUSR2', () => {
  writeFileSync(process.env.STRETCHES_FILE ?? '', String(longest))
  longest = 0
})
