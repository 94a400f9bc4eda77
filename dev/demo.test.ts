import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readBankSheet } from '#contract/import/bank.ts'
import { openCsv } from '#contract/import/table.ts'
import { openEmbedded, rows } from '#server/platform/database.ts'
import { openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { thorough } from '#test/thorough.ts'
import { openCatchingSmtp } from './catching-smtp.ts'
import { bankFileName } from './demo-bank.ts'
import { makeYear, paymentKeys, visitor } from './demo-year.ts'

test.runIf(thorough)('the demo has invoices in three currencies, paid late, with emails on the days of their steps', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'duely-demo-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) }
  await using mail = await openCatchingSmtp({ smtp: 0, web: 0 })
  await using provider = await openFakeRazorpay(paymentKeys)
  const shares: number[] = []
  await makeYear(dataDir, {
    smtpPort: mail.smtpPort,
    publicUrl: 'http://localhost:3000',
    paymentsUrl: provider.settings.apiUrl,
    days: 90,
    progress: (share) => shares.push(share),
  })
  const { pulse, close } = await openEmbedded(dataDir)
  const [found] = await rows(
    pulse,
    z.object({
      currencies: z.number(),
      paid: z.number(),
      open: z.number(),
      sent: z.number(),
      dates: z.number(),
      twice: z.number(),
      email: z.string(),
      roles: z.string(),
      online: z.number(),
    }),
    sql`SELECT count(DISTINCT currency)::int AS currencies, count(*) FILTER (WHERE status = 'paid')::int AS paid, count(*) FILTER (WHERE status <> 'paid')::int AS open,
          (SELECT count(*)::int FROM deliveries WHERE state = 'sent') AS sent, (SELECT count(DISTINCT sent_at::date)::int FROM deliveries) AS dates,
          (SELECT count(*)::int FROM (SELECT 1 FROM deliveries d JOIN delivery_invoices x ON x.delivery_id = d.id GROUP BY x.invoice_id, d.sent_at::date HAVING count(*) > 1) t) AS twice,
          (SELECT string_agg(role, ' ' ORDER BY role) FROM memberships m WHERE m.owner_id = (SELECT owner_id FROM invoices LIMIT 1)) AS roles,
          (SELECT count(*)::int FROM pay_keys) AS online,
          (SELECT email FROM people JOIN memberships ON person_id = people.id AND role = 'owner' WHERE owner_id = (SELECT owner_id FROM invoices LIMIT 1)) AS email
        FROM invoices`,
  )
  await close()
  expect(found).toMatchObject({ currencies: 3, twice: 0, email: visitor.email, roles: 'member owner viewer', online: 1 })
  expect(found?.paid).toBeGreaterThan(8)
  expect(found?.open).toBeGreaterThan(4)
  expect(found?.dates).toBeGreaterThan(10)
  expect(mail.mails).toHaveLength(found?.sent ?? 0)
  expect(mail.mails[0]?.text).toContain('http://localhost:3000/pay/')
  expect(shares.at(-1)).toBeGreaterThan(0.95)
  const opened = openCsv(new Uint8Array(await readFile(path.join(dataDir, bankFileName))).buffer, { rows: 100, columns: 10, length: 1_000 })
  const [sheet] = opened.kind === 'sheets' ? opened.sheets : []
  if (!sheet) throw new Error('The bank file of the demo has no rows.')
  const statement = readBankSheet(sheet, { today: Temporal.Now.plainDateISO('Asia/Kolkata').toString(), held: ['INR'], answers: {} })
  expect(statement.questions.map(({ id }) => id)).toEqual(['direction/type'])
  expect(new Set(statement.rows.map(({ left }) => left))).toEqual(new Set([null, 'out', 'pending', 'failed', 'sum']))
})
