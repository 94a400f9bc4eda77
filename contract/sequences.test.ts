import { expect, test } from 'vitest'
import { newStep, readySequences } from './ready-sequences.ts'
import {
  builtInSequences,
  type PlannedMail,
  type ReminderPlan,
  type Sequence,
  type SequenceDraft,
  type Simulation,
  type SimulationRequest,
  sequenceCalls,
  sequenceDraft,
  stepProblems,
} from './sequences.ts'
import { groupValues } from './templates.ts'

const messages = (draft: object) => sequenceDraft.safeParse(draft).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
const draft = { name: 'Mine', steps: [newStep(1, 'friendly')] }

test('the sequences to begin from are valid', () => {
  for (const ready of readySequences) expect(sequenceDraft.parse(ready)).toEqual(ready)
  expect(readySequences.map(({ steps }) => steps.map(({ offset, tone }) => `${offset} ${tone}`))).toEqual([
    ['-3 friendly', '1 friendly', '7 friendly', '14 firm', '30 final'],
    ['3 friendly', '10 friendly', '21 firm'],
  ])
})

test('a sequence without a limit has one email a day at most', () => {
  expect(sequenceDraft.parse(draft)).toMatchObject({ everyDays: null, atMost: null, atLeast: 1 })
})

test('a sequence is refused with a sentence for each fault', () => {
  expect(messages({ ...draft, steps: [] })).toEqual(['steps: Please keep at least one step.'])
  expect(messages({ ...draft, steps: [newStep(1, 'firm'), newStep(1, 'final')] })).toEqual([
    'steps.1.offset: Two steps leave on the same day.',
  ])
  for (const offset of [-61, 366, 1.5])
    expect(messages({ ...draft, steps: [{ ...newStep(-1, 'firm'), offset }] })).toEqual(['steps.0.offset: Please enter −60 to 365 days.'])
  expect(messages({ ...draft, steps: [{ ...newStep(1, 'firm'), groupContent: ' ' }] })).toEqual([
    'steps.0.groupContent: Please enter a subject and a text.',
  ])
  const long = Array.from({ length: 6 }, (_none, nth) => ({
    ...newStep(nth + 1, 'firm'),
    content: 'a'.repeat(20_000),
    groupContent: 'b'.repeat(20_000),
  }))
  expect(messages({ ...draft, steps: long })).toEqual(['steps: Please shorten the texts: together they may have 200,000 characters.'])
  expect(messages({ ...draft, everyDays: 91, atMost: 0, atLeast: 15 })).toEqual([
    'everyDays: Please enter 1 to 90 days.',
    'atMost: Please enter 1 to 100 emails.',
    'atLeast: Please enter 1 to 14 days.',
  ])
})

test('a step up to the due date is refused with {{daysOverdue}}', () => {
  const late = newStep(1, 'friendly')
  expect(stepProblems(late)).toEqual([])
  for (const offset of [-3, 0])
    expect(stepProblems({ ...late, offset })).toEqual([
      { path: 'content', message: 'This step leaves before the invoice is overdue: please take out {{daysOverdue}}.' },
    ])
})

test('an email about several invoices does not say that one not yet due is overdue', () => {
  const invoice = { reference: 'INV-0001', amount: 5000, dueDate: '2025-01-15', daysOverdue: 0 }
  const about = { clientName: 'Kaveri Foods', userName: 'Asha Rao', count: 2, total: 10_000, currency: 'INR' }
  const { invoiceList } = groupValues({ ...about, invoices: [invoice, { ...invoice, daysOverdue: 1 }] })
  expect(invoiceList).toEqual(['INV-0001: ₹5,000.00, due 15/01/2025', 'INV-0001: ₹5,000.00, due 15/01/2025, 1 day overdue'])
})

test('the shapes of a sequence, a plan and a simulation hold what a screen shows', () => {
  const created: SequenceDraft = sequenceDraft.parse(draft)
  const stored: Sequence = { ...created, _id: 's', version: 1, builtIn: false, invoices: 0, clients: 0, isDefault: false }
  const mail: PlannedMail = {
    at: '2026-03-03T03:30:00Z',
    localDate: '2026-03-03',
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    invoiceIds: ['i'],
    sequence: 's',
    offset: 1,
    tone: 'friendly',
    subject: 'Invoice INV-0001',
    why: null,
    movedFrom: null,
  }
  const plan: ReminderPlan = { mails: [mail], count: 1, clients: 1, fingerprint: 'f' }
  const request: SimulationRequest = { settings: { sequence: 'never' }, days: 30 }
  const counts = { before: 1, after: 1, added: 0, removed: 0, moved: 1, reworded: 0 }
  const lists = { before: [mail], after: [mail], added: [], removed: [], moved: [{ ...mail, from: '2026-03-02' }], reworded: [] }
  const simulated: Simulation = { ...lists, counts, most: null, fingerprint: 'f' }
  expect(sequenceCalls.list.reply.parse([stored])).toEqual([stored])
  expect(sequenceCalls.plan.reply.parse(plan)).toEqual(plan)
  expect(sequenceCalls.simulate.body.parse({ settings: { sequence: builtInSequences[1] } })).toEqual(request)
  expect(sequenceCalls.simulate.reply.parse(simulated)).toEqual(simulated)
})
