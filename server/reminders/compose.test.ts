import fc from 'fast-check'
import MailComposer from 'nodemailer/lib/mail-composer'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { defaultContent, defaultGroupContent, defaultGroupSubject, defaultSubject, reminderDocument } from '#contract/templates.ts'
import { composeReminder, renderMail } from './compose.ts'

const group = { subject: defaultGroupSubject, content: defaultGroupContent }
/** Letters of several scripts, quotes, angle brackets, encoded words and line breaks: what could leave its header. */
const line = fc.stringMatching(/^[a-zA-Z ,.;:"'<>()@=?_ąßñ₹日本🙂\r\n]{0,60}$/u)
const name = fc.oneof(line, fc.string({ unit: 'grapheme', maxLength: 30 }))
const id = '019caccf-7120-73f8-9afa-6b2d4e8c0f11'
const about = (clientName: string, messageIds: string[]) => ({
  reference: 'INV-0001',
  clientName,
  clientEmail: 'billing@kaveri.example',
  balanceMinor: 300_000,
  amountMinor: 500_000,
  currency: 'INR',
  dueDate: '2026-02-20',
  firstMessageId: messageIds[0] ?? null,
  lastMessageId: messageIds[1] ?? null,
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
        html: reminderDocument(rendered.html),
        messageId: composed.messageId,
        date: new Date('2026-03-02T03:30:00Z'),
        ...(messageIds.length === 0 ? {} : { inReplyTo: messageIds.at(-1), references: messageIds }),
        headers: { 'X-Reminder-Id': id, 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' },
        newline: '\r\n',
      })
      const [ours, theirs] = await Promise.all(
        [composed.raw, await reference.compile().build()].map(async (raw) => {
          const { headers, ...parsed } = await PostalMime.parse(raw)
          const kept = headers.filter(({ key }) => key !== 'content-type').map(({ key, value }) => [key, value])
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
