import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { readySequences } from '#contract/ready-sequences.ts'
import { openCalls } from '#server/app.ts'
import { readConfig } from '#server/config.ts'
import { limitsOf } from '#server/mail/mail.ts'
import { openMailer } from '#server/mail/transports.ts'
import { systemClock } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { openEmbedded } from '#server/platform/database.ts'
import { openQueue } from '#server/platform/job.ts'
import { openLog } from '#server/platform/log.ts'
import { loadSecretKey } from '#server/platform/secret-key.ts'
import { beat, releaseProcess } from '#server/reminders/processes.ts'
import { openSending } from '#server/reminders/sending.ts'
import { sweep, tick, works } from '#server/worker.ts'
import { bankFile, bankFileName } from './demo-bank.ts'

/** Who signs in to the demo. */
export const visitor = { email: 'mira@nila-studio.example', password: 'a year of invoices' }
/** The keys of the fake Razorpay server. They must look live: clients see online payment only with live keys. */
export const paymentKeys = { keyId: 'rzp_live_NilaStudioDemo', keySecret: 'no_money_is_moved' }
/** Who works with her: a colleague, and an accountant who only looks. */
const colleagues = [
  { displayName: 'Arjun Rao', email: 'arjun@nila-studio.example', role: 'member' },
  { displayName: 'Leela Iyer', email: 'leela@iyer-accounts.example', role: 'viewer' },
]
const zone = 'Asia/Kolkata'

/** A client of the studio: what they buy each month, and how they pay. */
interface Client {
  clientName: string
  clientEmail: string
  currency: 'INR' | 'EUR' | 'USD'
  amount: number
  /** The day of the month on which an invoice is written, and within how many days it is due. */
  day: number
  terms: number
  /** How many days late each invoice is paid, in turn; `never`: it is open until today. */
  late: (number | 'never')[]
  /** Pays a part first, or promises a date. */
  habit?: 'part' | 'promise'
}

const clients: Client[] = [
  {
    clientName: 'Kaveri Foods',
    clientEmail: 'accounts@kaveri-foods.example',
    currency: 'INR',
    amount: 84_000,
    day: 2,
    terms: 15,
    late: [-2, 1, 4, 0],
  },
  {
    clientName: 'Banyan Hotels',
    clientEmail: 'finance@banyan-hotels.example',
    currency: 'INR',
    amount: 140_000,
    day: 5,
    terms: 30,
    late: [12, 18, 9, 25],
    habit: 'promise',
  },
  {
    clientName: 'Atelier Lindqvist',
    clientEmail: 'hello@lindqvist.example',
    currency: 'EUR',
    amount: 2_400,
    day: 1,
    terms: 14,
    late: [0, 2, -1],
  },
  {
    clientName: 'Harbor & Pine',
    clientEmail: 'ap@harborpine.example',
    currency: 'USD',
    amount: 3_200,
    day: 9,
    terms: 30,
    late: [3, 8, 40, 5],
  },
  {
    clientName: 'Rohan Mehta',
    clientEmail: 'rohan@mehta-design.example',
    currency: 'INR',
    amount: 18_500,
    day: 12,
    terms: 7,
    late: [9, 15, 22, 'never'],
    habit: 'part',
  },
  {
    clientName: 'Zenith Labs',
    clientEmail: 'billing@zenith-labs.example',
    currency: 'INR',
    amount: 62_000,
    day: 16,
    terms: 21,
    late: [6, 33, 14],
  },
  {
    clientName: 'Studio Marchetti',
    clientEmail: 'conti@marchetti.example',
    currency: 'EUR',
    amount: 1_150,
    day: 20,
    terms: 30,
    late: [5, 11, 2, 'never'],
  },
  {
    clientName: 'Blue Door Books',
    clientEmail: 'orders@bluedoor.example',
    currency: 'USD',
    amount: 780,
    day: 24,
    terms: 14,
    late: [1, -3, 7],
  },
]

/**
 * Makes a data folder with the last `days` of a small studio, up to now: the real calls, runs and emails on a clock that is moved day by day. Emails go to
 * the mail server on `smtpPort` with links to `publicUrl`, where clients can pay by the provider at `paymentsUrl`.
 */
export async function makeYear(
  dataDir: string,
  {
    smtpPort,
    publicUrl,
    paymentsUrl,
    days = 365,
    progress,
  }: { smtpPort: number; publicUrl: string; paymentsUrl: string; days?: number; progress(share: number): void },
): Promise<void> {
  // Nothing needs to survive a power cut: an unfinished year is made again.
  const database = await openEmbedded(dataDir, () => undefined)
  const secretKey = await loadSecretKey(database.db, { given: '', dataDir })
  const config = {
    ...readConfig({
      SMTP_ALLOW_PRIVATE_HOSTS: 'true',
      RATE_LIMIT: 'off',
      PAY_LINKS: 'on',
      PUBLIC_URL: publicUrl,
      RAZORPAY_API_URL: paymentsUrl,
      DATA_DIR: dataDir,
    }),
    secretKey,
  }
  const log = openLog({ level: 'fatal', terminal: false })
  const end = Temporal.Now.zonedDateTimeISO(zone)
  const today = end.toPlainDate()
  let now = end.toInstant()
  const clock = { ...systemClock, now: () => now }
  const queue = await openQueue({ db: database.db, log, soleProcess: true, timers: systemClock })
  const own = { db: database.db, clock, queue, config, log }
  const processId = newId()
  const mailer = openMailer(own)
  const deps = { ...own, ...openSending(own, { processId, embedded: true }), mailer, processId, random: () => 0.5, limitsOf }
  await beat(database.db, processId)
  const app = await openCalls(deps)
  const jobs = works(deps)
  let token = ''
  const ask = async <R>(method: 'GET' | 'POST' | 'PATCH' | 'PUT', url: string, payload?: object): Promise<R> => {
    const answered = await app.inject({
      method,
      url,
      headers: token ? { authorization: `Bearer ${token}` } : {},
      ...(payload ? { payload } : {}),
    })
    if (answered.statusCode >= 400) throw new Error(`${method} ${url}: ${answered.statusCode} ${answered.body}`)
    return (answered.body === '' ? undefined : JSON.parse(answered.body)) as R
  }
  const signIn = async () => {
    token = ''
    token = (await ask<{ accessToken: string }>('POST', '/auth', visitor)).accessToken
  }

  const first = today.subtract({ days })
  now = first.toZonedDateTime({ timeZone: zone, plainTime: '08:00' }).toInstant()
  await ask('POST', '/user', { ...visitor, displayName: 'Mira Nair', timezone: zone })
  await signIn()
  await ask('POST', '/mail-config/smtp', { host: '127.0.0.1', port: smtpPort, secure: false, user: visitor.email, pass: 'demo' })
  const [friendly] = readySequences
  const { _id: sequence } = await ask<{ _id: string }>('POST', '/reminder/sequences', friendly)
  await ask('PATCH', '/reminder/settings', { sequence })
  await ask('POST', '/reminder/start')
  await ask('PATCH', '/business', { name: 'Nila Studio' })
  const proof = { currentPassword: visitor.password }
  await ask('PUT', '/payment-settings', {
    businessName: 'Nila Studio',
    upi: { id: 'nila.studio@examplebank', name: 'Nila Studio' },
    bank: { kind: 'india', accountName: 'Nila Studio', accountNumber: '50100123456789', ifsc: 'HDFC0000123' },
    ...proof,
  })
  await ask('PUT', '/payment-settings/razorpay', { ...paymentKeys, ...proof })
  for (const { role, ...person } of colleagues) {
    await signIn()
    const { link } = await ask<{ link: string }>('POST', '/business/invitations', { email: person.email, role })
    token = ''
    await ask('POST', '/user', { ...person, password: visitor.password, timezone: zone })
    token = (await ask<{ accessToken: string }>('POST', '/auth', { email: person.email, password: visitor.password })).accessToken
    await ask('POST', '/invitations/accept', { token: link.split('#token=')[1] })
  }
  await signIn()

  /** What is done on a day, by its date. */
  const plan = new Map<string, (() => Promise<unknown>)[]>()
  const on = (date: Temporal.PlainDate, act: () => Promise<unknown>) => {
    if (Temporal.PlainDate.compare(date, today) <= 0) plan.set(date.toString(), [...(plan.get(date.toString()) ?? []), act])
  }
  for (const client of clients)
    for (let month = 0; month <= 12; month += 1) {
      const issued = first.with({ day: client.day }).add({ months: month })
      if (Temporal.PlainDate.compare(issued, first) < 0) continue
      on(issued, async () => {
        const { clientName, clientEmail, currency, terms, habit } = client
        const due = issued.add({ days: terms })
        const late = client.late[month % client.late.length] ?? 0
        const amount = Math.round(client.amount * (0.8 + ((month * 37) % 50) / 100))
        const invoice = await ask<{ _id: string }>('POST', '/invoice', {
          clientName,
          clientEmail,
          currency,
          amount,
          dueDate: due.toString(),
        })
        const pay = (part: number, date: Temporal.PlainDate) =>
          on(date, () => ask('POST', `/invoice/${invoice._id}/payments`, { amount: part, paidOn: date.toString(), method: 'bank' }))
        if (habit === 'part') pay(Math.round(amount / 2), due.add({ days: 3 }))
        if (habit === 'promise' && month % 3 === 1)
          on(due.add({ days: 8 }), () =>
            ask('PATCH', `/invoice/${invoice._id}/pause`, {
              paused: true,
              until: due.add({ days: 14 }).toString(),
              promised: true,
              note: 'On the phone: next week.',
            }),
          )
        if (late !== 'never') pay(habit === 'part' ? amount - Math.round(amount / 2) : amount, due.add({ days: late }))
      })
    }

  for (let day = 0; day <= days; day += 1) {
    const date = first.add({ days: day })
    now = date.toZonedDateTime({ timeZone: zone, plainTime: '08:30' }).toInstant()
    // The clock of the machine has not come that far.
    if (Temporal.Instant.compare(now, end.toInstant()) > 0) break
    const acts = plan.get(date.toString()) ?? []
    if (acts.length > 0) await signIn()
    for (const act of acts) await act()
    now = date.toZonedDateTime({ timeZone: zone, plainTime: '09:05' }).toInstant()
    if (Temporal.Instant.compare(now, end.toInstant()) > 0) now = end.toInstant()
    do {
      await tick(deps)
      await sweep(deps)
    } while ((await queue.runWaiting(jobs)) > 0)
    progress(day / days)
  }
  await signIn()
  await writeFile(path.join(dataDir, bankFileName), bankFile(await ask('GET', '/invoice'), today))
  await app.close()
  await mailer.close()
  await releaseProcess(database.db, processId)
  // The server of the demo sends email of its own, and asks for a confirmed address.
  await database.pulse.execute(sql`UPDATE people SET email_verified_at = created_at`)
  await database.pulse.execute(sql`VACUUM ANALYZE`)
  await database.close()
}
