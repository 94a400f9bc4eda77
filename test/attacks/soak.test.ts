import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { later, silence } from '#test/fakes/smtp-server.ts'
import { type Account, onAnyDatabase, openMailServer, secretKey, send } from '#test/faults/environment.ts'
import { percentile, row, seconds } from '#test/faults/row.ts'
import type { Program } from '#test/program.ts'
import { systemMailEnv } from './browser.ts'

type Abuse = (account: Account, nth: number) => Promise<unknown>

const dueYesterday = Temporal.Now.plainDateISO().subtract({ days: 1 }).toString()
const invoice = (name: string) => ({
  clientName: name,
  clientEmail: `${name}@example.com`,
  amount: 1_200,
  dueDate: dueYesterday,
  status: 'unpaid',
})

/** Each kind of abuse of rows 83 to 95 that needs an account, again and again; a refusal is part of it. */
function abuses(program: Program, hanging: string): Abuse[] {
  // Answers are not parsed, because that would delay the calls that are measured.
  const ask = async (account: Account, call: string, body?: object): Promise<string> => {
    const [method = '', path = ''] = call.split(' ')
    const token = await signAccessToken(secretKey, account.sessionId, Temporal.Now.instant())
    const headers = {
      authorization: `Bearer ${token}`,
      'x-forwarded-for': addressOf(account),
      ...(body ? { 'content-type': 'application/json' } : {}),
    }
    const asked = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}), signal: AbortSignal.timeout(60_000) }
    return fetch(program.url + path, asked).then(
      (answered) => answered.text(),
      () => '',
    )
  }
  const wording = { useCustomTemplate: true, customSubject: 'Owed', customContent: `${'x'.repeat(17_900)} {{clientName}} {{amount}}` }
  return [
    // A mailbox that answers late or never, and an email for each invoice.
    (account) => ask(account, 'POST /reminder/send-immediate'),
    // Eight long answers at the same time.
    (account) =>
      Promise.all(
        ['/invoice', '/invoices/export', '/invoice', '/user/export']
          .flatMap((path) => [path, path])
          .map((path) => ask(account, `GET ${path}`)),
      ),
    // Events for receivers that hang.
    async (account, nth) => {
      if (nth === 0)
        for (let hook = 0; hook < 20; hook += 1)
          await ask(account, 'POST /webhooks', { url: `${hanging}/${account.id}/${hook}`, events: ['invoice.created'] })
      await ask(account, 'POST /invoice', invoice(`hooked-${nth}`))
    },
    // Emails of Duely itself.
    async (account, nth) => {
      await ask(account, 'POST /api-keys', { name: `Key ${nth}`, scopes: ['read'] })
      await ask(account, 'POST /auth/forgot-password', { email: account.email })
    },
    // Passwords tried.
    (account, nth) => ask(account, 'POST /auth', { email: account.email, password: `guess ${nth}` }),
    // A long wording, rendered for many invoices of one client.
    async (account, nth) => {
      if (nth === 0) await ask(account, 'PUT /mail-config/template/group', wording)
      await ask(account, 'GET /reminder/pending')
      await ask(account, 'POST /reminder/send-immediate')
    },
    // A thousand invoices imported, and taken back.
    async (account, nth) => {
      const lines = Array.from({ length: 1_000 }, (_none, line) => invoice(`imported-${nth}-${line}`))
      const imported = await ask(account, 'POST /invoices/import', { lines })
      const ids = [...imported.matchAll(/"_id":"([^"]+)"/g)].map(([, id]) => id)
      await ask(account, 'POST /invoices/change', { change: { do: 'delete' }, ids })
    },
  ]
}

/** Each account calls from an address of its own. */
function addressOf({ id }: Account): string {
  return `198.${18 + (Number.parseInt(id.slice(-2), 16) % 2)}.${Number.parseInt(id.slice(-4, -2), 16)}.${Number.parseInt(id.slice(-6, -4), 16)}`
}

/** Each kind of failure, and how often it happened. */
function reasons(failures: string[]): string {
  const counted = Object.entries(Object.groupBy(failures, (failure) => failure.replace(/[0-9a-f-]{36}/, 'ID')))
  return counted.length === 0 ? '' : ` (${counted.map(([failure, all]) => `${all?.length} × ${failure}`).join(', ')})`
}

/** Eleven minutes, so only `npm run attack` and `npm run test:full` run it. */
row('96', '200 accounts abuse everything above for ten minutes, beside 20 ordinary ones', async (trial) => {
  trial.mustHold(
    'ordinary accounts: 95 % of calls within 300 ms and their emails within 2 s, or within 3 times what these take in the minute before; 0 lost, 0 twice',
  )
  const [idleMinutes, minutes, many, ordinaryCount] = [1, 10, 200, 20]
  const environment = await onAnyDatabase(trial)
  const healthy = await openMailServer(trial)
  const hanging = trial.stack.use(await openFakeReceiver())
  hanging.answer({ status: 200, afterMs: 30_000 })
  const silent = await openMailServer(trial)
  silent.answer({ greeting: () => silence })
  const dotless = await openMailServer(trial)
  dotless.answer({ dot: () => silence })
  const slow = await openMailServer(trial)
  slow.answer({ dot: () => later(5_000) })
  const servers = [silent, dotless, slow]
  const attackers = (
    await Promise.all(
      servers.map((smtp, nth) => environment.createAccounts({ count: Math.ceil(many / 3), invoices: 200, smtp, name: `attacker${nth}-` })),
    )
  )
    .flat()
    .slice(0, many)
  const ordinary = await environment.createAccounts({ count: ordinaryCount, invoices: 5, smtp: healthy, name: 'ordinary' })
  const systemMail = await openMailServer(trial, { delayMs: 100 })
  await environment.prepare(async (db) => {
    await db.execute(sql`UPDATE people SET email_verified_at = now()`)
  })
  const program = await environment.start({
    ...systemMailEnv(systemMail),
    RATE_LIMIT: 'on',
    TRUST_PROXY: '127.0.0.1',
    HOOK_ALLOW_PRIVATE_HOSTS: 'true',
  })
  const failures: string[] = []
  const expected: string[] = []
  /** What the ordinary accounts do for so long, and how long it took them. */
  const work = async (name: string, forMinutes: number) => {
    const until = performance.now() + forMinutes * 60_000
    const going = () => performance.now() < until && !trial.signal.aborted
    const calls: number[] = []
    const emails: number[] = []
    const answers: number[] = []
    /** One that is refused, or not answered within a minute, is counted as a failure. */
    const ask = async (account: Account, call: string, body?: object): Promise<{ body: unknown; ms: number }> => {
      const began = performance.now()
      const answered = await send(program, account, call, { ...(body ? { body } : {}), from: addressOf(account) }).catch(
        ({ message }: Error) => ({ status: message, body: null, ms: performance.now() - began }),
      )
      if (typeof answered.status === 'string' || answered.status >= 400) failures.push(`${call}: ${answered.status}`)
      return answered
    }
    const timed = async (account: Account, call: string, body?: object) => {
      const answered = await ask(account, call, body)
      calls.push(answered.ms)
      return answered.body
    }
    const working = ordinary.map(async (account, at) => {
      await pause(at * 500)
      for (let nth = 0; going(); nth += 1) {
        await timed(account, 'GET /invoice')
        await timed(account, 'GET /reminder/status')
        const client = `${name}-${at}-${nth}`
        const added = await timed(account, 'POST /invoice', invoice(client))
        const began = performance.now()
        // Answers once every email was attempted, so its time is that of the mail server.
        const answer = ask(account, 'POST /reminder/send-immediate')
        expected.push(`${client}@example.com`)
        const arrived = () => healthy.mails.some(({ envelope }) => envelope.to.includes(`${client}@example.com`))
        // One that does not arrive is counted at the end.
        await trial.until('the email arrives', arrived, { everyMs: 10, seconds: 60 }).catch(() => undefined)
        emails.push(performance.now() - began)
        answers.push((await answer).ms)
        await timed(account, `PATCH /invoice/${(added as { _id?: string } | null)?._id}`, { status: 'paid' })
        await pause(10_000)
      }
    })
    await Promise.all(working)
    return { calls, emails, answers, call: percentile(calls, 0.95), email: percentile(emails, 0.95) }
  }
  const before = await work('before', idleMinutes)

  const kinds = abuses(program, hanging.url)
  const abuse = { now: true, rounds: 0 }
  const abusing = attackers.map(async (account, at) => {
    for (let nth = 0; abuse.now; nth += 1) {
      await kinds[at % kinds.length]?.(account, nth)
      abuse.rounds += 1
      // As often as 60 calls a minute allow.
      await pause(500 + trial.random() * 1_000)
    }
  })
  const { calls, emails, answers, call, email } = await work('during', minutes).finally(() => {
    abuse.now = false
  })
  await Promise.all(abusing)
  const received = healthy.mails.flatMap(({ envelope }) => envelope.to)
  const lost = expected.filter((to) => !received.includes(to)).length
  const twice = expected.filter((to) => received.filter((one) => one === to).length > 1).length
  return {
    figure: `${abuse.rounds} rounds of abuse; ${calls.length} ordinary calls, 95 % within ${call.toFixed(0)} ms (before ${before.call.toFixed(0)} ms), ${failures.length} refused or not answered${reasons(failures)}; ${emails.length} emails, 95 % within ${seconds(email)} (before ${seconds(before.email)}), the slowest ${seconds(Math.max(...emails))}, the slowest answer of Send Now ${seconds(Math.max(...answers))}; lost ${lost}, twice ${twice}`,
    holds:
      call <= Math.max(300, before.call * 3) &&
      email <= Math.max(2_000, before.email * 3) &&
      lost === 0 &&
      twice === 0 &&
      failures.length === 0,
  }
})
