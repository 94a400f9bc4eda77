import fc from 'fast-check'
import sanitizeHtml from 'sanitize-html'
import { expect, test } from 'vitest'
import {
  defaultContent,
  defaultGroupContent,
  defaultGroupSubject,
  defaultSubject,
  leftOut,
  type ReminderValues,
  reminderDocument,
  reminderValues,
  renderGroupReminder,
  renderReminder,
  sampleGroupValues,
  sampleValues,
  templateChange,
  templateVariables,
  unknownVariables,
} from './templates.ts'

const standard = { subject: defaultSubject, content: defaultContent }
const content = (text: string, values: Partial<ReminderValues> = {}) =>
  renderReminder({ subject: 'Hello', content: text }, { ...sampleValues, ...values })

/** Pieces that attackers and word processors write, mixed with arbitrary characters of every kind. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom(
        '<b>',
        '</b>',
        '<B >',
        '<i onclick="x">',
        '</i>',
        '<u',
        '</u>',
        '<strong/>',
        '</strong',
        '<em>',
        '</em>',
        '<br>',
        '</br>',
      ),
      fc.constantFrom(
        '<script>',
        '</script>',
        '<style>',
        '</STYLE>',
        '<!--',
        '-->',
        '<!',
        '<?',
        '>',
        '<',
        '/',
        '"',
        "'",
        '&',
        ';',
        '&lt;',
        '&#60;',
      ),
      fc.constantFrom(
        '<a href="javascript:x">',
        '<img src=x onerror=alert(1)>',
        '<svg/onload=x>',
        '<b<i>',
        '<b {{clientName}}>',
        '<p title=">">',
      ),
      fc.constantFrom(
        '\r\n',
        '\n',
        '\u0000',
        '\u2028',
        '\ud800',
        '{{',
        '}}',
        '{{clientName}}',
        '{{ userName }}',
        '{{amount}}',
        '{{nobody}}',
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''))
const anyValues = fc.record({
  invoiceId: hostile,
  clientName: hostile,
  amount: hostile,
  dueDate: hostile,
  daysOverdue: hostile,
  businessName: hostile,
  userName: hostile,
  invoiceAmount: hostile,
  paidAmount: hostile,
  payLink: fc.constant(''),
})

/** The tags of a fragment in order, after checking that nothing else in it could be one. */
function tagsOf(html: string): string[] {
  expect(html.replace(/<\/?(?:b|i|u|strong|em)>|<br>/g, '')).not.toMatch(/[<>]/)
  return html.match(/<[^>]*>/g) ?? []
}

function expectBalanced(html: string): void {
  const open: string[] = []
  for (const tag of tagsOf(html)) {
    if (tag.startsWith('</')) expect(open.pop()).toBe(tag.slice(2, -1))
    else if (tag !== '<br>') open.push(tag.slice(1, -1))
  }
  expect(open).toEqual([])
}

test('any text renders to the six bare tags only, balanced', () => {
  fc.assert(
    fc.property(hostile, anyValues, (text, values) => expectBalanced(renderReminder({ subject: text, content: text }, values).html)),
    { numRuns: 2000 },
  )
})

test('an independent sanitiser finds nothing to take out of an email', () => {
  fc.assert(
    fc.property(hostile, anyValues, (text, values) => {
      const { html } = renderReminder({ subject: text, content: text }, values)
      const judged = sanitizeHtml(html, { allowedTags: ['br', 'b', 'i', 'u', 'strong', 'em'], allowedAttributes: {} })
      // The sanitiser writes <br /> and leaves quotation marks in text as they are.
      expect(judged.replaceAll('<br />', '<br>')).toBe(html.replaceAll('&quot;', '"').replaceAll('&#39;', "'"))
    }),
    { numRuns: 2000 },
  )
})

test('no value brings a tag or a line break into an email', () => {
  fc.assert(
    fc.property(hostile, anyValues, (text, values) => {
      const plain = renderReminder({ subject: text, content: text }, sampleValues)
      const given = renderReminder({ subject: text, content: text }, values)
      expect(tagsOf(given.html)).toEqual(tagsOf(plain.html))
      expect(given.text.split('\n').length).toBe(plain.text.split('\n').length)
    }),
    { numRuns: 1000 },
  )
})

test.each([
  ['Asha <asha@shop.example>', 'Asha <asha@shop.example>'],
  ['Please pay <amount due> by <the date>', 'Please pay <amount due> by <the date>'],
  ['<https://shop.example/pay>', '<https://shop.example/pay>'],
  ['<Amount: {{amount}}\nby {{dueDate}}>', `<Amount: ${sampleValues.amount}\nby ${sampleValues.dueDate}>`],
  ['1 < 2 > 1 </whatever>', '1 < 2 > 1 </whatever>'],
  ['<p>Hello</p><o:p>x</o:p><my-tag>y</my-tag><FONT size=2>z', 'Helloxyz'],
])('%j reads %j: only tags of HTML are left out', (content, text) => {
  const { html, text: shown } = renderReminder({ subject: content, content }, sampleValues)
  expect(shown).toBe(text)
  expectBalanced(html)
  expect(html).not.toMatch(/<[^b/]/)
})

test('what an email leaves out of its text is named', () => {
  expect(leftOut('<p>Hi <b>Asha</b> <asha@x.example> <IMG src="{{amount}}">{{amount}} <script>x</script> <a')).toEqual([
    '<p>',
    '<img>',
    '<script>',
  ])
  expect(leftOut('Dear {{clientName}} <amount due>,<br>1 < 2')).toEqual([])
})

test('spaces that look like plain ones may be around the name of a variable', () => {
  const content = '{{\u00a0clientName\u200b}} {{\u2009amount\ufeff}}'
  expect(renderReminder({ subject: content, content }, sampleValues).subject).toBe(`${sampleValues.clientName} ${sampleValues.amount}`)
  expect(unknownVariables(content)).toEqual([])
  expect(unknownVariables('{{ nobody\u00a0}}')).toEqual(['nobody'])
})

test('a subject is always one line of well-formed text', () => {
  fc.assert(
    fc.property(hostile, anyValues, (subject, values) => {
      const rendered = renderReminder({ subject, content: '' }, values).subject
      expect(rendered).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
      expect(rendered.isWellFormed()).toBe(true)
    }),
    { numRuns: 1000 },
  )
})

test('the plain text says what the HTML shows', () => {
  fc.assert(
    fc.property(hostile, anyValues, (text, values) => {
      const { html, text: plain } = renderReminder({ subject: '', content: text }, values)
      const shown = html
        .replaceAll('<br>', '\n')
        .replace(/<[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&')
      expect(plain).toBe(shown)
    }),
    { numRuns: 1000 },
  )
})

test('hostile input of four times the length takes about four times as long', () => {
  const patterns = ['<', '<a', '<a "', `<a '"`, '<!--', '<script>', '{{', '<b>', '</b>', '<a\t', '&#', '{{ ', `<a"'`, '"<a\'', 'a']
  const length = 60_000
  /** What this thread has used, in microseconds: what else the machine does adds nothing. */
  const used = () => {
    const { user, system } = process.threadCpuUsage()
    return user + system
  }
  const took = (pattern: string, characters: number) => {
    const long = pattern === 'a' ? `<${'a'.repeat(characters - 1)}` : pattern.repeat(characters / pattern.length)
    const before = used()
    renderReminder({ subject: long, content: long }, sampleValues)
    unknownVariables(long)
    return used() - before
  }
  for (const pattern of patterns) {
    let [short, long] = [0, 0]
    // Four short ones are as many characters as a long one. Quadratic work would take four times as long for the long one.
    for (let n = 0; n < 30 && (n < 3 || short < 1_000 || long / short > 2); n += 1) {
      for (let part = 0; part < 4; part += 1) short += took(pattern, length / 4)
      long += took(pattern, length)
    }
    expect(long / short, pattern).toBeLessThan(2.5)
  }
})

test('bold, italic and underlined words stay so, tags that are left open are closed, strays vanish', () => {
  expect(content('<B>Now</B> <i class="x">or</i> <u>never</u>').html).toBe('<b>Now</b> <i>or</i> <u>never</u>')
  expect(content('<b>open <i>both').html).toBe('<b>open <i>both</i></b>')
  expect(content('<b>x<i>y</b>z</i></u>').html).toBe('<b>x<i>y</i></b>z')
})

test('other tags are dropped and their words kept, scripts, styles and comments are dropped whole', () => {
  expect(content('<p>Dear <a href="https://evil.example">Asha</a></p>').html).toBe('Dear Asha')
  expect(content('a<script>alert("<b>")</script>b<STYLE>p{}</STYLE>c<!-- <b>secret</b> -->d<!doctype html>e').html).toBe('abcde')
  expect(content('a<script>b').html).toBe('ab')
  expect(content('a <!-- b').html).toBe('a &lt;!-- b')
})

test('a sign that starts no tag is shown as it is', () => {
  expect(content('5 < 6 & 7 > 2 <3 "quoted"')).toMatchObject({
    html: '5 &lt; 6 &amp; 7 &gt; 2 &lt;3 &quot;quoted&quot;',
    text: '5 < 6 & 7 > 2 <3 "quoted"',
  })
})

test('line breaks of every system become br, and lines in the plain text', () => {
  expect(content('one\r\ntwo\nthree\rfour<br>five<br/>six')).toMatchObject({
    html: 'one<br>two<br>three<br>four<br>five<br>six',
    text: 'one\ntwo\nthree\nfour\nfive\nsix',
  })
})

test('entities are read once, in the wording alone', () => {
  expect(content('Salt &amp; Co &lt;b&gt; &#8377;5 &eacute;', {})).toMatchObject({
    html: 'Salt &amp; Co &lt;b&gt; ₹5 &amp;eacute;',
    text: 'Salt & Co <b> ₹5 &eacute;',
  })
  expect(content('&amp;<br>&lt;{{invoiceId}}').text).toBe('&\n<INV-0001')
  expect(content('{{clientName}}', { clientName: 'Salt &amp; Co' }).text).toBe('Salt &amp; Co')
})

test('a client who is called like a variable or a tag is written as called', () => {
  const rendered = renderReminder(
    { subject: 'For {{clientName}}', content: 'Dear {{ clientName }}' },
    { ...sampleValues, clientName: '{{userName}} <b>&$&</b>' },
  )
  expect(rendered).toEqual({
    subject: 'For {{userName}} <b>&$&</b>',
    html: 'Dear {{userName}} &lt;b&gt;&amp;$&amp;&lt;/b&gt;',
    text: 'Dear {{userName}} <b>&$&</b>',
  })
})

test('a line break in a client name cannot add a header to the email', () => {
  const { subject } = renderReminder(
    { subject: 'For {{clientName}}', content: '' },
    { ...sampleValues, clientName: 'A\r\nBcc: x@evil.example' },
  )
  expect(subject).toBe('For A Bcc: x@evil.example')
})

test('amounts print in rupees and dates as day/month/year', () => {
  const values = reminderValues({
    reference: 'INV-0042',
    clientName: 'Kaveri Foods',
    amount: 184200.5,
    invoiceAmount: 200_000,
    paidAmount: 15_799.5,
    currency: 'INR',
    dueDate: '2026-02-01',
    daysOverdue: 1,
    userName: 'Asha Rao',
  })
  expect(values).toEqual({
    invoiceId: 'INV-0042',
    clientName: 'Kaveri Foods',
    amount: '₹1,84,200.50',
    dueDate: '01/02/2026',
    daysOverdue: '1',
    businessName: 'Asha Rao',
    userName: 'Asha Rao',
    invoiceAmount: '₹2,00,000.00',
    paidAmount: '₹15,799.50',
    payLink: '',
  })
  expect(sampleValues).toMatchObject({ amount: '₹5,000.00', dueDate: '15/01/2025', daysOverdue: '5' })
})

test('the default email names the invoice, the amount, the due date and the days, and is signed', () => {
  expect(renderReminder(standard, sampleValues)).toMatchInlineSnapshot(`
    {
      "html": "Dear Kaveri Foods,<br><br>This is a friendly reminder that the payment for the invoice below has not reached us yet.<br><br><strong>₹5,000.00</strong><br>Invoice <b>INV-0001</b> from Studio Indigo<br>Due on 15/01/2025, 5 days overdue<br><br>If you have paid in the meantime, thank you, and please ignore this email. Otherwise, we would be grateful if you could arrange the payment in the next few days. If anything about the invoice is unclear, simply reply to this email.<br><br>Kind regards,<br>Asha Rao",
      "subject": "Invoice INV-0001 from Studio Indigo: ₹5,000.00 was due on 15/01/2025",
      "text": "Dear Kaveri Foods,

    This is a friendly reminder that the payment for the invoice below has not reached us yet.

    ₹5,000.00
    Invoice INV-0001 from Studio Indigo
    Due on 15/01/2025, 5 days overdue

    If you have paid in the meantime, thank you, and please ignore this email. Otherwise, we would be grateful if you could arrange the payment in the next few days. If anything about the invoice is unclear, simply reply to this email.

    Kind regards,
    Asha Rao",
    }
  `)
  const used = templateVariables.filter((name) => `${defaultSubject}${defaultContent}`.includes(`{{${name}}}`))
  expect(used).toEqual(templateVariables.slice(0, 7))
  expect(templateChange.safeParse({ customSubject: defaultSubject, customContent: defaultContent }).success).toBe(true)
})

test('a variable that does not exist is found by its name, also when it is not closed', () => {
  expect(unknownVariables('{{clientName}} {{ amount }} {{Client}} {{Client}} {{constructor}} {{}} {{dueDate} {{{userName}}}')).toEqual([
    'Client',
    'constructor',
    '',
    'dueDate',
  ])
})

test('one day and one invoice have no plural, in the default and in a wording of the account', () => {
  const one = { ...sampleValues, daysOverdue: '1' }
  expect(renderReminder(standard, one).text).toContain('Due on 15/01/2025, 1 day overdue')
  expect(renderReminder({ subject: '{{daysOverdue}} days', content: '{{ daysOverdue }} days, {{amount}} days' }, one)).toMatchObject({
    subject: '1 day',
    text: '1 day, ₹5,000.00 days',
  })
  const group = { subject: defaultGroupSubject, content: defaultGroupContent }
  expect(renderGroupReminder(group, { ...sampleGroupValues, invoiceCount: '1' }).subject).toBe(
    '1 invoice from Studio Indigo: ₹17,250.00 overdue',
  )
  expect(renderGroupReminder(group, sampleGroupValues).subject).toBe('2 invoices from Studio Indigo: ₹17,250.00 overdue')
})

test('an amount alone on its line in <strong> is the largest line of a block, which ends at an empty line', () => {
  const documentOf = (text: string) => reminderDocument(content(text).html)
  expect(documentOf('Hi\n\n<strong>{{amount}}</strong>\nInvoice <b>{{invoiceId}}</b>\n\nBye')).toContain(
    'Hi<br><br><div style="padding:2px 0 2px 16px;border-left:3px solid rgba(128,128,128,.5)"><strong style="font-size:26px;line-height:1.4">₹5,000.00</strong><br>Invoice <b>INV-0001</b></div><br>Bye</div>',
  )
  for (const plain of [
    'Amount: <b>{{amount}}</b>\nBye',
    '<strong>Pay {{amount}}</strong>',
    '<strong>{{amount}}</strong> please',
    '<strong>Now</strong>',
  ])
    expect(documentOf(plain)).toContain(`>${content(plain).html}</div>`)
})

test('the document around an email holds no script, no picture and nothing from elsewhere', () => {
  const letter = reminderDocument(content('<b>Dear</b>').html)
  expect(letter).toContain('><b>Dear</b></div>')
  expect(letter).not.toMatch(/<(?:script|img|link|style|a)\b|https?:|url\(/i)
})
