import { expect, test } from 'vitest'
import { businessCalls } from '#contract/business.ts'
import { clientCalls } from '#contract/clients.ts'
import { english } from '#contract/english.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { textsIn, words } from '#contract/language-texts.ts'
import { bankSettings } from '#contract/payment-settings.ts'
import { stepTexts } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls, sequenceDraft } from '#contract/sequences.ts'
import { languages, type PayWords } from '#contract/speech.ts'
import { reminderDocument, templateCalls } from '#contract/templates.ts'
import { newId } from '#server/platform/columns.ts'
import { speechOf } from '#server/platform/speech.ts'
import { anInvoice, anOffice, aSequence } from '#test/factories.ts'
import { ask } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { composeReminder, type MailPayment, renderMail } from './compose.ts'
import { deliveries } from './tables.ts'

const others = languages.filter((language) => language !== 'en')
const nine = '2026-03-02T03:30:00Z'

const methods = {
  upi: { id: 'asha@okaxis', name: 'Asha', merchantCode: null },
  bank: bankSettings.parse({ kind: 'uk', accountName: 'Asha', sortCode: '112233', accountNumber: '12345678' }),
  ownLink: null,
}
const payment: MailPayment = { methods, inEmails: true, pdf: 'link', payLink: 'https://duely.example/pay/k', mostAttached: 0 }
const facts = { clientName: 'Kaveri', clientEmail: 'k@example.com', currency: 'INR', firstMessageId: null, lastMessageId: null }
const invoice = (nth: number) => ({
  ...facts,
  id: newId(),
  reference: `R-${nth}`,
  balanceMinor: 300_000,
  amountMinor: 500_000,
  dueDate: '2025-01-15',
  fileId: newId(),
  fileSize: 1_000,
})

/** Every email of a language: the template's and those of steps, about one invoice and several, with and without a pay page. */
function everyEmail(language: (typeof others)[number]) {
  const speech = speechOf(language)
  return Object.values(textsIn(language)).flatMap((texts) =>
    [1, 250].flatMap((count) =>
      [payment, { ...payment, payLink: null }].map((pay) => {
        const about = Array.from({ length: Math.min(count, 200) }, (_none, nth) => invoice(nth))
        return renderMail({
          about,
          owed: { count, totalMinor: count * 300_000 },
          wordings: {
            one: { subject: texts.subject, content: texts.content },
            group: { subject: texts.groupSubject, content: texts.groupContent },
          },
          userName: 'Asha',
          today: '2025-01-20',
          pay,
          picture: () => 'cid:qr',
          speech,
        })
      }),
    ),
  )
}

/** Words of the English emails and of the block about paying, but for those that other languages have too. */
const englishWords = new Set(
  [
    ...Object.values(stepTexts).flatMap((texts) => Object.values(texts)),
    ...said(english.pay),
    english.listed({ reference: '', amount: '', due: '', days: 2 }),
    english.more(2, ''),
  ]
    .join(' ')
    .replace(/\{\{\w+\}\}|<[^>]*>/g, ' ')
    .match(/[a-z]{3,}/gi)
    ?.map((word) => word.toLowerCase()),
)
for (const word of [
  'die',
  'das',
  'was',
  'pdf',
  'upi',
  'code',
  'sort',
  'routing',
  'number',
  'total',
  'date',
  'more',
  'note',
  'are',
  'all',
  'plan',
  'over',
  'not',
  'page',
  'moment',
  'message',
  'question',
  'due',
  'open',
])
  englishWords.delete(word)

function said(pay: PayWords): string[] {
  return Object.values(pay).flatMap((one) => (typeof one === 'string' ? one : typeof one === 'function' ? one('', '') : Object.values(one)))
}

test.for(others)('no English is left in an email in %s, as text and as HTML', (language) => {
  for (const { subject, text, html } of everyEmail(language)) {
    expect(text.includes('{{') || subject.includes('{{')).toBe(false)
    const shown = [subject, text, html.replace(/<[^>]*>/g, ' ')].join(' ')
    const found =
      shown.replace(/https:\S+|asha@okaxis|Kaveri|Asha|R-\d+/g, ' ').match(/(?<![\p{L}\p{M}])[a-z]{3,}(?![\p{L}\p{M}])/giu) ?? []
    expect(found.filter((word) => englishWords.has(word.toLowerCase()))).toEqual([])
  }
})

test('the texts of the specification appear letter for letter, amounts and dates as the language has them', () => {
  const first = (language: (typeof others)[number]) => everyEmail(language)[0]
  expect(first('de')?.subject).toBe('Zahlungserinnerung: Rechnung R-0 war am 15. Januar 2025 fällig')
  expect(first('de')?.text).toContain(
    'Betrag: 3.000,00\u00a0₹\nRechnung: R-0\nFällig am: 15. Januar 2025\nTage überfällig: 5\n\nFalls Sie inzwischen bezahlt haben: vielen Dank,',
  )
  expect(first('fr')?.subject).toBe('Rappel de paiement\u00a0: facture R-0 échue le 15 janvier 2025')
  expect(first('fr')?.text).toMatch(/Montant\u00a0: 3\u202f000,00\u00a0₹/)
  expect(first('pt')?.subject).toBe('Lembrete de pagamento: a fatura R-0 venceu em 15 de janeiro de 2025')
  expect(first('hi')?.text).toContain('देय तिथि: 15 जनवरी 2025\nविलंब के दिन: 5')
  const [, , grouped] = everyEmail('nl')
  expect(grouped?.subject).toMatch(/^Betalingsherinnering: ₹\s750\.000,00 achterstallig$/)
  expect(grouped?.text).toContain('Aantal facturen: 250\n\nR-0: ')
  expect(grouped?.text).toMatch(/\nR-1: ₹\s3\.000,00, Vervaldatum: 15 januari 2025, Dagen te laat: 5\n/)
  expect(grouped?.text).toMatch(/\nen nog 50 \(₹\s150\.000,00\)\n/)
  expect(words.it.greeting + words.es.greeting).toBe('Buongiorno {{clientName}},Hola, {{clientName}}:')
})

test('an email names its language, and values among words from right to left keep their own direction', async () => {
  const mail = {
    id: newId(),
    about: [invoice(1)] as [ReturnType<typeof invoice>],
    owed: { count: 1, totalMinor: 300_000 },
    wordings: {
      one: { subject: 'פרטים {{invoiceId}}', content: '{{clientName}}\n\n<strong>{{amount}}</strong>\n{{dueDate}}' },
      group: { subject: 'x', content: 'x' },
    },
    from: { name: 'Asha', address: 'asha@example.com' },
    today: '2025-01-20',
    now: Temporal.Instant.from(nine),
    pay: { ...payment, payLink: null },
  }
  const read = async (language: string | null) => {
    const { raw } = await composeReminder(language === null ? mail : { ...mail, speech: speechOf(language) })
    const { html = '', text, subject } = await readEmail(raw)
    return { html, text, subject, header: /^Content-Language: (.*)\r$/m.exec(raw.toString())?.[1] }
  }
  const he = await read('he')
  expect(he.header).toBe('he')
  expect(he.html).toContain('<html lang="he" dir="rtl">')
  expect(he.subject).toBe('פרטים \u2068R-1\u2069')
  expect(he.text).toContain('\u2068Kaveri\u2069\n\n\u2068')
  // Words of ours about paying are in English there, and say so.
  expect(he.html).toContain('<div lang="en" dir="ltr">')
  expect(he.html).toContain('border-right:3px')
  expect(await read('de')).toMatchObject({ header: 'de', html: expect.stringContaining('<html lang="de" dir="ltr">') })
  expect(await read(null)).toEqual(await read('en'))
  expect((await read('en')).header).toBeUndefined()
  expect(reminderDocument('x')).toBe(reminderDocument('x', english))
})

test('an email has the language of its invoice, else of its client, else of the business, and a grouped one has one', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  const add = (clientEmail: string) => anInvoice(app, { owner: asha, clientEmail, dueDate: '2026-02-20' })
  const [one, two, three] = [await add('a@example.com'), await add('a@example.com'), await add('a@example.com')]
  await add('b@example.com')
  const client = (await ask(app, asha, clientCalls.list)).reply.find(({ email }) => email === 'a@example.com')?._id ?? ''
  const set = (id: string, language: string | null) => ask(app, asha, invoiceCalls.update, { params: { id }, body: { language } })
  expect((await ask(app, asha, businessCalls.change, { body: { language: 'fr' } })).reply.language).toBe('fr')
  expect((await ask(app, asha, clientCalls.update, { params: { id: client }, body: { language: 'de' } })).reply.language).toBe('de')
  expect((await set(one._id, 'IT')).reply.language).toBe('it')
  // The same as its client's: not an email of its own.
  await set(two._id, 'de')
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  const { reply: preview } = await ask(app, asha, reminderCalls.preview)
  expect(preview.lines.map(({ language }) => language).toSorted()).toEqual(['de', 'de', 'fr', 'it'])
  expect(preview.sendNowMails).toBe(3)
  const { reply: draft } = await ask(app, asha, reminderCalls.draft, { body: { invoiceIds: [three._id] } })
  expect([draft.email?.subject, draft.email?.html.slice(0, 60)]).toEqual([
    `Zahlungserinnerung: Rechnung ${three.reference} war am 20. Februar 2026 fällig`,
    expect.stringContaining('<html lang="de" dir="ltr">'),
  ])
  const { reply: sample } = await ask(app, asha, templateCalls.readGroup, { query: { language: 'de' } })
  expect(sample).toMatchObject({ dir: 'ltr', sample: { totalAmount: '17.250,00\u00a0₹' } })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const sent = async () => (await Promise.all(smtp.mails.map(({ raw }) => readEmail(raw)))).map(({ subject = '' }) => subject).toSorted()
  expect(await sent()).toEqual([
    expect.stringMatching(/^Promemoria di pagamento: la fattura .* è scaduta il 20 febbraio 2026$/),
    expect.stringMatching(/^Rappel de paiement\u00a0: facture .* échue le 20 février 2026$/),
    expect.stringMatching(/^Zahlungserinnerung: 10\.000,00\s₹ überfällig$/),
  ])
})

test('a language that changes while emails wait is that of the email that leaves', async () => {
  await using office = await anOffice({ now: nine })
  const { app, asha, smtp } = office
  const invoices = [1, 2, 3].map(() => anInvoice(app, { owner: asha, dueDate: '2026-02-20' }))
  const [one] = await Promise.all(invoices)
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  // Planned, and not tried yet: the call waits for its emails.
  const started = ask(app, asha, reminderCalls.start)
  while ((await app.db.$count(deliveries)) === 0) await new Promise((resolve) => setImmediate(resolve))
  await ask(app, asha, invoiceCalls.update, { params: { id: one?._id ?? '' }, body: { language: 'es' } })
  await ask(app, asha, businessCalls.change, { body: { language: 'nl' } })
  await app.whileJobsRun(started)
  const subjects = await Promise.all(smtp.mails.map(async ({ raw }) => (await readEmail(raw)).subject ?? ''))
  expect(subjects.toSorted()).toEqual([
    expect.stringMatching(/^Betalingsherinnering: ₹\s10\.000,00 achterstallig$/),
    expect.stringMatching(/^Recordatorio de pago: la factura .* venció el 20 de febrero de 2026$/),
  ])
})

test('a step is in the language of its client: as written in it, else in our words', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  const draft = sequenceDraft.parse({ name: 'Ours', steps: [{ offset: 10, tone: 'firm', ...stepTexts.firm }], everyDays: 5 })
  const id = await aSequence(app, asha, draft)
  for (const clientEmail of ['a@example.com', 'b@example.com']) await anInvoice(app, { owner: asha, clientEmail, dueDate: '2026-02-20' })
  const clients = (await ask(app, asha, clientCalls.list)).reply
  const speak = (email: string, language: string) =>
    ask(app, asha, clientCalls.update, { params: { id: clients.find((one) => one.email === email)?._id ?? '' }, body: { language } })
  await speak('a@example.com', 'de')
  await speak('b@example.com', 'it')
  const inLanguage = async (language: string) => (await ask(app, asha, sequenceCalls.read, { params: { id }, query: { language } })).reply
  expect((await inLanguage('de')).steps[0]?.subject).toBe('Rechnung {{invoiceId}} ist weiterhin offen')
  const own = { ...draft, steps: draft.steps.map((step) => ({ ...step, subject: 'Nostra {{invoiceId}}' })) }
  await ask(app, asha, sequenceCalls.replace, { params: { id }, query: { language: 'it' }, body: own })
  expect([(await inLanguage('it')).steps[0]?.subject, (await inLanguage('en')).steps[0]?.subject]).toEqual([
    'Nostra {{invoiceId}}',
    stepTexts.firm.subject,
  ])
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const subjects = await Promise.all(smtp.mails.map(async ({ raw }) => (await readEmail(raw)).subject ?? ''))
  expect(subjects.toSorted()).toEqual([expect.stringMatching(/^Nostra /), expect.stringMatching(/^Rechnung .* ist weiterhin offen$/)])
  // What is sent next, by the same steps.
  const { reply: plan } = await ask(app, asha, sequenceCalls.plan)
  expect(
    plan.mails
      .slice(0, 2)
      .map(({ subject }) => subject)
      .toSorted(),
  ).toEqual(subjects.toSorted())
})

test('another language can be chosen once both of its emails are written', async () => {
  await using office = await anOffice({ now: nine, invoices: 1 })
  const { app, asha, smtp, invoices } = office
  const id = invoices[0]?._id ?? ''
  const change = (language: string) => ask(app, asha, invoiceCalls.update, { params: { id }, body: { language } })
  expect(await change('sv')).toMatchObject({
    status: 400,
    problem: { code: 'invalid', message: 'Please save the texts of both emails in sv under Email Templates first.' },
  })
  expect((await change('de-DE-u-nu-arab')).status).toBe(400)
  const query = { language: 'sv' }
  const own = { useCustomTemplate: true, customSubject: 'Påminnelse {{dueDate}}', customContent: 'Hej' }
  await ask(app, asha, templateCalls.save, { query, body: own })
  expect((await change('sv')).status).toBe(400)
  await ask(app, asha, templateCalls.saveGroup, { query, body: { ...own, customSubject: 'Alla' } })
  expect((await ask(app, asha, businessCalls.read)).reply.languages).toEqual([...languages, 'sv'])
  expect((await change('sv')).status).toBe(200)
  expect((await ask(app, asha, templateCalls.read)).reply.useCustomTemplate).toBe(false)
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  expect((await readEmail(smtp.mails[0]?.raw)).subject).toBe('Påminnelse 20 februari 2026')
})
