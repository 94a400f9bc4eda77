/*
 * The rules of structure: which folder may import which, how files may be named, and that a screen's sentences are in its texts.
 * `npm run check` runs this file; run/structure.test.ts shows that each rule refuses a violation.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseAst } from 'vite'
import { ofClient } from './of-client.mjs'

/** Which packages the files of a folder may import: `csv` the reader of CSV files, `formats` those of XML and ZIP, `server` and `web` those of their side, `start` those of both, `tools` any. */
type Packages = 'zod' | 'csv' | 'formats' | 'server' | 'web' | 'start' | 'tools'

interface Folder {
  packages: Packages
  /** Folders, or single files, whose files may be imported besides its own. */
  may: string[]
}

const slices = ['accounts', 'billing', 'mail', 'templates', 'invoices', 'pay', 'reminders', 'insight', 'integrations'].map(
  (name) => `server/${name}`,
)
const reading = ['contract/import', 'contract/import/formats']
const lower = (...names: string[]) => ['contract', ...reading, 'server/platform', ...names.map((name) => `server/${name}`)]
const serverFolders = ['contract', ...reading, 'server', 'server/commands', 'server/platform', ...slices]
const screens: Folder = { packages: 'web', may: ['contract', ...reading, 'web/platform', 'web/ui'] }

/** Each folder with code, and what it may import. */
const table: Record<string, Folder> = {
  '.': { packages: 'tools', may: ['test'] },
  contract: { packages: 'zod', may: [] },
  // How files with invoices are read: in the browser, and on the server those of watched addresses.
  'contract/import': { packages: 'csv', may: ['contract', 'contract/import/formats'] },
  'contract/import/formats': { packages: 'formats', may: ['contract', 'contract/import'] },

  server: { packages: 'server', may: ['contract', 'server/platform', 'server/commands', ...slices] },
  'server/commands': { packages: 'server', may: ['contract', 'server/platform', 'server/config.ts', ...slices] },
  // The platform may name the type of the configuration; it must not read it.
  'server/platform': { packages: 'server', may: ['contract', 'server/config.ts'] },
  'server/accounts': { packages: 'server', may: lower() },
  'server/billing': { packages: 'server', may: lower('accounts') },
  'server/mail': { packages: 'server', may: lower('accounts') },
  'server/templates': { packages: 'server', may: lower('accounts') },
  'server/invoices': { packages: 'server', may: lower('accounts', 'billing') },
  'server/pay': { packages: 'server', may: lower('accounts', 'billing', 'invoices') },
  'server/reminders': { packages: 'server', may: lower('accounts', 'billing', 'mail', 'templates', 'invoices', 'pay') },
  'server/insight': { packages: 'server', may: lower('accounts', 'billing', 'invoices', 'reminders') },
  'server/integrations': { packages: 'server', may: lower('accounts', 'billing', 'templates', 'invoices', 'pay', 'reminders') },

  web: { packages: 'web', may: ['contract', 'web/platform', 'web/ui', 'web/ui/fonts', 'web/shell'] },
  'web/platform': { packages: 'web', may: ['contract', 'contract/import', 'web/ui'] },
  'web/ui': { packages: 'web', may: ['contract', ...reading] },
  'web/ui/fonts': { packages: 'web', may: [] },
  'web/shell': screens,
  'web/marketing': { ...screens, may: [...screens.may, 'docs/pictures'] },
  'web/accounts': screens,
  'web/billing': screens,
  'web/invoices': screens,
  'web/mail': screens,
  'web/templates': screens,
  'web/pay': screens,
  'web/reminders': screens,
  'web/insight': screens,
  'web/integrations': screens,

  test: { packages: 'tools', may: [...serverFolders, 'test/fakes', 'test/fakes/razorpay'] },
  'test/fakes': { packages: 'tools', may: [] },
  'test/fakes/razorpay': { packages: 'tools', may: [] },
  'test/faults': { packages: 'tools', may: [...serverFolders, 'test', 'test/fakes', 'test/fakes/razorpay', 'test/real-mail'] },
  'test/real-mail': { packages: 'tools', may: [...serverFolders, 'contract', 'test', 'test/fakes'] },
  'test/attacks': { packages: 'tools', may: [...serverFolders, 'test', 'test/fakes', 'test/fakes/razorpay', 'test/faults'] },
  'test/simulation': { packages: 'tools', may: [...serverFolders, 'test', 'test/fakes/razorpay'] },
  // Browser tests generate two-factor codes like an authenticator.
  'test/e2e': {
    packages: 'tools',
    may: ['contract', 'run/sizes.ts', 'server/accounts/totp.ts', 'test', 'test/fakes', 'test/fakes/razorpay'],
  },
  bench: { packages: 'tools', may: [...serverFolders, 'contract', 'test', 'test/fakes'] },
  run: {
    packages: 'tools',
    may: [
      'contract/import',
      'contract/import/formats',
      'server/platform/reference.ts',
      'test',
      'test/fakes',
      'test/fakes/razorpay',
      'test/faults',
      'test/real-mail',
      'dev',
    ],
  },
  dev: { packages: 'tools', may: [...serverFolders, 'run/scalar.ts', 'test/fakes/razorpay'] },
}

/** The entry of the table for a folder: a screen's folder inside a client slice has the rights of its slice. */
function roomOf(folder: string): string {
  const [root, slice, screen, ...deeper] = folder.split('/')
  return !table[folder] && root === 'web' && screen !== undefined && deeper.length === 0 ? `${root}/${slice}` : folder
}

/** Other slices may import `<slice>.ts` and `tables.ts`. These files may be imported too, each with its reason. */
const alsoPublic: Record<string, string> = {
  'server/accounts/google.ts': 'unfinished Google sign-ins are pruned in the background',
  'server/accounts/links.ts': 'sent links are pruned in the background',
  'server/accounts/recovery.ts': "one of the operator's commands creates a link",
  'server/accounts/notices.ts': 'each slice creates the notices about its subject',
  'server/accounts/brand.ts': 'emails and client pages say what their business is',
  'server/accounts/made.ts': 'other slices hand down what works without who set it up',
  'server/accounts/team.ts': 'its calls need what slices above hand down',
  'server/accounts/businesses.ts': 'its calls need what slices above hand down',
  'server/accounts/roles.ts': 'the role that a call needs is compared in one place',
  'server/accounts/sessions.ts': 'calls are authenticated in one place, and sessions are pruned in the background',
  'server/accounts/call-limits.ts': 'calls of every slice wait for it',
  'server/invoices/file-layouts.ts': 'a takeover removes what someone else answered about files',
  'server/accounts/throttle.ts': 'attempts are pruned in the background; other slices count their own attempts',
  'server/billing/former-accounts.ts': 'handed to accounts, which are created and deleted; pruned in the background',
  'server/billing/plan-notifications.ts': 'notifications about ending plans run in the background',
  'server/billing/razorpay.ts': 'clients pay by the keys of an account: the same provider, its HTTP and its signatures',
  'server/invoices/balance.ts': 'what is paid of an invoice: payments from other slices are settled by it, and shown by them',
  'server/invoices/import.ts': 'watched addresses are imported by the same rules',
  'server/invoices/idempotency.ts': 'idempotency keys are pruned in the background, and imports of bank files have one',
  'server/invoices/overdue.ts': 'the midnight job runs in the background',
  'server/pay/files.ts': 'emails have the PDFs of their invoices',
  'server/pay/links.ts': 'emails lead to pay pages',
  'server/pay/qr-png.ts': 'emails show the code of a UPI payment',
  'server/invoices/payments.ts': 'accepting an answer records its payment',
  'server/invoices/pauses.ts': 'pauses end in the background',
  'server/reminders/bounces.ts': 'programs report emails that came back',
  'server/reminders/hazard.ts': 'the forecast expects payments by the same chances as smart reminders',
  'server/reminders/learned.ts': 'the forecast learns from the same invoices',
  'server/reminders/failures.ts': 'failure notifications run in the background',
  'server/mail/transports.ts': 'opened once for the whole program, and closed when it stops',
  'server/mail/mailer.ts': 'sends emails',
  'server/reminders/retention.ts': 'old emails are dropped in the background; deleting an account begins with them',
  'server/reminders/daily-runs.ts': 'daily runs are made in the background',
  'server/reminders/deliver.ts': 'runs in the background; changes of invoices and mailboxes call it',
  'server/reminders/outlook.ts': 'notices of other slices say what comes next',
  'server/reminders/runs.ts': 'runs in the background; a change of zone or hour moves the next run',
  'server/reminders/history.ts': 'the emails of a client are handed to invoices',
  'server/reminders/mailbox-pauses.ts': 'pauses of mailboxes end in the background',
  'server/reminders/holds.ts': 'held deliveries resume when a mailbox or plan changes',
  'server/reminders/quiet-days.ts': 'where a client lives is handed to invoices',
  'server/reminders/sequences.ts': 'choosing the sequence of a client is handed to invoices',
  'server/reminders/metrics.ts': 'what waits and is sent is measured for the whole program',
  'server/reminders/sending.ts': 'a process opens what its mailboxes share when it starts',
  'server/reminders/processes.ts': 'heartbeats run in the background',
  'server/reminders/heartbeat.ts': 'the address outside is asked in the background',
  'server/reminders/evening.ts': 'evening lists are sent in the background',
  'server/reminders/left-out.ts': 'clients left out on past dates are pruned in the background',
  'server/reminders/owner-links.ts': 'links of owners are pruned in the background, and end when their address is another one',
  'server/reminders/summary.ts': 'weekly summaries are sent in the background',
  'server/reminders/watch.ts': 'late runs are reported in the background',
}
/** Only these files may import routes and jobs of slices. */
const entries = ['server/app.ts', 'server/worker.ts', 'server/start.ts']
const entryParts = ['routes.ts', 'jobs.ts']

const banned = /^(?:utils?|helpers?|services?|common|types?|managers?|misc)$/
/** What `npm start` runs before the server, on a machine without the tools. */
const beforeStart = ['run/client.mjs', 'run/reference-page.ts', 'run/scalar.ts', 'vite.config.ts', 'react-router.config.ts']
const installed = JSON.parse(readFileSync('package.json', 'utf8')) as Record<'dependencies' | 'devDependencies', Record<string, string>>

interface Source {
  path: string
  text: string
}

/** Violations of the rules of structure, one line each. */
export function trespasses(files: Source[]): string[] {
  if (files.length === 0) return ['There are no files to check.']
  return files.flatMap((file) => [
    ...wrongNames(file.path),
    ...importsOf(file).flatMap((name) => wrongImport(file.path, name) ?? []),
    ...(mocks(file) ? [`${file.path} mocks a module`] : []),
    ...(isOfScreens(file.path) ? rawMarkup(file).map((what) => `${file.path} has ${what}`) : []),
  ])
}

function wrongNames(file: string): string[] {
  const wrong: string[] = []
  const folder = path.posix.dirname(file)
  if (!table[roomOf(folder)]) wrong.push(`${file} is in ${folder}, which is not in the table`)
  const parts = file.split('/').map((part) => part.replace(/\..*$/, ''))
  for (const part of parts) if (banned.test(part)) wrong.push(`${file} is called ${part}, which has no meaning`)
  if (parts.at(-1) === 'index' && folder !== 'contract') wrong.push(`${file} is an index file outside contract/`)
  return wrong
}

function wrongImport(file: string, name: string | null): string | null {
  const folder = path.posix.dirname(file)
  const isTest = /\.(?:test|spec)\.tsx?$/.test(file)
  const rule = table[roomOf(folder)]
  if (!rule) return null
  if (name === null) return `${file} imports a computed name`
  if (name.startsWith('../') || name === '..') return `${file} imports ${name}: use an absolute # path`
  if (name.startsWith('./')) return name.slice(2).includes('/') ? `${file} imports ${name}: use an absolute # path` : null
  if (!name.startsWith('#'))
    return isTest || mayUse(beforeStart.includes(file) ? 'start' : rule.packages, name) ? null : `${file} may not use the package ${name}`

  const target = name.slice(1)
  const targetFolder = path.posix.dirname(target)
  if (targetFolder === folder) return `${file} imports its neighbour ${name}: use ./${path.posix.basename(name)}`
  if (isTest && ['test', 'test/fakes', 'test/fakes/razorpay'].includes(targetFolder)) return null
  const room = roomOf(targetFolder)
  if (room !== roomOf(folder) && !rule.may.includes(room) && !rule.may.includes(target)) return `${file} may not import ${name}`
  return slices.includes(targetFolder) && !isPublic(file, target) ? `${file} imports an internal file of ${targetFolder}: ${name}` : null
}

function isPublic(file: string, target: string): boolean {
  // Tests and benchmarks may import any file of the folders they may import.
  if (/^(?:test|bench)\//.test(file) || file.endsWith('.test.ts')) return true
  const [slice, name] = [path.posix.basename(path.posix.dirname(target)), path.posix.basename(target)]
  return name === `${slice}.ts` || name === 'tables.ts' || target in alsoPublic || (entries.includes(file) && entryParts.includes(name))
}

function mayUse(packages: Packages, name: string): boolean {
  const own = name.split('/', name.startsWith('@') ? 2 : 1).join('/')
  const needed = own in installed.dependencies
  switch (packages) {
    case 'zod':
      return own === 'zod'
    case 'csv':
      return own === 'papaparse'
    case 'formats':
      return own === 'fast-xml-parser' || own === 'fflate'
    case 'server':
      // A shell or another program would have what Duely has.
      if (name === 'node:child_process') return false
      return name.startsWith('node:') || (needed && !ofClient.test(own))
    case 'web':
      return own === 'zod' || own === 'uqr' || own === 'papaparse' || (needed && ofClient.test(own))
    case 'start':
      return name.startsWith('node:') || needed
    case 'tools':
      return name.startsWith('node:') || needed || own in installed.devDependencies
  }
}

/** What a file imports or re-exports, in any form; null if the name is computed at run time. */
function importsOf(source: Source): (string | null)[] {
  const found: (string | null)[] = []
  walk(parse(source), (node) => {
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

function mocks(source: Source): boolean {
  let found = false
  walk(parse(source), ({ type, object, property }) => {
    if (type === 'MemberExpression' && isNode(object) && object.name === 'vi' && isNode(property))
      found ||= ['mock', 'doMock'].includes(String(property.name))
  })
  return found
}

const isOfScreens = (file: string) => file.startsWith('web/') && !file.endsWith('.test.ts')
const pastReact = /^(?:dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|setHTMLUnsafe)$/

/** Ways for the HTML of clients, files and templates to become that of the page: past React, or in a frame that lets it do something. */
function rawMarkup(source: Source): string[] {
  const found: string[] = []
  walk(parse(source), ({ type, name, attributes }) => {
    if (/^(?:JSX)?Identifier$/.test(type) && pastReact.test(String(name))) found.push(`${name}: React escapes what it is given as children`)
    if (type !== 'JSXOpeningElement' || !isNode(name) || !/^i?frame$|^object$|^embed$/.test(String(name.name))) return
    const given = [attributes].flat().filter(isNode)
    const isClosed = given.some((one) => isNode(one.name) && one.name.name === 'sandbox' && literal(one.value) === '')
    // Properties that are spread could bring another one.
    if (!isClosed || given.some((one) => one.type === 'JSXSpreadAttribute')) found.push('a frame without sandbox=""')
  })
  return found
}

interface Node {
  type: string
  [field: string]: unknown
}

/** Three rules read the same files, and parsing is most of the work. */
const parsed = new WeakMap<Source, unknown>()

function parse(source: Source): unknown {
  const known = parsed.get(source)
  if (known) return known
  const tree: unknown = parseAst(source.text, { lang: source.path.endsWith('x') ? 'tsx' : 'ts' }, source.path)
  parsed.set(source, tree)
  return tree
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

/** Every file of code, in any folder, so that a new folder can't escape the rules. */
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

/** Text for people in a screen's code instead of the slice's texts: between tags, in an attribute, or a sentence in quotes. */
export function wordsIn(source: Source): string[] {
  const found: string[] = []
  const spoken = /^(?:aria-.*label|aria-description|title|placeholder|label|description|alt|text|busyText|heading)$/
  const spokenKey = /^aria-.*label$|^aria-description$/
  const ignored = new Set<unknown>()
  walk(parse(source), (node) => {
    if (node.type === 'JSXText') found.push(String(node.value).trim())
    if (node.type === 'JSXAttribute' && isNode(node.name)) {
      if (spoken.test(String(node.name.name))) found.push(literal(node.value) ?? '')
      ignored.add(node.value)
    }
    if (node.type === 'Property' && isNode(node.key) && spokenKey.test(literal(node.key) ?? '')) found.push(literal(node.value) ?? '')
    // Messages of errors, for developers only.
    if (node.type === 'NewExpression') for (const one of [node.arguments].flat()) ignored.add(one)
    const told = node.type === 'TemplateElement' && isNode(node) ? cooked(node) : node.type === 'Literal' ? literal(node) : null
    if (told !== null && !ignored.has(node) && /(?:^| )[A-Z][a-z']+ [a-z]+/.test(told)) found.push(told)
  })
  return found.filter((words) => /[A-Za-z]{2}/.test(words)).map((words) => `${source.path} has the words "${words}" outside its texts`)
}

function cooked({ value }: Node): string | null {
  return typeof value === 'object' && value !== null && 'cooked' in value && typeof value.cooked === 'string' ? value.cooked : null
}

const isScreen = (file: string) => /^web\/.*\.tsx?$/.test(file) && !/(?:texts|\.test)\.tsx?$/.test(file)

/** Everything wrong with the structure of this checkout. */
function problems(): string[] {
  const files = everyFile()
  const screens = files.filter(({ path: file }) => isScreen(file))
  const map = readFileSync('docs/folders.md', 'utf8')
  const folders = new Set(files.map(({ path: file }) => roomOf(path.posix.dirname(file))))
  const sharedNames = ['server', 'web']
    .flatMap((root) => Object.keys(table).filter((folder) => path.posix.dirname(folder) === root))
    .map((folder) => path.posix.basename(folder))
    .filter((name) => !['platform', 'commands', 'ui', 'shell', 'marketing'].includes(name))
  const sliceNames = slices.map((slice) => path.posix.basename(slice))
  return [
    ...trespasses(files),
    ...(screens.length < 100 ? [`Only ${screens.length} files of screens were found.`] : screens.flatMap(wordsIn)),
    ...[...Object.keys(alsoPublic), ...entries].filter((file) => !existsSync(file)).map((file) => `${file} is listed and does not exist`),
    ...[...folders]
      .filter((folder) => !['.', 'server', 'web'].includes(folder) && !map.includes(`\`${folder}/\``))
      .map((folder) => `${folder}/ is missing from docs/folders.md`),
    ...sharedNames.filter((name) => !sliceNames.includes(name)).map((name) => `${name} is the name of no slice of the server`),
    ...sliceNames.filter((name) => !sharedNames.includes(name)).map((name) => `${name} has no folder in the table for server and web`),
  ]
}

if (import.meta.main) {
  const found = problems()
  for (const problem of found) process.stdout.write(`${problem}\n`)
  process.exit(found.length === 0 ? 0 : 1)
}
