import { globSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { cache, keptFolder } from './cache.ts'

const root = path.join(import.meta.dirname, '..')
/** What tests start in processes of its own. */
const entries = { start: 'server/start.ts', duely: 'server/duely.ts', simulate: 'test/simulation/simulate.ts' }
/** Packages of many files, and those that share an instance with them; Node looks through the whole package.json of drizzle for each file of it. */
const bundled = ['drizzle-orm', 'zod', 'fastify-type-provider-zod', 'jose', 'openid-client', 'oauth4webapi', 'postal-mime', 'p-limit']

/** For processes that tests start: what Node made of their code is kept for the next one. */
export const compileCache = path.join(cache, 'compiled')

let folder: Promise<string> | null = null

/**
 * The file to run for a program of `server/` or the simulation: it and most of what it imports, in a few files, because reading a thousand takes
 * half of the CPU of a start. `npm run test:full`, measurements, `npm start` and its tests run the sources.
 */
export async function programFile(name: keyof typeof entries): Promise<string> {
  if (process.env.TEST_BUNDLED !== 'true') return path.join(root, entries[name])
  folder ??= bundle()
  return path.join(await folder, `${name}.js`)
}

/** Bundles the programs once for each state of their sources. */
async function bundle(): Promise<string> {
  const sources = globSync('{contract,server,test}/**/*.ts', { cwd: root, exclude: ['**/*.{test,spec}.ts', 'test/e2e/**'] })
  return keptFolder('programs', [...sources.toSorted(), 'package-lock.json'], buildPrograms)
}

async function buildPrograms(outDir: string): Promise<void> {
  const { build } = await import('vite')
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    ssr: { noExternal: bundled },
    build: {
      ssr: true,
      target: 'esnext',
      minify: false,
      outDir,
      rolldownOptions: { input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, path.join(root, file)])) },
    },
    plugins: [
      {
        name: 'places-of-sources',
        transform: {
          filter: { code: /import\.meta\.(?:dirname|filename|url)/ },
          handler(code, id) {
            const places = { dirname: path.dirname(id), filename: id, url: pathToFileURL(id).href }
            const said = code.replaceAll(/\bimport\.meta\.(dirname|filename|url)\b/g, (_all, which: keyof typeof places) =>
              JSON.stringify(places[which]),
            )
            return { code: said, map: null }
          },
        },
      },
    ],
  })
}
