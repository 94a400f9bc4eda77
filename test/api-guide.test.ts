import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { freePort, someoneAt, startProgram } from './program.ts'
import { thorough } from './thorough.ts'

/*
 * Runs docs/api.md from top to bottom against the real program: executes commands, compares responses with the printed ones, and replaces the
 * value of each variable that a line sets.
 */
const root = path.join(import.meta.dirname, '..')
const guide = readFileSync(path.join(root, 'docs/api.md'), 'utf8')
const blocks = [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }))

const keyIn = z.object({ key: z.string() })
/** `NAME=value` and nothing else. */
const assignment = /^([A-Z_]+)=(\S+)$/

// Takes ten seconds; in `npm test` the examples of the reference are tried, call by call.
test.runIf(thorough)('each step of the API guide works as printed', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-guide-'))
  const port = await freePort()
  await using smtp = await openFakeSmtp()
  await using program = await startProgram({ DATA_DIR: path.join(folder, 'data'), RATE_LIMIT: 'on', HOOK_ALLOW_PRIVATE_HOSTS: 'true' })
  const asha = await someoneAt(program.url, 'asha@example.com')
  await using receiver = openReceiver(folder)
  const backTo = 'https://app.example.com/back'
  const verifier = randomBytes(32).toString('base64url')
  const set: Record<string, string> = {}
  let said = ''

  const answered = (field: string) => String((JSON.parse(said) as Record<string, unknown>)[field])
  /** The values a reader uses instead of the printed ones. */
  const own = new Map<string, () => Promise<string> | string>([
    ['DUELY', () => program.url],
    [
      'KEY',
      async () => keyIn.parse(await asha.send('POST', '/api-keys', { name: 'My first key', scopes: ['read', 'write'], ...asha.proof })).key,
    ],
    ['INVOICE', () => answered('_id')],
    ['RUN', () => answered('runId')],
    ['CLIENT_ID', () => /client_id\W+(\S+)/.exec(said)?.[1] ?? ''],
    ['CODE', () => permitted({ url: program.url, person: asha, clientId: set.CLIENT_ID ?? '', backTo, verifier })],
    ['VERIFIER', () => verifier],
    ['REFRESH', () => answered('refresh_token')],
  ])
  /** What a reader does on screens before a command. */
  const screens: [before: RegExp, act: () => Promise<unknown>][] = [
    [/reminder\/preview/, () => asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })],
  ]

  for (const { language, text } of blocks) {
    const lines = text.trim().split('\n')
    if (language === 'js') writeFileSync(path.join(folder, 'receive.mjs'), text.replaceAll('8787', String(port)))
    else if (language === 'json') expect(shapeOf(JSON.parse(said)), said).toEqual(shapeOf(JSON.parse(text)))
    else if (language === 'http') expectHead(said, lines)
    else if (language === 'text' && /^\S+ [0-9a-f-]{36}$/.test(text.trim()))
      await receiver.said(new RegExp(`^${lines[0]?.split(' ')[0]} `, 'm'))
    else if (language === 'sh' && lines.every((line) => assignment.test(line)))
      for (const line of lines) {
        const name = assignment.exec(line)?.[1] ?? ''
        set[name] = (await own.get(name)?.()) ?? ''
        expect(set[name], `${name} has no value`).not.toBe('')
      }
    else if (language === 'sh' && /^SECRET=\S+ node/.test(text)) {
      const hook = await asha.send('POST', '/webhooks', { url: `http://127.0.0.1:${port}/`, events: ['invoice.created'], ...asha.proof })
      const { _id, secret } = z.object({ _id: z.string(), secret: z.string() }).parse(hook)
      await receiver.start(text.replace(/(?<=SECRET=)\S+/, secret))
      expect(await asha.send('POST', `/webhooks/${_id}/test`)).toMatchObject({ event: 'challenge', state: 'delivered', status: 200 })
      expect(await asha.send('POST', `/webhooks/${_id}/test`)).toMatchObject({ event: 'test', state: 'delivered', status: 204 })
    } else if (language === 'sh') {
      for (const [before, act] of screens) if (before.test(text)) await act()
      said = await run(text, set, path.join(folder, 'data'))
    }
  }

  expect(set).toHaveProperty('REFRESH')
  expect(JSON.parse(said)).toMatchObject({ token_type: 'Bearer' })
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([['billing@kaveri.example']])
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command as printed and returns its output. Operator commands run on the program's data. */
async function run(text: string, set: Record<string, string>, dataDir: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', text], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', DATA_DIR: dataDir, ...set },
  })
  return stdout
}

/** `receive.mjs`, once it is started. */
function openReceiver(folder: string) {
  let child: ChildProcess | null = null
  let output = ''
  const looking = new Set<() => void>()
  const said = (words: RegExp) =>
    new Promise<void>((resolve) => {
      const look = () => words.test(output) && resolve()
      looking.add(look)
      look()
    })
  return {
    said,
    async start(command: string) {
      child = spawn('bash', ['-c', `exec env ${command.trim()}`], { cwd: folder, env: { PATH: process.env.PATH ?? '' } })
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (text) => {
          output += String(text)
          for (const look of looking) look()
        })
      await said(/^listening$/m)
    },
    async [Symbol.asyncDispose]() {
      if (!child || child.exitCode !== null) return
      child.kill()
      await once(child, 'exit')
    },
  }
}

/** Requests consent in a person's browser, accepts it, and returns the code of the redirect. */
async function permitted(about: {
  url: string
  person: Awaited<ReturnType<typeof someoneAt>>
  clientId: string
  backTo: string
  verifier: string
}): Promise<string> {
  const { url, person, clientId, backTo, verifier } = about
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: backTo,
    scope: 'read write',
    state: 'a state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const { headers } = await fetch(`${url}/oauth/authorize?${asked}`, { redirect: 'manual' })
  const consent = new URL(headers.get('location') ?? '').searchParams
  const body = { redirect_uri: consent.get('redirect_uri'), state: consent.get('state'), request: consent.get('request') }
  const { redirect } = z.object({ redirect: z.string() }).parse(await person.send('POST', '/oauth/login/callback?json=true', body))
  return new URL(redirect).searchParams.get('code') ?? ''
}

/** The shape of a response, without its values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one)]))
}

/** The response has the printed status and each printed header. */
function expectHead(said: string, printed: string[]): void {
  const [status, ...headers] = printed
  const head = said.split('\r\n\r\n')[0]?.split('\r\n') ?? []
  expect(head[0]?.trim()).toBe(status)
  expect(head.map(nameOf)).toEqual(expect.arrayContaining(headers.map(nameOf)))
}

const nameOf = (line: string) => line.split(':')[0]
