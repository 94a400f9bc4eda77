import type { Page } from '@playwright/test'
import { integrationCalls } from '#contract/integrations.ts'
import { reminderCalls } from '#contract/reminders.ts'
import type { FakeReceiver } from '#test/fakes/receiver.ts'
import { type Audit, auditWalk, change, dialog, fail, hold, letGo, open, sizes } from './audit.ts'
import { full } from './duely.ts'
import { prove, type Someone, signIn } from './sign-in.ts'
import { expect, test } from './with-programs.ts'

type Zapier = { clientId: string; redirectUri: string }

async function connectionsWithNothing(page: Page, audit: Audit, { clientId, redirectUri }: Zapier): Promise<void> {
  await page.goto(
    `/oauth/authorize?${new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, state: 'x' })}`,
  )
  await expect(page.getByText('Zapier may')).toBeVisible()
  await audit.at('consent')
  const answer = await hold(page, [integrationCalls.consent])
  await page.reload()
  await expect(page.getByText('Checking the request...')).toBeVisible()
  await audit.at('consent-loading')
  await answer()
  await letGo(page)
  await fail(page, [integrationCalls.consent])
  await page.reload()
  await expect(page.getByText(/Something went wrong on our side/)).toBeVisible()
  await audit.at('consent-failed')
  await letGo(page)
  await open(page, '/dashboard/connections', 'No apps connected')
  await audit.at('connections-empty')
  await page.getByRole('button', { name: 'Add Webhook' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Add Webhook' }).click()
  await dialog(page, audit, 'webhook-add')
  await page.getByRole('button', { name: 'Create API Key' }).click()
  await page.getByLabel('Name').fill('Bookkeeping')
  await audit.at('api-key-create')
  await prove(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Create API Key' }).click()
  await expect(page.getByRole('button', { name: 'I’ve Saved It' })).toBeVisible()
  await audit.at('api-key-once')
  await page.getByRole('button', { name: 'I’ve Saved It' }).click()
  await page.getByRole('button', { name: 'Revoke Bookkeeping' }).click()
  await dialog(page, audit, 'api-key-revoke')
  await open(page, '/dashboard/connections/webhooks/0199a000-0000-7000-8000-000000000000', 'Webhook not found')
  await audit.at('webhook-missing')
  await page.goto('/dashboard?trigger')
  await expect(page.getByText('Duely may')).toBeVisible()
  await audit.at('consent-own')
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('Please configure your email settings first before sending reminders.')).toBeVisible()
  await dialog(page, audit, 'trigger-mailbox')
}

async function connectionsWithMuch(page: Page, audit: Audit, someone: Someone, receiver: FakeReceiver): Promise<void> {
  const events = ['invoice.created', 'invoice.overdue', 'invoice.paid', 'reminder.sent', 'reminder.failed']
  for (let nth = 0; nth < 12; nth += 1) {
    await someone.send('POST', '/api-keys', {
      name: `${'Warehouse of the eastern branch '.repeat(2)}${nth}`,
      scopes: ['read'],
      expiresInDays: nth + 1,
      ...someone.proof,
    })
    await someone.send('POST', '/webhooks', {
      url: `${receiver.url}/${'a-very-long-path/'.repeat(nth)}`,
      events: events.slice(0, 1 + (nth % 5)),
      ...someone.proof,
    })
  }
  const hook = { url: `${receiver.url}/books`, events, ...someone.proof }
  const { _id } = (await someone.send('POST', '/webhooks', hook)) as { _id: string }
  await someone.send('POST', '/oauth/login/callback?json=true', { redirect_uri: '/dashboard?trigger', state: 'x', request: '' })
  for (const answer of [
    { status: 500, body: `It does not work. ${'Nothing works here. '.repeat(40)}` },
    { status: 204, body: '' },
  ]) {
    receiver.answer(answer)
    await someone.send('POST', `/webhooks/${_id}/test`)
  }
  await open(page, '/dashboard/connections', `${receiver.url}/books`)
  await audit.at('connections')
  await page.getByRole('button', { name: 'Disconnect Duely' }).click()
  await dialog(page, audit, 'disconnect')

  await open(page, `/dashboard/connections/webhooks/${_id}`, 'Deliveries')
  await expect(page.getByText(/with an empty body/).first()).toBeVisible()
  await page.getByRole('button', { name: 'Send Test Event' }).click()
  await expect(page.getByText('Test event delivered.')).toBeVisible()
  await audit.at('webhook')
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await dialog(page, audit, 'webhook-change')
  await page.getByRole('button', { name: 'Remove' }).click()
  await dialog(page, audit, 'webhook-remove')
  await page.getByRole('button', { name: 'Replace Secret' }).click()
  await prove(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Replace Secret' }).click()
  await expect(page.getByRole('button', { name: 'I’ve Saved It' })).toBeVisible()
  await audit.at('webhook-secret')
  await page.getByRole('button', { name: 'I’ve Saved It' }).click()
  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('Paused by you')).toBeVisible()
  await audit.at('webhook-paused')

  const due = { clientName: 'Nila Printers', clientEmail: 'nila@printers.example', amount: 22_300, dueDate: '2026-01-02' }
  for (let nth = 0; nth < 9; nth += 1) await someone.send('POST', '/invoice', { ...due, clientName: `Nila Printers ${nth}` })
  await page.goto('/dashboard?trigger')
  await expect(page.getByText(/emails ready to send, for$/)).toBeVisible()
  await dialog(page, audit, 'trigger')
  await change(page, reminderCalls.preview, (preview) => ({ ...preview, mails: 0, total: 0, lines: [] }))
  await page.goto('/dashboard?trigger')
  await expect(page.getByText('No invoices are due, so no emails would be sent.')).toBeVisible()
  await dialog(page, audit, 'trigger-nobody')
  await letGo(page)
}

for (const size of sizes)
  test(`connections, none and many: every screen and dialog, ${size}`, full, async ({ browser, program, smtp, receiver, zapier }) => {
    await auditWalk({ browser, url: program.url, at: [size] }, async (page, audit) => {
      await signIn(page, program.url, `alone-${size}@banyan.example`)
      await connectionsWithNothing(page, audit, zapier)
    })
    await auditWalk({ browser, url: program.url, at: [size] }, async (page, audit) => {
      const someone = await signIn(page, program.url, `connected-${size}@banyan.example`)
      await someone.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
      await connectionsWithMuch(page, audit, someone, receiver)
    })
  })
