import { reactRouter } from '@react-router/dev/vite'
import { defineConfig, type Plugin, parseAst } from 'vite'

/**
 * Modules that many pages need are grouped into a few files, because over a slow connection each further file costs a round trip. A module goes
 * into the first group it matches, together with its imports, so list nothing here that only a few pages need.
 */
const chunks = [
  { name: 'react', test: /node_modules\/(react|react-dom|react-router|scheduler|cookie|set-cookie-parser)\// },
  {
    name: 'frame',
    test: /web\/(shell\/(texts|shell|site-frame|screen-frame)|ui\/plain|platform\/(page-meta|session))\.|createReactComponent|vite\/preload-helper|contract\/(plans|screens)\.ts/,
  },
  { name: 'schemas', test: /node_modules\/zod\// },
  {
    name: 'library',
    test: /@mantine\/core\/esm\/(core|components\/(Loader|ActionIcon|Button|UnstyledButton|TextInput|InputBase|Input|CloseButton|Group|Stack|VisuallyHidden|Transition|Skeleton))\/|@tanstack\/|web\/(shell\/library|ui\/(buttons|confirm|controls|dates|lazy-dialog|notice|toast)|platform\/(account|query|problem|send|refresh|query-view))\.|tabler\/icons-react\/dist\/esm\/icons\/Icon(Search|Moon|Sun|InfoCircle|Check|Send2|X)\./,
  },
  { name: 'forms', test: /@mantine\/form\/|web\/(platform\/contract-form|ui\/fields)\./ },
  {
    name: 'account',
    test: /web\/shell\/(account|actions|commands|shortcuts)\./,
  },
  {
    name: 'invoices',
    test: /contract\/(money|currencies|invoices|notices|reminders)\.ts|web\/(invoices\/(texts|invoice-state|use-invoice-acting|dashboard\/(list-data|use-grid-navigation|invoice-controls))|platform\/attention|ui\/(panel|hooks))\.tsx?$|tabler\/icons-react\/dist\/esm\/icons\/Icon(ChartDots|ChevronDown|Clock|Download|FileInvoice|List|Mail|MailExclamation|MailOff|PlayerPause|Plus|Upload)\./,
  },
  {
    name: 'entry',
    test: /@mantine\/core\/esm\/components\/PasswordInput\/|web\/accounts\/(entry\/entry-page|entry\/entry|texts)\./,
  },
]

/**
 * Removes `.meta({ … })` and the summaries of calls from the contract in the client, because only the API reference needs them. Spaces take
 * their place, so that every position stays and no source map is needed.
 */
const withoutMeta: Plugin = {
  name: 'without-meta',
  enforce: 'pre',
  transform: {
    filter: { id: /\/contract\/[^/]+\.ts$/ },
    handler(code) {
      let bare = code
      const blank = (start: number, end: number) => {
        bare = bare.slice(0, start) + bare.slice(start, end).replaceAll(/[^\n]/g, ' ') + bare.slice(end)
      }
      const visit = (value: unknown): void => {
        if (Array.isArray(value)) for (const one of value) visit(one)
        else if (typeof value === 'object' && value !== null) {
          const { type, callee, end, arguments: [call] = [] } = value as MetaCall
          if (type === 'CallExpression' && callee?.property?.name === 'meta' && callee.object && end !== undefined)
            blank(callee.object.end, end)
          if (type === 'CallExpression' && callee?.name === 'call')
            for (const { key, start, end: last } of call?.properties ?? [])
              if (key?.name === 'summary') blank(start, code[last] === ',' ? last + 1 : last)
          for (const inner of Object.values(value)) visit(inner)
        }
      }
      visit(parseAst(code, { lang: 'ts' }))
      return { code: bare, map: null }
    },
  },
}

/**
 * Removes from the validator in the client what every page would load and none uses: the writer of JSON Schemas (only the API reference has
 * them, 5 KB), the formats as methods of `z.string()` (2 KB of patterns) and the compiler of objects, which the security policy of the pages
 * refuses anyway. `z.email()` and its kind stay.
 */
const leanValidator: Plugin = {
  name: 'lean-validator',
  enforce: 'pre',
  transform: {
    filter: { id: /\/zod\/v4\/classic\/schemas\.js$/ },
    handler: (code) => ({
      code: code
        .replaceAll(/\b(?:processors\.\w+|create(?:To|Standard)JSONSchemaMethod)(?=\()/g, '(() => ({}))')
        .replaceAll(
          /return this\.check\(core\._\w+\(Zod\w+, params\)\);/g,
          "throw new Error('Formats are functions of z here: z.email().');",
        )
        .replace('core.$ZodObjectJIT.init', 'core.$ZodObject.init'),
      map: null,
    }),
  },
}

/** Leaves `xn--` in addresses to the server, which stores what it reads: the table of Punycode would be on every page. */
const leanAddresses: Plugin = {
  name: 'lean-addresses',
  enforce: 'pre',
  transform: {
    filter: { id: /\/contract\/addresses\.ts$/ },
    handler: (code) => ({ code: code.replace('decodePunycode(label.slice(4))', "''"), map: null }),
  },
}

/** Imports each icon from its own file: the build would otherwise read all six thousand, of which the screens show a hundred. */
const iconsAlone: Plugin = {
  name: 'icons-alone',
  enforce: 'pre',
  apply: 'build',
  transform: {
    filter: { id: /\/web\/.+\.tsx?$/, code: '@tabler/icons-react' },
    handler: (code) => ({
      code: code.replaceAll(/import \{([^}]*)\} from '(@tabler\/icons-react)'/g, (_all, names: string, from: string) =>
        names
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== '' && !name.startsWith('type '))
          .map((name) => `import ${name} from '${from}/dist/esm/icons/${name}.mjs'`)
          .join(';'),
      ),
      map: null,
    }),
  },
}

interface MetaCall {
  type?: string
  end?: number
  callee?: { name?: string; object?: { end: number }; property?: { name?: string } }
  arguments?: { properties?: { key?: { name?: string }; start: number; end: number }[] }[]
}

export default defineConfig({
  plugins: [withoutMeta, leanValidator, leanAddresses, iconsAlone, reactRouter()],
  // In development, all screens' libraries are optimized before the first visit: one found later would reload the page.
  optimizeDeps: { entries: ['web/**/*.{ts,tsx}', '!web/**/*.test.ts', '!web/routes.ts', '!web/entry.server.tsx'] },
  // So that one can load the reader of workbooks where a file is one.
  worker: { format: 'es' },
  build: {
    target: ['chrome111', 'edge111', 'firefox113', 'safari16.4'],
    // A font in a data: URL delays the first paint and can't be cached, and the security policy allows files only.
    assetsInlineLimit: 0,
    // `run/sizes.ts` reads from it which files a page loads.
    manifest: true,
    // A screen that asks for more code has these already, and naming them each time costs half a kilobyte; public pages have not.
    modulePreload: {
      resolveDependencies: (_file, needed, { hostId }) =>
        /(?:public-layout|root|library-frame)-[^/]+$/.test(hostId)
          ? needed
          : needed.filter(
              (file) => !/^assets\/(?:(?:rolldown-runtime|react|schemas|library)-[^.]+\.js|frame-[^.]+\.(?:js|css))$/.test(file),
            ),
    },
    // The dashboard imports statically what signed-out pages import on demand. `groups` puts it into a file of its own, so the warning does not apply.
    rolldownOptions: { checks: { ineffectiveDynamicImport: false } },
  },
  environments: { client: { build: { rolldownOptions: { output: { codeSplitting: { groups: chunks } } } } } },
})
