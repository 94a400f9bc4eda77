import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { readConfig, variables } from '#server/config.ts'
import { findProgram, installPackage } from './machine.ts'
import { createDatabase, findInitdb, openCluster, query } from './postgres.ts'
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
  expect(unit).toMatch(/\nExecStart=\/srv\/duely\/node_modules\/node\/bin\/node server\/start\.ts\n[\s\S]*\nTimeoutStopSec=15\n/)
})

const service = z.object({
  environment: z.record(z.string(), z.string()).default({}),
  build: z.string().optional(),
  image: z.string(),
  ports: z.array(z.string()).default([]),
  deploy: z.object({ replicas: z.number() }).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.literal('service_healthy') })).default({}),
  volumes: z.array(z.string()).default([]),
  healthcheck: z.object({ test: z.array(z.string()), interval: z.string(), timeout: z.string(), retries: z.number() }).optional(),
  restart: z.literal('unless-stopped'),
  // What an audit asks of each container.
  user: z.enum(['10001', 'postgres']),
  read_only: z.literal(true),
  tmpfs: z.array(z.string()),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
  pids_limit: z.number(),
  mem_limit: z.string(),
  networks: z.array(z.string()),
  stop_grace_period: z.string().optional(),
})
const project = z.object({
  services: z.record(z.string(), service.strict()),
  networks: z.record(z.string(), z.object({ internal: z.literal(true) }).nullable()),
  volumes: z.record(z.string(), z.null()),
})

/** compose.yaml as Docker Compose reads it: anchors and merges, then `${NAME:-default}` and `${NAME:?message}` in each value. */
function readCompose(env: Record<string, string>): z.output<typeof project> {
  const filled = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replace(/\$\{(\w+)(:[-?])([^}]*)\}/g, (_all, name: string, how: string, rest: string) => {
        if (!env[name] && how === ':?') throw new Error(`${name}: ${rest}`)
        return env[name] || rest
      })
    if (Array.isArray(value)) return value.map(filled)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one)]))
    return value
  }
  const { services, networks, volumes } = filled(parse(compose, { merge: true })) as Record<string, unknown>
  return project.parse({ services, networks, volumes })
}

test('compose.yaml starts a database, one web process and two workers, with settings that Duely accepts', () => {
  // As docs/deploying.md and the head of compose.yaml say.
  const [command = ''] = /printf 'SECRET_KEY=.*> \.env/.exec(read('docs/deploying.md')) ?? []
  expect(compose).toContain(command)
  const made = execFileSync('sh', ['-c', command.replace('> .env', '')], { encoding: 'utf8' })
  const env = Object.fromEntries(
    made
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  expect(() => readCompose({ ...env, SECRET_KEY: '' })).toThrow('SECRET_KEY: Set it in .env')
  const { services, networks, volumes } = readCompose(env)
  const { postgres, web, worker } = services
  expect(Object.keys(services)).toEqual(['postgres', 'web', 'worker'])
  expect(worker?.deploy?.replicas).toBe(2)
  // Nothing is reachable from outside without a proxy.
  expect([postgres?.ports, web?.ports, worker?.ports]).toEqual([[], ['127.0.0.1:3000:3000'], []])
  // The database reaches nothing, and only Duely reaches it.
  expect(networks).toEqual({ database: { internal: true }, outside: null })
  expect([postgres, web, worker].map((one) => one?.networks)).toEqual([['database'], ['database', 'outside'], ['database', 'outside']])
  // The user of the image, which the database's own image has too.
  expect(dockerfile).toContain(`useradd --uid ${web?.user} `)
  expect(Object.keys(volumes)).toEqual(postgres?.volumes.map((one) => one.split(':')[0]))
  for (const [name, one] of Object.entries({ web, worker })) {
    expect(one?.depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
    const config = readConfig(one?.environment ?? {})
    expect([config.role, config.databaseUrl, config.secretKeyGiven, config.trustProxy]).toEqual([
      name,
      `postgres://duely:${env.POSTGRES_PASSWORD}@postgres:5432/duely`,
      true,
      false,
    ])
  }
  expect(
    readConfig(readCompose({ ...env, TRUST_PROXY: 'uniquelocal', PUBLIC_URL: 'https://duely.example.com' }).services.web?.environment),
  ).toMatchObject({
    trustProxy: ['uniquelocal'],
    publicUrl: 'https://duely.example.com',
  })
})

// Makes a database server: two seconds.
test.runIf(findInitdb())('the database of compose.yaml is made and asked by its own commands', { timeout: 240_000 }, async () => {
  const { postgres } = readCompose({ SECRET_KEY: 'x', POSTGRES_PASSWORD: 'y' }).services
  const { POSTGRES_INITDB_ARGS = '', POSTGRES_USER = '', POSTGRES_DB = '' } = postgres?.environment ?? {}
  await using stack = new AsyncDisposableStack()
  const cluster = await openCluster({ initdb: POSTGRES_INITDB_ARGS.split(' ') })
  if (!cluster) throw new Error('There is no PostgreSQL.')
  stack.defer(() => cluster.stop())
  const url = await createDatabase(cluster.url, { name: POSTGRES_DB })
  const { port, hostname, username } = new URL(url)
  expect(username).toBe(POSTGRES_USER)
  const [how, program = '', ...args] = postgres?.healthcheck?.test ?? []
  expect(how).toBe('CMD')
  const env = { ...process.env, PGHOST: hostname, PGPORT: port }
  expect(spawnSync(path.join(cluster.bin, program), args, { env }).status).toBe(0)
  expect(await query(url, "SELECT lower('É') = 'é' AS letters, current_setting('server_encoding') AS encoding")).toEqual([
    { letters: true, encoding: 'UTF8' },
  ])
})

const isRoot = process.getuid?.() === 0

test.runIf(isRoot && process.platform === 'linux')('the commands of the final image make its user and its volume', ({ skip }) => {
  const last = instructions.map(([name]) => name).lastIndexOf('FROM')
  const commands = instructions
    .slice(last)
    .filter(([name]) => name === 'RUN')
    .map(([, text]) => text)
  const packages =
    /apt-get install (.*?) &&/
      .exec(commands.join(' '))?.[1]
      ?.split(' ')
      .filter((word) => !word.startsWith('-')) ?? []
  expect(packages).toContain('ca-certificates')
  // On a copy of this machine's files that is forgotten, without installing anything.
  const script = `set -e; within=$(mktemp -d); mount -t tmpfs tmpfs $within; mkdir $within/up $within/work $within/root
    mount -t overlay overlay -o lowerdir=/,upperdir=$within/up,workdir=$within/work $within/root
    printf '#!/bin/sh\\necho apt-get "$@"\\n' > $within/root/usr/local/bin/apt-get; chmod +x $within/root/usr/local/bin/apt-get
    exec chroot $within/root /bin/sh -c "$1"`
  const looks = "stat -c '%U %a' /data; id -u duely; getent passwd duely | cut -d: -f6,7; ls /var/lib/apt/lists | wc -l"
  const ran = spawnSync('unshare', ['--mount', 'sh', '-c', script, 'sh', `set -e; ${commands.join('; ')}; ${looks}`], { encoding: 'utf8' })
  if (ran.stderr.includes('Operation not permitted')) skip('this machine has no mount namespaces')
  expect(ran.stderr).toBe('')
  expect(ran.stdout.trim().split('\n')).toEqual([
    'apt-get update',
    `apt-get install --yes --no-install-recommends ${packages.join(' ')}`,
    'duely 700',
    '10001',
    '/data:/usr/sbin/nologin',
    '0',
  ])
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

/** Files that .dockerignore lets into the build, of those that COPY names. */
function contextFiles(named: string[]): string[] {
  const rules = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const isIn = (file: string) =>
    rules.reduce((is, rule) => {
      const pattern = rule.replace('!', '')
      const matches = [pattern, `${pattern}/**`].some((one) => path.matchesGlob(file, one))
      return matches ? rule.startsWith('!') : is
    }, true)
  const all = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
  return all.filter((file) => isIn(file) && existsSync(path.join(root, file)) && (named.includes('.') || named.includes(file)))
}

/** What Debian's slim image and the packages added to it take, rounded up. */
const baseBytes = 90e6

test.runIf(thorough)('what the image contains starts on its own, is healthy, answers commands, and takes less than 400 MB', async () => {
  const within = await mkdtemp(path.join(tmpdir(), 'duely-image-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(within, { recursive: true, force: true }) }
  const image = path.join(within, 'image')
  const folder = path.join(within, 'srv')
  const first = instructions.slice(0, instructions.map(([name]) => name).lastIndexOf('FROM'))
  for (const [name, text] of first) {
    if (name === 'COPY')
      for (const file of contextFiles(text.split(' ').slice(0, -1))) cpSync(path.join(root, file), path.join(folder, file))
    if (name === 'RUN') execFileSync('sh', ['-c', text.replace(' /image', ` ${image}`)], { cwd: folder, stdio: 'ignore' })
  }
  expect(await bytesIn(image)).toBeLessThan(400e6 - baseBytes)
  expect(readdirSync(path.join(image, 'node_modules'))).not.toContain('react')
  const port = String(await freePort())
  const env = { PATH: '', NODE_ENV: 'production', HOST: '127.0.0.1', PORT: port, DATA_DIR: path.join(within, 'data') }
  const node = path.join(image, 'node_modules/node/bin/node')
  // Its PATH begins with the folder of this Node.
  expect(argumentsOf('ENV')[0]).toContain('PATH=/srv/duely/node_modules/node/bin:')
  expect(argumentsOf('ENTRYPOINT')).toEqual(['["node"]'])
  const program = execFile(node, JSON.parse(argumentsOf('CMD')[0] ?? '') as string[], { cwd: image, env })
  try {
    const [, ...check] = JSON.parse(argumentsOf('HEALTHCHECK')[0]?.split(' CMD ')[1] ?? '') as string[]
    const healthy = () => spawnSync(node, check, { cwd: image, env }).status
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

const analyze = '/usr/bin/systemd-analyze'

test.runIf(thorough && existsSync(analyze))('systemd finds nothing wrong with the service, and little that it could do', () => {
  const file = path.join(root, 'deploy/duely.service')
  const { stdout, stderr } = spawnSync(analyze, ['verify', '--man=no', file], { encoding: 'utf8' })
  expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('duely.service:') && !line.includes('node'))).toEqual([])
  // In tenths.
  expect(spawnSync(analyze, ['security', '--offline=true', '--no-pager', '--threshold=25', file]).status).toBe(0)
})

const isBuilt = existsSync(path.join(root, 'build/built-from'))

test.runIf(thorough && isRoot && isBuilt && existsSync('/lib/systemd/systemd'))(
  'the service works with the rights that it has, and cannot write to its code',
  async ({ skip }) => {
    const within = await mkdtemp(path.join(tmpdir(), 'duely-systemd-'))
    const port = await freePort()
    const namespaces = ['--mount', '--pid', '--fork', '--ipc', '--uts', '--kill-child']
    const boot = [path.join(import.meta.dirname, 'boot-service.sh'), within, root, `PORT=${port}\nPUBLIC_URL=http://localhost:${port}`]
    const outer = execFile('unshare', [...namespaces, 'sh', ...boot])
    let said = ''
    outer.stderr?.on('data', (text) => (said += String(text)))
    const ended = once(outer, 'exit')
    try {
      const url = `http://localhost:${port}`
      const up = () =>
        fetch(`${url}/health`).then(
          ({ status }) => status,
          () => 0,
        )
      await expect.poll(async () => outer.exitCode ?? (await up()), { timeout: 120_000, interval: 500 }).toBeGreaterThan(0)
      if (outer.exitCode !== null) skip(`this machine boots no systemd: ${said}`)
      await expect.poll(up, { timeout: 120_000, interval: 500 }).toBe(200)
      expect(await (await fetch(url)).text()).toContain('<html')
      // Hashes a password in native code, and stores it.
      const body = JSON.stringify({ email: 'asha@example.com', displayName: 'Asha Rao', password: 'correct horse' })
      const made = await fetch(`${url}/user`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      expect(made.status).toBe(201)
      const [init = ''] = readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8').split(' ')
      const ask = (...command: string[]) => spawnSync('nsenter', ['-t', init, '--mount', '--pid', ...command], { encoding: 'utf8' })
      const show = (what: string) => ask('systemctl', 'show', '--value', `--property=${what}`, 'duely').stdout.trim()
      const inService = ask('nsenter', '-t', show('MainPID'), '--mount', 'sh', '-c', 'ls /root; touch /srv/duely/x /etc/x')
      expect(inService.stderr.match(/Read-only file system/g)).toHaveLength(2)
      expect(inService.stdout).toBe('')
      ask('systemctl', 'stop', 'duely')
      expect([show('ActiveState'), show('ExecMainStatus'), show('NRestarts')]).toEqual(['inactive', '0', '0'])
    } finally {
      outer.kill('SIGKILL')
      await ended
      const group = `mount -t cgroup -o none,name=systemd cgroup $0 && until find $0/duely-test -depth -type d -exec rmdir {} +; do sleep 0.1; done`
      spawnSync('unshare', ['--mount', 'timeout', '10', 'sh', '-c', group, within], { stdio: 'ignore' })
      await rm(within, { recursive: true, force: true })
    }
  },
)

const caddy = thorough ? (findProgram(['caddy']) ?? (installPackage('caddy') ? findProgram(['caddy']) : null)) : null

test.runIf(caddy)('Caddy accepts the Caddyfile, and hands everything to the port of Duely', () => {
  const file = path.join(root, 'deploy/Caddyfile')
  const args = ['--config', file, '--adapter', 'caddyfile']
  const { status, stdout, stderr } = spawnSync(caddy ?? '', ['validate', ...args], { encoding: 'utf8' })
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('Valid configuration')])
  expect(execFileSync(caddy ?? '', ['adapt', ...args], { encoding: 'utf8' })).toMatch(/"upstreams":\[\{"dial":"127\.0\.0\.1:3000"\}\]/)
})

// Where systemd cannot be booted too: five seconds.
test.runIf(thorough)('the command of the service serves with its settings, and ends on SIGTERM', async () => {
  const within = await mkdtemp(path.join(tmpdir(), 'duely-service-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(within, { recursive: true, force: true }) }
  const [program = '', ...args] = (/^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '').replace('/srv/duely', root).split(' ')
  const settings = Object.fromEntries([...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))
  expect(settings).toEqual({ NODE_ENV: 'production', DATA_DIR: '/var/lib/duely' })
  const port = String(await freePort())
  // As systemd starts it: without a home and with nothing of this environment.
  const env = {
    ...settings,
    DATA_DIR: path.join(within, 'data'),
    PORT: port,
    PUBLIC_URL: 'https://duely.example.com',
    TRUST_PROXY: 'loopback',
  }
  const child = execFile(program, args, { cwd: root, env })
  const ended = once(child, 'exit')
  const healthy = () =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(healthy, { timeout: 200_000, interval: 500 }).toBe(true)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
