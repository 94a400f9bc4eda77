import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { row, type Trial } from '#test/faults/row.ts'
import { findProgram } from '#test/machine.ts'
import { freePort, healthy } from '#test/program.ts'
import { type Browser, openTarget, signIn, signUp } from './browser.ts'

const root = path.join(import.meta.dirname, '../..')
const inner = 'GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n'
const chunked = `0\r\n\r\n${inner}`
const head = (...lines: string[]) => ['POST /auth/refresh HTTP/1.1', 'host: a', ...lines, '', ''].join('\r\n')
const long = `content-length: ${chunked.length}`

/** Requests whose end two servers could see in different places, with another request behind that place. */
const spellings: Record<string, string> = {
  'both lengths': head(long, 'transfer-encoding: chunked') + chunked,
  'both lengths, the other first': head('transfer-encoding: chunked', long) + chunked,
  'two lengths': head('content-length: 0', long) + chunked,
  'two lengths in one': head(`content-length: 0, ${chunked.length}`) + chunked,
  'a length with a sign': head(`content-length: +${inner.length}`) + inner,
  'a length in hexadecimal': head('content-length: 0x0') + inner,
  'a length with a space': head('content-length : 0', long) + chunked,
  'a folded length': head('content-length:\r\n 0', long) + chunked,
  'chunked, and identity': head(long, 'transfer-encoding: identity, chunked') + chunked,
  'chunked twice': head(long, 'transfer-encoding: chunked', 'transfer-encoding: identity') + chunked,
  'chunked with a tab': head(long, 'transfer-encoding:\tchunked') + chunked,
  'chunked with a vertical tab': head(long, 'transfer-encoding: \u000bchunked') + chunked,
  'chunked behind a bare line feed': head(`x: y\ntransfer-encoding: chunked`, long) + chunked,
  'chunked before a space': head(long, 'transfer-encoding : chunked') + chunked,
  'chunked in quotes': head(long, 'transfer-encoding: "chunked"') + chunked,
  'chunked, misspelt': head(long, 'transfer-encoding: xchunked') + chunked,
  'a chunk with an extension and a bare line feed': `${head('transfer-encoding: chunked')}1;a\nX\r\n${chunked}`,
  'a chunk longer than it says': `${head('transfer-encoding: chunked')}1\r\nXX\r\n${chunked}`,
  'a chunk of too many digits': `${head('transfer-encoding: chunked')}10000000000000000\r\n\r\n${inner}`,
  'a trailer with a length': `${head('transfer-encoding: chunked')}0\r\ncontent-length: 5\r\n\r\n${inner}`,
  'a body of a GET': `GET /nothing HTTP/1.1\r\nhost: a\r\ncontent-length: ${inner.length}\r\n\r\n${inner}`,
  'HTTP/1.0 with chunks': head(long, 'transfer-encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0') + chunked,
  'an upgrade': head('connection: upgrade', 'upgrade: websocket', 'content-length: 0') + inner,
  'an expectation': head('expect: 100-continue', `content-length: ${inner.length}`) + inner,
  'a length that the connection drops': head('connection: content-length', `content-length: ${inner.length}`) + inner,
}

/** What a server answers to bytes, until it closes or says nothing for a second. */
async function told(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setTimeout(1_000)
  let answer = ''
  socket.on('data', (part) => (answer += String(part))).on('timeout', () => socket.destroy())
  socket.on('error', () => undefined)
  socket.write(bytes)
  await once(socket, 'close')
  return answer
}

/** Caddy as an operator runs it, in front of a port; `requests()`: how many it handed on. */
async function startCaddy(
  { stack }: Trial,
  program: string,
  upstream: number,
): Promise<{ url: string; port: number; requests(): Promise<number> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-caddy-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const [port, log] = [await freePort(), path.join(folder, 'requests.log')]
  const file = (await readFile(path.join(root, 'deploy/Caddyfile'), 'utf8'))
    .replace('duely.example.com {', `{\n\tadmin off\n}\nhttp://:${port} {\n\tlog {\n\t\toutput file ${log}\n\t}`)
    .replace('127.0.0.1:3000', `127.0.0.1:${upstream}`)
  await writeFile(path.join(folder, 'Caddyfile'), file)
  const child = spawn(program, ['run', '--config', path.join(folder, 'Caddyfile')], {
    stdio: 'ignore',
    env: { HOME: folder, PATH: process.env.PATH ?? '' },
  })
  stack.defer(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  await healthy(url, child, { logged: Promise.resolve(), output: () => '' })
  return { url, port, requests: async () => (await readFile(log, 'utf8')).split('\n').filter((line) => line.includes('"status"')).length }
}

row('152', 'requests whose end the proxy and Duely could see in different places', { short: true }, async (trial) => {
  trial.mustHold('as many requests at Duely as Caddy handed on; every answer belongs to its request; both lengths are refused')
  const program = findProgram(['caddy']) ?? trial.skip('Caddy is not installed.')
  const target = await openTarget(trial, { TRUST_PROXY: 'loopback', LOG_LEVEL: 'info' })
  const port = Number(new URL(target.url).port)
  const asked = () =>
    target
      .output()
      .split('\n')
      .filter((line) => line.includes('"path"') && line.includes('"status"')).length
  const { email } = await signUp(target.url)
  const victim = (await signIn(target.url, email)) as Browser
  const caddy = await startCaddy(trial, program, port)
  const [askedBefore, handedBefore] = [asked(), await caddy.requests()]
  const behind = victim.copy()
  Object.assign(behind, { url: caddy.url, token: victim.token })
  let others = 0
  for (const bytes of Object.values(spellings)) {
    await told(caddy.port, bytes)
    const { status, text } = await behind.ask('GET /user/profile')
    if (status !== 200 || !text.includes(email)) others += 1
  }
  // A line of the log may come after its answer.
  await trial.until('Duely has logged the last answer', async () => asked() - askedBefore >= (await caddy.requests()) - handedBefore)
  const [seen, handed] = [asked() - askedBefore, (await caddy.requests()) - handedBefore]
  // Duely itself, for a proxy that passes such bytes on.
  const read: string[] = []
  for (const name of Object.keys(spellings).filter((one) => /lengths|chunk/.test(one)))
    if ((await told(port, spellings[name] ?? '')).includes('HTTP/1.1 404')) read.push(name)
  return {
    figure: `${Object.keys(spellings).length} spellings: ${handed} requests handed on, ${seen} seen; ${others} answers of others; behind two lengths ${read.length === 0 ? 'nothing' : read.join(', ')} was read`,
    holds: handed >= Object.keys(spellings).length && seen === handed && others === 0 && read.length === 0,
  }
})
