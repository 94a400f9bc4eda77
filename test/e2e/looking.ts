import path from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { type Browser, expect, type Locator, type Page } from '@playwright/test'
import type { Call, CallReply } from '#contract/call.ts'
import { someoneAt } from '#test/program.ts'

/*
 * What every room of the sweep shares. In each screen, dialog and state, in both themes, on a wide screen and on a phone: nothing for axe to
 * find, nothing on the console, nothing that sticks out. The pictures are kept in test-results/sweep.
 */

const pictures = path.join(import.meta.dirname, '../../test-results/sweep')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const viewports = { wide: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } }
const themes = ['dark', 'light'] as const
export type Size = keyof typeof viewports
export const sizes: Size[] = ['wide', 'phone']

/** Looks at what is on the screen now, in the dark and in the light theme, and keeps what is wrong with it. */
export interface Looking {
  /** `part`: what it is about, brought to the middle of the screen. */
  at(name: string, part?: Locator): Promise<void>
}

export type Someone = Awaited<ReturnType<typeof someoneAt>>

/** `at`: the sizes that are looked at, the first one is worked in. */
function looking(page: Page, at: Size[]): Looking {
  const resize = async (size: Size) => {
    if (page.viewportSize()?.width === viewports[size].width) return
    await page.setViewportSize(viewports[size])
    // What measures itself draws itself anew.
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  }
  const inTheme = async (theme: (typeof themes)[number]) => {
    await page.evaluate((wanted) => {
      document.documentElement.classList.toggle('dark', wanted === 'dark')
      document.documentElement.setAttribute('data-mantine-color-scheme', wanted)
    }, theme)
    // While something fades, its colours are not yet what they will be. What turns while one waits never comes to rest.
    await page.waitForFunction(() =>
      document
        .getAnimations()
        .every(({ playState, effect }) => playState !== 'running' || effect?.getComputedTiming().iterations === Number.POSITIVE_INFINITY),
    )
  }
  const everyWay = async (see: (size: Size, theme: (typeof themes)[number]) => Promise<void>) => {
    for (const size of at) {
      await resize(size)
      for (const theme of themes) {
        await inTheme(theme)
        await see(size, theme)
      }
    }
  }
  const picture = (name: string) => async (size: Size, theme: (typeof themes)[number]) => {
    if (theme === 'dark') expect.soft(await page.evaluate(sticksOut), `${name}, ${size}: what sticks out`).toBeNull()
    await page.screenshot({ path: path.join(pictures, size, theme, `${name}.png`), animations: 'disabled' })
  }
  const judge = (name: string) => async (size: Size, theme: (typeof themes)[number]) => {
    // No frame is left, so nothing has to be put together in a page of its own.
    const axe = new AxeBuilder({ page }).setLegacyMode(true)
    // The themes differ in nothing but their colours.
    const { violations } = await (theme === 'dark' ? axe.withTags(rules) : axe.withRules(['color-contrast'])).analyze()
    expect
      .soft(
        violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
        `${name}, ${size}, ${theme}`,
      )
      .toEqual([])
  }
  return {
    async at(name, part) {
      await page.evaluate(() => document.fonts.ready)
      // A mail's frame lets no script run; what is in it is tested with the mail. It is taken out once its pictures are there.
      const framed = (await page.locator('iframe').count()) > 0
      await everyWay(async (size, theme) => {
        await part?.evaluate((element) => element.scrollIntoView({ block: 'center', behavior: 'instant' }), undefined, { timeout: 15_000 })
        await picture(name)(size, theme)
        if (!framed) await judge(name)(size, theme)
      })
      if (framed) {
        const frames = await page.evaluateHandle(() =>
          [...document.querySelectorAll('iframe')].map((frame) => {
            const place = document.createComment('')
            frame.replaceWith(place)
            return { frame, place }
          }),
        )
        await everyWay(judge(name))
        await frames.evaluate((all) => {
          for (const { frame, place } of all) place.replaceWith(frame)
        })
      }
      await inTheme('dark')
      await resize(at[0] ?? 'wide')
    },
  }
}

/** The first thing that is wider than its window, in words; null where nothing is. */
function sticksOut(): string | null {
  const wide = (element: Element) => element.scrollWidth > element.clientWidth + 1
  if (wide(document.documentElement)) return `the page (${document.documentElement.scrollWidth} px)`
  const dialog = [...document.querySelectorAll('[role=dialog], dialog[open]')].find(wide)
  return dialog ? `the dialog (${dialog.scrollWidth} of ${dialog.clientWidth} px)` : null
}

/** A window in which this person is signed in already. */
export async function signIn(page: Page, url: string, email: string): Promise<Someone> {
  const someone = await someoneAt(url, email)
  const answered = await page.request.post('/auth', { data: { email, password: 'correct horse battery' } })
  const { foundUser, accessToken } = (await answered.json()) as { foundUser: object; accessToken: string }
  await page.addInitScript(
    ([user, token]) => {
      // A mail's frame has no storage.
      if (window !== window.top || localStorage.getItem('accessToken')) return
      localStorage.setItem('user', user)
      localStorage.setItem('accessToken', token)
    },
    [JSON.stringify(foundUser), accessToken] as const,
  )
  return someone
}

/** Opens an address and waits for what tells that it is all there. */
export async function open(page: Page, address: string, sign: string | RegExp): Promise<void> {
  await page.goto(address)
  await expect(page.getByRole('main').getByText(sign).filter({ visible: true }).first()).toBeVisible({ timeout: 15_000 })
  await expect(page.locator('.mantine-Skeleton-root').filter({ visible: true })).toHaveCount(0, { timeout: 15_000 })
}

/** A dialog that somebody opened, seen whole; closed again by Escape. */
export async function dialog(page: Page, look: Looking, name: string): Promise<void> {
  await expect(page.getByRole('dialog').filter({ visible: true }).first()).toBeVisible()
  await look.at(name)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog').filter({ visible: true })).toHaveCount(0)
}

/** Closes what stands there for five seconds each time that its corner changes. */
export async function putMessagesAway(page: Page): Promise<void> {
  const messages = page.getByRole('button', { name: 'Close message' })
  // One may go by itself just then.
  while ((await messages.count()) > 0)
    await messages
      .first()
      .click({ timeout: 6_000 })
      .catch(() => undefined)
  await expect(messages).toHaveCount(0)
}

interface Sweeping {
  browser: Browser
  url: string
  /** At which sizes; both in one walk where the way there is long. */
  at?: Size[]
  /** What the page is made to complain of, and must; nothing else. */
  complains?: RegExp
}

export async function sweep(
  { browser, url, at = sizes, complains }: Sweeping,
  walk: (page: Page, look: Looking) => Promise<void>,
): Promise<void> {
  const viewport = viewports[at[0] ?? 'wide']
  const context = await browser.newContext({ viewport, baseURL: url, locale: 'en-IN', timezoneId: 'Asia/Kolkata' })
  const page = await context.newPage()
  const look = looking(page, at)
  const wanted: string[] = []
  const complain = (what: string) => {
    if (complains?.test(what)) wanted.push(what)
    else expect.soft(what, page.url()).toBe('')
  }
  page.on('pageerror', (error) => complain(String(error)))
  page.on('console', (message) => {
    // A call that is refused is no complaint: what the person sees of it is what counts.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complain(message.text())
  })
  await walk(page, look)
  if (complains) expect(wanted, 'what the page was made to complain of').not.toEqual([])
  await context.close()
}

type Asked = (url: URL) => boolean

/** Whether an address is that of a call, whatever its parameters. */
function addressOf({ path: pattern }: Call): Asked {
  const shape = new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}$`)
  return ({ pathname }) => shape.test(pathname)
}

/** The server does not answer these calls until it is let go. */
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

/** These calls come to nothing, as where something is wrong with the server. */
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

/** What a call answers is changed on its way, to what it would take weeks to come to; it keeps to the contract. */
export async function change<C extends Call>(page: Page, call: C, into: (reply: CallReply<C>) => CallReply<C>): Promise<void> {
  await page.route(addressOf(call), async (route) => {
    if (route.request().method() !== call.method || route.request().isNavigationRequest()) return route.fallback()
    const response = await route.fetch()
    const json = call.reply?.parse(into((await response.json()) as CallReply<C>))
    await route.fulfill({ response, json })
  })
}

/** The server is as it was. */
export async function letGo(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
}
