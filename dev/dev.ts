import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import path from 'node:path'
import { createServer as createViteServer, type Plugin } from 'vite'
import { everyCall } from '#contract/index.ts'
import { referencePage, scalarScript } from '#run/scalar.ts'
import { openCatchingSmtp } from './catching-smtp.ts'

/*
 * npm run dev: the server, started anew when a file of it changes; the client, changed in the browser as it is typed; and a mail server
 * that catches what is sent. Everything behind one address, with data of its own in data/dev.
 */
/** Whatever is left of stopping after so many milliseconds is left undone: a tab that is open somewhere must not keep anybody waiting. */
const longestStop = 2_500
const root = path.join(import.meta.dirname, '..')
const port = Number(process.env.PORT ?? 3000)
const host = process.env.HOST ?? 'localhost'
const dataDir = path.resolve(root, process.env.DATA_DIR ?? 'data/dev')
/** What the server writes into the pages it serves; here Vite serves them. */
const facts: Record<string, string> = {
  __DUELY_ADDRESS__: process.env.PUBLIC_URL ?? `http://${host}:${port}`,
  __DUELY_SUPPORT__: process.env.SUPPORT_URL ?? '/contact',
  __DUELY_PAYMENTS__: process.env.RAZORPAY_KEY_ID ? 'on' : 'off',
  __DUELY_CHECKOUT__: process.env.RAZORPAY_KEY_ID ? 'on' : 'off',
}

const mail = await openCatchingSmtp({
  smtp: Number(process.env.DEV_SMTP_PORT ?? 2525),
  web: Number(process.env.DEV_MAIL_PORT ?? 8025),
}).catch((error: Error) => end(`The mail server cannot be opened (${error.message}). Set DEV_SMTP_PORT and DEV_MAIL_PORT to free ports.`))
const serverPort = await freePort()
const server = startServer()

/** The first part of every address that the server answers itself; all others are the client's. */
const parts = new Set([
  ...everyCall.map((call) => call.path.split('/')[1]),
  'health',
  'oauth',
  'subscription',
  'zapier',
  'api',
  'openapi.json',
])
const client = await createViteServer({
  root,
  plugins: [fillIn(facts), showReference()],
  server: {
    port,
    host,
    strictPort: true,
    proxy: { [`^/(?:${[...parts].join('|')})(?:[/?]|$)`]: { target: `http://127.0.0.1:${serverPort}`, xfwd: true } },
  },
})
try {
  await client.listen()
} catch {
  server.kill('SIGTERM')
  end(`Port ${port} is in use by another program. Stop that one, or set PORT to another number.`)
}

process.stdout.write(`
  Duely          http://${host}:${port}
  Caught mails   ${mail.url}
  Mail server    127.0.0.1:${mail.smtpPort}

  To send, sign up, open Email Settings and type: SMTP Host 127.0.0.1, Security TLS (Port 587), Port ${mail.smtpPort}, any address, any password.
  Everything is kept in ${path.relative(process.cwd(), dataDir).startsWith('..') ? dataDir : path.relative(process.cwd(), dataDir)}; delete that folder to begin anew.

`)

let stopping = false
// Ctrl-C arrives twice: from the terminal, and from the launcher that passes it on.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop())
process.once('disconnect', () => void stop())
server.once('exit', (code) => {
  if (code !== 0 && !stopping) end('The server has ended. Correct what it says above, then start again.')
})

function startServer(): ChildProcess {
  return spawn(process.execPath, ['--watch', '--watch-preserve-output', 'server/start.ts', '--calls-only'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      LOG_LEVEL: 'info',
      SMTP_ALLOW_PRIVATE_HOSTS: 'true',
      HOOK_ALLOW_PRIVATE_HOSTS: 'true',
      RATE_LIMIT: 'off',
      TRUST_PROXY: 'loopback',
      PUBLIC_URL: `http://${host}:${port}`,
      ...process.env,
      DATA_DIR: dataDir,
      PORT: String(serverPort),
      HOST: '127.0.0.1',
    },
  })
}

async function stop(): Promise<void> {
  if (stopping) return
  stopping = true
  setTimeout(() => process.exit(0), longestStop)
  const ended = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : Promise.resolve()
  server.kill('SIGTERM')
  await Promise.all([ended, client.close(), mail[Symbol.asyncDispose]()])
  process.exit(0)
}

/** Puts the facts in the place of what stands for them in the pages. */
function fillIn(facts: Record<string, string>): Plugin {
  return {
    name: 'duely-page-meta',
    enforce: 'pre',
    transform: (code, id) =>
      id.includes('/web/platform/page-meta.tsx') ? code.replaceAll(/__DUELY_[A-Z]+__/g, (name) => facts[name] ?? name) : null,
  }
}

/** /docs, which is otherwise a part of the built client. */
function showReference(): Plugin {
  const font = (family: string, part: string) => `/node_modules/@fontsource-variable/${family}/files/${family}-${part}-wght-normal.woff2`
  const parts = { inter: font('inter', 'latin'), interExt: font('inter', 'latin-ext'), bricolage: font('bricolage-grotesque', 'latin') }
  const page = referencePage({ ...parts, script: '/docs/scalar.js', nonce: '', address: '' })
  return {
    name: 'duely-reference',
    configureServer({ middlewares }) {
      middlewares.use('/docs/scalar.js', (_request, response, next) => {
        scalarScript().then((script) => response.setHeader('content-type', 'text/javascript; charset=utf-8').end(script), next)
      })
      middlewares.use('/docs', (_request, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(page))
    },
  }
}

function end(sentence: string): never {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

async function freePort(): Promise<number> {
  const probe = createNetServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('There is no free port.')
  return address.port
}
