import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import path from 'node:path'

/* npm run migration -- --name what_changes: writes a migration for what changed in the tables since the latest snapshot. */
const root = path.join(import.meta.dirname, '..')
const meta = path.join(root, 'migrations/meta')

const { status } = spawnSync(process.execPath, ['node_modules/drizzle-kit/bin.cjs', 'generate', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
// drizzle-kit compares with the latest snapshot only, and each one is thousands of lines.
const older = readdirSync(meta)
  .filter((name) => name.endsWith('_snapshot.json'))
  .sort()
  .slice(0, -1)
for (const name of older) rmSync(path.join(meta, name))
process.exit(status ?? 1)
