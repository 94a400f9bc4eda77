import { spawnSync } from 'node:child_process'
import { access } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { allClosed, aMailServer, anywhere, clientsOf, onServer, people, send } from './place.ts'
import { type Scenario, tally, until } from './scenario.ts'

/** Rows 76, 79 and 81: limits, money and backups. */
export const data: Scenario[] = [
  {
    row: '76',
    name: '60 invoices written down at once with one left of the month',
    criterion: 'exactly 50',
    async run() {
      const billing = await access(path.join(import.meta.dirname, '../server/billing/billing.ts')).then(
        () => true,
        () => false,
      )
      return { skipped: billing ? 'the limit of a plan is there, this row is not yet' : 'plans have no limits yet' }
    },
  },
  {
    row: '79',
    name: 'amounts there and back, and in the mail',
    criterion: 'none of 10,000 differs; more than two decimals are refused',
    async run(chaos) {
      const place = await anywhere(chaos)
      const smtp = await aMailServer(chaos)
      const [person] = await place.prepare((db) => people(db, { count: 1, invoices: 0, smtp }))
      if (!person) throw new Error('Nobody was made.')
      const program = await place.start()
      const dueDate = Temporal.Now.plainDateISO('UTC').subtract({ days: 10 }).toString()
      const paise = [
        1,
        10,
        30,
        1_999,
        100_000,
        999_999_999_999,
        ...Array.from({ length: 9_994 }, () => 1 + Math.floor(chaos.random() * 10 ** (2 + 9 * chaos.random()))),
      ]
      let refused = 0
      for (const amount of [0.1 + 0.2, 19.999, 1e-7, 0, -5, 1e12]) {
        const answer = await send(program, person, 'POST /invoice', {
          body: { clientName: 'C', clientEmail: 'c@example.com', amount, dueDate },
        })
        if (answer.status === 400) refused += 1
      }
      const wanted = new Map<string, number>()
      let next = 0
      const writers = Array.from({ length: 8 }, async () => {
        while (next < paise.length && !chaos.over.aborted) {
          const nth = next++
          const minor = paise[nth] ?? 1
          // As a person writes it, not as a division leaves it.
          const amount = Number(`${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`)
          // Only the first hundred are past due: those are in mails.
          const body = { clientName: `C ${nth}`, clientEmail: `c${nth}@example.com`, amount, dueDate: nth < 100 ? dueDate : '2999-01-01' }
          const answer = await send(program, person, 'POST /invoice', { body })
          if (answer.status === 201) wanted.set((answer.body as { _id: string })._id, amount)
        }
      })
      await Promise.all(writers)
      const { body } = await send(program, person, 'GET /invoice')
      const listed = body as { _id: string; amount: number }[]
      const differ = listed.filter((one) => wanted.get(one._id) !== one.amount).length + Math.abs(listed.length - paise.length)
      await send(program, person, 'POST /reminder/send-immediate')
      await until('a hundred mails', { seconds: 90, over: chaos.over }, () => smtp.mails.length >= 100)
      const wrong = smtp.mails.filter(({ raw, envelope }) => {
        const minor = paise[Number(/^c(\d+)@/.exec(envelope.to[0] ?? '')?.[1])] ?? 0
        return !plainText(raw).includes(inRupees(minor))
      }).length
      return {
        figure: `${listed.length} amounts, ${differ} differ; ${refused} of 6 that are none were refused; ${wrong} of ${smtp.mails.length} mails name another amount`,
        holds: differ === 0 && refused === 6 && wrong === 0 && smtp.mails.length === 100,
      }
    },
  },
  {
    row: '81',
    name: 'a backup restored after 100 more mails had been sent',
    criterion: 'sent again without anybody’s word 0',
    async run(chaos) {
      const { cluster } = chaos
      if (!cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const place = await onServer(chaos, cluster)
      const smtp = await aMailServer(chaos)
      const those = await place.prepare((db) => people(db, { count: 1, invoices: 100, smtp, nextRunAt: Temporal.Now.instant() }))
      // Makes the run, and has nobody to send its mails to yet.
      smtp.answer({ mail: () => '451 4.3.0 Later' })
      const first = await place.start()
      await until('mails wait for their next try', { seconds: 90, over: chaos.over }, async () => {
        const waiting = await place.rows<{ count: number }>(`SELECT count(*)::int AS count FROM deliveries WHERE state = 'retrying'`)
        return waiting[0]?.count === 100
      })
      await first.end('SIGTERM')
      const dump = spawnSync(path.join(cluster.bin, 'pg_dump'), ['--format=custom', place.url ?? ''], { maxBuffer: 1e9 })
      if (dump.status !== 0) return { skipped: `no backup could be made: ${String(dump.error ?? dump.stderr).slice(0, 200)}` }
      smtp.answer({})
      await place.rows(`UPDATE deliveries SET next_try_at = now()`)
      const second = await place.start()
      await until('the mails leave', { seconds: 60, over: chaos.over }, () => allClosed(place, 100))
      await second.end('SIGTERM')
      const sent = smtp.mails.length
      const restored = await onServer(chaos, cluster)
      const put = spawnSync(path.join(cluster.bin, 'pg_restore'), ['--no-owner', '-d', restored.url ?? ''], {
        input: dump.stdout,
        maxBuffer: 1e9,
      })
      if (put.status !== 0)
        return { figure: `the backup could not be put back: ${String(put.error ?? put.stderr).slice(0, 200)}`, holds: false }
      await restored.rows(`UPDATE deliveries SET next_try_at = now()`)
      await restored.start()
      await pause(14_000)
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${sent} sent, backup from before put back: ${smtp.mails.length - sent} sent again (${counted.different} not the same bytes)`,
        holds: smtp.mails.length === sent,
      }
    },
  },
]

/** As a reminder says it: ₹1,00,000.00. */
function inRupees(minor: number): string {
  const [whole = '0', part = '00'] = [String(Math.floor(minor / 100)), String(minor % 100).padStart(2, '0')]
  const grouped = whole.length > 3 ? `${whole.slice(0, -3).replace(/\B(?=(\d\d)+$)/g, ',')},${whole.slice(-3)}` : whole
  return `₹${grouped}.${part}`
}

/** Quoted-printable and base64 parts of a mail as text. */
function plainText(raw: Buffer): string {
  const text = raw.toString('latin1')
  const parts = text.split(/\r\n--[^\r\n]+\r\n/)
  return parts
    .map((part) => {
      const [head = '', ...rest] = part.split('\r\n\r\n')
      const body = rest.join('\r\n\r\n')
      if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString('utf8')
      const bytes = body
        .replace(/=\r\n/g, '')
        .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      return Buffer.from(bytes, 'latin1').toString('utf8')
    })
    .join('\n')
}
