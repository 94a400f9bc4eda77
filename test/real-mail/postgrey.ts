import net from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '#test/program.ts'
import type { Machine } from './machine.ts'

/** Postfix's setting that asks postgrey, which turns a client's first email away for `delay` seconds. */
export async function openPostgrey(machine: Machine, delay: number): Promise<string> {
  const port = await freePort()
  const service = machine.start('/usr/sbin/postgrey', [
    `--inet=127.0.0.1:${port}`,
    `--delay=${delay}`,
    `--dbdir=${machine.folderOf('postgrey', 'postgrey')}`,
    '--user=postgrey',
    '--group=postgrey',
    '--auto-whitelist-clients=0',
    `--whitelist-clients=${machine.write('whitelist', '')}`,
    `--whitelist-recipients=${machine.write('whitelist', '')}`,
  ])
  while (!(await accepts(port))) {
    if (service.hasEnded()) throw new Error('postgrey did not start.')
    await pause(50)
  }
  return `check_policy_service inet:127.0.0.1:${port}`
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
