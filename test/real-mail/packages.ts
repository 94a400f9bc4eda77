import { spawnSync } from 'node:child_process'
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { keptFolder } from '#test/cache.ts'

/** Each list is resolved separately, because Postfix and Exim conflict as packages. */
const servers = [['postfix', 'dovecot-core', 'postgrey'], ['exim4-daemon-light']]
const filters = [['rspamd', 'spamassassin']]
/** What the packages' own scripts would create. */
const users = ['postfix', 'dovecot', 'dovenull', 'Debian-exim', 'postgrey']
const groups = [...users, 'postdrop']
const firstId = 7_600

/**
 * The folder with Debian's mail servers, or null where they can't be had. The packages are unpacked and never installed: no script of theirs runs, so
 * no service starts and no other mail server of this machine is replaced. Kept for the next run.
 */
export function findMailServers(): Promise<string | null> {
  return unpacked('mail-servers', servers)
}

/** The same for the filters of `npm run spam-check`. */
export function findSpamFilters(): Promise<string | null> {
  return unpacked('spam-filters', filters)
}

async function unpacked(name: string, packages: string[][]): Promise<string | null> {
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) return null
  return keptFolder(name, ['test/real-mail/packages.ts'], (root) => unpack(root, packages)).catch((error: unknown) => {
    process.stdout.write(`Debian’s packages could not be fetched: ${String(error)}\n`)
    return null
  })
}

async function unpack(root: string, packages: string[][]): Promise<void> {
  process.stdout.write(`Fetching the packages ${packages.flat().join(', ')}.\n`)
  const archives = path.join(root, 'archives')
  mkdirSync(path.join(archives, 'partial'), { recursive: true })
  const fetchAll = () =>
    packages.every((names) =>
      apt('install', '--download-only', '--no-install-recommends', '-o', `Dir::Cache::archives=${archives}`, ...names),
    )
  if (!fetchAll() && !(apt('update') && fetchAll())) throw new Error('apt-get failed.')
  for (const file of readdirSync(archives).filter((name) => name.endsWith('.deb')))
    run('dpkg-deb', '--extract', path.join(archives, file), root)
  await rm(archives, { recursive: true })
  // Debian's /bin and /lib are links into /usr.
  for (const folder of ['bin', 'sbin', 'lib'])
    if (existsSync(path.join(root, folder))) run('cp', '-a', path.join(root, folder, '.'), path.join(root, 'usr', folder))
  for (const file of ['passwd', 'group']) copyFileSync(path.join('/etc', file), path.join(root, 'etc', file))
  addMissing(path.join(root, 'etc/passwd'), users, (name, id) => `${name}:x:${id}:${id}::/nonexistent:/usr/sbin/nologin`)
  addMissing(path.join(root, 'etc/group'), groups, (name, id) => `${name}:x:${id}:`)
}

function addMissing(file: string, names: string[], lineOf: (name: string, id: number) => string): void {
  const present = readFileSync(file, 'utf8')
  names.forEach((name, nth) => {
    if (!new RegExp(`^${name}:`, 'm').test(present)) appendFileSync(file, `${lineOf(name, firstId + nth)}\n`)
  })
}

function apt(...args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return (
    spawnSync('apt-get', ['-q', '-y', '-o', 'APT::Sandbox::User=root', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] }).status ===
    0
  )
}

function run(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program}: ${stderr}`)
}
