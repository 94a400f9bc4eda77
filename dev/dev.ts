import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import path from 'node:path'
import { createServer as createViteServer } from 'vite'
import { everyCall } from '#contract/index.ts'
import { openCatchingSmtp } from './catching-smtp.ts'

/*
 * npm run dev: the server, started anew when a file of it changes; the client, changed in the browser as it is typed; and a mail server
 * that catches what is sent. Everything behind one address, with data of its own in data/dev.
 */
const root = path.join(import.meta.dirname, '..')
const port = Number(process.env.PORT ?? 3000)
const host = process.env.HOST ?? 'localhost'

const mail = await openCatchingSmtp({
  smtp: Number(process.env.DEV_SMTP_PORT ?? 2525),
  web: Number(process.env.DEV_MAIL_PORT ?? 8025),
}).catch((error: Error) => end(`The mail server cannot be opened (${error.message}). Set DEV_SMTP_PORT and DEV_MAIL_PORT to free ports.`))
const serverPort = await freePort()
const server = startServer()

/** The first part of every address that the server answers itself; all others are the client's. */
const parts = new Set([...everyCall.map((call) => call.path.split('/')[1]), 'health', 'oauth', 'subscription', 'zapier', 'api'])
const client = await createViteServer({
  root,
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
  Everything is kept in data/dev; delete that folder to begin anew.

`)

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => void stop())
process.once('disconnect', () => void stop())
server.once('exit', (code) => {
  if (code !== 0) end('The server has ended. Correct what it says above, then start again.')
})

function startServer(): ChildProcess {
  return spawn(process.execPath, ['--watch', '--watch-preserve-output', 'server/start.ts'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      LOG_LEVEL: 'info',
      SMTP_ALLOW_PRIVATE_HOSTS: 'true',
      HOOK_ALLOW_PRIVATE_HOSTS: 'true',
      RATE_LIMIT: 'off',
      DATA_DIR: path.join(root, 'data/dev'),
      TRUST_PROXY: 'loopback',
      PUBLIC_URL: `http://${host}:${port}`,
      ...process.env,
      PORT: String(serverPort),
      HOST: '127.0.0.1',
    },
  })
}

async function stop(): Promise<void> {
  const ended = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : Promise.resolve()
  server.removeAllListeners('exit')
  server.kill('SIGTERM')
  await Promise.all([ended, client.close(), mail[Symbol.asyncDispose]()])
  process.exit(0)
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
