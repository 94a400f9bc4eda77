import { percentile, row } from '#test/faults/row.ts'
import { Browser, cpuOf, openTarget, overdueInvoice, signUp } from './browser.ts'

const clients = 20

/** The addresses of the statements of clients with many open invoices, as PDFs. */
async function statementsOf(owner: Browser, invoices: number): Promise<string[]> {
  for (let nth = 0; nth < clients; nth += 1) {
    const line = { ...overdueInvoice({ clientEmail: `client${nth}@example.com`, clientName: '株式会社'.repeat(20) }) }
    const lines = Array.from({ length: invoices }, (_, at) => ({ ...line, reference: `請求書 ${nth}-${at} हिन्दी`.slice(0, 40) }))
    await owner.ask('POST /invoices/import', { body: { lines, keepDuplicates: true } })
  }
  const found = (await owner.ask('GET /clients')).body as { _id: string }[]
  const links: string[] = []
  for (const { _id } of found) {
    const { url } = (await owner.ask(`POST /clients/${_id}/pay-link`)).body as { url: string }
    links.push(`${new URL(url).pathname}/statement.pdf`)
  }
  return links
}

row('151', 'statements of many clients of one account, made again and again by their links', { short: true }, async (trial) => {
  trial.mustHold(
    '15 s of work a minute, of at most 25 s of CPU of the program; half of the calls of another account within 300 ms, or 3 times what they take alone',
  )
  const { url, pid } = await openTarget(trial, { PAY_LINKS: 'on', RATE_LIMIT: 'on', TRUST_PROXY: '127.0.0.1' })
  const [attacker, other] = [await signUp(url), await signUp(url)]
  const links = await statementsOf(attacker, trial.short ? 50 : 300)
  let over = false
  /** The median of calls of the other account: so many, or as long as the attack lasts. */
  const medianOf = async (most: number) => {
    const ms: number[] = []
    while (ms.length < most && !over) ms.push((await other.ask('GET /invoice')).ms)
    return percentile(ms, 0.5)
  }
  const alone = await medianOf(20)
  const statuses: number[] = []
  const [began, worked] = [performance.now(), cpuOf(pid)]
  // Each link may be opened ten times in ten minutes.
  const opened = Promise.all(
    links.map(async (link, nth) => {
      for (let time = 0; time < 8; time += 1) {
        const from = { 'x-forwarded-for': `198.51.100.${nth}` }
        statuses.push((await new Browser(url).ask(`GET ${link}`, { headers: from })).status)
      }
    }),
  ).finally(() => {
    over = true
  })
  const beside = await medianOf(Number.POSITIVE_INFINITY)
  await opened
  const minutes = Math.floor((performance.now() - began) / 60_000) + 1
  const cpu = cpuOf(pid) - worked
  const made = statuses.filter((status) => status === 200).length
  return {
    figure: `${statuses.length} opened, ${made} made, ${statuses.filter((status) => status === 429).length} refused; ${(cpu / 1_000).toFixed(0)} s of CPU in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}; calls of the other account ${Math.round(beside)} ms, alone ${Math.round(alone)} ms`,
    // In the short selection other tests may keep the machine busy: there its own CPU time alone decides.
    holds:
      made > 0 &&
      cpu <= 25_000 * minutes &&
      statuses.every((status) => status === 200 || status === 429) &&
      (trial.short || beside < Math.max(300, 3 * alone)),
  }
})
