import { expect, test } from 'vitest'
import type { Invoice } from '#contract/invoices.ts'
import { readySequences, stepTexts } from '#contract/ready-sequences.ts'
import type { PlannedMail, Simulation } from '#contract/sequences.ts'
import { heard, stripOf } from '#web/platform/sequences/steps.ts'
import { addStep, changeStep, faultsOf, removeStep, startOf, toBody } from '#web/templates/sequences/draft.ts'
import { insertAt, ownExamples, sampleExample } from './templates.ts'

const sender = { userName: 'Asha Rao', today: '2026-03-10' }
const owed = (changes: Partial<Invoice>): Invoice => ({
  _id: '1',
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  amount: 5000,
  currency: 'INR',
  language: null,
  issuedOn: '2026-01-01',
  dueDate: '2026-03-01',
  status: 'unpaid',
  reference: 'INV-0001',
  createdAt: '',
  updatedAt: '',
  version: 1,
  paidAt: null,
  amountPaid: 0,
  balance: changes.amount ?? 5000,
  overpaid: 0,
  paidOn: null,
  hasFile: false,
  remindersSent: 0,
  lastReminderAt: null,
  refusal: null,
  pause: null,
  notDelivered: null,
  addressHold: null,
  sequence: null,
  ...changes,
})
const everything = { subject: '{{invoiceId}} {{amount}} {{dueDate}} {{daysOverdue}}', content: '{{clientName}}, {{userName}}' }

test('the sample is signed with the name of the user', () => {
  const { subject, text } = sampleExample('one', 'Ravi Iyer').render(everything)
  expect(subject).toBe('INV-0001 ₹5,000.00 15/01/2025 5')
  expect(text).toBe('Kaveri Foods, Ravi Iyer')
})

test('an invoice of the account is rendered with its own values', () => {
  const [example] = ownExamples('one', [owed({ reference: 'A/7', amount: 184_200.5 })], sender)
  expect(example?.label).toBe('A/7 · Kaveri Foods · ₹1,84,200.50')
  expect(example?.to).toBe('Kaveri Foods <billing@kaveri.example>')
  expect(example?.render(everything).subject).toBe('A/7 ₹1,84,200.50 01/03/2026 9')
})

test('an invoice that is not overdue yet is rendered as one day overdue', () => {
  const [example] = ownExamples('one', [owed({ dueDate: '2026-04-01' })], sender)
  expect(example?.render({ subject: '{{daysOverdue}}', content: 'x' }).subject).toBe('1')
})

test('a group email lists the overdue invoices of one client, oldest first, and ignores the case of the address', () => {
  const examples = ownExamples(
    'group',
    [
      owed({ _id: '3', reference: 'INV-0003', dueDate: '2026-03-09', amount: 0.1 }),
      owed({ _id: '1', reference: 'INV-0001', dueDate: '2026-03-01', amount: 0.2, clientEmail: 'Billing@Kaveri.example' }),
      owed({ _id: '4', reference: 'INV-0004', status: 'paid' }),
      owed({ _id: '5', reference: 'INV-0005', dueDate: '2026-03-10' }),
      owed({ _id: '6', reference: 'INV-0006', pause: { until: null, note: '', promised: false, scope: 'invoice', because: 'owner' } }),
      owed({ _id: '7', reference: 'INV-0007', clientEmail: 'someone@else.example' }),
    ],
    sender,
  )
  expect(examples.map(({ label }) => label)).toEqual(['Kaveri Foods · 2 invoices'])
  const { subject, text } = examples[0]?.render({ subject: '{{invoiceCount}}: {{totalAmount}}', content: '{{invoiceList}}' }) ?? {}
  expect(subject).toBe('2: ₹0.30')
  expect(text).toBe('INV-0001: ₹0.20, due 01/03/2026, 9 days overdue\nINV-0003: ₹0.10, due 09/03/2026, 1 day overdue')
})

test('an inserted variable replaces the selection, and the cursor moves behind it', () => {
  expect(insertAt({ text: 'Dear you,', start: 5, end: 8 }, '{{clientName}}')).toEqual({ text: 'Dear {{clientName}},', cursor: 19 })
  expect(insertAt({ text: '', start: 0, end: 0 }, '{{amount}}')).toEqual({ text: '{{amount}}', cursor: 10 })
})

test('a new sequence begins with a ready one, or with one friendly step', () => {
  const days = (from: string | null) => startOf(from).steps.map(({ offset }) => offset)
  expect(days('friendly-to-final')).toEqual([-3, 1, 7, 14, 30])
  expect(days('gentle')).toEqual([3, 10, 21])
  expect(days(null)).toEqual([1])
})

test('texts that were not rewritten follow the day and tone of their step; others stay', () => {
  const draft = startOf(null)
  const early = changeStep(draft, 0, { offset: -3 })
  expect(early.steps[0]).toMatchObject(stepTexts.before)
  const final = changeStep(early, 0, { offset: 20, tone: 'final' })
  expect(final.steps[0]).toMatchObject(stepTexts.final)
  const mine = changeStep(changeStep(final, 0, { subject: 'Mine' }), 0, { tone: 'firm' })
  expect(mine.steps[0]).toMatchObject({ ...stepTexts.firm, subject: 'Mine' })
})

test('a step is added a week after the last, or on the next free day before the last possible one', () => {
  const { draft, key } = addStep(startOf('gentle'))
  expect(draft.steps.at(-1)).toMatchObject({ key, offset: 28, tone: 'firm', was: null })
  const late = changeStep(draft, key, { offset: 365 })
  expect(addStep(late).draft.steps.map(({ offset }) => offset)).toEqual([3, 10, 21, 364, 365])
})

test('a step that passes another one keeps its key, and faults are at its fields', () => {
  const moved = changeStep(startOf('gentle'), 0, { offset: 15 })
  expect(moved.steps.map(({ key, was }) => [key, was])).toEqual([
    [1, 10],
    [0, 3],
    [2, 21],
  ])
  const twice = faultsOf(changeStep(moved, 0, { offset: 21 }))
  expect(twice.first).toBe('Two steps leave on the same day.')
  expect([...twice.steps.values()]).toEqual([{ offset: 'Two steps leave on the same day.' }])
  const early = faultsOf(changeStep(changeStep(moved, 0, { content: 'Mine, {{daysOverdue}} days' }), 0, { offset: -75 }))
  expect(early.steps.get(0)).toEqual({
    offset: 'Please enter −60 to 365 days.',
    content: 'This step leaves before the invoice is overdue: please take out {{daysOverdue}}.',
  })
  const none = faultsOf({ ...[0, 1, 2].reduce(removeStep, moved), name: ' ', atMost: 0 })
  expect(none.fields).toEqual({
    name: 'Please enter a name.',
    steps: 'Please keep at least one step.',
    atMost: 'Please enter 1 to 100 emails.',
  })
  expect(toBody(moved).steps[0]).not.toHaveProperty('key')
})

const days = (rhythm: Parameters<typeof heard>[0]) => heard(rhythm).emails.map(({ day }) => day)
const at = (...offsets: number[]) => offsets.map((offset) => ({ offset, tone: 'friendly' as const }))
const rhythm = { steps: at(-3, 1, 7, 14, 30), everyDays: null, atMost: 8, atLeast: 3 }

test('a client who never pays hears each step, then its repetitions up to the limit', () => {
  expect(readySequences.map((ready) => days(ready))).toEqual([
    [-3, 1, 7, 14, 30],
    [3, 10, 21, 35, 49, 63],
  ])
  expect(days({ ...rhythm, everyDays: 14 })).toEqual([-3, 1, 7, 14, 30, 44, 58, 72])
  expect(days({ ...rhythm, atMost: 2 })).toEqual([-3, 1])
})

test('repetitions without a limit have no end: the first three are named', () => {
  expect(heard({ ...rhythm, everyDays: 1, atMost: null, atLeast: 1 }).endless).toBe(true)
  expect(days({ steps: at(1), everyDays: 1, atMost: null, atLeast: 1 })).toEqual([1, 2, 3, 4])
})

test('a step that comes too soon waits; one before the due date does not leave after it', () => {
  expect(days({ steps: at(1, 2, 9), everyDays: null, atMost: null, atLeast: 5 })).toEqual([1, 6, 11])
  expect(days({ steps: at(-3, -1, 9), everyDays: null, atMost: null, atLeast: 5 })).toEqual([-3, 9])
  // Up to the due date there is nothing to repeat.
  expect(days({ steps: at(-3), everyDays: 7, atMost: null, atLeast: 1 })).toEqual([-3])
})

test('the strip has every day, with what leaves and what no longer does', () => {
  const mail = (localDate: string, invoiceId: string): PlannedMail => ({
    at: `${localDate}T03:30:00Z`,
    localDate,
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    invoiceIds: [invoiceId],
    sequence: 's',
    offset: 1,
    tone: 'friendly',
    subject: '',
    why: null,
    movedFrom: null,
  })
  const simulation: Simulation = {
    before: [mail('2026-03-02', 'a'), mail('2026-03-03', 'b'), mail('2026-03-04', 'c')],
    after: [mail('2026-03-02', 'a'), mail('2026-03-02', 'b'), mail('2026-03-05', 'd')],
    added: [mail('2026-03-05', 'd')],
    removed: [mail('2026-03-04', 'c')],
    moved: [{ ...mail('2026-03-02', 'b'), from: '2026-03-03' }],
    reworded: [],
    counts: { before: 3, after: 3, added: 1, removed: 1, moved: 1, reworded: 0 },
    most: null,
    fingerprint: 'f',
  }
  expect(stripOf(simulation, '2026-03-02', 4)).toEqual({
    days: [
      { date: '2026-03-02', leaves: ['kept', 'moved'], gone: [] },
      { date: '2026-03-03', leaves: [], gone: ['from'] },
      { date: '2026-03-04', leaves: [], gone: ['removed'] },
      { date: '2026-03-05', leaves: ['added'], gone: [] },
    ],
    moves: [{ from: 1, to: 0 }],
  })
})
