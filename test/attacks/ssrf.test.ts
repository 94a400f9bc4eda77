import { once } from 'node:events'
import net from 'node:net'
import { percentile, row, type Trial } from '#test/faults/row.ts'
import { type Answered, type Browser, openTarget, signUp } from './browser.ts'
import { openDnsServer } from './dns-server.ts'

const mailPorts = [25, 465, 587, 2525]
const mailServers = mailPorts.map((port) => ({ port, secure: port === 465 }))
/** A webhook may only be called by https, on its port. */
const webhookPorts = [443]

/** Spellings of this machine, its neighbours and the metadata address of a cloud, and names that resolve to them. */
const spellings = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.0.0.1.', '0', '0.0.0.0', '0x0', '2130706433', '0x7f000001', '0X7F000001', '017700000001'],
  ...['0x7f.0x0.0x0.0x1', '0x7f.1', '0177.0.0.1', '0177.0.0.01', '127.000.000.001', '00000177.1', '127.0.0.2', '127.255.255.254'],
  ...['::1', '[::1]', '::', '[::]', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '[::ffff:127.0.0.1]', '::ffff:7f00:1', '::ffff:0:127.0.0.1'],
  ...['::127.0.0.1', '64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', 'fe80::99%lo', 'fd00::1', '[fd00::1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'ip6-localhost', 'ip6-loopback', '１２７.0.0.1', '127。0。0。1', '①②⑦.⓪.⓪.①', '１２７．１'],
  ...['10.0.0.1', '169.254.169.254', '0xa9fea9fe', '2852039166', '172.16.0.1', '192.168.0.1', '0xc0.0xa8.0.1', '100.64.0.1', '198.18.0.1'],
  ...['loopback.example', 'v6.example', 'mapped.example', 'both.example', 'private.example', 'metadata.example'],
]
const records: Record<string, { v4?: string[]; v6?: string[] }> = {
  'loopback.example': { v4: ['127.0.0.1'] },
  'v6.example': { v6: ['::1'] },
  'mapped.example': { v6: ['::ffff:7f00:1'] },
  'both.example': { v4: ['5.5.5.5', '127.0.0.1'] },
  'private.example': { v4: ['10.0.0.1'] },
  'metadata.example': { v4: ['169.254.169.254'] },
}

/** Counts connections to these ports, at one address or at every address of this machine. */
async function openCanary({ stack }: Trial, ports: number[], host = '::'): Promise<{ hits: number; open: number[] }> {
  const canary = { hits: 0, open: [] as number[] }
  for (const port of ports) {
    const server = net.createServer((socket) => {
      canary.hits += 1
      socket.on('error', () => undefined)
      socket.destroy()
    })
    server.listen(port, host)
    const listening = await Promise.race([once(server, 'listening').then(() => true), once(server, 'error').then(() => false)])
    if (!listening) continue
    canary.open.push(port)
    stack.defer(() => void server.close())
  }
  return canary
}

function saveMailbox(browser: Browser, host: string, { port, secure }: { port: number; secure: boolean }): Promise<Answered> {
  return browser.ask('POST /mail-config/smtp', {
    body: { host, port, secure, user: 'asha@example.com', pass: 'app password', ...browser.proof },
  })
}

/** Adds a webhook, has it called and removes it. Answers when it was refused: on being added, on being called; null where it was called. */
async function callWebhook(browser: Browser, url: string): Promise<'added' | 'called' | null> {
  const added = await browser.ask('POST /webhooks', { body: { url, events: ['invoice.paid'], ...browser.proof } })
  if (added.status === 400) return 'added'
  const { _id } = added.body as { _id: string }
  const tested = await browser.ask(`POST /webhooks/${_id}/test`)
  await browser.ask(`DELETE /webhooks/${_id}`)
  const { state, status } = tested.body as { state: string; status: number | null }
  return state !== 'delivered' && status === null ? 'called' : null
}

row('60', `${spellings.length} spellings of private and special addresses as a mail server`, async (trial) => {
  trial.mustHold('connections to the canary 0')
  const canary = await openCanary(trial, mailPorts)
  if (canary.open.length === 0) return trial.skip('no port of a mail server is free on this machine')
  await openDnsServer(trial, (name) => records[name])
  const browser = await signUp((await openTarget(trial, { SMTP_ALLOW_PRIVATE_HOSTS: 'false' })).url)
  const saved: string[] = []
  let refused = 0
  const servers = mailServers.filter(({ port }) => canary.open.includes(port))
  const waiting = spellings.flatMap((host) => servers.map((server) => ({ host, server })))
  const tries = waiting.length
  const lanes = Array.from({ length: 6 }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { status } = await saveMailbox(browser, next.host, next.server)
      if (status === 400) refused += 1
      if (status < 400) saved.push(next.host)
    }
  })
  await Promise.all(lanes)
  return {
    figure: `${tries} tries, ${refused} refused; connections ${canary.hits}${saved.length > 0 ? `; saved: ${saved.join(', ')}` : ''}`,
    holds: canary.hits === 0 && refused === tries,
  }
})

row('60 hooks', `${spellings.length} spellings of private and special addresses as a webhook`, async (trial) => {
  trial.mustHold('connections to the canary 0')
  const canary = await openCanary(trial, webhookPorts)
  if (canary.open.length === 0) return trial.skip('port 443 is taken on this machine')
  await openDnsServer(trial, (name) => records[name])
  const browser = await signUp((await openTarget(trial, { HOOK_ALLOW_PRIVATE_HOSTS: 'false' })).url)
  const called: string[] = []
  const refused = { added: 0, called: 0 }
  for (const spelling of spellings) {
    const host = spelling.includes(':') && !spelling.startsWith('[') ? `[${spelling}]` : spelling
    for (const url of [`https://${host}/`, `http://${host}:443/`]) {
      const when = await callWebhook(browser, url)
      if (when === null) called.push(url)
      else refused[when] += 1
    }
  }
  return {
    figure: `${spellings.length * 2} tries: ${refused.added} refused when added, ${refused.called} when called; connections ${canary.hits}${called.length > 0 ? `; called: ${called.join(', ')}` : ''}`,
    holds: canary.hits === 0 && called.length === 0,
  }
})

/** Twenty names that resolve to a public address at the first query and to loopback afterwards. */
async function rebind(trial: Trial, ports: number[], connect: (browser: Browser, nth: number) => Promise<unknown>) {
  const served = await openDnsServer(trial, (name, nth) =>
    name.endsWith('rebinds.example') ? { v4: [nth === 1 ? '5.5.5.5' : '127.0.0.1'] } : undefined,
  )
  if (!served) return trial.skip('there is no network namespace of our own with a DNS server in it')
  const canary = await openCanary(trial, ports, '127.0.0.1')
  const decoy = await openCanary(trial, ports, '5.5.5.5')
  const browser = await signUp((await openTarget(trial, { SMTP_ALLOW_PRIVATE_HOSTS: 'false', HOOK_ALLOW_PRIVATE_HOSTS: 'false' })).url)
  for (let nth = 0; nth < 20; nth += 1) await connect(browser, nth)
  return {
    figure: `20 names: connections to the address that was checked ${decoy.hits}, to the canary ${canary.hits}`,
    holds: canary.hits === 0 && decoy.hits >= 20,
  }
}

row('61', 'a name that resolves to a public address when checked and to a private one when connected to', { short: true }, (trial) => {
  trial.mustHold('connections to the canary 0')
  return rebind(trial, mailPorts, async (browser, nth) => {
    const server = mailServers[nth % mailServers.length]
    if (server) await saveMailbox(browser, `${nth}.rebinds.example`, server)
  })
})

row(
  '61 hooks',
  'a webhook whose name resolves to a public address when checked and to a private one when connected to',
  { short: true },
  (trial) => {
    trial.mustHold('connections to the canary 0')
    return rebind(trial, webhookPorts, (browser, nth) => callWebhook(browser, `https://${nth}.rebinds.example/`))
  },
)

row('62', 'which private ports are open, learned from the answer and its time', { short: true }, async (trial) => {
  trial.mustHold('the same body, connections 0; medians within 100 ms')
  const canary = await openCanary(trial, [587], '127.0.0.1')
  if (canary.open.length === 0) return trial.skip('port 587 is taken on this machine')
  const browser = await signUp((await openTarget(trial, { SMTP_ALLOW_PRIVATE_HOSTS: 'false' })).url)
  const targets = { open: '127.0.0.1', closed: '127.0.0.9', filtered: '10.255.255.1' }
  const ms: Record<string, number[]> = {}
  const bodies = new Set<string>()
  for (let nth = 0; nth < (trial.short ? 3 : 20); nth += 1)
    for (const [kind, host] of Object.entries(targets)) {
      const answered = await saveMailbox(browser, host, { port: 587, secure: false })
      ms[kind] = [...(ms[kind] ?? []), answered.ms]
      bodies.add(answered.text.replaceAll(host, 'HOST'))
    }
  const medians = Object.entries(ms).map(([kind, all]) => [kind, percentile(all, 0.5)] as const)
  const apart = Math.max(...medians.map(([, median]) => median)) - Math.min(...medians.map(([, median]) => median))
  return {
    figure: `${medians.map(([kind, median]) => `${kind} ${median.toFixed(1)} ms`).join(', ')}; ${bodies.size} different ${bodies.size === 1 ? 'answer' : 'answers'}; connections ${canary.hits}`,
    // In the short selection other tests may keep the machine busy: there the counts alone decide.
    holds: bodies.size === 1 && canary.hits === 0 && (trial.short || apart <= 100),
  }
})

row('140', 'which names exist in the network of the server, learned from the answer and its time', { short: true }, async (trial) => {
  trial.mustHold(
    'one answer for names that exist there and names that do not, of mail servers, webhooks and watched addresses; connections 0',
  )
  const inside = ['wiki', 'vault', 'both'].map((name) => `${name}.corp.example`)
  const served = await openDnsServer(trial, (name) =>
    inside.includes(name) ? { v4: name.startsWith('both') ? ['5.5.5.5', '10.0.0.1'] : ['10.0.0.1'] } : undefined,
  )
  if (!served) return trial.skip('there is no network namespace of our own with a DNS server in it')
  const canary = await openCanary(trial, [...mailPorts, ...webhookPorts], '10.0.0.1')
  const browser = await signUp((await openTarget(trial, { SMTP_ALLOW_PRIVATE_HOSTS: 'false', HOOK_ALLOW_PRIVATE_HOSTS: 'false' })).url)
  const ways: Record<string, (name: string) => Promise<Answered>> = {
    'a mail server': (host) => saveMailbox(browser, host, { port: 587, secure: false }),
    'a webhook': async (host) => {
      const { _id } = (await browser.ask('POST /webhooks', { body: { url: `https://${host}/`, events: ['invoice.paid'] } })).body as {
        _id: string
      }
      const tested = await browser.ask(`POST /webhooks/${_id}/test`)
      await browser.ask(`DELETE /webhooks/${_id}`)
      const { status, words } = tested.body as { status: number | null; words: string }
      return { ...tested, text: JSON.stringify({ status, words }) }
    },
    'a watched address': async (host) => {
      const { _id } = (await browser.ask('POST /sources', { body: { url: `https://${host}/a.csv` } })).body as { _id: string }
      const pulled = await browser.ask(`POST /sources/${_id}/pull`, { body: {} })
      await browser.ask(`DELETE /sources/${_id}`)
      return pulled
    },
  }
  const figures: string[] = []
  let holds = true
  for (const [way, ask] of Object.entries(ways)) {
    const answers = new Set<string>()
    const ms: Record<'inside' | 'nowhere', number[]> = { inside: [], nowhere: [] }
    for (let nth = 0; nth < (trial.short ? 1 : 5); nth += 1)
      for (const name of [...inside, 'nothing.corp.example', 'wiki.elsewhere.example', `${nth}.example`]) {
        const { status, text, ms: took } = await ask(name)
        answers.add(`${status} ${text.replaceAll(name, 'NAME')}`)
        ms[inside.includes(name) ? 'inside' : 'nowhere'].push(took)
      }
    const [there, nowhere] = [percentile(ms.inside, 0.5), percentile(ms.nowhere, 0.5)]
    figures.push(
      `${way}: ${answers.size} different ${answers.size === 1 ? 'answer' : 'answers'}, ${there.toFixed(0)} and ${nowhere.toFixed(0)} ms${answers.size > 1 ? ` (${[...answers].map((one) => one.slice(0, 120)).join(' / ')})` : ''}`,
    )
    // In the short selection other tests may keep the machine busy: there the counts alone decide.
    holds &&= answers.size === 1 && (trial.short || Math.abs(there - nowhere) <= 100)
  }
  return { figure: `${figures.join('; ')}; connections ${canary.hits}`, holds: holds && canary.hits === 0 }
})
