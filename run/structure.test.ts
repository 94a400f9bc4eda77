import { expect, test } from 'vitest'
import { trespasses, wordsIn } from './structure.ts'

const planted: [rule: string, file: string, text: string][] = [
  ['a lower slice that imports a higher one', 'server/accounts/accounts.ts', "import { x } from '#server/invoices/invoices.ts'"],
  ['a slice that imports one beside it', 'server/templates/templates.ts', "import { x } from '#server/mail/mail.ts'"],
  ['an import of types only', 'server/accounts/accounts.ts', "import type { X } from '#server/invoices/invoices.ts'"],
  ['a type that is imported in place', 'server/accounts/accounts.ts', "type X = import('#server/invoices/invoices.ts').X"],
  ['an import for its effect', 'server/accounts/accounts.ts', "import '#server/invoices/invoices.ts'"],
  ['an export from elsewhere', 'server/accounts/accounts.ts', "export { x } from '#server/invoices/invoices.ts'"],
  ['an export of everything from elsewhere', 'server/accounts/accounts.ts', "export * from '#server/invoices/invoices.ts'"],
  ['an import while running', 'server/accounts/accounts.ts', "const x = await import('#server/invoices/invoices.ts')"],
  ['an import of a name that is made while running', 'server/accounts/accounts.ts', 'const x = await import(name)'],
  ['an import of a template', 'server/accounts/accounts.ts', "const x = await import('#server/' + name)"],
  ['a require', 'server/accounts/accounts.ts', "const x = require('#server/invoices/invoices.ts')"],
  ['a climb', 'server/accounts/accounts.ts', "import { x } from '../platform/log.ts'"],
  ['a reach into a folder', 'server/app.ts', "import { x } from './platform/log.ts'"],
  ['a neighbour by its full name', 'server/accounts/accounts.ts', "import { x } from '#server/accounts/throttle.ts'"],
  ['the inside of another slice', 'server/reminders/runs.ts', "import { x } from '#server/mail/sender.ts'"],
  ['routes of another slice', 'server/reminders/runs.ts', "import { x } from '#server/mail/routes.ts'"],
  ['an inside that is put together', 'server/app.ts', "import { x } from '#server/mail/sender.ts'"],
  ['a slice that imports what puts it together', 'server/mail/mail.ts', "import { x } from '#server/app.ts'"],
  ['a platform that knows a business', 'server/platform/log.ts', "import { x } from '#server/accounts/accounts.ts'"],
  ['a server that knows the browser', 'server/mail/mail.ts', "import { x } from '#web/platform/send.ts'"],
  ['a program that knows its tests', 'server/mail/mail.ts', "import { x } from '#test/harness.ts'"],
  ['a test of a slice that knows a higher one', 'server/mail/mail.test.ts', "import { x } from '#server/reminders/runs.ts'"],
  ['a server that starts another program', 'server/mail/mail.ts', "import { execFile } from 'node:child_process'"],
  ['a package for development in the server', 'server/mail/mail.ts', "import { SMTPServer } from 'smtp-server'"],
  ['a server that uses what is built into the client', 'server/mail/mail.ts', "import { x } from 'react'"],
  ['a tool in the build of the client', 'vite.config.ts', "import { x } from 'vitest'"],
  ['a contract that uses a package', 'contract/mail.ts', "import { z } from 'fastify'"],
  ['a contract that uses Node', 'contract/mail.ts', "import path from 'node:path'"],
  ['a contract that knows the server', 'contract/mail.ts', "import { x } from '#server/mail/mail.ts'"],
  ['a screen that knows another slice', 'web/mail/mail-settings-screen.tsx', "import { X } from '#web/invoices/invoice-card.tsx'"],
  ['a look that knows a slice', 'web/ui/pill.tsx', "import { X } from '#web/invoices/invoice-card.tsx'"],
  ['a screen that knows the server', 'web/mail/mail-settings-screen.tsx', "import { x } from '#server/mail/mail.ts'"],
  ['a screen that uses Node', 'web/mail/mail-settings-screen.tsx', "import path from 'node:path'"],
  ['a screen that uses what is installed for the server', 'web/mail/mail-settings-screen.tsx', "import { x } from 'drizzle-orm'"],
  ['a folder that is not in the table', 'server/clients/clients.ts', 'export const x = 1'],
  ['a folder inside a slice', 'server/mail/deep/x.ts', 'export const x = 1'],
  ['a folder two levels inside a screen', 'web/mail/deep/deeper/x.ts', 'export const x = 1'],
  ['a screen that knows a folder of another slice', 'web/mail/mail-settings-screen.tsx', "import { X } from '#web/invoices/form/x.tsx'"],
  ['a folder beside the others', 'lib/x.ts', 'export const x = 1'],
  ['a folder called utils', 'server/utils/x.ts', 'export const x = 1'],
  ['a file called helpers', 'server/mail/helpers.ts', 'export const x = 1'],
  ['a file called types', 'web/mail/types.d.ts', 'export type X = 1'],
  ['an index', 'web/mail/index.ts', 'export const x = 1'],
  ['a mock of a module', 'server/mail/mail.test.ts', "vi.mock('./mailer.ts')"],
  ['HTML past React', 'web/mail/x.tsx', 'export const X = ({ html }) => <p dangerouslySetInnerHTML={{ __html: html }} />'],
  ['HTML among properties', 'web/mail/x.ts', 'export const x = (html) => ({ dangerouslySetInnerHTML: { __html: html } })'],
  ['HTML set on an element', 'web/mail/x.ts', 'export const x = (place, html) => { place.innerHTML = html }'],
  ['a frame without a sandbox', 'web/mail/x.tsx', 'export const X = ({ html }) => <iframe srcDoc={html} />'],
  ['a frame that runs scripts', 'web/mail/x.tsx', 'export const X = ({ html }) => <iframe sandbox="allow-scripts" srcDoc={html} />'],
  ['a frame whose sandbox is computed', 'web/mail/x.tsx', 'export const X = ({ html, of }) => <iframe sandbox={of} srcDoc={html} />'],
  ['a frame whose sandbox can be replaced', 'web/mail/x.tsx', 'export const X = (props) => <iframe sandbox="" {...props} />'],
]

test.each(planted)('%s is refused', (_rule, file, text) => {
  expect(trespasses([{ path: file, text }])).not.toEqual([])
})

test.each([
  ['words between tags', '<p>No invoices yet</p>'],
  ['one word between tags', '<b>{1} Overdue</b>'],
  ['a name for ears', '<p aria-label="Close"></p>'],
  ['a name for ears among properties', "props({ 'aria-label': 'Close' })"],
  ['a sentence in quotes', "say('Please try again.')"],
  ['a sentence between backticks', 'say(`Please try the file again`)'],
])('%s in a screen is refused', (_rule, text) => {
  expect(wordsIn({ path: 'web/mail/x.tsx', text })).not.toEqual([])
})

test('finding no files at all is refused', () => {
  expect(trespasses([])).not.toEqual([])
})

const innocent: [rule: string, file: string, text: string][] = [
  ['a lower slice by its face', 'server/reminders/runs.ts', "import { x } from '#server/invoices/invoices.ts'"],
  ['tables for a foreign key', 'server/invoices/tables.ts', "import { accounts } from '#server/accounts/tables.ts'"],
  ['what is public for a reason', 'server/reminders/deliver.ts', "import type { Mailer } from '#server/mail/mailer.ts'"],
  ['a neighbour', 'server/mail/mail.ts', "import { x } from './host.ts'"],
  ['routes where they are put together', 'server/app.ts', "import { x } from '#server/mail/routes.ts'"],
  ['words about an import', 'server/mail/mail.ts', "// import { x } from '../platform/log.ts'\nexport const x = \"import '#web/x.ts'\""],
  ['a frame in which nothing runs', 'web/mail/x.tsx', 'export const X = ({ html }) => <iframe sandbox="" srcDoc={html} />'],
  ['another folder of its own slice', 'web/invoices/form/x.tsx', "import { X } from '#web/invoices/dashboard/y.tsx'"],
  [
    'the look of a screen',
    'web/mail/mail-settings-screen.tsx',
    "import styles from './mail.module.css'\nexport const X = () => <p className={styles.x}>Hi</p>",
  ],
]

test.each(innocent)('%s is let through', (_rule, file, text) => {
  expect(trespasses([{ path: file, text }])).toEqual([])
})
