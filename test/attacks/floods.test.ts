import { readFileSync } from 'node:fs'
import { everyCall } from '#contract/index.ts'
import { percentile, row } from '#test/faults/row.ts'
import { Browser, openTarget, signUp } from './browser.ts'
import { zapierEnv } from './oauth-client.ts'

/** Milliseconds of CPU that a process has used: other processes of a busy machine do not count, as they do in time. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

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
