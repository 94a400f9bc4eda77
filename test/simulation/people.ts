import { eq } from 'drizzle-orm'
import type { InvoiceDraft } from '#contract/invoices.ts'
import { createAccount, findAccount } from '#server/accounts/accounts.ts'
import { accounts, type PersonRow } from '#server/accounts/tables.ts'
import { addWebhook } from '#server/integrations/webhooks.ts'
import { createInvoice, removeInvoice } from '#server/invoices/invoices.ts'
import { pauseInvoice } from '#server/invoices/pauses.ts'
import { recordPayment } from '#server/invoices/payments.ts'
import { storeSmtp } from '#server/mail/mail.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { afterInvoiceChange } from '#server/reminders/deliver.ts'
import { sendNow, startReminders, stopReminders } from '#server/reminders/reminders.ts'
import { reschedule } from '#server/reminders/runs.ts'
import type { Chance } from './chance.ts'
import { unknownRecipient } from './mail-servers.ts'

/** An account as its owner knows it. */
export interface Owner {
  nth: number
  id: string
  person: PersonRow
  timezone: string
  host: string
  invoices: KnownInvoice[]
  active: boolean
  /** When they asked to stop reminders, by their clock, in ms. */
  stopsAsked: number[]
  /** Has a webhook. */
  listens: boolean
  /** How often invoices or clients were resumed. */
  resumes: { asked: number; answered: number }
}

/** An invoice as its owner knows it: only what was answered. */
export interface KnownInvoice {
  id: string
  reference: string
  amount: number
  currency: string
  clientEmail: string
  /** Payments that were recorded, in the invoice's currency. */
  paid: number
  /** The same of payments that are not answered. */
  perhapsPaid: number
  /** Since when no email about it may be claimed any more, in the order of all that happened; null: it may. */
  quietSince: number | null
  deleted: boolean
}

/** What an owner does, by the program's own functions, as its calls do. Resolves with what is known after the answer. */
export interface Deed {
  name: string
  do(deps: Deps): Promise<void>
}

export const zones = [
  'Asia/Kolkata',
  'Europe/London',
  'America/New_York',
  'Australia/Lord_Howe',
  'Pacific/Auckland',
  'America/St_Johns',
  'Africa/Cairo',
  'Pacific/Kiritimati',
] as const

/** An account with a mailbox, made before the simulation begins. */
export async function anOwner(
  db: Database,
  chance: Chance,
  about: { nth: number; now: Temporal.Instant; secretKey: string; zones: readonly string[] },
): Promise<Owner> {
  const { nth, now, secretKey } = about
  const timezone = chance.pick(about.zones)
  const account = await createAccount(
    db,
    { displayName: `Owner ${nth}`, email: `owner${nth}@example.com`, timezone, passwordHash: null, emailVerifiedAt: now },
    now,
  )
  await db
    .update(accounts)
    .set({ reminderHour: chance.pick([0, 6, 9, 9, 9, 12, 17]), groupByClient: chance.is(0.3), holdMinutes: chance.is(0.15) ? 60 : 0 })
    .where(eq(accounts.id, account.id))
  const host = `smtp${chance.int(1, 3)}.example.com`
  await storeSmtp(db, secretKey, account.id, { host, port: 465, secure: true, user: account.person.email, pass: 'hunter2' }, now)
  return {
    nth,
    id: account.id,
    person: account.person,
    timezone,
    host,
    invoices: [],
    active: false,
    stopsAsked: [],
    listens: false,
    resumes: { asked: 0, answered: 0 },
  }
}

/** What an owner may do to an invoice while emails are being sent; null where there is none. */
export function suddenDeed(owner: Owner, chance: Chance, count: () => number): Deed | null {
  const open = owner.invoices.filter((one) => !one.deleted && one.paid < one.amount)
  if (open.length === 0) return null
  const invoice = chance.pick(open)
  return chance.is(0.6)
    ? paying(owner, invoice, invoice.amount - invoice.paid, chance, count)
    : pausing(owner, invoice, true, chance.is(0.3) ? 'client' : 'invoice', count)
}

/** What an owner may do next. `count` gives the place of an answer among all that happened. */
export function someDeed(owner: Owner, chance: Chance, count: () => number): Deed {
  const open = owner.invoices.filter((one) => !one.deleted && one.paid < one.amount)
  const create = creating(owner, chance)
  if (!owner.active && chance.is(0.7)) return starting(owner)
  if (open.length < 2 || chance.is(0.35)) return create
  const invoice = chance.pick(open)
  switch (chance.int(0, 11)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return paying(owner, invoice, invoice.amount - invoice.paid, chance, count)
    case 4:
    case 5:
      return paying(owner, invoice, Math.max(1, Math.floor((invoice.amount - invoice.paid) / 2)), chance, count)
    case 6:
    case 7:
      return pausing(owner, invoice, chance.is(0.6), chance.is(0.3) ? 'client' : 'invoice', count)
    case 8:
      return {
        name: `deletes ${invoice.reference}`,
        async do({ db, clock, queue }) {
          await removeInvoice(db, owner.id, invoice.id, { address: '192.0.2.1', userAgent: '' }, clock.now(), afterInvoiceChange(queue))
          invoice.deleted = true
          invoice.quietSince = count()
        },
      }
    case 9:
      return {
        name: 'sends now',
        async do(deps) {
          await sendNow(await asking(deps, owner))
        },
      }
    case 10:
      return owner.active && chance.is(0.5)
        ? {
            name: 'stops reminders',
            async do(deps) {
              owner.stopsAsked.push(deps.clock.now().epochMilliseconds)
              await stopReminders(await asking(deps, owner))
              owner.active = false
            },
          }
        : create
    default:
      return moving(owner, chance)
  }
}

/** What an owner has done before the simulation begins. */
export function beginnings(owner: Owner, chance: Chance): Deed[] {
  const invoices = Array.from({ length: chance.int(1, 4) }, () => creating(owner, chance))
  return [...(chance.is(0.4) ? [listening(owner)] : []), ...invoices, ...(chance.is(0.85) ? [starting(owner)] : [])]
}

function listening(owner: Owner): Deed {
  const url = `http://receiver.example/${owner.nth}`
  return {
    name: 'adds a webhook',
    async do(deps) {
      const { account, now } = await asking(deps, owner)
      const events = ['invoice.created' as const, 'payment.recorded' as const, 'reminder.sent' as const]
      await addWebhook(deps, account, { url, events }, { address: '192.0.2.1', userAgent: '' }, now)
      owner.listens = true
    },
  }
}

function starting(owner: Owner): Deed {
  return {
    name: 'starts reminders',
    async do(deps) {
      await startReminders(await asking(deps, owner))
      owner.active = true
    },
  }
}

function creating(owner: Owner, chance: Chance): Deed {
  const { days, ...draft } = aDraft(owner, chance)
  return {
    name: `creates ${draft.currency} ${draft.amount} due in ${days}`,
    async do(deps) {
      const now = deps.clock.now()
      const dueDate = now.toZonedDateTimeISO(owner.timezone).toPlainDate().add({ days }).toString()
      const { row } = await createInvoice(deps.db, owner.id, { ...draft, dueDate }, now, deps.config)
      const { id, reference } = row
      const { amount, currency = 'INR', clientEmail } = draft
      owner.invoices.push({ id, reference, amount, currency, clientEmail, paid: 0, perhapsPaid: 0, quietSince: null, deleted: false })
    },
  }
}

function aDraft(owner: Owner, chance: Chance): Omit<InvoiceDraft, 'dueDate'> & { days: number } {
  const known = owner.invoices.map(({ clientEmail }) => clientEmail)
  const clientEmail =
    known.length > 3 && chance.is(0.6)
      ? chance.pick(known)
      : `${chance.is(0.04) ? unknownRecipient : 'client'}${chance.int(1, 10_000)}@client.example`
  return {
    clientName: 'Kaveri Foods',
    clientEmail,
    amount: chance.int(1, 9_000),
    currency: chance.is(0.2) ? 'EUR' : 'INR',
    status: 'unpaid',
    days: chance.int(-20, 4),
  }
}

function paying(owner: Owner, invoice: KnownInvoice, amount: number, chance: Chance, count: () => number): Deed {
  // The owner presses the button again until it is answered: the key makes that one payment.
  const key = `pay-${chance.int(0, 1e9)}`
  const presses = chance.is(0.2) ? 2 : 1
  let [asked, settled] = [false, false]
  return {
    name: `pays ${amount} of ${invoice.reference}`,
    async do({ db, clock, queue }) {
      const payment = {
        invoiceId: invoice.id,
        draft: { kind: 'payment' as const, amount, method: null, reference: '', note: '' },
        key,
        origin: 'by_hand' as const,
      }
      const wasAsked = asked
      if (!asked) invoice.perhapsPaid += amount
      asked = true
      let answers = 0
      const known = (isPaid: boolean) => {
        // An answer that comes late, and that of the next try.
        if (settled) return
        settled = true
        invoice.perhapsPaid -= amount
        if (!isPaid) return
        invoice.paid += amount
        if (invoice.paid >= invoice.amount) invoice.quietSince = count()
      }
      for (; answers < presses; answers += 1)
        await recordPayment(db, owner.id, payment, clock.now(), afterInvoiceChange(queue)).catch((error: unknown) => {
          // Where the invoice was deleted before it was asked again, it stays unknown.
          const isDeleted = error instanceof ProblemError && error.code === 'not_found'
          if (isRefusal(error) && !(isDeleted && wasAsked)) known(isDeleted && answers > 0)
          throw error
        })
      known(true)
    },
  }
}

function pausing(owner: Owner, invoice: KnownInvoice, isPaused: boolean, scope: 'invoice' | 'client', count: () => number): Deed {
  return {
    name: `${isPaused ? 'pauses' : 'resumes'} ${scope === 'client' ? 'the client of ' : ''}${invoice.reference}`,
    async do({ db, clock, queue }) {
      // It may be reminded from the moment when it is asked for, and must not be from the moment when the pause is answered.
      const touched = owner.invoices.filter((one) => one === invoice || (scope === 'client' && one.clientEmail === invoice.clientEmail))
      if (!isPaused) for (const one of touched) if (one.paid < one.amount && !one.deleted) one.quietSince = null
      const change = isPaused ? { paused: true as const, until: null, note: '', promised: false, scope } : { paused: false as const, scope }
      const { resumes } = owner
      const before = resumes.asked
      if (!isPaused) resumes.asked += 1
      await pauseInvoice(db, owner.id, invoice.id, change, clock.now(), afterInvoiceChange(queue))
      // What is asked for at the same time may be done in another order than it is answered.
      const isAlone = resumes.asked === before && resumes.answered === before
      if (isPaused && isAlone) for (const one of touched) one.quietSince ??= count()
      if (!isPaused) resumes.answered = resumes.asked
    },
  }
}

function moving(owner: Owner, chance: Chance): Deed {
  const change = chance.is(0.5) ? { timezone: chance.pick(zones) } : { reminderHour: chance.int(0, 17) }
  return {
    name: `moves to ${JSON.stringify(change)}`,
    async do({ db, clock }) {
      const now = clock.now()
      await db.transaction(async (tx) => {
        const before = await findAccount(tx, owner.id)
        await tx
          .update(accounts)
          .set({ ...change, ...(change.timezone ? { nextMidnightAt: now } : {}) })
          .where(eq(accounts.id, owner.id))
        const after = await findAccount(tx, owner.id)
        if (before && after) await reschedule(tx, before, after, now)
      })
      owner.timezone = change.timezone ?? owner.timezone
    },
  }
}

async function asking(deps: Deps, owner: Owner) {
  const account = await findAccount(deps.db, owner.id)
  if (!account) throw new Error('The account has gone.')
  return { ...deps, account: { ...account, person: owner.person }, now: deps.clock.now() }
}

/** A refusal is an answer too. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError
}
