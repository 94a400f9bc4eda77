import { eq, type SQL, sql } from 'drizzle-orm'
import type { Invoice, InvoiceStatus } from '#contract/invoices.ts'
import type { SequenceDraft } from '#contract/sequences.ts'
import { createAccount, findAccount } from '#server/accounts/accounts.ts'
import { hashPassword } from '#server/accounts/passwords.ts'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { accounts, memberships, type PersonRow, people, sessions } from '#server/accounts/tables.ts'
import type { Config } from '#server/config.ts'
import { createInvoice, toInvoice } from '#server/invoices/invoices.ts'
import { noClients } from '#server/invoices/pauses.ts'
import { sequences } from '#server/invoices/tables.ts'
import { type Sender, storeSmtp } from '#server/mail/mail.ts'
import type { Account } from '#server/platform/answer.ts'
import { newId, type PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { sequenceSteps, stepTexts } from '#server/reminders/tables.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { openTestApp, type TestApp } from './harness.ts'
import { readEmail } from './read-email.ts'

/** A signed-in person. */
export interface Person {
  /** Of their account: no person and no account ever share an id. */
  id: string
  personId: PersonId
  email: string
  displayName: string
  /** Each call gets a new token: one lasts 15 minutes, and tests move the clock by days. */
  sessionId: string
  token: string
}

let peopleMade = 0

/** Attributes of a person. Without a password they can't sign in again; with a `googleId` they are linked to Google. */
interface PersonAbout {
  displayName?: string
  email?: string
  timezone?: string
  password?: string
  googleId?: string
  /** Whether the email is confirmed; without it, notices are not emailed. */
  confirmed?: boolean
}

/** A person with an account and a session; by default in India. */
export async function aPerson(app: TestApp, about: PersonAbout = {}): Promise<Person> {
  peopleMade += 1
  const now = app.clock.now()
  const account = await createAccount(
    app.db,
    {
      displayName: about.displayName ?? 'Asha Rao',
      email: about.email ?? `asha${peopleMade}@example.com`,
      timezone: about.timezone ?? 'Asia/Kolkata',
      // Hashing is slow on purpose, so only tests that need a password set one.
      passwordHash: about.password === undefined ? null : await hashPassword(about.password),
      emailVerifiedAt: about.confirmed ? now : null,
    },
    now,
  )
  const { person } = account
  if (about.googleId)
    await app.db
      .update(people)
      .set({ googleIssuer: 'https://accounts.google.com', googleSub: about.googleId })
      .where(eq(people.id, person.id))
  return { id: account.id, personId: person.id, email: person.email, displayName: person.displayName, ...(await aSession(app, person.id)) }
}

/** A person who works in the business of `owner`; their own business is beside it. */
export async function aMember(app: TestApp, owner: Person, role: 'admin' | 'member' | 'viewer', about: PersonAbout = {}): Promise<Person> {
  const person = await aPerson(app, about)
  const row = { ownerId: owner.id, personId: person.personId, role, getsMails: role === 'admin', joinedAt: app.clock.now() }
  await app.db.insert(memberships).values(row)
  return person
}

/** The account of a person as a call of theirs has it. */
export async function seenBy({ db }: TestApp, { id, personId }: Person): Promise<Account> {
  const account = await findAccount(db, id)
  const [person] = await db.select().from(people).where(eq(people.id, personId))
  if (!account || !person) throw new Error('The person has no account.')
  return { ...account, person }
}

/** Gives each account without an owner one, for accounts that a statement has written. */
export async function addOwners(db: Database): Promise<void> {
  await db.execute(sql`
    WITH alone AS MATERIALIZED (
      SELECT id AS owner_id, gen_random_uuid() AS person_id FROM accounts a WHERE NOT EXISTS (SELECT 1 FROM memberships m WHERE m.owner_id = a.id)),
    made AS (
      INSERT INTO people (id, display_name, email, email_verified_at, created_at, updated_at)
      SELECT person_id, 'Asha Rao', 'owner' || owner_id || '@example.com', now(), now(), now() FROM alone)
    INSERT INTO memberships (owner_id, person_id, role, joined_at) SELECT owner_id, person_id, 'owner', now() FROM alone`)
}

/** Changes what is stored about a person. */
export async function changePerson(app: TestApp, { personId }: Pick<Person, 'personId'>, change: Partial<PersonRow>): Promise<void> {
  await app.db.update(people).set(change).where(eq(people.id, personId))
}

/** The same person with a new session, because a session idle for 30 days has ended. */
export async function signedInAgain(app: TestApp, person: Person): Promise<Person> {
  return { ...person, ...(await aSession(app, person.personId)) }
}

async function aSession(app: TestApp, personId: PersonId): Promise<{ sessionId: string; token: string }> {
  const sessionId = newId()
  const now = app.clock.now()
  await app.db.insert(sessions).values({ id: sessionId, personId, refreshHash: sessionId, rotatedAt: now, createdAt: now, lastSeenAt: now })
  return { sessionId, token: await signAccessToken(app.deps.config.secretKey, sessionId, now) }
}

/** Attributes of an invoice. Default: Kaveri Foods, 5,000 rupees, due 8 days ago in the owner's time zone, unpaid. */
export interface InvoiceAbout {
  owner?: Person
  clientName?: string
  clientEmail?: string
  /** In its currency: the account's unless one is given. */
  amount?: number
  currency?: string
  issuedOn?: string
  dueDate?: string
  status?: InvoiceStatus
  reference?: string
}

/** An invoice; creates an owner unless one is given. */
export async function anInvoice(app: TestApp, about: InvoiceAbout = {}): Promise<Invoice & { owner: Person }> {
  const { owner = await aPerson(app), ...given } = about
  const now = app.clock.now()
  const [account] = await app.db.select({ timezone: accounts.timezone }).from(accounts).where(eq(accounts.id, owner.id))
  const today = now.toZonedDateTimeISO(account?.timezone ?? 'UTC').toPlainDate()
  const { row } = await createInvoice(
    app.db,
    owner.id,
    {
      clientName: 'Kaveri Foods',
      clientEmail: 'billing@kaveri.example',
      amount: 5000,
      dueDate: today.subtract({ days: 8 }).toString(),
      status: 'unpaid',
      ...given,
    },
    now,
    app.deps.config,
  )
  return { ...toInvoice(row, noClients), owner }
}

/** Pays the invoices `i` that match in full, directly in the database. */
export async function payInFull(db: Database, which: SQL, paidAt: SQL = sql`now()`): Promise<void> {
  await db.execute(sql`
    WITH paid AS (UPDATE invoices i SET status = 'paid', paid_minor = amount_minor, paid_at = ${paidAt}, paid_on = due_date WHERE ${which} RETURNING i.*)
    INSERT INTO invoice_payments (id, owner_id, invoice_id, kind, origin, amount_minor, paid_on, recorded_at)
    SELECT id, owner_id, id, 'payment', 'marked', amount_minor, due_date, coalesce(paid_at, now()) FROM paid`)
}

/** A connected mailbox of the person on this mail server; its address is the server's login. */
export async function aMailbox(app: TestApp, person: Person, smtp: FakeSmtp): Promise<Sender> {
  const draft = { host: smtp.host, port: smtp.port, secure: smtp.tls === 'ssl', ...smtp.login }
  return storeSmtp(app.db, app.deps.config.secretKey, person.id, draft, app.clock.now())
}

/** A sequence of the person, which their account follows. */
export async function aSequence(app: TestApp, { id: ownerId }: Person, draft: Omit<SequenceDraft, 'fingerprint'>): Promise<string> {
  const [now, id] = [app.clock.now(), newId()]
  const { name, everyDays, atMost, atLeast, steps } = draft
  await app.db.insert(sequences).values({ id, ownerId, name, everyDays, atMost, atLeast, createdAt: now, updatedAt: now })
  for (const { offset, tone, copyToMe, copyToSecondContact, ...texts } of steps) {
    await app.db.insert(sequenceSteps).values({ ownerId, sequenceId: id, offset, tone, copyToMe, copyToSecondContact })
    await app.db.insert(stepTexts).values({ ownerId, sequenceId: id, offset, language: 'en', ...texts })
  }
  await app.db.update(accounts).set({ follows: 'own', sequenceId: id, plansSteps: true }).where(eq(accounts.id, ownerId))
  return id
}

/** The program, a mail server, and Asha with a mailbox there: all that a reminder needs except an invoice. */
export async function anOffice(about: {
  now: string
  person?: PersonAbout
  /** Creates invoices, each to a different client, due on 20 February 2026. */
  invoices?: number
  config?: Partial<Config>
}): Promise<{ app: TestApp; asha: Person; smtp: FakeSmtp; invoices: Invoice[] } & AsyncDisposable> {
  const smtp = await openFakeSmtp()
  const app = await openTestApp({ now: about.now, ...(about.config ? { config: about.config } : {}) })
  const asha = await aPerson(app, { confirmed: true, ...about.person })
  await aMailbox(app, asha, smtp)
  const invoices: Invoice[] = []
  for (let nth = 1; nth <= (about.invoices ?? 0); nth += 1)
    invoices.push(await anInvoice(app, { owner: asha, clientEmail: `client${nth}@example.com`, dueDate: '2026-02-20' }))
  return {
    app,
    asha,
    smtp,
    invoices,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await smtp[Symbol.asyncDispose]()
    },
  }
}

/** The database refuses to update the rows of a table that match (`NEW` is the row), until this is disposed of. */
export async function refusedUpdates({ db }: TestApp, table: string, when: string): Promise<AsyncDisposable> {
  await db.execute(
    sql`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''This row is refused.''; END'`,
  )
  await db.execute(
    sql.raw(`CREATE OR REPLACE TRIGGER refused BEFORE UPDATE ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse()`),
  )
  return {
    async [Symbol.asyncDispose]() {
      await db.execute(sql.raw(`DROP TRIGGER IF EXISTS refused ON ${table}`))
    },
  }
}

/** Runs the jobs of nine o'clock in India on each of these days: `instant recipient subject` of every email that left. */
export async function sentOn({ app, smtp }: { app: TestApp; smtp: FakeSmtp }, days: string[]): Promise<string[]> {
  const sent: string[] = []
  for (const day of days) {
    const had = smtp.mails.length
    app.clock.set(`${day}T03:30:00Z`)
    await app.runJobs()
    for (const { raw, envelope } of smtp.mails.slice(had))
      sent.push(`${app.clock.now().toString()} ${envelope.to[0]} ${(await readEmail(raw)).subject}`)
  }
  return sent
}
