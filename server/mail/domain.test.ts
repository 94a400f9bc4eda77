import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { type DomainFinding, mailCalls } from '#contract/mail.ts'
import { anOffice, aPerson } from '#test/factories.ts'
import { type DnsRecords, openFakeDns } from '#test/fakes/dns-server.ts'
import { ask } from '#test/harness.ts'
import { checkDomain } from './domain.ts'
import { mailConfigs } from './tables.ts'

const key = 'v=DKIM1; k=rsa; p=MIIBIjANBgkq'
const many = Array.from({ length: 11 }, (_, nth) => `include:i${nth}.example.net`).join(' ')
const included = Object.fromEntries(Array.from({ length: 11 }, (_, nth) => [`i${nth}.example.net`, { TXT: ['v=spf1 ip4:192.0.2.1 -all'] }]))

/** A name server's records, which mailbox is checked, and what is found: verdict, sentence, records. */
interface Zone {
  about: string
  zone: Record<string, DnsRecords | 'silent' | 'failure'>
  host?: string
  selector?: string
  found: Partial<Record<DomainFinding['part'], [DomainFinding['verdict'], string, ...string[]]>>
}

const d = 'studio.example'
const zones: Zone[] = [
  {
    about: 'everything as Google asks for it',
    zone: {
      [d]: { MX: ['1 smtp.google.com'], TXT: ['google-site-verification=abc', 'v=spf1 include:_spf.google.com ~all'] },
      '_spf.google.com': { TXT: ['v=spf1 ip4:192.0.2.0/24 ~all'] },
      [`google._domainkey.${d}`]: { TXT: [[key, 'iG9w0BAQEF']] },
      [`_dmarc.${d}`]: { TXT: ['v=DMARC1; p=reject; rua=mailto:a@studio.example'] },
    },
    found: {
      mx: ['good', 'Replies to studio.example are received by smtp.google.com.'],
      spf: ['good', 'The SPF record of studio.example allows Google to send.'],
      dkim: ['good', 'A DKIM key is published under google.'],
      dmarc: ['good', 'studio.example has a DMARC policy: reject.'],
    },
  },
  {
    about: 'nothing at all',
    zone: {},
    found: {
      mx: [
        'missing',
        'studio.example has no MX record, so replies from your clients may not arrive.',
        'MX studio.example 1 smtp.google.com',
      ],
      spf: [
        'missing',
        'studio.example has no SPF record, so receivers can’t tell your emails from forged ones.',
        'TXT studio.example v=spf1 include:_spf.google.com ~all',
      ],
      dkim: ['missing', 'studio.example has no DKIM key of Google. Turn on DKIM at Google, or type the selector that you use.'],
      dmarc: ['missing', 'studio.example has no DMARC record. Gmail and Yahoo expect one.', 'TXT _dmarc.studio.example v=DMARC1; p=none'],
    },
  },
  {
    about: 'a domain that takes no email',
    zone: { [d]: { MX: ['0 .'] } },
    found: {
      mx: [
        'wrong',
        'studio.example declares that it receives no email, so replies from your clients are lost.',
        'MX studio.example 1 smtp.google.com',
      ],
    },
  },
  {
    about: 'a mail server of lower preference listed first',
    zone: { [d]: { MX: ['20 backup.example.net', '5 in.example.net'] } },
    found: { mx: ['good', 'Replies to studio.example are received by in.example.net.'] },
  },
  {
    about: 'Microsoft 365 without a record',
    zone: {},
    host: 'smtp.office365.com',
    found: {
      mx: [
        'missing',
        'studio.example has no MX record, so replies from your clients may not arrive.',
        'MX studio.example 0 studio-example.mail.protection.outlook.com',
      ],
      dkim: [
        'missing',
        'studio.example has no DKIM key of Microsoft 365. Turn on DKIM at Microsoft 365, or type the selector that you use.',
      ],
    },
  },
  {
    about: 'the key of Microsoft 365 behind an alias, and its include behind a redirect',
    zone: {
      [d]: { TXT: ['v=spf1 redirect=spf.studio.example'] },
      'spf.studio.example': { TXT: ['v=spf1 include:spf.protection.outlook.com -all'] },
      'spf.protection.outlook.com': { TXT: ['v=spf1 ip4:192.0.2.0/24 -all'] },
      [`selector2._domainkey.${d}`]: { CNAME: 'selector2-studio-example._domainkey.studio.onmicrosoft.com' },
      'selector2-studio-example._domainkey.studio.onmicrosoft.com': { TXT: [key] },
    },
    host: 'smtp.office365.com',
    found: {
      spf: ['good', 'The SPF record of studio.example allows Microsoft 365 to send.'],
      dkim: ['good', 'A DKIM key is published under selector2.'],
    },
  },
  {
    about: 'Zoho, in India',
    zone: { [d]: { TXT: ['v=spf1 include:zoho.in ~all'] }, 'zoho.in': { TXT: ['v=spf1 -all'] }, [`zmail._domainkey.${d}`]: { TXT: [key] } },
    host: 'smtppro.zoho.in',
    found: {
      spf: ['good', 'The SPF record of studio.example allows Zoho to send.'],
      dkim: ['good', 'A DKIM key is published under zmail.'],
    },
  },
  {
    about: 'Fastmail without keys',
    zone: {},
    host: 'smtp.fastmail.com',
    found: {
      dkim: [
        'missing',
        'studio.example has no DKIM key of Fastmail. Turn on DKIM at Fastmail, or type the selector that you use.',
        ...[1, 2, 3].map((nth) => `CNAME fm${nth}._domainkey.studio.example fm${nth}.studio.example.dkim.fmhosted.com`),
      ],
    },
  },
  {
    about: 'two SPF records',
    zone: { [d]: { TXT: ['v=spf1 mx include:a.example.net -all', 'v=spf1 include:b.example.net mx ~all'] } },
    found: {
      spf: [
        'wrong',
        'studio.example has 2 SPF records, so receivers ignore them all. Replace them with one.',
        'TXT studio.example v=spf1 mx include:a.example.net include:b.example.net include:_spf.google.com ~all',
      ],
    },
  },
  {
    about: 'eleven look-ups',
    zone: { [d]: { TXT: [[`v=spf1 ${many}`.slice(0, 200), `v=spf1 ${many} ~all`.slice(200)]] }, ...included },
    found: {
      spf: [
        'wrong',
        'The SPF record of studio.example needs more than 10 DNS look-ups, so receivers ignore it. Remove services that you no longer use.',
      ],
    },
  },
  {
    about: 'includes that include each other',
    zone: {
      [d]: { TXT: ['v=spf1 include:a.example.net ~all'] },
      'a.example.net': { TXT: ['v=spf1 include:b.example.net ~all'] },
      'b.example.net': { TXT: ['v=spf1 include:a.example.net ~all'] },
    },
    found: {
      spf: [
        'wrong',
        'The SPF record of studio.example doesn’t name Google. Replace it with this one.',
        'TXT studio.example v=spf1 include:a.example.net include:_spf.google.com ~all',
      ],
    },
  },
  {
    about: 'an include without a record',
    zone: { [d]: { TXT: ['v=spf1 include:gone.example.net mx -all'] } },
    found: {
      spf: [
        'wrong',
        'The SPF record of studio.example includes gone.example.net, which has no SPF record, so receivers ignore it.',
        'TXT studio.example v=spf1 mx include:_spf.google.com ~all',
      ],
    },
  },
  {
    about: 'an include with two records',
    zone: { [d]: { TXT: ['v=spf1 include:twice.example.net -all'] }, 'twice.example.net': { TXT: ['v=spf1 -all', 'v=spf1 mx -all'] } },
    found: {
      spf: [
        'wrong',
        'The SPF record of studio.example includes twice.example.net, which has 2 SPF records, so receivers ignore it.',
        'TXT studio.example v=spf1 include:_spf.google.com ~all',
      ],
    },
  },
  {
    about: 'a slip of the pen',
    zone: { [d]: { TXT: ['v=spf1 inclde:_spf.google.com ~all'] } },
    found: {
      spf: [
        'wrong',
        'The SPF record of studio.example contains “inclde:_spf.google.com”, which isn’t valid, so receivers ignore the record.',
        'TXT studio.example v=spf1 include:_spf.google.com ~all',
      ],
    },
  },
  {
    about: 'a record that allows everyone',
    zone: { [d]: { TXT: ['v=spf1 mx +all'] } },
    found: {
      spf: [
        'wrong',
        'The SPF record of studio.example allows every server to send (“+all”), so it protects nothing.',
        'TXT studio.example v=spf1 mx include:_spf.google.com ~all',
      ],
    },
  },
  {
    about: 'a mail server of no known service',
    zone: { [d]: { TXT: ['v=spf1 ip4:192.0.2.7 -all'] } },
    host: 'mail.studio.example',
    found: {
      mx: ['missing', 'studio.example has no MX record, so replies from your clients may not arrive.'],
      spf: ['good', 'studio.example has a valid SPF record. Ask your provider whether it covers mail.studio.example.'],
      dkim: ['unknown', 'A selector cannot be guessed. In a test mail, look for s= in DKIM-Signature and type it here.'],
    },
  },
  {
    about: 'no SPF record, and nobody knows which',
    zone: {},
    host: 'mail.studio.example',
    found: { spf: ['missing', 'studio.example has no SPF record, so receivers can’t tell your emails from forged ones.'] },
  },
  {
    about: 'a typed selector',
    zone: { [`s2026._domainkey.${d}`]: { TXT: ['p=MIIBIjANBgkq'] } },
    host: 'mail.studio.example',
    selector: 'S2026',
    found: { dkim: ['good', 'A DKIM key is published under s2026.'] },
  },
  {
    about: 'a typed selector with no key',
    zone: { [`s1._domainkey.${d}`]: { TXT: ['hello'] } },
    selector: 's1',
    found: {
      dkim: ['missing', 's1._domainkey.studio.example has no DKIM key. Check the selector, or publish the key that your provider shows.'],
    },
  },
  {
    about: 'a revoked key',
    zone: { [`google._domainkey.${d}`]: { TXT: ['v=DKIM1; p='] } },
    found: { dkim: ['wrong', 'The DKIM key under google is revoked. Publish a new one at your provider.'] },
  },
  {
    about: 'two DMARC records',
    zone: { [`_dmarc.${d}`]: { TXT: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] } },
    found: {
      dmarc: [
        'wrong',
        'studio.example has 2 DMARC records, so receivers ignore them all. Replace them with one.',
        'TXT _dmarc.studio.example v=DMARC1; p=none',
      ],
    },
  },
  {
    about: 'a DMARC record without a policy',
    zone: { [`_dmarc.${d}`]: { TXT: ['v=DMARC1; rua=mailto:a@studio.example'] } },
    found: {
      dmarc: [
        'wrong',
        'The DMARC record of studio.example has no valid policy (p=none, quarantine or reject).',
        'TXT _dmarc.studio.example v=DMARC1; p=none',
      ],
    },
  },
  {
    about: 'name servers that fail',
    zone: { [d]: 'failure', [`_dmarc.${d}`]: 'failure', [`google._domainkey.${d}`]: { TXT: [key] } },
    found: {
      mx: ['unknown', 'The name servers of studio.example didn’t answer (ESERVFAIL). Try again in a few minutes.'],
      spf: ['unknown', 'The name servers of studio.example didn’t answer (ESERVFAIL). Try again in a few minutes.'],
      dkim: ['good', 'A DKIM key is published under google.'],
      dmarc: ['unknown', 'The name servers of studio.example didn’t answer (ESERVFAIL). Try again in a few minutes.'],
    },
  },
]

const lineOf = ({ type, name, value }: DomainFinding['records'][number]) => `${type} ${name} ${value}`

test('each part of a domain gets a verdict, a sentence and the record to publish', async () => {
  let zone: Zone['zone'] = {}
  await using dns = await openFakeDns((name) => zone[name])
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', config: { dnsServers: [`127.0.0.1:${dns.port}`] } })
  const { app, asha } = office
  const [mailbox] = (await ask(app, asha, mailCalls.mailboxes)).reply.mailboxes
  const check = async (about: Pick<Zone, 'host' | 'selector'>, address = `asha@${d}`) => {
    await app.db
      .update(mailConfigs)
      .set({ address, host: about.host ?? 'smtp.gmail.com' })
      .where(eq(mailConfigs.ownerId, asha.id))
    const query = about.selector === undefined ? {} : { selector: about.selector }
    return (await ask(app, asha, mailCalls.checkDomain, { params: { id: mailbox?._id ?? '' }, query })).reply
  }
  for (const one of zones) {
    zone = one.zone
    const { domain, note, findings } = await check(one)
    const shown = findings.map(({ part, verdict, sentence, records }) => [part, [verdict, sentence, ...records.map(lineOf)]] as const)
    expect({ domain, note, ...Object.fromEntries(shown.filter(([part]) => one.found[part])) }, one.about).toEqual({
      domain: d,
      note: null,
      ...one.found,
    })
    expect(shown.map(([part]) => part)).toEqual(['mx', 'spf', 'dkim', 'dmarc'])
  }
  zone = { '_dmarc.example': { TXT: ['v=DMARC1; p=reject; sp=quarantine'] }, '_dmarc.studio.example': { TXT: ['v=DMARC1; p=none'] } }
  expect((await check({}, 'asha@mail.studio.example')).findings.at(-1)).toMatchObject({
    verdict: 'good',
    sentence: 'The DMARC policy of studio.example covers mail.studio.example: none.',
  })
  const before = dns.asked.length
  expect(await check({}, 'asha.rao@gmail.com')).toEqual({
    domain: 'gmail.com',
    note: "This is Google's own domain: nothing to do.",
    findings: [],
  })
  expect((await check({}, 'asha@yahoo.co.in')).note).toBe("This is Yahoo's own domain: nothing to do.")
  expect(dns.asked).toHaveLength(before)
  expect((await check({}, 'asha@live.studio.example')).note).toBeNull()
})

test('name servers that never answer end the check, and an endless record asks no more than a receiver would', async () => {
  const sender = { address: `asha@${d}`, provider: 'smtp' as const, host: 'smtp.gmail.com' }
  await using silent = await openFakeDns(() => 'silent')
  const { findings } = await checkDomain(sender, { servers: [`127.0.0.1:${silent.port}`], patienceMs: 40 })
  expect(findings.map(({ verdict }) => verdict)).toEqual(['unknown', 'unknown', 'unknown', 'unknown'])
  let made = 0
  const another = () => {
    made += 1
    return `include:n${made}.example.net`
  }
  await using endless = await openFakeDns((name) => (name.startsWith('_') ? undefined : { TXT: [`v=spf1 ${another()} ${another()} ~all`] }))
  const endlessly = await checkDomain(sender, { servers: [`127.0.0.1:${endless.port}`] })
  expect(endlessly.findings[1]?.sentence).toContain('more than 10 DNS look-ups')
  expect(endless.asked.filter((one) => one.startsWith('TXT n'))).toHaveLength(10)
})

test('a domain is checked 20 times an hour, by its owner only, with a selector that can be one', async () => {
  await using dns = await openFakeDns(() => undefined)
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', config: { dnsServers: [`127.0.0.1:${dns.port}`], rateLimit: true } })
  const { app, asha } = office
  const [mailbox] = (await ask(app, asha, mailCalls.mailboxes)).reply.mailboxes
  const params = { id: mailbox?._id ?? '' }
  const other = await aPerson(app, { email: 'ravi@example.com' })
  expect((await ask(app, other, mailCalls.checkDomain, { params, query: {} })).status).toBe(404)
  const wrong = await ask(app, asha, mailCalls.checkDomain, { params, query: { selector: 'a b' } })
  expect(wrong.problem).toMatchObject({ code: 'invalid', message: expect.stringContaining('such as selector1') })
  const statuses: number[] = []
  for (let nth = 0; nth < 21; nth += 1) statuses.push((await ask(app, asha, mailCalls.checkDomain, { params, query: {} })).status)
  expect(statuses).toEqual([...Array<number>(20).fill(200), 429])
})
