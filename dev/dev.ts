import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import path from 'node:path'
import { createServer as createViteServer, type Plugin } from 'vite'
import { everyCall } from '#contract/index.ts'
import { referencePage, scalarScript } from '#run/scalar.ts'
import { openCatchingSmtp } from './catching-smtp.ts'

/*
 * npm run dev: the server, restarted when one of its files changes; the client with hot reload; and a fake mail server. Everything is served
 * from one address, with its own data in data/dev.
 */
/** The most milliseconds that stopping may take: an open browser tab must not delay it. */
const longestStop = 2_500
const root = path.join(import.meta.dirname, '..')
const port = Number(process.env.PORT ?? 3000)
const host = process.env.HOST ?? 'localhost'
const dataDir = path.resolve(root, process.env.DATA_DIR ?? 'data/dev')
/** The server fills these into pages in production; here Vite serves the pages. */
const facts: Record<string, string> = {
  __DUELY_ADDRESS__: process.env.PUBLIC_URL ?? `http://${host}:${port}`,
  __DUELY_SUPPORT__: process.env.SUPPORT_URL ?? '',
  __DUELY_TERMS__: process.env.TERMS_URL ?? '',
  __DUELY_PAYMENTS__: process.env.RAZORPAY_KEY_ID ? 'on' : 'off',
  __DUELY_CHECKOUT__: process.env.RAZORPAY_KEY_ID ? 'on' : 'off',
}

const mail = await openCatchingSmtp({
  smtp: Number(process.env.DEV_SMTP_PORT ?? 2525),
  web: Number(process.env.DEV_MAIL_PORT ?? 8025),
}).catch((error: Error) => end(`The fake mail server can't start (${error.message}). Set DEV_SMTP_PORT and DEV_MAIL_PORT to free ports.`))
const serverPort = await freePort()
const server = startServer()

/** First path segments that the server answers; all other addresses are the client's. */
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
  end(`Port ${port} is in use. Stop the other program, or set PORT to a free port.`)
}

process.stdout.write(`
  Duely          http://${host}:${port}
  Emails         ${mail.url}
  Mail server    127.0.0.1:${mail.smtpPort}

  To send emails, sign up and enter in Email Settings: SMTP Host 127.0.0.1, Security TLS (Port 587), Port ${mail.smtpPort}, any address, any password.
  Data is in ${path.relative(process.cwd(), dataDir).startsWith('..') ? dataDir : path.relative(process.cwd(), dataDir)}; delete that folder to start over.

`)

let stopping = false
// Ctrl-C arrives twice: from the terminal, and from the launcher that forwards it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop())
process.once('disconnect', () => void stop())
server.once('exit', (code) => {
  if (code !== 0 && !stopping) end('The server has stopped. Fix the error above, then start again.')
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

/** Replaces the placeholders in pages. */
function fillIn(facts: Record<string, string>): Plugin {
  return {
    name: 'duely-page-meta',
    enforce: 'pre',
    transform: (code, id) =>
      id.includes('/web/platform/page-meta.tsx') ? code.replaceAll(/__DUELY_[A-Z]+__/g, (name) => facts[name] ?? name) : null,
  }
}

/** Serves /docs, which is part of the built client in production. */
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
  if (address === null || typeof address === 'string') throw new Error('No free port found.')
  return address.port
}
