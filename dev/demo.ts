import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { writeForOwnerOnly } from '#server/platform/data-folder.ts'
import { openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { openCatchingSmtp } from './catching-smtp.ts'
import { bankFileName } from './demo-bank.ts'
import { makeYear, paymentKeys, visitor } from './demo-year.ts'

/*
 * npm run demo: Duely with a year of a small studio, a mail server that delivers nothing and shows every email, and a payment provider that moves no
 * money. All on loopback, with its own data in data/demo, which the first start makes.
 */
const root = path.join(import.meta.dirname, '..')
const port = process.env.PORT ?? '3000'
// Not DATA_DIR, which may have been read from .env: that has real data, whose emails would leave.
const dataDir = path.resolve(root, process.env.DEMO_DATA_DIR ?? 'data/demo')
const say = (text: string) => process.stdout.write(text)
writeForOwnerOnly()

if (existsSync(dataDir) && !existsSync(path.join(dataDir, 'postgres')) && readdirSync(dataDir).length > 0) {
  process.stderr.write(`${dataDir} holds something other than a demo. Set DEMO_DATA_DIR to a folder of its own.\n`)
  process.exit(1)
}

const mail = await openCatchingSmtp({
  smtp: Number(process.env.DEMO_SMTP_PORT ?? 2526),
  web: Number(process.env.DEMO_MAIL_PORT ?? 8026),
}).catch((error: Error) => {
  process.stderr.write(`The mail server of the demo can't start (${error.message}). Set DEMO_SMTP_PORT and DEMO_MAIL_PORT to free ports.\n`)
  process.exit(1)
})

const publicUrl = `http://localhost:${port}`
const provider = await openFakeRazorpay(paymentKeys)

if (!existsSync(path.join(dataDir, 'postgres'))) {
  say('Making a year of invoices, payments and emails. This takes a minute or two, once.\n')
  const making = `${dataDir}.unfinished`
  await rm(making, { recursive: true, force: true })
  let told = 0
  const progress = (share: number) => {
    const tenth = Math.floor(share * 10)
    if (tenth > told) say(`  ${tenth * 10} %\n`)
    told = tenth
  }
  await makeYear(making, { publicUrl, smtpPort: mail.smtpPort, paymentsUrl: provider.settings.apiUrl, progress })
  await rm(dataDir, { recursive: true, force: true })
  await rename(making, dataDir)
}

const server = spawn(process.execPath, ['server/start.ts'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: {
    PATH: process.env.PATH,
    LOG_LEVEL: 'warn',
    SMTP_ALLOW_PRIVATE_HOSTS: 'true',
    HOOK_ALLOW_PRIVATE_HOSTS: 'true',
    SYSTEM_SMTP_URL: `smtp://127.0.0.1:${mail.smtpPort}`,
    SYSTEM_MAIL_FROM: 'Duely <demo@duely.example>',
    PAY_LINKS: 'on',
    RAZORPAY_API_URL: provider.settings.apiUrl,
    DEMO_MAIL_URL: mail.url,
    HOST: '127.0.0.1',
    PUBLIC_URL: publicUrl,
    PORT: port,
    DATA_DIR: dataDir,
  },
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => server.kill('SIGTERM'))
process.once('disconnect', () => server.kill('SIGTERM'))
const exited = once(server, 'exit')
const runs = () => server.exitCode === null && server.signalCode === null
while (runs() && !(await isReady())) await pause(250)
if (runs())
  say(`
  Duely      ${publicUrl}/dashboard?tour
  Email      ${visitor.email}
  Password   ${visitor.password}
  Mailbox    ${mail.url}, with every email that was sent
  Bank file  ${path.join(dataDir, bankFileName)}, to import under Getting Paid

  Nothing leaves this machine. Delete ${dataDir} to start over.

`)
const [code] = await exited
await Promise.all([mail[Symbol.asyncDispose](), provider[Symbol.asyncDispose]()])
process.exit(Number(code ?? 0))

async function isReady(): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/health`).then(
    () => true,
    () => false,
  )
}
