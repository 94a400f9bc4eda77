import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseAst } from 'vite'
import { expect, test } from 'vitest'

/** Which packages the files of a folder may import: `server` and `web` those of their side, `start` those of both, `tools` any. */
type Packages = 'zod' | 'server' | 'web' | 'start' | 'tools'

interface Folder {
  packages: Packages
  /** Folders, or single files, whose files may be imported besides its own. */
  may: string[]
}

const slices = ['accounts', 'billing', 'mail', 'templates', 'invoices', 'reminders', 'integrations'].map((name) => `server/${name}`)
const lower = (...names: string[]) => ['contract', 'server/platform', ...names.map((name) => `server/${name}`)]
const serverFolders = ['contract', 'server', 'server/platform', ...slices]
const screens: Folder = { packages: 'web', may: ['contract', 'web/platform', 'web/ui'] }

/** The drawing of the system: every folder with code in it, and what it knows of the others. */
const table: Record<string, Folder> = {
  '.': { packages: 'tools', may: ['test'] },
  contract: { packages: 'zod', may: [] },

  server: { packages: 'server', may: ['contract', 'server/platform', ...slices] },
  // The parts that everything is handed name the configuration; they read none of it.
  'server/platform': { packages: 'server', may: ['contract', 'server/config.ts'] },
  'server/accounts': { packages: 'server', may: lower() },
  'server/billing': { packages: 'server', may: lower('accounts') },
  'server/mail': { packages: 'server', may: lower('accounts') },
  'server/templates': { packages: 'server', may: lower('accounts') },
  'server/invoices': { packages: 'server', may: lower('accounts', 'billing') },
  'server/reminders': { packages: 'server', may: lower('accounts', 'billing', 'mail', 'templates', 'invoices') },
  'server/integrations': { packages: 'server', may: lower('accounts', 'billing', 'invoices', 'reminders') },

  web: { packages: 'web', may: ['contract', 'web/platform', 'web/ui', 'web/ui/fonts', 'web/shell'] },
  'web/platform': { packages: 'web', may: ['contract', 'web/ui'] },
  'web/ui': { packages: 'web', may: ['contract'] },
  'web/ui/fonts': { packages: 'web', may: [] },
  'web/shell': screens,
  'web/marketing': screens,
  'web/accounts': screens,
  'web/billing': screens,
  'web/invoices': screens,
  'web/mail': screens,
  'web/templates': screens,
  'web/reminders': screens,
  'web/integrations': screens,

  test: { packages: 'tools', may: [...serverFolders, 'test/fakes', 'test/fakes/razorpay'] },
  'test/fakes': { packages: 'tools', may: [] },
  'test/fakes/razorpay': { packages: 'tools', may: [] },
  // A code for two-factor sign-in is made as an authenticator makes it.
  'test/e2e': {
    packages: 'tools',
    may: ['contract', 'run/sizes.ts', 'server/accounts/totp.ts', 'test', 'test/fakes', 'test/fakes/razorpay'],
  },
  bench: { packages: 'tools', may: [...serverFolders, 'contract', 'chaos', 'test', 'test/fakes'] },
  chaos: { packages: 'tools', may: [...serverFolders, 'test', 'test/fakes', 'test/fakes/razorpay'] },
  attack: { packages: 'tools', may: [...serverFolders, 'chaos', 'test', 'test/fakes'] },
  run: { packages: 'tools', may: ['server/platform/reference.ts', 'test', 'test/fakes'] },
  dev: { packages: 'tools', may: ['contract', 'run/scalar.ts'] },
}

/** The room a folder belongs to: a screen's folder inside a slice of the client has the rights of its slice. */
function roomOf(folder: string): string {
  const [root, slice, screen, ...deeper] = folder.split('/')
  return !table[folder] && root === 'web' && screen !== undefined && deeper.length === 0 ? `${root}/${slice}` : folder
}

/** Of another slice one sees its rules and its tables. These files are seen as well, each for a reason. */
const alsoPublic: Record<string, string> = {
  'server/accounts/google.ts': 'who came back from Google and went no further is forgotten in the background',
  'server/accounts/links.ts': 'links that were sent out are forgotten in the background',
  'server/accounts/recovery.ts': "one of the operator's commands makes a link",
  'server/accounts/notices.ts': 'what an account is told on its screens is found out by whichever slice it is about',
  'server/accounts/sessions.ts': 'who asks is settled for every call at once, and sessions are forgotten in the background',
  'server/accounts/throttle.ts': 'tries are forgotten in the background; other slices count tries of their own',
  'server/billing/tell.ts': 'what is told of plans that end is begun in the background',
  'server/invoices/idempotency.ts': 'keys of requests are forgotten in the background',
  'server/invoices/overdue.ts': 'the job of each midnight is begun in the background',
  'server/invoices/pauses.ts': 'pauses end in the background',
  'server/reminders/failures.ts': 'what was not delivered is told of in the background',
  'server/mail/post.ts': 'opened once for the whole program, and closed at its end',
  'server/mail/mailer.ts': 'sending a mail, the other half of what the slice is for',
  'server/reminders/deliver.ts': 'begun in the background, and woken by what changes below',
  'server/reminders/runs.ts': 'begun in the background, and moved by a change of zone or hour',
  'server/reminders/holds.ts': 'what waits for a mailbox or a plan goes on when that changes',
  'server/reminders/claims.ts': 'what a process has in hand is opened with the process',
  'server/reminders/processes.ts': 'heartbeats are begun in the background',
}
/** What is put together in one place only. */
const entries = ['server/app.ts', 'server/worker.ts', 'server/start.ts']
const entryParts = ['routes.ts', 'jobs.ts']

const banned = /^(?:utils?|helpers?|services?|common|types?|managers?|misc)$/
/** What is built into the client, or builds it: the server must run without it. */
const ofClient =
  /^(?:react|react-dom|react-router|papaparse|uqr|vite|@(?:fontsource-variable|mantine|react-router|scalar|tabler|tanstack)\/.+)$/
/** What `npm start` runs before the server, on a machine without the tools. */
const beforeStart = ['run/client.mjs', 'run/reference-page.ts', 'run/scalar.ts', 'vite.config.ts', 'react-router.config.ts']
const installed = JSON.parse(readFileSync('package.json', 'utf8')) as Record<'dependencies' | 'devDependencies', Record<string, string>>

interface Source {
  path: string
  text: string
}

/** Everything that is wrong, one line each. */
function trespasses(files: Source[]): string[] {
  if (files.length === 0) return ['There are no files to look at.']
  return files.flatMap((file) => [
    ...wrongNames(file.path),
    ...importsOf(file).flatMap((name) => wrongImport(file.path, name) ?? []),
    ...(mocks(file) ? [`${file.path} mocks a module`] : []),
  ])
}

function wrongNames(file: string): string[] {
  const wrong: string[] = []
  const folder = path.posix.dirname(file)
  if (!table[roomOf(folder)]) wrong.push(`${file} lies in ${folder}, which is not in the table`)
  const parts = file.split('/').map((part) => part.replace(/\..*$/, ''))
  for (const part of parts) if (banned.test(part)) wrong.push(`${file} is called ${part}, which says nothing`)
  if (parts.at(-1) === 'index' && folder !== 'contract') wrong.push(`${file} is an index outside the contract`)
  return wrong
}

function wrongImport(file: string, name: string | null): string | null {
  const folder = path.posix.dirname(file)
  const isTest = /\.(?:test|spec)\.tsx?$/.test(file)
  const rule = table[roomOf(folder)]
  if (!rule) return null
  if (name === null) return `${file} imports something whose name cannot be read`
  if (name.startsWith('../') || name === '..') return `${file} climbs to ${name}`
  if (name.startsWith('./')) return name.slice(2).includes('/') ? `${file} reaches into a folder with ${name}` : null
  if (!name.startsWith('#'))
    return isTest || mayUse(beforeStart.includes(file) ? 'start' : rule.packages, name) ? null : `${file} may not use the package ${name}`

  const target = name.slice(1)
  const targetFolder = path.posix.dirname(target)
  if (targetFolder === folder) return `${file} calls its neighbour ${name}: say ./${path.posix.basename(name)}`
  if (isTest && ['test', 'test/fakes', 'test/fakes/razorpay'].includes(targetFolder)) return null
  const room = roomOf(targetFolder)
  if (room !== roomOf(folder) && !rule.may.includes(room) && !rule.may.includes(target)) return `${file} may not import ${name}`
  return slices.includes(targetFolder) && !isPublic(file, target) ? `${file} sees the inside of ${targetFolder}: ${name}` : null
}

function isPublic(file: string, target: string): boolean {
  // Tests, their tools, measurements and faults look anywhere below them.
  if (/^(?:test|bench|chaos|attack)\//.test(file) || file.endsWith('.test.ts')) return true
  const [slice, name] = [path.posix.basename(path.posix.dirname(target)), path.posix.basename(target)]
  return name === `${slice}.ts` || name === 'tables.ts' || target in alsoPublic || (entries.includes(file) && entryParts.includes(name))
}

function mayUse(packages: Packages, name: string): boolean {
  const own = name.split('/', name.startsWith('@') ? 2 : 1).join('/')
  const needed = own in installed.dependencies
  switch (packages) {
    case 'zod':
      return own === 'zod'
    case 'server':
      return name.startsWith('node:') || (needed && !ofClient.test(own))
    case 'web':
      return own === 'zod' || (needed && ofClient.test(own))
    case 'start':
      return name.startsWith('node:') || needed
    case 'tools':
      return name.startsWith('node:') || needed || own in installed.devDependencies
  }
}

/** What a file imports or exports again, in any of the language's ways; null where the name is put together while it runs. */
function importsOf({ path: file, text }: Source): (string | null)[] {
  const found: (string | null)[] = []
  walk(parse(file, text), (node) => {
    if (/^(?:Import|ExportNamed|ExportAll)Declaration$|^ImportExpression$|^TSImportType$/.test(node.type)) {
      if (node.source) found.push(literal(node.source))
      else if (node.type === 'ImportExpression') found.push(null)
    }
    if (node.type === 'TSExternalModuleReference') found.push(literal(node.expression))
    if (node.type === 'CallExpression' && isNode(node.callee) && node.callee.name === 'require')
      found.push(literal([node.arguments].flat()[0]))
  })
  return found
}

function mocks({ path: file, text }: Source): boolean {
  let found = false
  walk(parse(file, text), ({ type, object, property }) => {
    if (type === 'MemberExpression' && isNode(object) && object.name === 'vi' && isNode(property))
      found ||= ['mock', 'doMock'].includes(String(property.name))
  })
  return found
}

interface Node {
  type: string
  [field: string]: unknown
}

function parse(file: string, text: string): unknown {
  return parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) walk(one, visit)
  else if (isNode(value)) {
    visit(value)
    for (const field of Object.values(value)) if (typeof field === 'object') walk(field, visit)
  }
}

function literal(node: unknown): string | null {
  return isNode(node) && typeof node.value === 'string' ? node.value : null
}

/** Every file of code there is, whatever folder somebody made for it. */
function everyFile(): Source[] {
  const elsewhere = new Set(['node_modules', 'build', 'data', 'coverage', 'test-results', 'public', 'migrations', 'docs', 'zapier'])
  const found: string[] = []
  const look = (folder: string) => {
    for (const one of readdirSync(folder, { withFileTypes: true })) {
      const place = path.posix.join(folder, one.name)
      if (one.isDirectory() && !one.name.startsWith('.') && !elsewhere.has(one.name)) look(place)
      else if (one.isFile() && /\.(?:tsx?|mjs|mts)$/.test(one.name)) found.push(place)
    }
  }
  look('.')
  return found.map((file) => ({ path: file, text: readFileSync(file, 'utf8') }))
}

test('nobody knows more of the others than the table allows', () => {
  expect(trespasses(everyFile())).toEqual([])
})

test('the table names nothing that is not there', () => {
  expect(Object.keys(alsoPublic).filter((file) => !existsSync(file))).toEqual([])
  expect(entries.filter((file) => !existsSync(file))).toEqual([])
})

test('the map in the README shows every folder', () => {
  const map = readFileSync('README.md', 'utf8')
  const folders = new Set(everyFile().map((file) => path.posix.dirname(file.path)))
  const unnamed = [...folders].filter((folder) => !['.', 'server', 'web'].includes(folder) && !map.includes(`\`${roomOf(folder)}/\``))
  expect(unnamed).toEqual([])
})

test('every slice has a name that browser, contract and server share', () => {
  const roots = ['server', 'web'].flatMap((root) => Object.keys(table).filter((folder) => path.posix.dirname(folder) === root))
  const named = roots
    .map((folder) => path.posix.basename(folder))
    .filter((name) => !['platform', 'ui', 'shell', 'marketing'].includes(name))
  expect(new Set(named)).toEqual(new Set(slices.map((slice) => path.posix.basename(slice))))
})

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
  ['a package for development in the server', 'server/mail/mail.ts', "import { SMTPServer } from 'smtp-server'"],
  ['a contract that uses a package', 'contract/mail.ts', "import { z } from 'fastify'"],
  ['a contract that uses Node', 'contract/mail.ts', "import path from 'node:path'"],
  ['a contract that knows the server', 'contract/mail.ts', "import { x } from '#server/mail/mail.ts'"],
  ['a screen that knows another slice', 'web/mail/mail-settings-screen.tsx', "import { X } from '#web/invoices/invoice-card.tsx'"],
  ['a look that knows a slice', 'web/ui/pill.tsx', "import { X } from '#web/invoices/invoice-card.tsx'"],
  ['a screen that knows the server', 'web/mail/mail-settings-screen.tsx', "import { x } from '#server/mail/mail.ts'"],
  ['a screen that uses Node', 'web/mail/mail-settings-screen.tsx', "import path from 'node:path'"],
  ['a screen that uses what is installed for the server', 'web/mail/mail-settings-screen.tsx', "import { x } from 'drizzle-orm'"],
  ['a server that uses what is built into the client', 'server/mail/mail.ts', "import { x } from 'react'"],
  ['a tool in the build of the client', 'vite.config.ts', "import { x } from 'vitest'"],
  ['a folder that nobody has drawn', 'server/clients/clients.ts', 'export const x = 1'],
  ['a folder inside a slice', 'server/mail/deep/x.ts', 'export const x = 1'],
  ['a folder two levels inside a screen', 'web/mail/deep/deeper/x.ts', 'export const x = 1'],
  ['a screen that knows a folder of another slice', 'web/mail/mail-settings-screen.tsx', "import { X } from '#web/invoices/form/x.tsx'"],
  ['a folder beside the others', 'lib/x.ts', 'export const x = 1'],
  ['a folder called utils', 'server/utils/x.ts', 'export const x = 1'],
  ['a file called helpers', 'server/mail/helpers.ts', 'export const x = 1'],
  ['a file called types', 'web/mail/types.d.ts', 'export type X = 1'],
  ['an index', 'web/mail/index.ts', 'export const x = 1'],
  ['a mock of a module', 'server/mail/mail.test.ts', "vi.mock('./mailer.ts')"],
]

test.each(planted)('%s is refused', (_rule, file, text) => {
  expect(trespasses([{ path: file, text }])).not.toEqual([])
})

/** What a person reads in a screen's code, instead of in the slice's texts: words between tags, words in an attribute, a sentence in quotes. */
function wordsIn({ path: file, text }: Source): string[] {
  const found: string[] = []
  const spoken = /^(?:aria-.*label|aria-description|title|placeholder|label|description|alt|text|busyText|heading)$/
  const spokenKey = /^aria-.*label$|^aria-description$/
  const ignored = new Set<unknown>()
  walk(parse(file, text), (node) => {
    if (node.type === 'JSXText') found.push(String(node.value).trim())
    if (node.type === 'JSXAttribute' && isNode(node.name)) {
      if (spoken.test(String(node.name.name))) found.push(literal(node.value) ?? '')
      ignored.add(node.value)
    }
    if (node.type === 'Property' && isNode(node.key) && spokenKey.test(literal(node.key) ?? '')) found.push(literal(node.value) ?? '')
    // What only a developer reads.
    if (node.type === 'NewExpression') for (const one of [node.arguments].flat()) ignored.add(one)
    const told = node.type === 'TemplateElement' && isNode(node) ? cooked(node) : node.type === 'Literal' ? literal(node) : null
    if (told !== null && !ignored.has(node) && /(?:^| )[A-Z][a-z']+ [a-z]+/.test(told)) found.push(told)
  })
  return found.filter((words) => /[A-Za-z]{2}/.test(words)).map((words) => `${file} says "${words}"`)
}

function cooked({ value }: Node): string | null {
  return typeof value === 'object' && value !== null && 'cooked' in value && typeof value.cooked === 'string' ? value.cooked : null
}

const screensOf = (file: string) => /^web\/.*\.tsx?$/.test(file) && !/(?:texts|\.test)\.tsx?$/.test(file)

test('what a person reads stands in the texts of its slice', () => {
  const shown = everyFile().filter(({ path: file }) => screensOf(file))
  expect(shown.length).toBeGreaterThan(100)
  expect(shown.flatMap(wordsIn)).toEqual([])
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
