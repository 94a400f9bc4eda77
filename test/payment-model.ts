import { eq } from 'drizzle-orm'
import { fromMinor } from '#contract/money.ts'
import type { Config } from '#server/config.ts'
import { createInvoice, removeInvoice, restoreInvoice, updateInvoice } from '#server/invoices/invoices.ts'
import { recordPayment, takePaymentBack } from '#server/invoices/payments.ts'
import { type InvoiceRow, invoices } from '#server/invoices/tables.ts'
import type { Database } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'

interface ModelRow {
  id: string
  kind: 'payment' | 'refund'
  mark: boolean
  minor: number
  paidOn: string
  live: boolean
}

/** What an invoice should be, kept beside the database by rules of its own. */
interface Model {
  id: string
  amount: number
  dueDate: string
  status: InvoiceRow['status']
  rows: ModelRow[]
  paidAt: string | null
  deleted: boolean
}

const statuses = ['unpaid', 'overdue', 'paid'] as const

/**
 * Plays that many random acts on invoices of an account in UTC (record, refund, take back, mark, edit, delete, restore) and compares sums,
 * status and dates with the model after each. Returns how often they differed, with the first difference, and how often an act was refused.
 */
export async function playPaymentActs(
  db: Database,
  about: { ownerId: string; acts: number; invoices: number; random: () => number; config: Pick<Config, 'razorpay'> },
): Promise<{ differences: string[]; refused: number; acts: Record<string, number> }> {
  const { ownerId, random } = about
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const whole = (most: number) => 1 + Math.floor(random() * most)
  const nothing = async () => false
  const from = { address: '', userAgent: '' }
  let now = Temporal.Instant.from('2026-03-02T09:00:00Z')
  const today = () => now.toString().slice(0, 10)
  const models: Model[] = []
  for (let nth = 0; nth < about.invoices; nth += 1) {
    const amount = whole(10_000)
    const dueDate = `2026-0${whole(9)}-15`
    const draft = {
      clientName: 'C',
      clientEmail: `c${nth}@example.com`,
      amount: fromMinor(amount, 'INR'),
      dueDate,
      status: 'unpaid' as const,
    }
    const { id } = (await createInvoice(db, ownerId, draft, now, about.config)).row
    models.push({ id, amount, dueDate, status: 'unpaid', rows: [], paidAt: null, deleted: false })
  }

  const paid = ({ rows }: Model, which = (_row: ModelRow) => true) =>
    rows.reduce((sum, row) => sum + (row.live && which(row) ? (row.kind === 'refund' ? -row.minor : row.minor) : 0), 0)
  /** The status that follows, unless a person chose one. */
  const follow = (model: Model, chosen?: InvoiceRow['status']) => {
    const before = model.status
    if (paid(model) >= model.amount) model.status = 'paid'
    else model.status = chosen ?? (before === 'paid' ? (model.dueDate < today() ? 'overdue' : 'unpaid') : before)
    if (model.status !== 'paid') model.paidAt = null
    else if (before !== 'paid') model.paidAt = now.toString()
  }
  const push = (model: Model, row: Omit<ModelRow, 'id' | 'live'>, id = '') => model.rows.push({ ...row, id, live: true })
  const marks = (model: Model) => model.rows.filter(({ live, mark }) => live && mark)

  /** Each act does the same to the model and to the database; the model answers whether it must be refused. */
  const acts: Record<string, (model: Model) => { refused: boolean; done: () => Promise<unknown> }> = {
    record: (model) => act(model, 'payment'),
    refund: (model) => act(model, 'refund'),
    takeBack: (model) => {
      const row = model.rows.length === 0 ? undefined : pick(model.rows.filter(({ id }) => id !== ''))
      if (!row) return { refused: false, done: async () => {} }
      const refused = model.deleted || (row.live && row.kind === 'payment' && paid(model) < row.minor)
      return {
        refused,
        done: async () => {
          const { payment } = await takePaymentBack(db, ownerId, { invoiceId: model.id, paymentId: row.id, from }, now, nothing)
          if (!payment.voidedAt) throw new Error('It was not taken back.')
          if (!row.live) return
          row.live = false
          follow(model)
        },
      }
    },
    mark: (model) => {
      const status = pick(statuses)
      const others = paid(model, ({ mark }) => !mark)
      const leaves = model.status === 'paid' && status !== 'paid'
      return {
        refused: model.deleted || (leaves && (others >= model.amount || others < 0)),
        done: async () => {
          await updateInvoice(db, ownerId, { id: model.id, change: { status } }, now, nothing)
          if (leaves) for (const row of marks(model)) row.live = false
          if (status === 'paid' && model.status !== 'paid')
            push(model, { kind: 'payment', mark: true, minor: model.amount - paid(model), paidOn: today() })
          follow(model, status)
        },
      }
    },
    edit: (model) => {
      const amount = whole(10_000)
      return {
        refused: model.deleted,
        done: async () => {
          await updateInvoice(db, ownerId, { id: model.id, change: { amount: fromMinor(amount, 'INR') } }, now, nothing)
          const marked = marks(model)
          if (model.status === 'paid' && marked.length > 0 && amount !== model.amount) {
            for (const row of marked) row.live = false
            const rest = amount - paid(model)
            const paidOn =
              marked
                .map((row) => row.paidOn)
                .toSorted()
                .at(-1) ?? ''
            if (rest > 0) push(model, { kind: 'payment', mark: true, minor: rest, paidOn })
          }
          model.amount = amount
          follow(model)
        },
      }
    },
    remove: (model) => ({
      refused: model.deleted,
      done: async () => {
        await removeInvoice(db, ownerId, model.id, from, now, nothing)
        model.deleted = true
      },
    }),
    restore: (model) => ({
      refused: false,
      done: async () => {
        await restoreInvoice(db, ownerId, model.id, now, nothing)
        model.deleted = false
      },
    }),
  }
  function act(model: Model, kind: ModelRow['kind']) {
    const minor = random() < 0.3 ? Math.max(1, model.amount - paid(model)) : whole(8_000)
    const paidOn = now
      .subtract({ hours: 24 * Math.floor(random() * 30) })
      .toString()
      .slice(0, 10)
    const draft = { kind, amount: fromMinor(minor, 'INR'), paidOn, method: null, reference: '', note: '' }
    return {
      refused: model.deleted || (kind === 'refund' && minor > paid(model)),
      done: async () => {
        const asked = { invoiceId: model.id, draft, key: null, origin: 'by_hand' as const }
        const { payment } = await recordPayment(db, ownerId, asked, now, nothing)
        push(model, { kind, mark: false, minor, paidOn }, payment.id)
        follow(model)
      },
    }
  }

  const differences: string[] = []
  const counts: Record<string, number> = {}
  let refused = 0
  const compare = async (model: Model, what: string) => {
    const [row] = await db.select().from(invoices).where(eq(invoices.id, model.id))
    const latest = model.rows.flatMap(({ live, kind, paidOn }) => (live && kind === 'payment' ? [paidOn] : [])).toSorted()
    const isPaid = model.status === 'paid'
    const expected = [model.status, model.amount, paid(model), isPaid ? latest.at(-1) : null, model.paidAt, model.deleted]
    const found = row && [row.status, row.amountMinor, row.paidMinor, row.paidOn, row.paidAt?.toString() ?? null, row.deletedAt !== null]
    if (JSON.stringify(found) !== JSON.stringify(expected)) differences.push(`${what}: ${JSON.stringify({ expected, found })}`)
  }
  // Deleting is rare, or most acts would be refused.
  const names = ['record', 'record', 'record', 'refund', 'takeBack', 'takeBack', 'mark', 'mark', 'edit', 'remove', 'restore', 'restore']
  for (let nth = 0; nth < about.acts; nth += 1) {
    now = now.add({ minutes: whole(20) })
    const model = pick(models)
    const name = pick(names)
    counts[name] = (counts[name] ?? 0) + 1
    const { refused: mustRefuse, done } = acts[name]?.(model) ?? { refused: false, done: async () => {} }
    const was = await done().then(
      () => false,
      (error: unknown) => {
        if (error instanceof ProblemError) return true
        throw error
      },
    )
    if (was) refused += 1
    if (was !== mustRefuse) differences.push(`${nth} ${name}: refused ${was}, expected ${mustRefuse}`)
    await compare(model, `${nth} ${name}`)
  }
  for (const model of models) await compare(model, 'at the end')
  return { differences, refused, acts: counts }
}
