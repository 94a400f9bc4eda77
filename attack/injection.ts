import { chromium } from '@playwright/test'
import { unzipSync } from 'fflate'
import Papa from 'papaparse'
import PostalMime from 'postal-mime'
import { aMailServer } from '#chaos/place.ts'
import { type Chaos, type Scenario, until } from '#chaos/scenario.ts'
import { chromiumFlags, findChromium } from '#test/chromium.ts'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { aTarget, type Browser, lateInvoice, password, somebody } from './browser.ts'
import { ofTheBrowser, strayPackets } from './outside.ts'

const run = 'window.hit=1'
const scripts = [
  `<script>${run}</script>`,
  `<ScRiPt>${run}</sCrIpT>`,
  `<script src=data:,${run}></script>`,
  `<scr<script>ipt>${run}</scr</script>ipt>`,
  `<img src=x onerror=${run}>`,
  `<img src=x onerror="${run}" `,
  `<img/src=x/onerror=${run}>`,
  `<svg onload=${run}>`,
  `<svg><script>${run}</script></svg>`,
  `<svg><animate onbegin=${run} attributeName=x dur=1s>`,
  `<math><mtext><img src=x onerror=${run}></mtext></math>`,
  `<iframe srcdoc="<script>parent.hit=1</script>"></iframe>`,
  `<iframe src="javascript:parent.hit=1"></iframe>`,
  `<a href="javascript:${run}" autofocus>x</a>`,
  `<body onload=${run}>`,
  `<details open ontoggle=${run}>`,
  `<input autofocus onfocus=${run}>`,
  `<video><source onerror=${run}></video>`,
  `<object data="javascript:${run}"></object>`,
  `<embed src="javascript:${run}">`,
  `<link rel=stylesheet href="javascript:${run}">`,
  `<style>@import 'javascript:${run}';</style>`,
  `<meta http-equiv=refresh content="0;url=javascript:${run}">`,
  `<form action="javascript:${run}"><button autofocus>x</button></form>`,
  `<b onmouseover=${run} style="position:fixed;inset:0">x</b>`,
  `<b style="background:url(javascript:${run})">x</b>`,
  `<i id="x" onclick=${run} tabindex=1 autofocus onfocus=${run}>x</i>`,
  `<br onload=${run}>`,
  `"><script>${run}</script>`,
  `'><img src=x onerror=${run}>`,
  `--><script>${run}</script><!--`,
  `]]><script>${run}</script>`,
  `</title><script>${run}</script>`,
  `</textarea><script>${run}</script>`,
  `</style><script>${run}</script>`,
  `&lt;script&gt;${run}&lt;/script&gt;`,
  `\u003cscript\u003e${run}\u003c/script\u003e`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>">`,
  `{{constructor.constructor('${run}')()}}`,
  `\${${run}}`,
]
/** Five places in a text. */
const corpus = scripts.flatMap((one) => [one, `Kaveri ${one}`, `<b>${one}</b>`, `${one}${one}`, `<b><i>${one}`])
const allowed = new Set(['br', 'b', 'i', 'u', 'strong', 'em'])

interface Writing {
  smtp: FakeSmtp
  browser: Browser
  url: string
}

async function withMailbox(chaos: Chaos): Promise<Writing> {
  const smtp = await aMailServer(chaos)
  const { program } = await aTarget(chaos)
  return aWriter({ smtp, url: program.url })
}

/** Somebody with a mailbox. Each of them sends by hand once: a second time within a minute would be the first one again. */
async function aWriter({ smtp, url }: Pick<Writing, 'smtp' | 'url'>, displayName = 'Asha Rao'): Promise<Writing> {
  const browser = await somebody(url, { displayName })
  await browser.ask('POST /mail-config/smtp', { body: { host: smtp.host, port: smtp.port, secure: false, ...smtp.login } })
  return { smtp, browser, url }
}

/** The mail that leaves where nobody means any harm. */
async function harmlessMail(chaos: Chaos, place: Writing): Promise<Buffer> {
  const writer = await aWriter(place)
  await writer.browser.ask('POST /invoice', { body: lateInvoice({ clientEmail: 'plain@client.example' }) })
  const [mail] = await sendAll(chaos, writer, 1)
  return mail?.raw ?? Buffer.alloc(0)
}

function wording(customSubject: string, customContent: string): object {
  return { useCustomTemplate: true, customSubject, customContent }
}

/** Every tag of a document, as it stands there. */
function tagsOf(html: string): string[] {
  return html.match(/<\/?[a-z!][^>]*>/gi) ?? []
}

/** Tags of a mail beyond those that every mail has, but for the six that may stand in one, bare. */
function strange(html: string, usual: Set<string>): string[] {
  return tagsOf(html).filter((tag) => !usual.has(tag) && !allowed.has(/^<\/?([a-z]+)\s*\/?>$/i.exec(tag)?.[1]?.toLowerCase() ?? ''))
}

/** Sends everything that is due and answers the mails that left by it. */
async function sendAll(chaos: Chaos, { browser, smtp }: Writing, count: number): Promise<FakeSmtp['mails']> {
  const before = smtp.mails.length
  await browser.ask('POST /reminder/send-immediate')
  await until(`${count} mails`, { seconds: 90, over: chaos.over }, () => smtp.mails.length >= before + count)
  return smtp.mails.slice(before)
}

const breaks = ['\r\n', '\n', '\r', '\r\n ', '%0d%0a', '\u2028', '\u0085', '\u0000']
const headers = ['Bcc: thief@evil.example', 'RCPT TO:<thief@evil.example>', 'X-Evil: 1']

/** Ways to smuggle a recipient or a header into a name, an address or a subject. */
const smuggles = [
  ...breaks.flatMap((one) => headers.map((header) => `x${one}${header}`)),
  'a@client.example, thief@evil.example',
  'a@client.example; thief@evil.example',
  'a@client.example thief@evil.example',
  '"a, thief@evil.example" <a@client.example>',
  '<thief@evil.example> a@client.example',
  'group: thief@evil.example, a@client.example;',
  '"quoted\\" <thief@evil.example>"@client.example',
  'a@client.example>\r\nRCPT TO:<thief@evil.example',
  '=?utf-8?q?=0d=0aBcc:_thief@evil.example?=',
  '=?utf-8?b?DQpCY2M6IHRoaWVmQGV2aWwuZXhhbXBsZQ==?=',
  'a@client.example\t<thief@evil.example>',
  '(comment) thief@evil.example',
]

const prefixes = ['=', '+', '-', '@', '\t=', '\r=', '\n=', ' =', '＝', '＋', '－', '＠']

/** Rows 70, 71 and 73: texts that would be more than texts. */
export const injections: Scenario[] = [
  {
    row: '70',
    name: `${corpus.length} scripts in names, wording and invoices, looked at in preview, mail and lists`,
    criterion: 'executed 0; tags beside the six allowed 0',
    async run(chaos) {
      const place = await withMailbox(chaos)
      const { browser, url } = place
      const html = async (raw: Buffer) => (await PostalMime.parse(raw)).html ?? ''
      const usual = new Set(tagsOf(await html(await harmlessMail(chaos, place))))
      let entered = 0
      for (const [nth, clientName] of corpus.entries()) {
        const { status } = await browser.ask('POST /invoice', { body: lateInvoice({ clientName, clientEmail: `c${nth}@client.example` }) })
        if (status === 201) entered += 1
      }
      const named = await sendAll(chaos, place, entered)
      const mails = await Promise.all(named.map(({ raw }) => html(raw)))
      // The wording itself, and the name of whoever signs it.
      const ways = chaos.short ? scripts.slice(0, 8) : scripts
      for (const script of ways) {
        const writer = await aWriter(place, script)
        const other = writer.browser
        await other.ask('PUT /mail-config/template', { body: wording(`Pay {{invoiceId}}`, `${script} {{clientName}} {{userName}}`) })
        await other.ask('POST /invoice', { body: lateInvoice({ clientName: script }) })
        const [mail] = await sendAll(chaos, writer, 1)
        mails.push(await html(mail?.raw ?? Buffer.alloc(0)))
      }
      const tags = mails.flatMap((mail) => strange(mail, usual))

      const executablePath = findChromium()
      if (!executablePath) return { skipped: 'there is no Chromium on this machine' }
      const packets = strayPackets()
      const chrome = await chromium.launch({ executablePath, args: chromiumFlags })
      let executed = 0
      try {
        const page = await chrome.newPage()
        const look = async () => {
          if (await page.evaluate('"hit" in window')) executed += 1
        }
        for (const mail of mails) {
          await page.setContent(mail, { waitUntil: 'domcontentloaded' })
          await look()
        }
        // The last of those who wrote a script as wording, and the one with all the names.
        await browser.ask('PUT /mail-config/template', { body: wording(scripts[0] ?? '', scripts.join('\n')) })
        await page.goto(`${url}/signin`)
        await page.getByLabel('Email').fill(browser.email)
        await page.getByLabel('Password', { exact: true }).fill(password)
        await page.locator('form button[type=submit]').click()
        await page.waitForURL(/\/dashboard$/)
        for (const screen of [
          '/dashboard',
          '/dashboard/email-templates',
          '/dashboard/reminder-control',
          '/dashboard/profile?tab=security',
        ]) {
          await page.goto(url + screen)
          await page.waitForLoadState('networkidle')
          await look()
          for (const frame of page.frames()) if (await frame.evaluate('"hit" in window').catch(() => false)) executed += 1
        }
      } finally {
        await chrome.close()
        ofTheBrowser.packets += strayPackets() - packets
      }
      return {
        figure: `${entered} of ${corpus.length} could be written down, ${mails.length} mails: executed ${executed}, tags beside the six ${tags.length}${tags.length > 0 ? ` (${tags.slice(0, 3).join(' ')})` : ''}`,
        holds: executed === 0 && tags.length === 0 && entered > 100,
      }
    },
    seconds: 400,
  },
  {
    row: '71',
    name: `${smuggles.length} ways to smuggle a recipient or a header in, by four fields`,
    criterion: 'further recipients 0; further headers 0',
    async run(chaos) {
      const place = await withMailbox(chaos)
      const { browser, smtp } = place
      const names = (raw: Buffer) =>
        [...(raw.toString('latin1').split('\r\n\r\n', 1)[0] ?? '').matchAll(/^([\w-]+):/gm)].map(([, name = '']) => name.toLowerCase())
      const usual = new Set(names(await harmlessMail(chaos, place)))
      usual.add('in-reply-to').add('references')
      let [tries, refused] = [0, 0]
      const wanted = new Set<string>(['plain@client.example'])
      const enter = async (who: Browser, nth: string, about: object) => {
        tries += 1
        const { status, body } = await who.ask('POST /invoice', {
          body: { ...lateInvoice({ clientEmail: `c${nth}@client.example` }), ...about },
        })
        if (status !== 201) refused += 1
        else wanted.add((body as { clientEmail: string }).clientEmail)
      }
      for (const [nth, smuggle] of smuggles.entries()) {
        await enter(browser, `${nth}`, { clientName: smuggle })
        await enter(browser, `${nth}`, { clientEmail: smuggle })
        await enter(browser, `${nth}.ref`, { reference: smuggle })
      }
      await sendAll(chaos, place, wanted.size - 1)
      for (const [nth, smuggle] of smuggles.entries()) {
        tries += 1
        const signed = await browser.ask('PATCH /user/profile', { body: { displayName: smuggle } })
        const worded = await browser.ask('PUT /mail-config/template', { body: wording(smuggle, 'Please pay {{amount}}') })
        if (signed.status >= 400 && worded.status >= 400) {
          refused += 1
          continue
        }
        wanted.add(`w${nth}@client.example`)
        const writer = await aWriter(place, signed.status < 400 ? smuggle : undefined)
        const other = writer.browser
        if (worded.status < 400) await other.ask('PUT /mail-config/template', { body: wording(smuggle, 'Please pay {{amount}}') })
        await other.ask('POST /invoice', { body: lateInvoice({ clientEmail: `w${nth}@client.example` }) })
        await sendAll(chaos, writer, 1)
      }
      const recipients = smtp.mails.filter(({ envelope: { to } }) => to.length !== 1 || !wanted.has(to[0] ?? '')).length
      const evil = smtp.commands.filter((line) => /^RCPT TO:.*evil\.example>/i.test(line)).length
      const further = smtp.mails.flatMap(({ raw }) => names(raw)).filter((name) => !usual.has(name))
      return {
        figure: `${tries} tries, ${refused} refused, ${smtp.mails.length} mails: further recipients ${recipients + evil}, further headers ${further.length}${further.length > 0 ? ` (${[...new Set(further)].slice(0, 3).join(', ')})` : ''}`,
        holds: recipients + evil === 0 && further.length === 0 && smtp.mails.length > 10,
      }
    },
  },
  {
    row: '73',
    name: `${prefixes.length} beginnings of a formula in everything that is exported`,
    criterion: 'dangerous cells 0; amounts are numbers',
    short: true,
    async run(chaos) {
      const { program } = await aTarget(chaos)
      const browser = await somebody(program.url)
      let entered = 0
      for (const prefix of prefixes) {
        const { status } = await browser.ask('POST /invoice', {
          body: lateInvoice({ clientName: `${prefix}HYPERLINK("https://evil.example")` }),
        })
        if (status === 201) entered += 1
      }
      const files = new Map([['invoices/export', (await browser.ask('GET /invoices/export')).text]])
      const zip = await fetch(`${program.url}/user/export`, { headers: { authorization: `Bearer ${browser.token}` } })
      for (const [name, bytes] of Object.entries(unzipSync(new Uint8Array(await zip.arrayBuffer()))))
        if (name.endsWith('.csv')) files.set(name, Buffer.from(bytes).toString())
      let [cells, dangerous, amounts, wrongAmounts] = [0, 0, 0, 0]
      for (const text of files.values()) {
        const { data } = Papa.parse<Record<string, string>>(text.replace(/^\uFEFF/, ''), { header: true, skipEmptyLines: true })
        for (const line of data)
          for (const [column, cell] of Object.entries(line)) {
            cells += 1
            if (/^\s*[=+\-@＝＋－＠]/.test(cell) && Number.isNaN(Number(cell))) dangerous += 1
            if (!/^amount/i.test(column)) continue
            amounts += 1
            if (cell === '' || Number.isNaN(Number(cell))) wrongAmounts += 1
          }
      }
      return {
        figure: `${entered} of ${prefixes.length} written down, ${files.size} files, ${cells} cells: dangerous ${dangerous}; ${amounts} amounts, ${wrongAmounts} no numbers`,
        holds: entered > 0 && dangerous === 0 && amounts >= 2 * entered && wrongAmounts === 0,
      }
    },
  },
]
