import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { root } from './install.mjs'
import { run, say } from './process.mjs'

/** The inputs of the client's build. */
export const sources = [
  'web',
  'contract',
  'public',
  'docs/pictures',
  'docs/privacy.md',
  'vite.config.ts',
  'react-router.config.ts',
  'tsconfig.base.json',
  'package-lock.json',
  'run/client.mjs',
  'run/reference-page.ts',
  'run/scalar.ts',
]
const build = path.join(root, 'build')
const stamp = path.join(build, 'built-from')
const builder = 'node_modules/@react-router/dev/bin.cjs'

/**
 * Builds the web client unless the existing build has the same inputs.
 * @param {string} node
 */
export async function buildClient(node) {
  const now = hashOfSources()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return
  say('Building the web client.')
  rmSync(build, { recursive: true, force: true })
  await run(node, [builder, 'build', '--logLevel', 'warn'], { env: { ...process.env, NODE_ENV: 'production' } })
  // Must not be served.
  renameSync(path.join(build, 'client/.vite/manifest.json'), path.join(build, 'chunks.json'))
  rmSync(path.join(build, 'client/.vite'), { recursive: true })
  await run(node, ['run/reference-page.ts'])
  writeFileSync(path.join(build, 'pages.json'), JSON.stringify([...(await pages(node)), '/docs'], null, 2))
  await packFiles(path.join(build, 'client'))
  writeFileSync(stamp, now)
}

function hashOfSources() {
  const hash = createHash('sha256')
  for (const source of sources)
    for (const file of filesIn(path.join(root, source))) {
      if (file.endsWith('.test.ts') || file.endsWith('.test.tsx')) continue
      hash.update(path.relative(root, file)).update('\0').update(readFileSync(file)).update('\0')
    }
  return hash.digest('hex')
}

/**
 * @param {string} place
 * @returns {string[]}
 */
function filesIn(place) {
  if (!existsSync(place)) return []
  if (!statSync(place).isDirectory()) return [place]
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(place, name))
    .filter((file) => statSync(file).isFile())
    .sort()
}

/**
 * The addresses of all screens, in Fastify's notation.
 * @param {string} node
 * @returns {Promise<string[]>}
 */
async function pages(node) {
  const { stdout } = await promisify(execFile)(node, [builder, 'routes', '--json'], { cwd: root })
  /** @type {string[]} */
  const found = []
  /** @param {{ path?: string, index?: boolean, children?: any[] }} route @param {string} above */
  const walk = (route, above) => {
    const here = route.path ? `${above}/${route.path}` : above
    if (route.children) for (const child of route.children) walk(child, here)
    else if (!here.endsWith('*')) found.push(here || '/')
  }
  for (const route of JSON.parse(stdout)) walk(route, '')
  return [...new Set(found)]
}

/**
 * Writes a .br and .gz beside each file that gets smaller, so that the server need not compress.
 * @param {string} folder
 */
async function packFiles(folder) {
  const brotli = promisify(zlib.brotliCompress)
  const gzip = promisify(zlib.gzip)
  const worth = filesIn(folder).filter((file) => /\.(?:js|css|svg|json|txt)$/.test(file))
  await Promise.all(
    worth.map(async (file) => {
      const plain = readFileSync(file)
      // Brotli's last two levels take ten times as long as all others: too long for a file of this size.
      const quality = plain.length > 1_000_000 ? 9 : zlib.constants.BROTLI_MAX_QUALITY
      const packed = {
        br: await brotli(plain, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: quality } }),
        gz: await gzip(plain, { level: 9 }),
      }
      for (const [ending, bytes] of Object.entries(packed)) if (bytes.length < plain.length * 0.9) writeFileSync(`${file}.${ending}`, bytes)
    }),
  )
}
