import { Resolver } from 'node:dns/promises'
import type { DomainCheck, DomainFinding, DomainRecord } from '#contract/mail.ts'
import { domainOf, type Sender } from './sender.ts'
import { domainTexts as t } from './texts.ts'

/** A mail service: what SPF has to include for it, under which selectors it publishes DKIM keys, and its MX. */
interface Service {
  name: string
  spf: string[]
  selectors: string[]
  mx(domain: string): string
  /** A key that is published by a CNAME, where its target is known without asking the service. */
  keyTarget?(selector: string, domain: string): string
}

const services = {
  google: { name: 'Google', spf: ['_spf.google.com'], selectors: ['google'], mx: () => '1 smtp.google.com' },
  microsoft: {
    name: 'Microsoft 365',
    spf: ['spf.protection.outlook.com'],
    selectors: ['selector1', 'selector2'],
    mx: (domain) => `0 ${domain.replaceAll('.', '-')}.mail.protection.outlook.com`,
  },
  zoho: {
    name: 'Zoho',
    spf: ['zohomail.com', 'zoho.com', 'zohomail.in', 'zoho.in', 'zohomail.eu', 'zoho.eu', 'one.zoho.com', 'one.zoho.in', 'one.zoho.eu'],
    selectors: ['zmail'],
    mx: () => '10 mx.zoho.com',
  },
  fastmail: {
    name: 'Fastmail',
    spf: ['spf.messagingengine.com'],
    selectors: ['fm1', 'fm2', 'fm3'],
    mx: () => '10 in1-smtp.messagingengine.com',
    keyTarget: (selector, domain) => `${selector}.${domain}.dkim.fmhosted.com`,
  },
} satisfies Record<string, Service>

const serviceOfHost: [RegExp, keyof typeof services][] = [
  [/(^|\.)(gmail|google|googlemail)\.com$/, 'google'],
  [/(^|\.)(office365|outlook)\.com$/, 'microsoft'],
  [/(^|\.)zoho(mail)?\.[a-z.]+$/, 'zoho'],
  [/(^|\.)(fastmail|messagingengine)\.com$/, 'fastmail'],
]

/** Domains where the provider itself publishes everything. */
const providersOwn: [RegExp, string][] = [
  [ownDomain('gmail|googlemail'), 'Google'],
  [ownDomain('outlook|hotmail|live|msn'), 'Microsoft'],
  [ownDomain('yahoo|ymail|rocketmail|aol'), 'Yahoo'],
  [ownDomain('icloud|me|mac'), 'Apple'],
  [ownDomain('zoho|zohomail'), 'Zoho'],
  [ownDomain('fastmail'), 'Fastmail'],
  [/^(proton\.me|protonmail\.com|pm\.me)$/, 'Proton'],
  [/^(gmx\.(com|net|de|at|ch)|web\.de|mail\.com)$/, 'GMX'],
  [/^rediffmail\.com$/, 'Rediff'],
]

/** One of these names right under a public suffix: `yahoo.co.in`, never `live.example.com`. */
function ownDomain(names: string): RegExp {
  return new RegExp(`^(${names})\\.(com|fm|[a-z]{2}|com?\\.[a-z]{2})$`)
}

/** Milliseconds for a whole check; what was not answered by then is reported as such. */
const domainPatienceMs = 5_000
/** RFC 7208, 4.6.4: more make the whole record void. */
const mostLookups = 10
/** RFC 9989: a domain, and at most this many above it. */
const mostParents = 7

/**
 * What the DNS has about the domain of a mailbox, as receivers of its emails look it up: MX, SPF, DKIM and DMARC.
 * @param servers Name servers as `address` or `address:port`; those of this machine without.
 * @param selector Where the DKIM key is, instead of where the mail service usually publishes it.
 */
export async function checkDomain(
  sender: Pick<Sender, 'address' | 'provider' | 'host'>,
  { servers, selector, patienceMs = domainPatienceMs }: { servers: string[] | null; selector?: string | undefined; patienceMs?: number },
): Promise<DomainCheck> {
  const domain = domainOf(sender.address)
  const own = providersOwn.find(([pattern]) => pattern.test(domain))
  if (own) return { domain, note: t.providersOwn(own[1]), findings: [] }
  const service = serviceOf(sender)
  const resolver = new Resolver({ timeout: Math.ceil(patienceMs / 4), tries: 2 })
  if (servers) resolver.setServers(servers)
  // What is still asked for then is rejected with ECANCELLED.
  const over = setTimeout(() => resolver.cancel(), patienceMs)
  const dns = new Lookups(resolver)
  const about: About = { dns, domain, service, host: sender.host ?? '' }
  try {
    const findings = await Promise.all([
      findMx(about).catch(unanswered('mx', domain)),
      findSpf(about).catch(unanswered('spf', domain)),
      findDkim(about, selector).catch(unanswered('dkim', domain)),
      findDmarc(about).catch(unanswered('dmarc', domain)),
    ])
    return { domain, note: null, findings }
  } finally {
    clearTimeout(over)
  }
}

interface About {
  dns: Lookups
  domain: string
  service: Service | null
  host: string
}

function serviceOf({ provider, host }: Pick<Sender, 'provider' | 'host'>): Service | null {
  if (provider === 'gmail') return services.google
  if (provider === 'microsoft') return services.microsoft
  const found = serviceOfHost.find(([pattern]) => pattern.test((host ?? '').toLowerCase()))
  return found ? services[found[1]] : null
}

/** An error of a name server, which shows nothing about the domain. */
const unanswered =
  (part: DomainFinding['part'], domain: string) =>
  (error: NodeJS.ErrnoException): DomainFinding => {
    if (error.syscall === undefined && error.code === undefined) throw error
    return finding(part, 'unknown', t.unanswered(domain, error.code ?? ''))
  }

function finding(
  part: DomainFinding['part'],
  verdict: DomainFinding['verdict'],
  sentence: string,
  records: DomainRecord[] = [],
): DomainFinding {
  return { part, verdict, sentence, records }
}

/** Answers of name servers, where no such record is an empty answer. */
class Lookups {
  readonly #resolver: Resolver
  constructor(resolver: Resolver) {
    this.#resolver = resolver
  }

  /** The texts of a name, each in one piece. */
  async texts(name: string): Promise<string[]> {
    return (await noneAsEmpty(this.#resolver.resolveTxt(name))).map((parts) => parts.join(''))
  }

  mx(name: string): Promise<{ exchange: string; priority: number }[]> {
    return noneAsEmpty(this.#resolver.resolveMx(name))
  }
}

function noneAsEmpty<T>(asked: Promise<T[]>): Promise<T[]> {
  return asked.catch((error: NodeJS.ErrnoException) => {
    // EBADNAME: a name that cannot exist, such as one with an empty label.
    if (['ENODATA', 'ENOTFOUND', 'EBADNAME'].includes(error.code ?? '')) return []
    throw error
  })
}

async function findMx({ dns, domain, service }: About): Promise<DomainFinding> {
  const found = (await dns.mx(domain)).toSorted((one, other) => one.priority - other.priority)
  const [first] = found
  const records = service ? [{ name: domain, type: 'MX' as const, value: service.mx(domain) }] : []
  if (!first) return finding('mx', 'missing', t.mx.missing(domain), records)
  // RFC 7505: a single "." declares that the domain takes no email.
  if (found.length === 1 && ['', '.'].includes(first.exchange)) return finding('mx', 'wrong', t.mx.none(domain), records)
  return finding('mx', 'good', t.mx.good(domain, first.exchange))
}

/** What a receiver makes of an SPF record. `broken`: why it is void. */
interface SpfReading {
  lookups: number
  /** The domains that it includes, directly or by another one. */
  includes: Set<string>
  broken: string | null
  /** The term of the domain's own record that has to go. */
  culprit: string | null
}

const spfVersion = /^v=spf1( |$)/i
const spfTerm =
  /^[+?~-]?(all|include:\S+|a([:/]\S+)?|mx([:/]\S+)?|ptr(:\S+)?|ip4:\S+|ip6:\S+|exists:\S+)$|^(redirect|exp|[a-z][\w.-]*)=\S*$/i
const asksAgain = /^[+?~-]?(include|a|mx|ptr|exists)\b|^redirect=/i

async function findSpf(about: About): Promise<DomainFinding> {
  const { dns, domain, service, host } = about
  const found = (await dns.texts(domain)).filter((text) => spfVersion.test(text))
  const [record] = found
  const include = service ? [`include:${service.spf[0]}`] : []
  const suggest = (terms: string[]) => [{ name: domain, type: 'TXT' as const, value: ['v=spf1', ...new Set(terms), '~all'].join(' ') }]
  const kept = (text: string) =>
    text
      .split(/ +/)
      .slice(1)
      .filter((term) => term !== '' && !/^[+?~-]?all$/i.test(term))
  if (record === undefined) return finding('spf', 'missing', t.spf.missing(domain), service ? suggest(include) : [])
  if (found.length > 1) return finding('spf', 'wrong', t.spf.several(domain, found.length), suggest([...found.flatMap(kept), ...include]))
  const read = await readSpf(dns, domain, record)
  const own = kept(record)
  if (read.lookups > mostLookups) return finding('spf', 'wrong', t.spf.tooMany(domain))
  if (read.broken !== null)
    return finding(
      'spf',
      'wrong',
      read.broken,
      suggest([...own.filter((term) => term !== read.culprit), ...include.filter((term) => !own.includes(term))]),
    )
  if (/(^| )\+?all( |$)/i.test(record)) return finding('spf', 'wrong', t.spf.everyone(domain), suggest([...own, ...include]))
  if (!service) return finding('spf', 'good', t.spf.unnamed(domain, host))
  if (service.spf.some((name) => read.includes.has(name))) return finding('spf', 'good', t.spf.good(domain, service.name))
  return finding('spf', 'wrong', t.spf.other(domain, service.name), suggest([...own, ...include]))
}

/** Follows includes and redirects as a receiver does, to the look-up that makes the record void. */
async function readSpf(dns: Lookups, domain: string, record: string): Promise<SpfReading> {
  const reading: SpfReading = { lookups: 0, includes: new Set(), broken: null, culprit: null }
  const follow = async (text: string, at: string, culprit: string | null): Promise<void> => {
    for (const term of text.split(/ +/).slice(1)) {
      if (term === '') continue
      const ours = culprit ?? term
      if (!spfTerm.test(term)) {
        Object.assign(reading, { broken: t.spf.notSpf(at, term), culprit: ours })
        return
      }
      if (asksAgain.test(term)) reading.lookups += 1
      if (reading.lookups > mostLookups) return
      const target = /^[+?~-]?include:(.+)$/i.exec(term)?.[1] ?? /^redirect=(.+)$/i.exec(term)?.[1]
      // A macro stands for the sender of a single email.
      if (target === undefined || target.includes('%')) continue
      const name = target.toLowerCase().replace(/\.$/, '')
      const again = reading.includes.has(name)
      reading.includes.add(name)
      if (again) continue
      const [next, ...others] = (await dns.texts(name)).filter((one) => spfVersion.test(one))
      if (next === undefined || others.length > 0) {
        Object.assign(reading, { broken: t.spf.brokenInclude(at, target, others.length + (next === undefined ? 0 : 1)), culprit: ours })
        return
      }
      await follow(next, name, ours)
      if (reading.broken !== null || reading.lookups > mostLookups) return
    }
  }
  await follow(record, domain, null)
  return reading
}

async function findDkim({ dns, domain, service }: About, typed: string | undefined): Promise<DomainFinding> {
  const selectors = typed === undefined ? (service?.selectors ?? []) : [typed]
  if (selectors.length === 0) return finding('dkim', 'unknown', t.dkim.unknown)
  const found = await Promise.all(
    selectors.map(async (selector) => ({
      selector,
      keys: (await dns.texts(`${selector}._domainkey.${domain}`)).map(keyOf).filter((key) => key !== null),
    })),
  )
  const published = found.filter(({ keys }) => keys.length > 0)
  const usable = published.find(({ keys }) => keys.some((key) => key !== ''))
  if (usable) return finding('dkim', 'good', t.dkim.good(usable.selector))
  const [revoked] = published
  if (revoked) return finding('dkim', 'wrong', t.dkim.revoked(revoked.selector))
  if (typed !== undefined) return finding('dkim', 'missing', t.dkim.noneAt(`${typed}._domainkey.${domain}`))
  const target = service?.keyTarget
  const records = target
    ? selectors.map((one) => ({ name: `${one}._domainkey.${domain}`, type: 'CNAME' as const, value: target(one, domain) }))
    : []
  return finding('dkim', 'missing', t.dkim.missing(domain, service?.name ?? ''), records)
}

/** The public key of a DKIM record (RFC 6376, 3.6.1), empty where it is revoked; null for any other text. */
function keyOf(text: string): string | null {
  const tags = tagsOf(text)
  const key = tags.get('p')
  return key === undefined || (tags.get('v') ?? 'DKIM1') !== 'DKIM1' ? null : key.replace(/\s/g, '')
}

async function findDmarc({ dns, domain }: About): Promise<DomainFinding> {
  const labels = domain.split('.')
  const names = labels.slice(0, -1).map((_label, at) => labels.slice(at).join('.'))
  const suggested: DomainRecord[] = [{ name: `_dmarc.${domain}`, type: 'TXT', value: 'v=DMARC1; p=none' }]
  for (const name of [domain, ...names.slice(1).slice(-mostParents)]) {
    const found = (await dns.texts(`_dmarc.${name}`)).filter((text) => /^v=DMARC1\s*(;|$)/.test(text.trim()))
    const [record] = found
    if (record === undefined) continue
    const replaced = [{ ...suggested[0], name: `_dmarc.${name}` } as DomainRecord]
    if (found.length > 1) return finding('dmarc', 'wrong', t.dmarc.several(name, found.length), replaced)
    const tags = tagsOf(record)
    const policy = (name === domain ? tags.get('p') : (tags.get('sp') ?? tags.get('p')))?.toLowerCase()
    if (policy === undefined || !['none', 'quarantine', 'reject'].includes(policy))
      return finding('dmarc', 'wrong', t.dmarc.noPolicy(name), replaced)
    return finding('dmarc', 'good', name === domain ? t.dmarc.good(name, policy) : t.dmarc.goodAbove(domain, name, policy))
  }
  return finding('dmarc', 'missing', t.dmarc.missing(domain), suggested)
}

/** `v=DMARC1; p=none` as names and values. */
function tagsOf(text: string): Map<string, string> {
  return new Map(
    text
      .split(';')
      .map((tag) => tag.split(/=(.*)/s, 2).map((part) => part.trim()))
      .filter(([name]) => name !== '')
      .map(([name = '', value = '']) => [name.toLowerCase(), value]),
  )
}
