import type { Page } from '@playwright/test'
import { expect, full, test } from './duely.ts'
import { signIn } from './sign-in.ts'

/*
 * What holds on every screen: the theme, reduced motion, the frame and its links, messages, and what happens if a screen
 * crashes or the network is gone.
 */

const wide = { width: 1280, height: 860 }
const phone = { width: 390, height: 844 }
const sizes = { 'a wide screen': wide, 'a phone': phone }
const away = 'The server cannot be reached. Please check your connection and try again.'
const dashboardLinks = (page: Page) => page.getByRole('navigation', { name: 'Dashboard screens' }).getByRole('link')

const late = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 500, dueDate: '2026-01-02', status: 'overdue' }
const storedTheme = (page: Page) => page.evaluate(() => localStorage.getItem('theme'))
const root = (page: Page) => page.locator('html')
const dark = { ground: 'rgb(11, 14, 20)', around: '#0b0e14' }
const light = { ground: 'rgb(246, 246, 242)', around: '#f6f6f2' }

/** The background of the page, and the theme colour for the browser's own frame. */
const grounds = (page: Page) =>
  page.evaluate(() => ({
    ground: getComputedStyle(document.body).backgroundColor,
    around: [...document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')].map(({ content }) => content).join(),
  }))

test('the theme is dark until light is chosen, in this tab and in all others', async ({ page, context, program }) => {
  await signIn(page, program.url)
  await page.goto('/dashboard')
  await expect(page.getByText('No invoices yet')).toBeVisible()
  await expect(root(page)).toHaveClass(/\bdark\b/)
  expect(await grounds(page)).toEqual(dark)
  const other = await context.newPage()
  await other.goto('/features')
  await expect(other.getByRole('button', { name: 'Switch to the light theme' })).toBeVisible()

  await page.getByRole('button', { name: 'Switch to the light theme' }).click()
  for (const tab of [page, other]) {
    await expect(root(tab)).not.toHaveClass(/\bdark\b/)
    await expect.poll(() => grounds(tab)).toEqual(light)
    await expect(tab.getByRole('button', { name: 'Switch to the dark theme' })).toBeVisible()
  }
  expect(await storedTheme(page)).toBe('light')
  await other.getByRole('button', { name: 'Switch to the dark theme' }).click()
  for (const tab of [page, other]) {
    await expect(root(tab)).toHaveClass(/\bdark\b/)
    await expect.poll(() => grounds(tab)).toEqual(dark)
  }
  expect(await storedTheme(page)).toBe('dark')
})

test('a public page follows the theme chosen in another tab', full, async ({ page, context }) => {
  await page.goto('/')
  await expect(root(page)).toHaveClass(/\bdark\b/)
  const other = await context.newPage()
  await other.goto('/features')
  await other.evaluate(() => localStorage.setItem('theme', 'light'))
  await expect(root(page)).not.toHaveClass(/\bdark\b/)
  await expect.poll(() => grounds(page)).toEqual(light)
})

test('with the light theme no page is dark while it loads', full, async ({ page, program, complaints }) => {
  await signIn(page, program.url)
  await page.goto('/dashboard')
  await page.getByRole('button', { name: 'Switch to the light theme' }).click()
  await expect(root(page)).not.toHaveClass(/\bdark\b/)
  // Every background that the browser painted until the page was hydrated.
  await page.addInitScript(() => {
    const painted: string[] = []
    Object.assign(window, { painted })
    const look = () => {
      const ground = document.body && getComputedStyle(document.body).backgroundColor
      if (ground && painted.at(-1) !== ground) painted.push(ground)
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
  const painted = () => page.evaluate(() => (window as unknown as { painted: string[] }).painted)
  await page.reload()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  expect(await painted()).toEqual([light.ground])
  expect(await grounds(page)).toEqual(light)

  await page.route('**/assets/*.js', (route) => route.abort())
  for (const address of ['/dashboard', '/features', '/pricing', '/signin', '/no-such-page']) {
    await page.goto(address, { waitUntil: 'domcontentloaded' })
    await expect(root(page), address).not.toHaveClass(/\bdark\b/)
    expect(await grounds(page), address).toEqual(light)
    expect(await painted(), address).not.toContain(dark.ground)
  }
  notArrived(complaints)
})

test('a page whose scripts do not load shows a notice, and works after a reload', full, async ({ page, program, complaints }) => {
  await signIn(page, program.url)
  const said = page.getByRole('alert').filter({ hasText: 'This page did not load completely' })
  await page.goto('/dashboard')
  await expect(page.getByText('No invoices yet')).toBeVisible()
  await expect(said).toHaveCount(0)
  await page.route('**/assets/*.js', (route) => route.abort())
  for (const address of ['/signin', '/no-such-page', '/dashboard']) {
    await page.goto(address)
    await expect(said, address).toBeVisible()
  }
  await page.unroute('**/assets/*.js')
  await page.reload()
  await expect(page.getByText('No invoices yet')).toBeVisible()
  await expect(said).toHaveCount(0)
  notArrived(complaints)
})

/** The only error that a page without its scripts may log. */
function notArrived(complaints: string[]): void {
  const found = complaints.splice(0)
  expect(found).not.toEqual([])
  for (const one of found) expect(one).toMatch(/^TypeError: Failed to fetch dynamically imported module/)
}

test(
  'prefers-reduced-motion ends all motion: on the landing page, the dashboard, in a dialog and in the drawer',
  full,
  async ({ page, program }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.addInitScript(() => {
      const moved = new Set<string>()
      Object.assign(window, { moved })
      const note = ({ target }: Event) => {
        if (!(target instanceof Element)) return
        for (const animation of target.getAnimations({ subtree: true })) {
          const { duration = 0, iterations = 1 } = animation.effect?.getComputedTiming() ?? {}
          const what = Reflect.get(animation, 'animationName') ?? Reflect.get(animation, 'transitionProperty')
          const of = animation.effect instanceof KeyframeEffect ? animation.effect.target : null
          if (Number(duration) * iterations > 1) moved.add(`${what} of ${of?.tagName} ${of?.className}`)
        }
      }
      for (const kind of ['animationstart', 'transitionrun']) document.addEventListener(kind, note, true)
    })
    const still = async (where: string) => {
      const moved = await page.evaluate(() => [...(window as unknown as { moved: Set<string> }).moved])
      expect.soft(moved, `what moved ${where}`).toEqual([])
      // One that takes no time may be seen too.
      const running = await page.evaluate(
        () =>
          document
            .getAnimations()
            .filter(({ playState, effect }) => playState === 'running' && Number(effect?.getComputedTiming().activeDuration ?? 0) > 1)
            .length,
      )
      expect.soft(running, `what is moving ${where}`).toBe(0)
    }
    await page.goto('/')
    await page.waitForLoadState('networkidle')
    await page.getByRole('link', { name: 'Features' }).first().hover()
    await page.getByRole('link', { name: 'Get Started' }).first().hover()
    await still('on the landing page')

    const someone = await signIn(page, program.url)
    await someone.send('POST', '/invoice', late)
    await page.goto('/dashboard')
    await expect(page.getByRole('button', { name: 'All (1)' })).toBeVisible()
    await dashboardLinks(page).filter({ hasText: 'Email Settings' }).hover()
    await page.getByRole('link', { name: 'Create Invoice' }).last().hover()
    await page.getByPlaceholder('Search', { exact: true }).focus()
    await still('on the dashboard')

    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await expect(page.getByRole('dialog')).toBeVisible()
    await still('in a dialog')
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toBeHidden()
    await still('after a dialog')

    await page.setViewportSize(phone)
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await expect(page.getByRole('dialog', { name: 'Menu' })).toBeVisible()
    await still('in the drawer')
  },
)

for (const [name, size] of Object.entries(sizes))
  test(`a dashboard screen is as high as the window minus 7.5rem, on ${name}`, full, async ({ page, program }) => {
    await page.setViewportSize(size)
    await signIn(page, program.url)
    const height = () =>
      page
        .getByRole('main')
        .locator('..')
        .evaluate((screen) => screen.getBoundingClientRect().height)
    // One short screen and one that scrolls.
    await page.goto('/dashboard/oauth-consent')
    await expect(page.getByText('Missing redirect URI information.')).toBeVisible()
    expect(await height()).toBe(size.height - 7.5 * 16)
    await page.setViewportSize({ ...size, height: 1200 })
    expect(await height()).toBe(1200 - 7.5 * 16)
    await page.setViewportSize(size)
    await page.goto('/dashboard/profile?tab=security')
    await expect(page.getByRole('heading', { name: 'Delete Account' })).toBeVisible()
    expect(await height()).toBeGreaterThanOrEqual(size.height - 7.5 * 16)
  })

test('Create Invoice is the current link while an invoice is created or edited', full, async ({ page, program }) => {
  const someone = await signIn(page, program.url)
  const { _id } = (await someone.send('POST', '/invoice', late)) as { _id: string }
  const marked = () => dashboardLinks(page).and(page.locator('[aria-current="page"]')).allTextContents()
  await page.goto('/dashboard/new-invoice')
  await expect(page.getByRole('heading', { name: 'Create Invoice' })).toBeVisible()
  expect(await marked()).toEqual(['Create Invoice'])
  await page.goto(`/dashboard/edit-invoice/${_id}`)
  await expect(page.getByRole('heading', { name: 'Edit Invoice' })).toBeVisible()
  expect(await marked()).toEqual(['Create Invoice'])
  await dashboardLinks(page).filter({ hasText: 'Dashboard' }).click()
  await expect(page.getByRole('button', { name: 'All (1)' })).toBeVisible()
  expect(await marked()).toEqual(['Dashboard'])
})

test('signing out shows its progress, clears the session and ends on the landing page', full, async ({ page, program }) => {
  await signIn(page, program.url)
  const answered = Promise.withResolvers<void>()
  await page.route('**/auth/logout', async (route) => {
    await answered.promise
    await route.continue()
  })
  await page.goto('/dashboard')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
  const leaving = page.getByRole('menuitem', { name: 'Logging out...' })
  await expect(leaving).toBeVisible()
  await expect(leaving.locator('.mantine-Loader-root')).toBeVisible()
  const stored = () => page.evaluate(() => [localStorage.getItem('user'), localStorage.getItem('accessToken')])
  expect(await stored()).not.toContain(null)
  answered.resolve()
  await expect(page).toHaveURL(/:\d+\/$/)
  await expect(page.getByRole('link', { name: 'Get Started' }).first()).toBeVisible()
  expect(await stored()).toEqual([null, null])
})

test('a failed sign-out keeps the session and can be retried', full, async ({ page, program }) => {
  await signIn(page, program.url)
  await page.route('**/auth/logout', (route) => route.abort())
  await page.goto('/dashboard')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
  await expect(page.getByRole('alert').filter({ hasText: `You are still signed in. ${away}` })).toBeVisible()
  await expect(page).toHaveURL(/\/dashboard$/)
  expect(await page.evaluate(() => localStorage.getItem('accessToken'))).not.toBeNull()
  await page.unroute('**/auth/logout')
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
  await expect(page).toHaveURL(/:\d+\/$/)
})

test('a toast is announced, and closes after five seconds or by its button', async ({ page, program }) => {
  await signIn(page, program.url)
  const now = Date.now()
  await page.clock.install({ time: now })
  await page.goto('/dashboard')
  await expect(page.getByText('No invoices yet')).toBeVisible()
  const press = page.getByRole('button', { name: /Subscribe to Zapier|Unsubscribe from Zapier/ })
  const message = page.getByRole('status').filter({ hasText: /to Zapier successfully|from Zapier successfully/ })
  await expect(press).toBeVisible()
  // From here on only the test moves the clock.
  await page.clock.pauseAt(now + 60_000)
  const appear = async () => {
    await press.click()
    await expect(async () => {
      await page.clock.runFor(20)
      await expect(message).toBeVisible({ timeout: 500 })
    }).toPass()
  }
  await appear()
  await page.clock.runFor(4_000)
  await expect(message).toBeVisible()
  await page.clock.runFor(1_500)
  await expect(message).toHaveCount(0)

  await appear()
  await message.getByRole('button', { name: 'Close message' }).click()
  await page.clock.runFor(500)
  await expect(message).toHaveCount(0)
})

test('a screen whose code does not load shows an error, the others open, and it opens later', full, async ({ page, program }) => {
  await signIn(page, program.url)
  await page.route('**/assets/email-templates-screen-*.js', (route) => route.abort())
  await page.goto('/dashboard')
  await expect(page.getByText('No invoices yet')).toBeVisible()
  await dashboardLinks(page).filter({ hasText: 'Email Templates' }).click()
  await expect(page.getByRole('heading', { name: 'This screen could not be loaded' })).toBeVisible()
  await expect(page).toHaveURL(/\/email-templates$/)
  await expect(page.getByRole('button', { name: /^Account of/ })).toBeVisible()
  await dashboardLinks(page).filter({ hasText: 'Email Settings' }).click()
  await expect(page.getByText('No mailbox connected')).toBeVisible()

  await page.unroute('**/assets/email-templates-screen-*.js')
  await dashboardLinks(page).filter({ hasText: 'Email Templates' }).click()
  await expect(page.getByRole('heading', { name: 'Email Template Settings' })).toBeVisible()
})

test('the code of a screen that did not load is requested again by Try again only', full, async ({ page, program }) => {
  await signIn(page, program.url)
  await page.route('**/assets/email-templates-screen-*.js', (route) => route.abort())
  const opened: string[] = []
  page.on('request', (request) => {
    if (request.isNavigationRequest()) opened.push(request.url())
  })
  await page.goto('/dashboard/email-templates')
  await expect(page.getByRole('heading', { name: 'This screen could not be loaded' })).toBeVisible()
  await page.waitForLoadState('networkidle')
  expect(opened.length).toBe(1)
  const again = page.waitForEvent('load')
  await page.getByRole('button', { name: 'Try again' }).click()
  await again
  await expect(page.getByRole('heading', { name: 'This screen could not be loaded' })).toBeVisible()
  await page.waitForLoadState('networkidle')
  expect(opened.length).toBe(2)
  await page.unroute('**/assets/email-templates-screen-*.js')
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('heading', { name: 'Email Template Settings' })).toBeVisible()
})

test('a screen that crashes leaves the frame around it working and offers a reload', full, async ({ page, program, complaints }) => {
  const someone = await signIn(page, program.url)
  await someone.send('POST', '/invoice', late)
  await page.route('**/invoice', (route) => route.fulfill({ json: [{ _id: 'no invoice at all' }] }))
  await page.goto('/dashboard')
  await expect(page.getByRole('heading', { name: 'This screen stopped working' })).toBeVisible()
  await expect(page.getByText('Your data is safe.')).toBeVisible()
  // The console has the error itself.
  expect(complaints.length).toBeGreaterThan(0)
  complaints.length = 0

  await dashboardLinks(page).filter({ hasText: 'Email Settings' }).click()
  await expect(page.getByText('No mailbox connected')).toBeVisible()
  await page.getByRole('button', { name: /^Account of/ }).click()
  await expect(page.getByRole('menuitem', { name: 'Sign Out' })).toBeVisible()
  await page.keyboard.press('Escape')
  await dashboardLinks(page).filter({ hasText: 'Dashboard' }).click()
  await expect(page.getByRole('heading', { name: 'This screen stopped working' })).toBeVisible()
  await page.unroute('**/invoice')
  await page.getByRole('button', { name: 'Reload the page' }).click()
  await expect(page.getByRole('button', { name: 'All (1)' })).toBeVisible()
  complaints.length = 0
})

test('where the style sheet of a part does not load, the screen shows the rest', async ({ page, program, complaints }) => {
  const someone = await signIn(page, program.url)
  await someone.send('POST', '/invoice', late)
  await page.route('**/assets/due-line-*.css', (route) => route.abort())
  const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/assets/due-line-'))
  await page.goto('/dashboard')
  await failed
  await expect(page.getByText('Kaveri Foods').first()).toBeVisible()
  await expect(page.getByRole('heading', { name: 'This screen stopped working' })).toHaveCount(0)
  await expect(page.locator('[aria-busy], .mantine-Skeleton-root')).toHaveCount(0)
  complaints.length = 0
})

test('offline, a screen keeps its data and shows a notice; online again, it refetches', async ({ page, context, program }) => {
  const someone = await signIn(page, program.url)
  await someone.send('POST', '/invoice', late)
  await page.clock.install()
  await page.goto('/dashboard')
  await expect(page.getByText('Kaveri Foods').first()).toBeVisible()
  await context.setOffline(true)
  const notice = page.getByRole('status').filter({ hasText: 'You are offline' })
  await expect(notice).toBeVisible()
  await expect(page.getByText('Kaveri Foods').first()).toBeVisible()
  await someone.send('POST', '/invoice', { ...late, clientName: 'Studio Banyan' })
  // Longer than the stale time of a query.
  await page.clock.fastForward(10_000)
  await context.setOffline(false)
  await expect(notice).toHaveCount(0)
  await expect(page.getByText('Studio Banyan').first()).toBeVisible()
})

test('saving offline shows an error, keeps the form, and works once online again', full, async ({ page, context, program }) => {
  await signIn(page, program.url)
  await page.goto('/dashboard/new-invoice')
  await page.getByRole('combobox', { name: 'Client Name' }).fill('Kaveri Foods')
  await page.getByRole('combobox', { name: 'Client Email' }).fill('billing@kaveri.example')
  await page.getByLabel('Amount').fill('184200.50')
  await page.getByLabel('Due date').fill('31/12/2026')
  await context.setOffline(true)
  await expect(page.getByText('You are offline')).toBeVisible()
  const save = page.getByRole('main').getByRole('button', { name: 'Create Invoice' })
  await save.click()
  await expect(page.getByRole('alert').filter({ hasText: away })).toBeVisible()
  await expect(page.getByRole('combobox', { name: 'Client Name' })).toHaveValue('Kaveri Foods')
  await expect(page.getByRole('combobox', { name: 'Client Email' })).toHaveValue('billing@kaveri.example')
  await expect(page.getByLabel('Amount')).toHaveValue(/1,?84,?200\.50/)
  await expect(page.getByLabel('Due date')).toHaveValue('31/12/2026')
  await context.setOffline(false)
  await expect(page.getByText('You are offline')).toHaveCount(0)
  await save.click()
  await expect(page).toHaveURL(/\/dashboard$/)
  await expect(page.getByText('₹1,84,200.50').first()).toBeVisible()
})

test(
  'a screen that was never loaded shows a notice offline and opens automatically once online',
  full,
  async ({ page, context, program }) => {
    await signIn(page, program.url)
    await page.goto('/dashboard')
    await expect(page.getByText('No invoices yet')).toBeVisible()
    await context.setOffline(true)
    await dashboardLinks(page).filter({ hasText: 'Email Templates' }).click()
    await expect(page.getByRole('heading', { name: 'This screen could not be loaded' })).toBeVisible()
    await expect(page.getByRole('button', { name: /^Account of/ })).toBeVisible()
    await page.getByRole('button', { name: 'Try again' }).click()
    await expect(page.getByRole('alert').filter({ hasText: away })).toBeVisible()
    await page.getByRole('button', { name: 'Go back' }).click()
    await expect(page.getByText('No invoices yet')).toBeVisible()
    await page.goForward()
    await expect(page.getByRole('heading', { name: 'This screen could not be loaded' })).toBeVisible()
    await context.setOffline(false)
    await expect(page.getByRole('heading', { name: 'Email Template Settings' })).toBeVisible()
    await expect(page.getByText('You are offline')).toHaveCount(0)
  },
)

const longest = [
  {
    ...late,
    clientName: 'venkateshwara'.repeat(15).slice(0, 190),
    clientEmail: `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.example`,
    amount: 999_999_999.99,
  },
  { ...late, amount: 0.01 },
]

/** Elements that overflow the window or their dialog without being clipped or scrolled there, and amounts that are cut. */
function sticksOut(): string[] {
  const found: string[] = []
  const page = document.documentElement
  if (page.scrollWidth > page.clientWidth) found.push(`the page (${page.scrollWidth} px)`)
  for (const element of document.querySelectorAll<HTMLElement>('main *, [role=dialog] *')) {
    const { left, right, width, height } = element.getBoundingClientRect()
    if (width <= 1 || height <= 1 || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const said = `${element.tagName} "${element.textContent?.slice(0, 30)}"`
    const around = element.closest('[role=dialog]')?.getBoundingClientRect() ?? { left: 0, right: page.clientWidth }
    const isOut = left < around.left - 1 || right > around.right + 1
    let holder = element.parentElement
    while (holder && getComputedStyle(holder).overflowX === 'visible') holder = holder.parentElement
    const isHeld = holder !== null && !holder.matches('body, html, [role=dialog], :has(> [role=dialog])')
    if (isOut && !isHeld) found.push(`${said} from ${Math.round(left)} to ${Math.round(right)} px`)
    const isAmount = element.children.length === 0 && /^₹[\d,.]+$/.test(element.textContent ?? '')
    if (isAmount && (element.scrollWidth > element.clientWidth + 1 || isOut)) found.push(`${said} is cut`)
  }
  return found
}

for (const [name, size] of Object.entries(sizes))
  test(
    `the longest names, emails and amounts stay inside the window and its dialogs, on ${name}`,
    full,
    async ({ page, program, smtp }) => {
      await page.setViewportSize(size)
      const someone = await signIn(page, program.url)
      const ids: string[] = []
      for (const invoice of longest) ids.push(((await someone.send('POST', '/invoice', invoice)) as { _id: string })._id)
      await someone.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
      const inside = async (where: string) => expect.soft(await page.evaluate(sticksOut), where).toEqual([])

      await page.goto('/dashboard')
      await expect(page.getByText('₹99,99,99,999.99').filter({ visible: true }).first()).toBeVisible()
      await inside('cards')
      await page.getByRole('button', { name: 'List', exact: true }).click()
      await expect(page.getByRole('checkbox', { name: /^Select/ }).first()).toBeVisible()
      await inside('list')
      await page
        .getByRole('button', { name: /^Actions for/ })
        .first()
        .click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await expect(page.getByRole('dialog')).toBeVisible()
      await inside('the dialog that asks before an invoice is deleted')

      await page.goto(`/dashboard/edit-invoice/${ids[0]}`)
      await expect(page.getByRole('textbox', { name: 'Amount' })).toHaveValue(/99,?99,?99,?999\.99/)
      await expect(page.getByText('No reminders sent yet.')).toBeVisible()
      await inside('the screen of the invoice')

      await page.goto('/dashboard/reminder-control')
      await page.getByRole('button', { name: 'Start Reminders' }).click()
      await expect(page.getByRole('dialog').getByText('₹99,99,99,999.99').first()).toBeVisible()
      await expect(page.getByRole('dialog').getByText('₹0.01').first()).toBeVisible()
      await inside('the dialog that asks before reminders are started')
    },
  )

test('a public page works without its code for signed-in visitors, and leads to the dashboard', full, async ({ page, program }) => {
  await signIn(page, program.url)
  await page.route(/\/assets\/(?:account-alone|library)-[^/]*\.js$/, (route) => route.abort())
  await page.goto('/features')
  await page.getByRole('banner').getByRole('link', { name: 'Dashboard' }).click()
  await page.unrouteAll()
  await expect(page).toHaveURL(/\/dashboard$/)
  await page.reload()
  await expect(page.getByText('No invoices yet')).toBeVisible()
})
