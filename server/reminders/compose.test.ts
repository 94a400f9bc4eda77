import { createHash } from 'node:crypto'
import fc from 'fast-check'
import MailComposer from 'nodemailer/lib/mail-composer'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { noBrand } from '#contract/brand.ts'
import { defaultContent, defaultGroupContent, defaultGroupSubject, defaultSubject, reminderDocument } from '#contract/templates.ts'
import { withoutMarks } from '#contract/text.ts'
import { composeReminder, renderMail, withFiles } from './compose.ts'

const group = { subject: defaultGroupSubject, content: defaultGroupContent }
/** Letters of several scripts, quotes, angle brackets, encoded words and line breaks: what could leave its header. */
const line = fc.stringMatching(/^[a-zA-Z ,.;:"'<>()@=?_ąßñ₹日本🙂\r\n]{0,60}$/u)
const name = fc.oneof(line, fc.string({ unit: 'grapheme', maxLength: 30 }).map(withoutMarks))
const id = '019caccf-7120-73f8-9afa-6b2d4e8c0f11'
const about = (clientName: string, messageIds: string[]) => ({
  id,
  reference: 'INV-0001',
  clientName,
  clientEmail: 'billing@kaveri.example',
  balanceMinor: 300_000,
  amountMinor: 500_000,
  currency: 'INR',
  dueDate: '2026-02-20',
  fileId: null,
  fileSize: null,
  firstMessageId: messageIds[0] ?? null,
  lastMessageId: messageIds[1] ?? null,
})

test('marks of direction in stored names and references reach no part of an email', async () => {
  const client = about('Kaveri \u202esdooF\u2069', [])
  const { raw } = await composeReminder({
    id,
    about: [{ ...client, reference: 'INV-\u200e0001' }],
    owed: { count: 1, totalMinor: 500_000 },
    wordings: { one: { subject: '{{invoiceId}} {{clientName}}', content: '{{clientName}} {{userName}} {{invoiceId}}' }, group },
    from: { name: 'Asha \u202eahsA', address: 'asha@example.com' },
    brand: { brand: { ...noBrand, name: 'Neem \u202emeeN' }, replyTo: null, picture: null, whiteLabel: true },
    today: '2026-03-02',
    now: Temporal.Instant.from('2026-03-02T03:30:00Z'),
    pay: null,
  })
  const { from, to, subject, text, html } = await PostalMime.parse(raw)
  expect([from?.name, to?.[0]?.name, subject]).toEqual(['Asha ahsA', 'Kaveri sdooF', 'INV-0001 Kaveri sdooF'])
  for (const part of [text ?? '', html ?? '']) {
    expect(part).toContain('Kaveri sdooF Asha ahsA INV-0001')
    expect(part).toContain('Neem meeN')
    expect(part).toBe(withoutMarks(part))
  }
})

test('a name beyond ASCII is one encoded word where 75 characters hold it', async () => {
  const header = async (name: string) => {
    const { raw } = await composeReminder({
      id,
      about: [about('Kaveri Foods', [])],
      owed: { count: 1, totalMinor: 300_000 },
      wordings: { one: { subject: defaultSubject, content: defaultContent }, group },
      from: { name, address: 'asha@example.com' },
      today: '2026-03-02',
      now: Temporal.Instant.from('2026-03-02T03:30:00Z'),
      pay: null,
    })
    return /^From: .*(?:\r\n .*)*/m.exec(raw.toString())?.[0]
  }
  expect(await header('Zoë, Müller & Co')).toBe('From: =?UTF-8?Q?Zo=C3=AB=2C_M=C3=BCller_=26_Co?=\r\n <asha@example.com>')
  expect(await header('अनिल शर्मा मोहन')).toMatch(/^From: =\?UTF-8\?B\?[\w+/=]{56}\?=\r\n <asha@example\.com>$/)
  expect(await header('अनिल शर्मा ट्रेडिंग कंपनी')).toMatch(/^From: =\?.*\?=\r\n =\?/)
  expect(await header('Asha Rao')).toBe('From: Asha Rao <asha@example.com>')
})

test('an email is read as the one that nodemailer composes of the same parts', async () => {
  const ids = fc.constantFrom<string[]>([], ['<rem.1@example.com>'], ['<rem.1@example.com>', '<rem.2@example.com>'])
  await fc.assert(
    fc.asyncProperty(name, name, fc.oneof(fc.constant(defaultSubject), line), ids, async (owner, client, subject, messageIds) => {
      const mail = {
        id,
        about: [about(client, messageIds)] as [ReturnType<typeof about>],
        owed: { count: 1, totalMinor: 500_000 },
        wordings: { one: { subject, content: defaultContent }, group },
        from: { name: owner, address: 'asha@example.com' },
        today: '2026-03-02',
        now: Temporal.Instant.from('2026-03-02T03:30:00Z'),
        pay: null,
      }
      const composed = await composeReminder(mail)
      const rendered = renderMail({ ...mail, userName: owner, picture: () => '' })
      const reference = new MailComposer({
        from: mail.from,
        to: { name: client, address: 'billing@kaveri.example' },
        subject: rendered.subject,
        text: rendered.text,
        html: reminderDocument(rendered.html, undefined, rendered.subject),
        messageId: composed.messageId,
        date: new Date('2026-03-02T03:30:00Z'),
        ...(messageIds.length === 0 ? {} : { inReplyTo: messageIds.at(-1), references: messageIds }),
        headers: { 'X-Reminder-Id': id, 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' },
        newline: '\r\n',
      })
      const [ours, theirs] = await Promise.all(
        [composed.raw, await reference.compile().build()].map(async (raw) => {
          // Names are in fewer words than nodemailer's: what they are read as is compared.
          const { headers, ...parsed } = await PostalMime.parse(raw)
          const kept = headers.filter(({ key }) => !['content-type', 'from', 'to'].includes(key)).map(({ key, value }) => [key, value])
          // Where base64 ends, quoted-printable has one more line break.
          const text = (part = '') => part.replaceAll('\r\n', '\n').trimEnd()
          return { ...parsed, text: text(parsed.text), html: text(parsed.html), headers: Object.fromEntries(kept), headerLines: undefined }
        }),
      )
      expect(ours).toEqual(theirs)
      expect(
        composed.raw
          .toString('latin1')
          .split('\r\n')
          .every((one) => one.length <= 998 && !/[\r\n]/.test(one)),
      ).toBe(true)
    }),
    { numRuns: 150 },
  )
})

const one = { subject: defaultSubject, content: defaultContent }
const own = {
  one: {
    subject: 'Überfällig: {{invoiceId}} – {{amount}}',
    content:
      'Hello {{clientName}},\n\n{{invoiceId}} over {{amount}} was due on {{dueDate}}, {{daysOverdue}} days ago.\n\n<b>{{businessName}}</b> & {{userName}}',
  },
  group: {
    subject: '{{invoiceCount}} invoices, {{totalAmount}}',
    content: 'Dear {{clientName}},\n\n{{invoiceList}}\n\nTogether {{totalAmount}}.\n\n{{businessName}}',
  },
}
const kaveri = {
  id,
  reference: 'INV-0001',
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  balanceMinor: 500_000,
  amountMinor: 500_000,
  currency: 'INR',
  dueDate: '2026-02-20',
  fileId: null,
  fileSize: null,
  firstMessageId: null,
  lastMessageId: null,
}
const second = { ...kaveri, reference: 'INV-0002', balanceMinor: 1_84_20_050, amountMinor: 1_84_20_050, dueDate: '2026-02-25' }
const sum = { count: 2, totalMinor: 1_89_20_050 }
const cases = {
  'one invoice': {
    sha256: '6c717bc45942747ac0caa82ab498c56ac5098a4f807dbf6df2432bbd69949983',
    about: [kaveri],
    owed: { count: 1, totalMinor: 500_000 },
    wordings: { one, group },
  },
  'a follow-up to a name beyond ASCII': {
    sha256: 'aaeb05510a6a777bd615847ecc3ad1816280ce9252c113808b8b8423272c4df6',
    about: [{ ...kaveri, clientName: 'Žižek & Söhne "GmbH"', firstMessageId: '<rem.1@example.com>', lastMessageId: '<rem.2@example.com>' }],
    owed: { count: 1, totalMinor: 500_000 },
    wordings: { one, group },
  },
  'one invoice in the account’s own words': {
    sha256: '8acb4e9373bda7b479e5f36fc5d6a671a48093a9864811de51460179b0da31fc',
    about: [kaveri],
    owed: { count: 1, totalMinor: 500_000 },
    wordings: own,
  },
  'two invoices': {
    sha256: '27147a8ac9046f9423d934b41f53e52b5532f82c8cad4a6cd343fde9597b710e',
    about: [kaveri, second],
    owed: sum,
    wordings: { one, group },
  },
  'two invoices in the account’s own words': {
    sha256: '3a8dc78a2901f4c0eaef3d6eb4d0dcf27c68ca6ee7884bf6e884eaacbf1d957b',
    about: [kaveri, second],
    owed: sum,
    wordings: own,
  },
  'the one invoice left of several': {
    sha256: '1ae2ed50af18c26df02f62d9ed4766ec89d8bbad85f61a469e8769e36d1a09be',
    about: [second],
    owed: { count: 1, totalMinor: 1_84_20_050 },
    wordings: { one: own.group, group: own.group },
  },
}

/** The digests are of what version 0.1.0 composed, before there were ways to pay; the boundary is chosen by chance. */
test.each(Object.entries(cases))(
  'without a way to pay an email is byte for byte as before: %s',
  async (_name, { sha256, about, ...given }) => {
    const [first, ...others] = about
    if (!first) throw new Error('An email is about an invoice.')
    const { raw } = await composeReminder({
      ...given,
      about: [first, ...others],
      id,
      from: { name: 'Asha Traders', address: 'asha@example.com' },
      today: '2026-03-02',
      now: Temporal.Instant.from('2026-03-02T03:30:00Z'),
      pay: null,
    })
    const text = raw.toString()
    const [, boundary = ''] = /boundary="([^"]+)"/.exec(text) ?? []
    expect(createHash('sha256').update(text.replaceAll(boundary, 'boundary')).digest('hex')).toBe(sha256)
  },
)

test('attached PDFs follow the email as it was, in the same bytes each time', async () => {
  const { raw } = await composeReminder({
    ...cases['one invoice'],
    about: [kaveri],
    id,
    from: { name: 'Asha Traders', address: 'asha@example.com' },
    today: '2026-03-02',
    now: Temporal.Instant.from('2026-03-02T03:30:00Z'),
    pay: null,
  })
  expect(withFiles(raw, [])).toBe(raw)
  const before = await PostalMime.parse(raw)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 400 }), { minLength: 1, maxLength: 3 }), async (bytes) => {
      const files = bytes.map((content, nth) => ({ name: nth === 0 ? 'Größe 7.pdf' : `INV-${nth}.pdf`, file: Buffer.from(content) }))
      const sent = withFiles(raw, files)
      expect(withFiles(raw, files).equals(sent)).toBe(true)
      const { attachments, text, html, headers } = await PostalMime.parse(sent)
      expect({ text, html }).toEqual({ text: before.text, html: before.html })
      expect(headers.filter(({ key }) => !['content-type', 'from', 'to'].includes(key))).toEqual(
        before.headers.filter(({ key }) => !['content-type', 'from', 'to'].includes(key)),
      )
      expect(attachments.map(({ filename, content }) => ({ name: filename, file: Buffer.from(content as ArrayBuffer) }))).toEqual(files)
      expect(
        sent
          .toString('latin1')
          .split('\r\n')
          .every((line) => line.length <= 998 && !/[\r\n]/.test(line)),
      ).toBe(true)
    }),
    { numRuns: 60 },
  )
})
