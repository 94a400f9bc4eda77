import type { Page } from '@playwright/test'
import { someoneAt } from '#test/program.ts'
import { type Audit, auditWalk, closeMessages, dialog, open } from './audit.ts'
import { expect, full, test } from './duely.ts'
import { newEmail, type Someone, signIn } from './sign-in.ts'

const long = 'Messrs. Venkataraghavan, Subrahmanyam and Associates'

interface Colleague extends Someone {
  email: string
  /** Changes something in the business that they joined. */
  change(path: string, body: object, method?: string): Promise<unknown>
}

async function invite(owner: Someone, email: string, role: string): Promise<string> {
  return ((await owner.send('POST', '/business/invitations', { email, role, ...owner.proof })) as { link: string }).link
}

/** Someone with this name who has joined the business of the owner. */
async function joined(url: string, owner: Someone, role: string, displayName: string): Promise<Colleague> {
  const email = newEmail()
  const someone = await someoneAt(url, email)
  await someone.send('PATCH', '/user/profile', { displayName })
  const token = (await invite(owner, email, role)).split('#token=')[1]
  const { _id } = (await someone.send('POST', '/invitations/accept', { token })) as { _id: string }
  return { ...someone, email, change: (path, body, method = 'PATCH') => someone.send(method, path, body, _id) }
}

const tab = (name: string) => `/dashboard/business?tab=${name}`

/** The business of someone who works there alone, then with a team, and once they have several. */
async function asOwner(page: Page, audit: Audit, url: string): Promise<void> {
  const owner = await signIn(page, url)
  await open(page, tab('details'), 'Your businesses')
  await audit.at('business-alone')
  await open(page, tab('team'), 'You work alone here.')
  await audit.at('team-alone')
  await page.getByRole('textbox', { name: 'Email' }).fill('kiran@shah-accounts.example')
  await page.getByRole('button', { name: 'Send invitation' }).click()
  await expect(page.getByRole('button', { name: 'Copy invitation link' })).toBeVisible()
  await audit.at('team-invited')
  const farah = await joined(url, owner, 'admin', 'Farah Khan')
  await joined(url, owner, 'member', long)
  await joined(url, owner, 'viewer', 'Kiran Shah')
  await owner.send('PATCH', '/business', { name: 'Studio Neem' })
  await open(page, tab('team'), 'Each role adds to the one before it')
  await audit.at('team')
  await page.getByRole('button', { name: 'Remove Farah Khan' }).click()
  await dialog(page, audit, 'team-remove')
  await farah.change('/api-keys', { name: 'Robot', scopes: ['read'], ...farah.proof }, 'POST')
  await page.getByRole('button', { name: 'Remove Farah Khan' }).click()
  await page.getByRole('radio', { name: 'Take them over' }).check()
  await dialog(page, audit, 'team-remove-programs')
  await page.getByRole('button', { name: 'Hand over to Farah Khan' }).click()
  await dialog(page, audit, 'team-hand-over')
  await open(page, tab('activity'), /Robot/)
  await audit.at('business-activity')
  await owner.send('POST', '/businesses', { name: `${long} of Chennai` })
  await open(page, tab('details'), 'Current business')
  await audit.at('businesses')
  await page.getByRole('button', { name: 'Add a business' }).click()
  await dialog(page, audit, 'business-add')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await expect(page.getByText('Switch business')).toBeVisible()
  await audit.at('account-menu-businesses')
}

test('a business: alone, with a team, and one of several', full, async ({ browser, program }) => {
  await auditWalk({ browser, url: program.url }, (page, audit) => asOwner(page, audit, program.url))
})

test('a business as its viewer sees it, and an invitation in each of its states', full, async ({ browser, program }) => {
  const owner = await someoneAt(program.url, newEmail())
  await owner.send('PATCH', '/business', { name: 'Studio Neem' })
  const lines = ['Kaveri Foods', 'Lotus Dental'].map((clientName, nth) => ({
    ...{ clientName, clientEmail: `pay${nth}@client.example`, amount: 12_250 },
    ...{ dueDate: `2026-0${nth + 1}-05`, status: nth === 0 ? 'paid' : 'overdue' },
  }))
  await owner.send('POST', '/invoices/import', { lines })
  const mine = newEmail()
  const links = { mine: await invite(owner, mine, 'viewer'), other: await invite(owner, newEmail(), 'admin') }
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    await open(page, links.mine, 'Asha Rao invites you to Studio Neem as viewer.')
    await audit.at('join-stranger')
    await open(page, '/join', 'This link is incomplete.')
    await audit.at('join-incomplete')
    await signIn(page, program.url, mine)
    await open(page, links.other, 'You are signed in as')
    await audit.at('join-other')
    await open(page, links.mine, 'Asha Rao invites you to Studio Neem as viewer.')
    await audit.at('join')
    await page.getByRole('button', { name: 'Join' }).click()
    await page.waitForURL('**/dashboard')
    await open(page, links.mine, 'This invitation is no longer good.')
    await expect(page.getByRole('link', { name: 'Go to the Dashboard' })).toBeVisible()
    await audit.at('join-gone')

    await open(page, '/dashboard', 'Lotus Dental')
    await audit.at('dashboard-viewer')
    await expect(page.getByRole('main').getByText('Only an admin or the owner of Studio Neem can do this.')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Gmail' })).toBeDisabled()
    // Previews show what clients see: the name of the business, not that of the person who looks.
    await open(page, '/dashboard/getting-paid', 'it shows “Studio Neem”')
    await open(page, '/dashboard/email-templates', 'Invoice INV-0001 from Studio Neem')
    await open(page, '/dashboard/sequences', 'can do this.')
    await expect(page.getByRole('button', { name: 'Start with one step' })).toBeDisabled()
    await open(page, '/dashboard/connections', 'can do this.')
    await expect(page.getByRole('button', { name: 'Try again' })).toBeHidden()
    await audit.at('connections-viewer')
    await open(page, '/dashboard/new-invoice', 'can do this.')
    await audit.at('new-invoice-viewer')
    await open(page, tab('details'), 'can do this.')
    await audit.at('business-viewer')
    await open(page, tab('team'), 'can do this.')
    await audit.at('team-viewer')
    await open(page, tab('activity'), 'can do this.')
    await audit.at('activity-viewer')
  })
})

test('what two people change, notes, several mailboxes and watched addresses', full, async ({ browser, program, smtp }) => {
  await auditWalk({ browser, url: program.url }, async (page, audit) => {
    const owner = await signIn(page, program.url)
    const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2027-02-20' }
    const { _id } = (await owner.send('POST', '/invoice', draft)) as { _id: string }
    const vikram = await joined(program.url, owner, 'member', 'Vikram Menon')
    await vikram.change(`/invoice/${_id}/notes`, { text: 'Called Kaveri.\nThey pay on Friday.' }, 'POST')
    await owner.send('POST', `/invoice/${_id}/notes`, { text: `${long} takes over the office. `.repeat(8) })
    await open(page, `/dashboard/edit-invoice/${_id}`, 'Only your team sees notes.')
    await audit.at('notes', page.getByText('Only your team sees notes.'))
    await vikram.change(`/invoice/${_id}`, { dueDate: '2027-04-05', clientName: long })
    await page.getByRole('textbox', { name: 'Due Date' }).fill('30/03/2027')
    await page.getByRole('textbox', { name: 'Amount' }).fill('7000')
    await page.getByRole('button', { name: 'Update Invoice' }).click()
    await expect(page.getByRole('button', { name: 'Keep mine' })).toBeVisible()
    await dialog(page, audit, 'conflict')
    await page.evaluate(() => window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true))
    const settings = { host: smtp.host, port: smtp.port, secure: false, ...smtp.login }
    await owner.send('POST', '/mail-config/smtp', settings)
    for (const user of ['exports@banyan.example', `${'accounts.receivable.'.repeat(2)}chennai@banyan.example`])
      await owner.send('POST', '/mailboxes', { provider: 'smtp', ...settings, user, username: smtp.login.user, ...owner.proof })
    await open(page, '/dashboard/mail-settings', 'More mailboxes')
    await audit.at('mailboxes', page.getByText('More mailboxes'))
    await page.getByRole('button', { name: 'Check Domain: exports@banyan.example' }).click()
    await expect(page.getByText('What receivers find for banyan.example')).toBeVisible()
    await audit.at('mailbox-domain', page.getByText('What receivers find for banyan.example'))

    const books = { name: 'Books', url: 'https://docs.google.com/spreadsheets/d/abc_1-2/edit?usp=sharing#gid=77', ...owner.proof }
    await owner.send('POST', '/sources', books)
    await owner.send('POST', '/sources', { ...books, name: long, url: `https://books.example/${'a/'.repeat(60)}invoices.csv` })
    await page.goto('/dashboard?import')
    await expect(page.getByRole('dialog').getByText(long)).toBeVisible()
    await audit.at('sources', page.getByRole('dialog').getByText('Anyone who has this link can read the sheet.'))
    await closeMessages(page)
  })
})
