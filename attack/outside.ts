import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { type Chaos, percentile, type Scenario } from '#chaos/scenario.ts'
import { aTarget, type Browser, somebody } from './browser.ts'
import { openNames } from './names.ts'

const ports = [25, 465, 587, 2525]
const ways = ports.map((port) => ({ port, secure: port === 465 }))

/** Ways to write down this machine, its neighbours and a cloud's own, and names that lead there. */
const spellings = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.0.0.1.', '0', '0.0.0.0', '0x0', '2130706433', '0x7f000001', '0X7F000001', '017700000001'],
  ...['0x7f.0x0.0x0.0x1', '0x7f.1', '0177.0.0.1', '0177.0.0.01', '127.000.000.001', '00000177.1', '127.0.0.2', '127.255.255.254'],
  ...['::1', '[::1]', '::', '[::]', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '[::ffff:127.0.0.1]', '::ffff:7f00:1', '::ffff:0:127.0.0.1'],
  ...['::127.0.0.1', '64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', 'fe80::99%lo', 'fd00::1', '[fd00::1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'ip6-localhost', 'ip6-loopback', '１２７.0.0.1', '127。0。0。1', '①②⑦.⓪.⓪.①', '１２７．１'],
  ...['10.0.0.1', '169.254.169.254', '0xa9fea9fe', '2852039166', '172.16.0.1', '192.168.0.1', '0xc0.0xa8.0.1', '100.64.0.1', '198.18.0.1'],
  ...['loopback.example', 'v6.example', 'mapped.example', 'both.example', 'private.example', 'metadata.example'],
]
const places: Record<string, { v4?: string[]; v6?: string[] }> = {
  'loopback.example': { v4: ['127.0.0.1'] },
  'v6.example': { v6: ['::1'] },
  'mapped.example': { v6: ['::ffff:7f00:1'] },
  'both.example': { v4: ['5.5.5.5', '127.0.0.1'] },
  'private.example': { v4: ['10.0.0.1'] },
  'metadata.example': { v4: ['169.254.169.254'] },
}

/** Counts whoever connects to these ports, those of mail servers unless said otherwise, at one address or at every one of this machine. */
async function openCanary({ stack }: Chaos, host = '::', listened = ports): Promise<{ hits: number; open: number[] }> {
  const canary = { hits: 0, open: [] as number[] }
  for (const port of listened) {
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

function save(browser: Browser, host: string, { port, secure }: { port: number; secure: boolean }) {
  return browser.ask('POST /mail-config/smtp', { body: { host, port, secure, user: 'asha@example.com', pass: 'app password' } })
}

/** A hook may only be called by https, on its port. */
const webhookPorts = [443]

/** Adds a webhook, has it called at once, and removes it. Answers how it was refused: as it was written, or when it was called; null where it was not. */
async function callWebhook(browser: Browser, url: string): Promise<'written' | 'called' | null> {
  const added = await browser.ask('POST /webhooks', { body: { url, events: ['invoice.paid'] } })
  if (added.status === 400) return 'written'
  const { _id } = added.body as { _id: string }
  const tested = await browser.ask(`POST /webhooks/${_id}/test`)
  await browser.ask(`DELETE /webhooks/${_id}`)
  const { state, status } = tested.body as { state: string; status: number | null }
  return state === 'failed' && status === null ? 'called' : null
}

/** Packets that had nowhere to go, of both families: in a network with nothing but loopback each is one for the outside. */
export function strayPackets(): number {
  const v4 = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Ip:'))
    .map((line) => line.split(' '))
  const at = v4[0]?.indexOf('OutNoRoutes') ?? -1
  const v6 = /^Ip6OutNoRoutes\s+(\d+)/m.exec(readFileSync('/proc/net/snmp6', 'utf8'))?.[1]
  return Number(v4[1]?.[at] ?? 0) + Number(v6 ?? 0)
}

/** Those of the browser that looks at what was injected: it has habits of its own. */
export const ofTheBrowser = { packets: 0 }

/** Rows 60 to 62 and 82: where the program connects to, for mails and for hooks. */
export const outsideAttacks: Scenario[] = [
  {
    row: '60',
    name: `${spellings.length} spellings of private and special addresses as a mail server`,
    criterion: 'connections to the canary 0',
    async run(chaos) {
      const canary = await openCanary(chaos)
      if (canary.open.length === 0) return { skipped: 'no port of a mail server is free on this machine' }
      await openNames(chaos, (name) => places[name])
      const { program } = await aTarget(chaos, { SMTP_ALLOW_PRIVATE_HOSTS: 'false' })
      const browser = await somebody(program.url)
      const saved: string[] = []
      const statuses = new Map<number, number>()
      const waiting = spellings.flatMap((host) => ways.filter(({ port }) => canary.open.includes(port)).map((way) => ({ host, way })))
      const tries = waiting.length
      const lanes = Array.from({ length: 6 }, async () => {
        for (let next = waiting.shift(); next; next = waiting.shift()) {
          const { status } = await save(browser, next.host, next.way)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (status < 400) saved.push(next.host)
        }
      })
      await Promise.all(lanes)
      return {
        figure: `${tries} tries, ${statuses.get(400) ?? 0} refused; connections ${canary.hits}${saved.length > 0 ? `; saved: ${saved.join(', ')}` : ''}`,
        holds: canary.hits === 0 && statuses.get(400) === tries,
      }
    },
  },
  {
    row: '61',
    name: 'a name that is public when it is looked at and private when it is connected to',
    criterion: 'connections to the canary 0',
    short: true,
    async run(chaos) {
      const names = await openNames(chaos, (name, nth) =>
        name.endsWith('rebinds.example') ? { v4: [nth === 1 ? '5.5.5.5' : '127.0.0.1'] } : undefined,
      )
      if (!names) return { skipped: 'there is no network of our own, in which names are ours' }
      const canary = await openCanary(chaos, '127.0.0.1')
      const decoy = await openCanary(chaos, '5.5.5.5')
      const { program } = await aTarget(chaos, { SMTP_ALLOW_PRIVATE_HOSTS: 'false' })
      const browser = await somebody(program.url)
      for (let nth = 0; nth < 20; nth += 1) {
        const way = ways[nth % ways.length]
        if (way) await save(browser, `${nth}.rebinds.example`, way)
      }
      return {
        figure: `20 names: connections to what was looked at ${decoy.hits}, to the canary ${canary.hits}`,
        holds: canary.hits === 0 && decoy.hits >= 20,
      }
    },
  },
  {
    row: '60 hooks',
    name: `${spellings.length} spellings of private and special addresses as a webhook`,
    criterion: 'connections to the canary 0',
    async run(chaos) {
      const canary = await openCanary(chaos, '::', webhookPorts)
      if (canary.open.length === 0) return { skipped: 'port 443 is taken on this machine' }
      await openNames(chaos, (name) => places[name])
      const { program } = await aTarget(chaos, { HOOK_ALLOW_PRIVATE_HOSTS: 'false' })
      const browser = await somebody(program.url)
      const called: string[] = []
      const refused = { written: 0, called: 0 }
      for (const spelling of spellings) {
        // An address of IPv6 stands in brackets.
        const host = spelling.includes(':') && !spelling.startsWith('[') ? `[${spelling}]` : spelling
        for (const url of [`https://${host}/`, `http://${host}:443/`]) {
          const how = await callWebhook(browser, url)
          if (how === null) called.push(url)
          else refused[how] += 1
        }
      }
      return {
        figure: `${spellings.length * 2} tries: ${refused.written} refused as written, ${refused.called} when they were to be called; connections ${canary.hits}${called.length > 0 ? `; called: ${called.join(', ')}` : ''}`,
        holds: canary.hits === 0 && called.length === 0,
      }
    },
  },
  {
    row: '61 hooks',
    name: 'a webhook whose name is public when it is looked at and private when it is connected to',
    criterion: 'connections to the canary 0',
    short: true,
    async run(chaos) {
      const names = await openNames(chaos, (name, nth) =>
        name.endsWith('rebinds.example') ? { v4: [nth === 1 ? '5.5.5.5' : '127.0.0.1'] } : undefined,
      )
      if (!names) return { skipped: 'there is no network of our own, in which names are ours' }
      const canary = await openCanary(chaos, '127.0.0.1', webhookPorts)
      const decoy = await openCanary(chaos, '5.5.5.5', webhookPorts)
      const { program } = await aTarget(chaos, { HOOK_ALLOW_PRIVATE_HOSTS: 'false' })
      const browser = await somebody(program.url)
      for (let nth = 0; nth < 20; nth += 1) await callWebhook(browser, `https://${nth}.rebinds.example/`)
      return {
        figure: `20 names: connections to what was looked at ${decoy.hits}, to the canary ${canary.hits}`,
        holds: canary.hits === 0 && decoy.hits >= 20,
      }
    },
  },
  {
    row: '62',
    name: 'which private ports are open, told by the answer and its time',
    criterion: 'the same body; medians within 100 ms',
    short: true,
    async run(chaos) {
      const server = net.createServer((socket) => socket.destroy()).listen(587, '127.0.0.1')
      const open = await Promise.race([once(server, 'listening').then(() => true), once(server, 'error').then(() => false)])
      if (!open) return { skipped: 'port 587 is taken on this machine' }
      chaos.stack.defer(() => void server.close())
      const { program } = await aTarget(chaos, { SMTP_ALLOW_PRIVATE_HOSTS: 'false' })
      const browser = await somebody(program.url)
      const targets = { open: '127.0.0.1', closed: '127.0.0.9', filtered: '10.255.255.1' }
      const ms: Record<string, number[]> = {}
      const bodies = new Set<string>()
      for (let nth = 0; nth < 20; nth += 1)
        for (const [kind, host] of Object.entries(targets)) {
          const answered = await save(browser, host, { port: 587, secure: false })
          ms[kind] = [...(ms[kind] ?? []), answered.ms]
          bodies.add(answered.text.replaceAll(host, 'HOST'))
        }
      const medians = Object.entries(ms).map(([kind, all]) => [kind, percentile(all, 0.5)] as const)
      const apart = Math.max(...medians.map(([, median]) => median)) - Math.min(...medians.map(([, median]) => median))
      return {
        figure: `${medians.map(([kind, median]) => `${kind} ${median.toFixed(1)} ms`).join(', ')}; ${bodies.size} different ${bodies.size === 1 ? 'answer' : 'answers'}`,
        holds: bodies.size === 1 && apart <= 100,
      }
    },
  },
  {
    row: '82',
    name: 'whatever left for the outside while all of this was tried',
    criterion: 'packets for anywhere but this machine 0',
    short: true,
    async run({ publicAddress }) {
      if (!publicAddress) return { skipped: 'there is no network of our own, in which they could be counted' }
      const packets = strayPackets() - ofTheBrowser.packets
      return { figure: `${packets} packets`, holds: packets === 0 }
    },
  },
]
