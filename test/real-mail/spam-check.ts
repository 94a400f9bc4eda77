import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import MailComposer from 'nodemailer/lib/mail-composer'
import { english } from '#contract/english.ts'
import { textsIn } from '#contract/language-texts.ts'
import { bankSettings } from '#contract/payment-settings.ts'
import { stepTexts } from '#contract/ready-sequences.ts'
import { languages } from '#contract/speech.ts'
import * as accountEmails from '#server/accounts/texts.ts'
import { newId } from '#server/platform/columns.ts'
import { speechOf } from '#server/platform/speech.ts'
import { layOut, type SystemMailContent } from '#server/platform/system-mail-layout.ts'
import { composeReminder, type MailPayment, withFiles } from '#server/reminders/compose.ts'
import { freePort } from '#test/program.ts'
import { type Machine, openMachine } from './machine.ts'
import { findSpamFilters } from './packages.ts'

/*
 * npm run spam-check: the emails that Duely sends, as rspamd and SpamAssassin of Debian judge them, without network and without Bayes.
 */
interface Email {
  name: string
  raw: Buffer
  envelope: { from: string; to: string }
}

interface Judged {
  score: number
  /** With their points. */
  rules: { name: string; points: number }[]
}

const page = path.join(import.meta.dirname, '../../docs/deliverability.md')
const publicUrl = 'https://duely.example.com'
const from = { name: 'Asha Rao', address: 'asha@banyan.example' }
const methods = {
  upi: { id: 'asha@okaxis', name: 'Asha Rao', merchantCode: null },
  bank: bankSettings.parse({ kind: 'uk', accountName: 'Asha Rao', sortCode: '112233', accountNumber: '12345678' }),
  ownLink: null,
}
const payment: MailPayment = { methods, inEmails: true, pdf: 'attach', payLink: `${publicUrl}/pay/k3nqv`, mostAttached: 5_000_000 }
const pdf = Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
)

interface About {
  name: string
  texts?: (typeof stepTexts)['due']
  language?: (typeof languages)[number]
  count?: number
  pay?: MailPayment
  attached?: boolean
  currency?: string
}

async function reminder({
  name,
  texts = stepTexts.friendly,
  language = 'en',
  count = 1,
  pay,
  attached = false,
  currency = 'INR',
}: About): Promise<Email> {
  const invoice = (nth: number) => ({
    id: newId(),
    reference: `INV-00${nth + 12}`,
    clientName: 'Kaveri Foods',
    clientEmail: 'accounts@kaveri.example',
    currency,
    balanceMinor: 2_230_000,
    amountMinor: 2_230_000,
    dueDate: '2026-02-20',
    fileId: attached ? newId() : null,
    fileSize: attached ? pdf.length : null,
    firstMessageId: null,
    lastMessageId: null,
  })
  const { raw } = await composeReminder({
    id: newId(),
    about: [invoice(0), ...Array.from({ length: count - 1 }, (_none, nth) => invoice(nth + 1))],
    owed: { count, totalMinor: count * 2_230_000 },
    wordings: {
      one: { subject: texts.subject, content: texts.content },
      group: { subject: texts.groupSubject, content: texts.groupContent },
    },
    from,
    today: '2026-03-02',
    now: Temporal.Now.instant(),
    pay: pay ?? null,
    speech: language === 'en' ? english : speechOf(language),
  })
  return {
    name,
    envelope: { from: from.address, to: 'accounts@kaveri.example' },
    raw: attached ? withFiles(raw, [{ name: 'INV-0012.pdf', file: pdf }]) : raw,
  }
}

async function ofDuely(name: string, content: SystemMailContent): Promise<Email> {
  const raw = await new MailComposer({
    from: { name: 'Duely', address: 'hello@duely.example.com' },
    to: 'asha@banyan.example',
    subject: content.subject,
    ...layOut(publicUrl, content),
    messageId: `<${newId()}@duely.example.com>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  })
    .compile()
    .build()
  return { name: `Duely: ${name}`, raw, envelope: { from: 'hello@duely.example.com', to: from.address } }
}

async function everyEmail(): Promise<Email[]> {
  const { friendly, ...tones } = stepTexts
  const amountFirst = { ...friendly, subject: '{{amount}} is due for invoice {{invoiceId}}' }
  return Promise.all([
    reminder({ name: 'the default' }),
    reminder({ name: 'the amount in the subject, with its sign', texts: amountFirst }),
    reminder({
      name: 'the amount in the subject, with the code of its currency',
      texts: { ...friendly, subject: 'INR 22,300.00 is due for invoice {{invoiceId}}' },
    }),
    ...Object.entries(tones).map(([tone, texts]) => reminder({ name: `a step: ${tone}`, texts })),
    reminder({ name: 'three invoices in one', count: 3 }),
    reminder({ name: 'with ways to pay', pay: payment }),
    reminder({ name: 'with a PDF', pay: payment, attached: true }),
    ...languages.flatMap((language) =>
      language === 'en' ? [] : reminder({ name: `in the language ${language}`, language, texts: textsIn(language).friendly }),
    ),
    ofDuely('a password link', accountEmails.passwordResetEmail('k3nqv')),
    ofDuely('a confirmation', accountEmails.confirmationEmail('k3nqv')),
    ofDuely('an invitation', accountEmails.invitationEmail('k3nqv')),
    ofDuely('a changed password', accountEmails.passwordChangedEmail()),
    ofDuely('two-factor authentication', accountEmails.twoFactorEmail('on')),
  ])
}

/** As the server of a client has it, from a server with a name. */
function received({ raw }: Email): Buffer {
  const line = `Received: from mail.banyan.example (mail.banyan.example [5.5.5.5])\r\n\tby mx.kaveri.example with ESMTPS id 4f2a; ${new Date().toUTCString().replace('GMT', '+0000')}\r\n`
  return Buffer.concat([Buffer.from(line), raw])
}

/** Names are asked for where no name server is, so its rules about names of servers (HFILTER) are left out. */
async function openRspamd(machine: Machine): Promise<(email: Email) => Promise<Judged>> {
  const port = await freePort()
  const config = machine.write(
    'rspamd.conf',
    `.include "$CONFDIR/common.conf"
options {
  filters = "chartable,dkim,regexp";
  check_all_filters = true;
  pidfile = "${machine.folder}/rspamd.pid";
  hs_cache_dir = "${machine.folderOf('rspamd')}";
  dns { nameserver = ["127.0.0.1:1"]; timeout = 0.05s; retransmits = 1; }
}
logging { type = "file"; filename = "${machine.folder}/rspamd.log"; level = "error"; }
worker "normal" { bind_socket = "127.0.0.1:${port}"; count = 1; }
`,
  )
  const variables = ['DBDIR', 'RUNDIR', 'LOGDIR'].flatMap((name) => ['--var', `${name}=${machine.folder}`])
  const service = machine.start('/usr/bin/rspamd', ['-f', '--insecure', '-u', 'root', '-g', 'root', '-c', config, ...variables])
  const ask = async (email: Email): Promise<Judged> => {
    const answered = await fetch(`http://127.0.0.1:${port}/checkv2`, {
      method: 'POST',
      headers: {
        IP: '5.5.5.5',
        Helo: 'mail.banyan.example',
        Hostname: 'mail.banyan.example',
        From: email.envelope.from,
        Rcpt: email.envelope.to,
      },
      body: received(email),
    })
    const { symbols } = (await answered.json()) as { symbols: Record<string, { score: number }> }
    const all = Object.entries(symbols).map(([name, { score: points }]) => ({ name, points }))
    const rules = all.filter(({ name }) => !name.startsWith('HFILTER_'))
    return { score: rules.reduce((sum, { points }) => sum + points, 0), rules }
  }
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/ping`).catch(() => null)
    if (ready?.ok) return ask
    if (service.hasEnded()) throw new Error(`rspamd did not start:\n${machine.log('rspamd.log').slice(-2_000)}`)
    await pause(200)
  }
}

function askSpamAssassin(machine: Machine, email: Email): Judged {
  const file = machine.write('email.eml', received(email).toString('latin1'))
  const report = machine.run('/usr/bin/spamassassin', [
    '--local',
    '--test-mode',
    '--nocreate-prefs',
    '--siteconfigpath=/etc/spamassassin',
    file,
  ])
  const rules = [...report.matchAll(/^ *(-?\d+\.\d+) ([A-Z][A-Z0-9_]+) /gm)].map(([, points = '', name = '']) => ({
    name,
    points: Number(points),
  }))
  return { score: Number(/^Content analysis details: +\((-?[\d.]+) points/m.exec(report)?.[1]), rules }
}

const shown = ({ score, rules }: Judged) => [
  score.toFixed(1),
  rules
    .filter(({ points }) => points >= 0.05)
    .toSorted((a, b) => b.points - a.points)
    .map(({ name, points }) => `${name} ${points.toFixed(1)}`)
    .join(', '),
]

await using machine = await openMachine(findSpamFilters)
if (machine) {
  const rspamd = await openRspamd(machine)
  const lines: string[][] = [['email', 'rspamd', 'its rules', 'SpamAssassin', 'its rules']]
  lines.push(lines[0]?.map(() => '---') ?? [])
  for (const email of await everyEmail()) {
    const line = [email.name, ...shown(await rspamd(email)), ...shown(askSpamAssassin(machine, email))]
    process.stdout.write(`${line.join(' | ')}\n`)
    lines.push(line)
  }
  if (process.argv.includes('--write')) {
    const [before = ''] = readFileSync(page, 'utf8').split(/^\| email/m)
    writeFileSync(page, `${before}${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}\n`)
  }
} else {
  process.stdout.write('rspamd and SpamAssassin take Debian, its packages and root.\n')
  process.exitCode = 1
}
