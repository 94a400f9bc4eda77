import { setTimeout as pause } from 'node:timers/promises'
import { allClosed, aMailServer, anywhere, clientsOf, inFlight, onServer, people, send, states } from './place.ts'
import { keptItsWord, type Scenario, tally, until, wordsOf } from './scenario.ts'

/** Rows 33 to 36 and 77: people who change their mind while mails are leaving. */
export const asking: Scenario[] = [
  {
    row: '33',
    name: 'invoices marked paid while their mails are queued',
    criterion: 'no mail claimed after the answer "paid"',
    short: true,
    async run(chaos) {
      if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const count = chaos.short ? 150 : 1_000
      const place = await onServer(chaos, chaos.cluster)
      const smtp = await aMailServer(chaos, { delayMs: 10 })
      const [person] = await place.prepare((db) => people(db, { count: 1, invoices: count, smtp, nextRunAt: Temporal.Now.instant() }))
      if (!person) throw new Error('Nobody was made.')
      await place.rows(`CREATE TABLE claims (invoice uuid, at timestamptz); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO claims SELECT invoice_id, statement_timestamp() FROM delivery_invoices WHERE delivery_id = NEW.id; RETURN NEW; END $$;
        CREATE TRIGGER note AFTER UPDATE ON deliveries FOR EACH ROW WHEN (OLD.state <> 'sending' AND NEW.state = 'sending') EXECUTE FUNCTION note()`)
      const program = await place.start()
      await until('mails leave', { seconds: 90, over: chaos.over, everyMs: 5 }, () => smtp.mails.length > 5)
      const paidAt = new Map<string, number>()
      const order = person.invoices.map((one) => ({ one, by: chaos.random() })).sort((a, b) => a.by - b.by)
      const payers = Array.from({ length: 4 }, async () => {
        for (let next = order.shift(); next; next = order.shift()) {
          const answer = await send(program, person, `PATCH /invoice/${next.one.id}`, { body: { status: 'paid' } })
          if (answer.status === 200) paidAt.set(next.one.id, answer.at)
        }
      })
      await Promise.all(payers)
      await until('every mail is closed', { seconds: 60, over: chaos.over, everyMs: 100 }, () => allClosed(place, count))
      const claims = await place.rows<{ invoice: string; ms: number }>(
        'SELECT invoice, extract(epoch FROM at)::float8 * 1000 AS ms FROM claims',
      )
      // The answer's time is in whole milliseconds, read after the answer was there.
      const late = claims.filter(({ invoice, ms }) => ms > (paidAt.get(invoice) ?? Number.POSITIVE_INFINITY) + 1)
      const counted = tally(smtp.mails, clientsOf([person]))
      return {
        figure: `${paidAt.size} paid, ${smtp.mails.length} mails had left, ${counted.lost} were called off; claimed after the answer: ${late.length}`,
        holds:
          late.length === 0 && paidAt.size === count && counted.lost > 0 && counted.repeated === 0 && smtp.mails.length === claims.length,
      }
    },
  },
  {
    row: '34',
    name: 'Stop pressed with 1,000 mails queued',
    criterion: 'at most 2 more mails, the rest cancelled',
    async run(chaos) {
      const place = await anywhere(chaos)
      const smtp = await aMailServer(chaos, { delayMs: 20 })
      const [person] = await place.prepare((db) => people(db, { count: 1, invoices: 1_000, smtp, nextRunAt: Temporal.Now.instant() }))
      if (!person) throw new Error('Nobody was made.')
      const program = await place.start()
      await until('mails leave', { seconds: 90, over: chaos.over, everyMs: 5 }, () => smtp.mails.length > 100 * chaos.random() + 20)
      const { at, status } = await send(program, person, 'POST /reminder/stop')
      await pause(4_000)
      const after = smtp.mails.filter((mail) => mail.at > at).length
      const { body } = await send(program, person, 'GET /reminder/runs')
      const [run] = body as { sent: number; open: number; skipped: number }[]
      return {
        figure: `after the answer ${after} more; sent ${run?.sent}, called off ${run?.skipped}, open ${run?.open}`,
        holds:
          status === 200 &&
          after <= inFlight.mailbox &&
          run?.open === 0 &&
          run.sent === smtp.mails.length &&
          run.sent + run.skipped === 1_000,
      }
    },
  },
  {
    row: '35',
    name: 'Send Now pressed 20 times at once',
    criterion: 'one mail per invoice, one run',
    short: true,
    async run(chaos) {
      const place = await anywhere(chaos)
      const smtp = await aMailServer(chaos, { delayMs: 5 })
      const [person] = await place.prepare((db) => people(db, { count: 1, invoices: 10, smtp }))
      if (!person) throw new Error('Nobody was made.')
      const program = await place.start()
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(program, person, 'POST /reminder/send-immediate')))
      const ok = answers.filter(({ status }) => status === 200).length
      const runs = new Set(answers.map(({ body }) => (body as { runId: string }).runId))
      await pause(1_500)
      const counted = tally(smtp.mails, clientsOf([person]))
      return {
        figure: `${ok} of 20 answered 200, ${runs.size} run; ${wordsOf(counted)}`,
        holds: ok === 20 && runs.size === 1 && keptItsWord(counted, 0),
      }
    },
  },
  {
    row: '36',
    name: 'the mailbox removed in the middle of a run',
    criterion: 'at most 2 more mails, the rest held',
    async run(chaos) {
      const place = await anywhere(chaos)
      const smtp = await aMailServer(chaos, { delayMs: 20 })
      const [person] = await place.prepare((db) => people(db, { count: 1, invoices: 400, smtp, nextRunAt: Temporal.Now.instant() }))
      if (!person) throw new Error('Nobody was made.')
      const program = await place.start()
      await until('mails leave', { seconds: 90, over: chaos.over, everyMs: 5 }, () => smtp.mails.length > 50 * chaos.random() + 20)
      const { at, status } = await send(program, person, 'DELETE /mail-config')
      await pause(4_000)
      const after = smtp.mails.filter((mail) => mail.at > at).length
      const { body } = await send(program, person, 'GET /reminder/runs')
      const [run] = body as { sent: number; held: number; holdReason: string }[]
      return {
        figure: `after the answer ${after} more; sent ${run?.sent}, held ${run?.held} (${run?.holdReason})`,
        holds:
          status === 204 &&
          after <= inFlight.mailbox &&
          run?.sent === smtp.mails.length &&
          run.held === 400 - run.sent &&
          run.holdReason === 'not_configured',
      }
    },
  },
  {
    row: '77',
    name: 'the account deleted in the middle of a run',
    criterion: 'at most 2 more mails, rows left 0',
    async run(chaos) {
      if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const place = await onServer(chaos, chaos.cluster)
      const smtp = await aMailServer(chaos, { delayMs: 20 })
      const [person] = await place.prepare((db) => people(db, { count: 1, invoices: 400, smtp, nextRunAt: Temporal.Now.instant() }))
      if (!person) throw new Error('Nobody was made.')
      const program = await place.start()
      await until('mails leave', { seconds: 90, over: chaos.over, everyMs: 5 }, () => smtp.mails.length > 20)
      const { at, status } = await send(program, person, 'DELETE /user/account')
      await pause(4_000)
      const after = smtp.mails.filter((mail) => mail.at > at).length
      const owned = await place.rows<{ table: string }>(
        `SELECT DISTINCT table_name AS table FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'owner_id'`,
      )
      let left = (await place.rows('SELECT 1 FROM accounts WHERE id = $1', [person.id])).length
      for (const { table } of owned) left += (await place.rows(`SELECT 1 FROM "${table}" WHERE owner_id = $1`, [person.id])).length
      const errors = program.output().match(/"level":50/g)?.length ?? 0
      return {
        figure: `answer ${status}; after it ${after} more mails; rows left 0 in ${owned.length + 1} tables: ${left === 0 ? 'yes' : `no, ${left}`}; errors logged ${errors}`,
        holds: status === 204 && after <= inFlight.mailbox && left === 0 && errors === 0 && Object.keys(await states(place)).length === 0,
      }
    },
  },
]
