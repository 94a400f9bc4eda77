import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** The path of the first of these programs on this machine: in the search path, then in the given folders. */
export function findProgram(names: string[], folders: string[] = []): string | null {
  const search = [...(process.env.PATH ?? '').split(path.delimiter), ...folders]
  for (const name of names) {
    const found = search.map((folder) => path.join(folder, name)).find(isProgram)
    if (found) return found
  }
  return null
}

export function findPgBouncer(): string | null {
  return findProgram(['pgbouncer'], ['/usr/sbin', '/usr/local/sbin'])
}

export function findHaproxy(): string | null {
  return findProgram(['haproxy'], ['/usr/sbin', '/usr/local/sbin'])
}

/** Folders of this pattern's last part but one, newest version first: `/usr/lib/postgresql/*\/bin`. */
export function versionFolders(parent: string, prefix: string): string[] {
  if (!existsSync(parent)) return []
  return readdirSync(parent)
    .filter((name) => name.startsWith(prefix))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((name) => path.join(parent, name, 'bin'))
}

/** Installs a package on Debian as root; returns whether it did. */
export function installPackage(name: string): boolean {
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) return false
  process.stdout.write(`Installing the package ${name}, which the tests need.\n`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-q', '-y', '-o', 'DPkg::Lock::Timeout=120', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] }).status ===
    0
  const got = () => apt('install', '--no-install-recommends', name)
  return got() || (apt('update') && got())
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
