import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { buildClient } from './client.mjs'

const build = path.join(import.meta.dirname, '../build')
const kb = 1024

/** The most gzipped bytes of a page, and the files of `web/` that a browser requests when it opens the page. */
interface Page {
  limit: number
  counted: ('js' | 'css')[]
  brings: string[]
  /** Of these a browser has the files already: they are not counted. */
  beyond?: string[]
}

const always = ['entry.client.tsx', 'root.tsx', 'shell/screen-frame.tsx']

const dashboard = [
  ...always,
  'shell/dashboard-layout.tsx',
  'integrations/trigger-frame.tsx',
  'billing/plan-frame.tsx',
  'invoices/dashboard/dashboard-screen.tsx',
  'ui/due-line.tsx',
]

export const pages = {
  landing: { limit: 130 * kb, counted: ['js'], brings: [...always, 'shell/public-layout.tsx', 'marketing/landing-screen.tsx'] },
  dashboard: {
    limit: 260 * kb,
    counted: ['js', 'css'],
    brings: dashboard,
  },
  /** Until the first reminder was accepted. */
  newcomer: { limit: 265 * kb, counted: ['js', 'css'], brings: [...dashboard, 'invoices/checklist/open-checklist.tsx'] },
  /** What only Insights brings: its own code and the scales of its charts. */
  insights: { limit: 40 * kb, counted: ['js', 'css'], brings: ['insight/insights-screen.tsx'], beyond: dashboard },
} satisfies Record<string, Page>

const chunks = z.record(
  z.string(),
  z.object({ file: z.string(), imports: z.array(z.string()).default([]), css: z.array(z.string()).default([]) }),
)

/** The files of a page and their imports by URL path, with their gzipped bytes. */
export function filesOf({ brings, counted, beyond = [] }: Page): Map<string, number> {
  const known = chunks.parse(JSON.parse(readFileSync(path.join(build, 'chunks.json'), 'utf8')))
  const there = beyond.length === 0 ? new Set<string>() : reached(known, beyond)
  const wanted = [...reached(known, brings)].filter((file) => !there.has(file) && counted.some((kind) => file.endsWith(`.${kind}`)))
  return new Map(wanted.map((file) => [`/${file}`, packed(path.join(build, 'client', file))]))
}

/** What these files of `web/` and their imports were built into. */
function reached(known: z.output<typeof chunks>, sources: string[]): Set<string> {
  const routes = readdirSync(path.join(build, 'client/assets')).filter((name) => /^manifest-.*\.js$/.test(name))
  const files = new Set(['theme.js', ...routes.map((name) => `assets/${name}`)])
  const seen = new Set<string>()
  const follow = (name: string) => {
    const chunk = known[name]
    if (!chunk || seen.has(name)) return
    seen.add(name)
    for (const file of [chunk.file, ...chunk.css]) files.add(file)
    chunk.imports.forEach(follow)
  }
  for (const source of sources) {
    const names = Object.keys(known).filter((name) => name === `web/${source}` || name.startsWith(`web/${source}?`))
    if (names.length === 0) throw new Error(`web/${source} is not part of the built client. Update run/sizes.ts.`)
    names.forEach(follow)
  }
  return files
}

function packed(file: string): number {
  return statSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).size
}

if (import.meta.main) {
  await buildClient(process.execPath)
  for (const [name, page] of Object.entries(pages)) {
    const files = filesOf(page)
    const bytes = [...files.values()].reduce((sum, one) => sum + one, 0)
    process.stdout.write(`${name}: ${(bytes / kb).toFixed(1)} of ${page.limit / kb} KB\n`)
    if (bytes <= page.limit) continue
    for (const [file, one] of [...files].toSorted(([, a], [, b]) => b - a)) process.stdout.write(`${String(one).padStart(8)} ${file}\n`)
    process.exitCode = 1
  }
}
