import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { filesOf, pages } from '#run/sizes.ts'
import { expect, full, test } from './duely.ts'
import { signIn } from './sign-in.ts'

const client = path.join(import.meta.dirname, '../../build/client')

/** Gzipped bytes that a page loads without interaction, by kind, and its largest files for the failure message. */
async function weigh(
  page: Page,
  open: () => Promise<unknown>,
): Promise<{ script: number; style: number; names: string[]; largest: string[] }> {
  const files = new Map<string, { kind: string; bytes: number }>()
  const note = (url: string, kind: string) => {
    const { pathname } = new URL(url)
    if (kind !== 'script' && kind !== 'stylesheet') return
    const file = path.join(client, pathname)
    files.set(pathname, { kind, bytes: statSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).size })
  }
  page.on('request', (request) => note(request.url(), request.resourceType()))
  await open()
  await page.waitForLoadState('networkidle')
  const of = (wanted: string) => [...files.values()].filter(({ kind }) => kind === wanted).reduce((sum, { bytes }) => sum + bytes, 0)
  const largest = [...files].toSorted(([, a], [, b]) => b.bytes - a.bytes).map(([name, { bytes }]) => `${bytes} ${name}`)
  return { script: of('script'), style: of('stylesheet'), names: [...files.keys()], largest }
}

const kb = 1024

/** Scripts and styles that `run/sizes.ts` does not count. */
function unweighed(page: (typeof pages)[keyof typeof pages], names: string[]): string[] {
  const weighed = filesOf({ ...page, counted: ['js', 'css'] })
  return names.filter((name) => name.startsWith('/assets/') && !weighed.has(name))
}

test('the landing page loads at most 130 KB of scripts', async ({ page }) => {
  const { script, names, largest } = await weigh(page, () => page.goto('/'))
  expect(unweighed(pages.landing, names)).toEqual([])
  expect(script, largest.join('\n')).toBeGreaterThan(20 * kb)
  expect(script, largest.join('\n')).toBeLessThanOrEqual(130 * kb)
})

test(
  'the dashboard loads at most 260 KB of scripts and styles, and 265 KB with the checklist of a newcomer',
  full,
  async ({ page, program, smtp }) => {
    const asha = await signIn(page, program.url)
    await asha.send('POST', '/invoice', {
      clientName: 'Kaveri Foods',
      clientEmail: 'billing@kaveri.example',
      amount: 5,
      dueDate: '2026-01-15',
    })
    await page.goto('/dashboard')
    await expect(page.getByText('Kaveri Foods').first()).toBeVisible()
    for (const name of ['newcomer', 'dashboard'] as const) {
      if (name === 'dashboard') {
        await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
        await asha.send('POST', '/reminder/send-immediate')
      }
      const { script, style, names, largest } = await weigh(page, async () => {
        await page.reload()
        await expect(page.getByText('Kaveri Foods').first()).toBeVisible()
      })
      expect(unweighed(pages[name], names)).toEqual([])
      expect(script, largest.join('\n')).toBeGreaterThan(20 * kb)
      expect(script + style, largest.join('\n')).toBeLessThanOrEqual(pages[name].limit)
    }
  },
)
