import { z } from 'zod'
import { someoneAt } from '#test/program.ts'
import { expect, full, test } from './duely.ts'

for (const theme of ['dark', 'light'] as const)
  test(
    `the reference shows every call in the ${theme} theme, and loads nothing from other origins`,
    theme === 'dark' ? {} : full,
    async ({ page, program }) => {
      const elsewhere: string[] = []
      page.on('request', (request) => {
        const { protocol, origin } = new URL(request.url())
        if (protocol.startsWith('http') && origin !== program.url) elsewhere.push(request.url())
      })
      await page.addInitScript((chosen) => localStorage.setItem('theme', chosen), theme)
      await page.goto('/docs')
      await expect(page.getByRole('heading', { name: 'Duely', exact: true })).toBeVisible()
      await page.getByRole('button', { name: 'Invoices' }).first().click()
      await expect(page.getByRole('link', { name: 'Create invoice' }).first()).toBeVisible()
      await expect(page.locator('body')).toHaveClass(new RegExp(`${theme}-mode`))
      await page.evaluate(() => document.fonts.ready)
      expect(elsewhere).toEqual([])
    },
  )

test('the reference sends a call with an API key', full, async ({ page, program }) => {
  const asha = await someoneAt(program.url, 'reader@example.com')
  const made = await asha.send('POST', '/api-keys', { name: 'Trying', scopes: ['read'], ...asha.proof })
  const { key } = z.object({ key: z.string() }).parse(made)
  await page.goto('/docs')
  await page
    .getByRole('button', { name: /Test Request/ })
    .first()
    .click()
  const client = page.getByRole('dialog')
  await client.getByLabel('Bearer Token').fill(key)
  await client.getByRole('button', { name: /^Send/ }).first().click()
  await expect(client.getByText('reader@example.com').first()).toBeVisible()
})
