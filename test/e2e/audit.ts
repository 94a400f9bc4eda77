import path from 'node:path'
import { type Browser, expect, type Locator, type Page } from '@playwright/test'
import axe from 'axe-core'
import type { Call, CallReply } from '#contract/call.ts'

/*
 * The visual audit: every screen, dialog and state, on a wide screen and on a phone, has no violation of axe's rules, no message on the
 * console and nothing wider than the window. The wide one is dark and the phone light, because the themes differ in nothing but their
 * colours. A walk in both sizes audits its states in turn in one of them; in a walk of one size axe looks at every second state.
 * PICTURES=folder (npm run test:full) looks at every state in both sizes and both themes, and keeps a picture of each.
 */

const pictures = process.env.PICTURES
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const viewports = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } }
type Theme = 'dark' | 'light'
export type Size = keyof typeof viewports
const themes: Record<Size, Theme[]> = pictures
  ? { wide: ['dark', 'light'], phone: ['light', 'dark'] }
  : { wide: ['dark'], phone: ['light'] }
export const sizes: Size[] = ['wide', 'phone']

/** Audits what the screen shows, and collects what is wrong with it. */
export interface Audit {
  /** `part`: scrolled to the middle of the screen first. */
  at(name: string, part?: Locator): Promise<void>
}

/** `at`: the sizes to audit; the walk itself takes place in the first one. */
function auditOf(page: Page, at: Size[]): Audit {
  const resize = async (size: Size) => {
    if (page.viewportSize()?.width === viewports[size].width) return
    await page.setViewportSize(viewports[size])
    // Components that measure themselves need two frames to render again.
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  }
  let states = 0
  return {
    async at(name, part) {
      states += 1
      await page.evaluate(() => document.fonts.ready)
      for (const size of at) {
        const isItsTurn = pictures !== undefined || (size === 'wide') === (states % 2 === 1)
        if (!isItsTurn && at.length > 1) continue
        await resize(size)
        for (const [pass, theme] of themes[size].entries()) {
          await page.evaluate(inTheme, theme)
          await page.evaluate(finishAnimations)
          await part?.evaluate((element) => element.scrollIntoView({ block: 'center', behavior: 'instant' }))
          if (pass === 0) expect.soft(await page.evaluate(overflow), `${name}, ${size}: wider than the window`).toBeNull()
          if (pictures) await page.screenshot({ path: path.join(pictures, size, theme, `${name}.png`), animations: 'disabled' })
          if (!isItsTurn) continue
          const runOnly: axe.RunOnly = pass === 0 ? { type: 'tag', values: rules } : { type: 'rule', values: ['color-contrast'] }
          await loadAxe(page)
          expect.soft(await page.evaluate(violations, runOnly), `${name}, ${size}, ${theme}`).toEqual([])
        }
      }
      await page.evaluate(inTheme, 'dark' as Theme)
      await resize(at[0] ?? 'wide')
    },
  }
}

function inTheme(theme: Theme): void {
  document.documentElement.classList.toggle('dark', theme === 'dark')
  document.documentElement.setAttribute('data-mantine-color-scheme', theme)
}

/** While something fades, its colours are not the final ones. A loader turns for ever and stays as it is. */
function finishAnimations(): void {
  for (const animation of document.getAnimations())
    if (animation.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY) animation.finish()
}

/** Expects no violation of WCAG 2.2 A and AA on the screen, in the theme that is shown. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(finishAnimations)
  await loadAxe(page)
  const tags = rules.filter((tag) => tag.startsWith('wcag'))
  expect(await page.evaluate(violations, { type: 'tag', values: tags } as axe.RunOnly)).toEqual([])
}

async function loadAxe(page: Page): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
}

/** The frame of an email lets no script run, so axe stays outside: the tests of the emails check their markup. */
async function violations(runOnly: axe.RunOnly): Promise<string[]> {
  const { axe } = window as unknown as { axe: typeof import('axe-core') }
  const found = await axe.run({ runOnly, resultTypes: ['violations'], iframes: false, preload: false, elementRef: true })
  // A modal dialog covers targets behind it, which cannot be pressed.
  const modal = [...document.querySelectorAll('[aria-modal=true]')].findLast((dialog) => dialog.checkVisibility())
  // What a sticky bar covers in part is scrolled clear of it.
  const bars = [...document.querySelectorAll('header, section')].filter((bar) => getComputedStyle(bar).position === 'sticky')
  const meets = (one: DOMRect, other: DOMRect) => one.top < other.bottom && one.bottom > other.top
  const covered = (element: Element | undefined) =>
    element !== undefined &&
    bars.some((bar) => !bar.contains(element) && meets(bar.getBoundingClientRect(), element.getBoundingClientRect()))
  return found.violations.flatMap(({ id, nodes }) => {
    const valid =
      id === 'target-size' ? nodes.filter(({ element }) => !covered(element) && (!modal || modal.contains(element ?? null))) : nodes
    return valid.length > 0 ? [`${id}: ${valid.map(({ html }) => html).join(' ')}`] : []
  })
}

/** The first element that is wider than its window, null if there is none. */
function overflow(): string | null {
  const wide = (element: Element) => element.scrollWidth > element.clientWidth + 1
  if (wide(document.documentElement)) return `the page (${document.documentElement.scrollWidth} px)`
  const dialog = [...document.querySelectorAll('[role=dialog], dialog[open]')].find(wide)
  return dialog ? `the dialog (${dialog.scrollWidth} of ${dialog.clientWidth} px)` : null
}

/** Opens an address and waits until the screen shows `sign` and nothing is loading. */
export async function open(page: Page, address: string, sign: string | RegExp): Promise<void> {
  await page.goto(address)
  await expect(page.getByRole('main').getByText(sign).filter({ visible: true }).first()).toBeVisible()
  await expect(page.locator('.mantine-Skeleton-root').filter({ visible: true })).toHaveCount(0)
}

/** Audits the open dialog and closes it with Escape. */
export async function dialog(page: Page, audit: Audit, name: string): Promise<void> {
  await expect(page.getByRole('dialog').filter({ visible: true }).first()).toBeVisible()
  await audit.at(name)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog').filter({ visible: true })).toHaveCount(0)
}

/** Closes the messages, which stay for five seconds after each change. */
export async function closeMessages(page: Page): Promise<void> {
  const messages = page.getByRole('button', { name: 'Close message' })
  // At once, and without waiting until they are still: one may close by its own timer meanwhile.
  await messages.evaluateAll((all) => {
    for (const one of all) (one as HTMLElement).click()
  })
  await expect(messages).toHaveCount(0)
}

interface Walk {
  browser: Browser
  url: string
  /** At which sizes: both in one walk, unless the walk itself differs. */
  at?: Size[]
  /** The error that the walk causes on the console, and must; there must be no other. */
  complains?: RegExp
}

/** Walks through screens in a browser of its own, and fails with all that the audit found on the way. */
export async function auditWalk(
  { browser, url, at = sizes, complains }: Walk,
  walk: (page: Page, audit: Audit) => Promise<void>,
): Promise<void> {
  const viewport = viewports[at[0] ?? 'wide']
  const context = await browser.newContext({ viewport, baseURL: url, locale: 'en-IN', timezoneId: 'Asia/Kolkata', reducedMotion: 'reduce' })
  const page = await context.newPage()
  const caused: string[] = []
  const complain = (text: string) => {
    if (complains?.test(text)) caused.push(text)
    else expect.soft(text, page.url()).toBe('')
  }
  page.on('pageerror', (error) => complain(String(error)))
  page.on('console', (message) => {
    // The browser logs each refused call; the screen's own message is what the test checks.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complain(message.text())
  })
  await walk(page, auditOf(page, at))
  if (complains) expect(caused, 'the error that the walk causes').not.toEqual([])
  await context.close()
}

type Matches = (url: URL) => boolean

/** Whether an address is that of a call, with any parameters. */
function addressOf({ path: pattern }: Call): Matches {
  const shape = new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}$`)
  return ({ pathname }) => shape.test(pathname)
}

/** Delays the answers to these calls until the returned function is called. */
export async function hold(page: Page, calls: Call[]): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>()
  for (const call of calls)
    await page.route(addressOf(call), async (route) => {
      if (route.request().method() !== call.method || route.request().isNavigationRequest()) return route.fallback()
      await held.promise
      await route.fallback().catch(() => undefined)
    })
  return async () => {
    held.resolve()
    for (const call of calls) await page.unroute(addressOf(call)).catch(() => undefined)
  }
}

/** Answers these calls with 500. */
export async function fail(page: Page, calls: Call[]): Promise<void> {
  for (const call of calls)
    await page.route(addressOf(call), (route) =>
      route.request().method() === call.method && !route.request().isNavigationRequest()
        ? route.fulfill({
            status: 500,
            json: { message: 'Something went wrong on our side. Please try again in a moment.', code: 'fault' },
          })
        : route.fallback(),
    )
}

/** Changes the answer of a call to a state that takes weeks to reach; the contract still checks it. */
export async function change<C extends Call>(page: Page, call: C, into: (reply: CallReply<C>) => CallReply<C>): Promise<void> {
  await page.route(addressOf(call), async (route) => {
    if (route.request().method() !== call.method || route.request().isNavigationRequest()) return route.fallback()
    const response = await route.fetch()
    const json = call.reply?.parse(into((await response.json()) as CallReply<C>))
    await route.fulfill({ response, json })
  })
}

/** Ends `hold`, `fail` and `change`. */
export async function letGo(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
}
