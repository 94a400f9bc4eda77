import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { variables } from '#server/config.ts'
import { freePort } from './program.ts'
import { thorough } from './thorough.ts'

const root = path.join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const dockerfile = read('Dockerfile')
const compose = read('compose.yaml')
const unit = read('deploy/duely.service')

/** Instructions with their arguments, continued lines joined. */
const instructions = [...dockerfile.replace(/\\\n/g, ' ').matchAll(/^([A-Z]+) +(.*)$/gm)].map(
  ([, name = '', text = '']) => [name, text.replace(/ +/g, ' ')] as const,
)
const argumentsOf = (name: string) => instructions.filter(([one]) => one === name).map(([, text]) => text)

test('the image is built in two stages, runs as an ordinary user, and names volume and health check', () => {
  expect(argumentsOf('FROM')).toHaveLength(2)
  const last = instructions.map(([name]) => name).lastIndexOf('FROM')
  const final = instructions.slice(last)
  expect(final.find(([name]) => name === 'USER')).toEqual(['USER', 'duely'])
  expect(final.find(([name]) => name === 'VOLUME')).toEqual(['VOLUME', '/data'])
  expect(final.some(([name, text]) => name === 'HEALTHCHECK' && text.endsWith('CMD ["node", "run/healthy.mjs"]'))).toBe(true)
  // What a shell runs is run by the user before, and never needs root afterwards.
  expect(final.findLastIndex(([name]) => name === 'RUN')).toBeLessThan(final.findIndex(([name]) => name === 'USER'))
  // The context has each file that the build copies by name, and .dockerignore lets it through.
  const allowed = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
  for (const line of allowed) if (!line.includes('*')) expect(existsSync(path.join(root, line.slice(1))), line).toBe(true)
  const copied = argumentsOf('COPY').flatMap((text) => (text.startsWith('--from') ? [] : text.split(' ').slice(0, -1)))
  for (const name of copied.filter((one) => one !== '.')) expect(allowed).toContain(`!${name}`)
  for (const name of [...dockerfile.matchAll(/(?:run|server)\/[\w-]+\.(?:mjs|ts)/g)].map(([file]) => file))
    expect(existsSync(path.join(root, name)), name).toBe(true)
})

test('compose.yaml, the service and the image set only variables that Duely or PostgreSQL reads', () => {
  const known = new Set([...variables, 'NODE_ENV', 'PATH', 'POSTGRES_USER', 'POSTGRES_DB', 'POSTGRES_PASSWORD', 'POSTGRES_INITDB_ARGS'])
  const set = [
    ...[...compose.matchAll(/^ {4,6}([A-Z][A-Z_]+): /gm)].map(([, name = '']) => name),
    ...[...unit.matchAll(/^Environment=(\w+)=/gm)].map(([, name = '']) => name),
    ...argumentsOf('ENV').flatMap((text) => [...text.matchAll(/(?:^| )([A-Z_]+)=/g)].map(([, name = '']) => name)),
  ]
  expect(set.length).toBeGreaterThan(12)
  expect(set.filter((name) => !known.has(name))).toEqual([])
  // One web process, two workers, one key for all; nothing is reachable from outside without a proxy.
  expect(compose).toMatch(/ROLE: web\n[\s\S]*\$\{BIND:-127\.0\.0\.1\}:3000:3000[\s\S]*ROLE: worker\n {4}deploy:\n {6}replicas: 2\n/)
  expect(compose.match(/SECRET_KEY: /g)).toHaveLength(1)
  expect(compose).not.toMatch(/\t/)
  expect(unit).toMatch(/\nExecStart=\/usr\/bin\/npm start\n[\s\S]*\nTimeoutStopSec=15\n/)
  expect(read('deploy/Caddyfile').replace(/#.*$/gm, '').match(/\{/g)?.length).toBe(
    read('deploy/Caddyfile').replace(/#.*$/gm, '').match(/\}/g)?.length,
  )
})

test('the health check fails unless this container can serve', async () => {
  let status = 200
  const server = http.createServer((_request, response) => response.writeHead(status).end('{}')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const check = async (env: Record<string, string>) =>
    promisify(execFile)(process.execPath, [path.join(root, 'run/healthy.mjs')], { env }).then(
      () => 0,
      ({ code }: { code: number }) => code,
    )
  expect(await check({ PORT: String(port) })).toBe(0)
  status = 503
  expect(await check({ PORT: String(port) })).toBe(1)
  server.close()
  expect(await check({ PORT: String(port) })).toBe(1)
  expect(await check({ ROLE: 'worker' })).toBe(0)
})

const bytesIn = async (folder: string): Promise<number> => {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const sizes = await Promise.all(found.map(async (one) => (await stat(path.join(one.parentPath, one.name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** What Debian's slim image and the packages added to it take, rounded up. */
const baseBytes = 90e6

test.runIf(thorough)('what the image contains starts on its own, is healthy, answers commands, and takes less than 400 MB', async () => {
  const within = await mkdtemp(path.join(tmpdir(), 'duely-image-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(within, { recursive: true, force: true }) }
  const image = path.join(within, 'image')
  const build = "const { buildClient } = await import('./run/client.mjs'); await buildClient(process.execPath)"
  execFileSync(process.execPath, ['--input-type=module', '-e', build], { cwd: root, stdio: 'ignore' })
  execFileSync(process.execPath, [path.join(root, 'run/image.mjs'), image])
  expect(await bytesIn(image)).toBeLessThan(400e6 - baseBytes)
  expect(readdirSync(path.join(image, 'node_modules'))).not.toContain('react')
  const port = String(await freePort())
  const env = { PATH: '', NODE_ENV: 'production', HOST: '127.0.0.1', PORT: port, DATA_DIR: path.join(within, 'data') }
  const node = path.join(image, 'node_modules/node/bin/node')
  const program = execFile(node, ['server/start.ts'], { cwd: image, env })
  try {
    const healthy = () => spawnSync(node, ['run/healthy.mjs'], { cwd: image, env }).status
    await expect.poll(healthy, { timeout: 100_000, interval: 500 }).toBe(0)
    const page = await fetch(`http://127.0.0.1:${port}/`)
    expect([page.status, (await page.text()).includes('<html')]).toEqual([200, true])
    expect(execFileSync(node, ['server/duely.ts', 'accounts'], { cwd: image, env }).toString()).toBe('There is no account.\n')
  } finally {
    const ended = once(program, 'exit')
    program.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  }
})

test.runIf(thorough && existsSync('/usr/bin/systemd-analyze'))('systemd finds nothing wrong with the service', () => {
  const { stdout, stderr } = spawnSync('/usr/bin/systemd-analyze', ['verify', '--man=no', path.join(root, 'deploy/duely.service')], {
    encoding: 'utf8',
  })
  expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('duely.service:') && !/npm|\bExecStart\b/.test(line))).toEqual([])
})
