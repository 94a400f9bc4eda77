import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { everyCall } from '#contract/index.ts'
import { percentile, row, type Trial } from '#test/faults/row.ts'
import { Browser, cpuOf, openTarget, overdueInvoice, signUp } from './browser.ts'
import { zapierEnv } from './oauth-client.ts'

const mega = 1024 * 1024
const form = 'application/x-www-form-urlencoded'
const json = 'application/json'
/** Bodies of 1 MB with many parts, by their type. */
const bodies: Record<string, { type: string; raw: string }> = {
  '90,000 parameters': {
    type: form,
    raw: Array.from({ length: 90_000 }, (_none, nth) => `p${nth}=1`)
      .join('&')
      .slice(0, mega - 1),
  },
  '90,000 keys': { type: json, raw: `{${Array.from({ length: 90_000 }, (_none, nth) => `"k${nth}":1`).join()}}` },
  'a list of 500,000': { type: json, raw: `[${'1,'.repeat(500_000)}1]` },
  '500,000 lists in one another': { type: json, raw: '['.repeat(500_000) + ']'.repeat(500_000) },
}
/** Where a body is taken without a session, apart from the calls of the contract. */
const rawRoutes = ['/oauth/token', '/oauth/revoke', '/subscription/webhook', `/payment-hooks/razorpay/${crypto.randomUUID()}`]
const pages = ['/pay/x/answer', '/pay/x/y/answer', '/pay/x/pay', '/operator']

row('133', 'bodies of many small parts without an account', { short: true }, async (trial) => {
  trial.mustHold('each refused before it is read, by a sentence with the limit; at most 20 ms of CPU each; answers of at most 2 KB')
  const { url, pid } = await openTarget(trial, { ...zapierEnv, PAY_LINKS: 'on' })
  const other = await signUp(url)
  const open = everyCall.filter((call) => call.open && call.method !== 'GET').map(({ path }) => path)
  const paths = [...open, ...rawRoutes, ...pages]
  const wrong: string[] = []
  const cpu: { path: string; ms: number }[] = []
  let longest = 0
  for (const path of paths)
    for (const [name, { type, raw }] of Object.entries(bodies)) {
      const began = cpuOf(pid)
      const { status, text } = await new Browser(url).ask(`POST ${path}`, { raw, headers: { 'content-type': type } })
      cpu.push({ path: `${path} with ${name}`, ms: cpuOf(pid) - began })
      longest = Math.max(longest, text.includes('<html') ? 0 : text.length)
      // Another type is refused by its name alone.
      const isRefused = (status === 413 && /\d+ [KM]B/.test(text)) || (status === 400 && /JSON|form/.test(text)) || status === 404
      if (!isRefused) wrong.push(`${path} with ${name}: ${status} ${text.slice(0, 80)}`)
    }
  // As many parts as a body of the allowed size has room for.
  for (const [type, part] of [
    [form, (nth: number) => `p${nth}=1`],
    [json, (nth: number) => `"k${nth}":1`],
  ] as const)
    for (const path of paths) {
      const many = Array.from({ length: 1_000 }, (_none, nth) => part(nth))
      const raw = type === form ? many.join('&') : `{${many.join()}}`
      const { status, text } = await new Browser(url).ask(`POST ${path}`, { raw, headers: { 'content-type': type } })
      longest = Math.max(longest, text.includes('<html') ? 0 : text.length)
      if (status < 400) wrong.push(`${path} with 1,000 parts: ${status}`)
    }
  const flood = async (connections: number) => {
    const calling = { now: true }
    const attackers = Array.from({ length: connections }, async () => {
      const { raw = '' } = bodies['90,000 parameters'] ?? {}
      while (calling.now) await new Browser(url).ask('POST /oauth/token', { raw, headers: { 'content-type': form } }).catch(() => undefined)
    })
    const took: number[] = []
    for (let nth = 0; nth < 20; nth += 1) took.push((await other.ask('GET /user/profile')).ms)
    calling.now = false
    await Promise.all(attackers)
    return percentile(took, 0.5)
  }
  const [alone, beside] = [await flood(0), await flood(2)]
  const dearest = cpu.toSorted((a, b) => b.ms - a.ms)[0]
  const mean = cpu.reduce((sum, { ms }) => sum + ms, 0) / cpu.length
  return {
    figure: `${paths.length} addresses, ${cpu.length} bodies of 1 MB, ${wrong.length} not refused${wrong.length > 0 ? ` (${wrong.slice(0, 3).join('; ')})` : ''}; CPU ${mean.toFixed(0)} ms each, at most ${dearest?.ms} (${dearest?.path}); longest answer ${longest} bytes; another account's calls ${alone.toFixed(0)} ms, beside two connections ${beside.toFixed(0)} ms`,
    holds: wrong.length === 0 && mean <= 20 && longest <= 2_000,
  }
})

/** The longest stretch of a program's main thread since it was last asked, in ms of CPU. */
async function longestStretch(trial: Trial, pid: number, file: string): Promise<number> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  const text = await trial.until('the longest stretch is written', () => {
    try {
      return readFileSync(file, 'utf8')
    } catch {
      return null
    }
  })
  return Number(text)
}

row('138', 'bank files of 2,000 lines full of references, four at a time until they are refused', async (trial) => {
  const [invoices, forMs] = [600, 55_000]
  trial.mustHold(
    'no stretch of more than 20 ms of CPU; the neighbour’s median at most 40 ms more than alone; 15 s of work a minute, of at most 25 s of CPU of the program, then 429 with Retry-After and the limit',
  )
  const file = path.join(tmpdir(), `stretches-${crypto.randomUUID()}`)
  trial.stack.defer(() => rmSync(file, { force: true }))
  const { url, pid } = await openTarget(trial, {
    RATE_LIMIT: 'on',
    NODE_OPTIONS: `--import=${path.join(import.meta.dirname, 'stretches.ts')}`,
    STRETCHES_FILE: file,
  })
  const [attacker, other] = [await signUp(url), await signUp(url)]
  for (let nth = 0; nth < invoices; nth += 200)
    await attacker.ask('POST /invoices/import', {
      body: { lines: Array.from({ length: 200 }, (_none, at) => overdueInvoice({ amount: nth + at + 1 })) },
    })
  const references = ((await attacker.ask('GET /invoice')).body as { reference: string }[]).map(({ reference }) => reference)
  const lines = Array.from({ length: 2_000 }, (_none, nth) => ({
    date: '2026-01-05',
    amount: nth + 1,
    description: Array.from({ length: 35 }, (_no, at) => references[(nth * 7 + at * 11) % references.length]).join(' '),
  }))
  const raw = JSON.stringify({ lines })
  const match = () => attacker.ask('POST /payments/match', { raw, headers: { 'content-type': json } })
  const medianOf = async (count: number) => {
    const took: number[] = []
    for (let nth = 0; nth < count; nth += 1) took.push((await other.ask('GET /user/profile')).ms)
    return percentile(took, 0.5)
  }
  await match()
  await longestStretch(trial, pid, file)
  const began = cpuOf(pid)
  const first = await match()
  const one = cpuOf(pid) - began
  const longest = await longestStretch(trial, pid, file)
  const alone = await medianOf(50)
  const calling = { now: true }
  const answers: { status: number; text: string; again: string | null }[] = []
  const attackers = Array.from({ length: 4 }, async () => {
    while (calling.now) {
      const { status, text, headers } = await match()
      answers.push({ status, text: text.slice(0, 200), again: headers.get('retry-after') })
    }
  })
  const cpuBefore = cpuOf(pid)
  const until = performance.now() + forMs
  const beside: number[] = []
  const isOver = ({ status, text }: { status: number; text: string }) => status === 429 && text.includes('seconds of work')
  // On a busy machine they get less of it.
  while (performance.now() < until && !answers.some(isOver)) beside.push(await medianOf(10))
  calling.now = false
  await Promise.all(attackers)
  const cpu = cpuOf(pid) - cpuBefore
  const count = (status: number) => answers.filter((each) => each.status === status).length
  const [median, refused] = [percentile(beside, 0.5), answers.find(isOver)]
  return {
    figure: `${(raw.length / mega).toFixed(1)} MB, ${first.status} after ${one} ms of CPU, the longest stretch ${longest.toFixed(0)} ms; ${count(200)} answered, ${count(429)} refused (${refused?.text ?? 'none for its work'}); ${(cpu / 1_000).toFixed(1)} s of CPU in all; the neighbour's calls ${alone.toFixed(0)} ms alone, ${median.toFixed(0)} ms beside`,
    holds:
      first.status === 200 &&
      longest <= 20 &&
      median <= alone + 40 &&
      cpu <= 25_000 &&
      (refused ? refused.again !== null : performance.now() >= until),
  }
})
