import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { reminderCalls } from '#contract/reminders.ts'
import { metricsText } from '#server/platform/metrics.ts'
import { aMailbox, anInvoice, aPerson } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { measureDatabase, measureSending } from './metrics.ts'

test('metrics count what was sent, waits and is down, and name no person', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  smtp.answer({ rcpt: (to) => (to.startsWith('gone') ? '550 5.1.1 No such user' : to.startsWith('later') ? '451 4.7.1 Later' : undefined) })
  const owner = await aPerson(app)
  await aMailbox(app, owner, smtp)
  for (const name of ['kaveri', 'gone', 'later', 'zoe'])
    await anInvoice(app, { owner, clientName: `Client ${name}`, clientEmail: `${name}@example.com`, dueDate: '2026-01-01' })
  await app.whileJobsRun(ask(app, owner, reminderCalls.start))
  const measured = async () => metricsText([...(await measureDatabase(app.db, app.clock.now())), ...measureSending(app.deps)])
  const before = await measured()
  for (const line of [
    'duely_emails_total{outcome="accepted"} 2',
    'duely_emails_total{outcome="permanent"} 1',
    'duely_emails_total{outcome="temporary"} 1',
    'duely_emails_waiting{state="retrying",reason=""} 1',
    'duely_emails_waiting{state="sending",reason=""} 0',
    'duely_email_oldest_wait_seconds 0',
    'duely_emails_in_flight 0',
    'duely_mail_hosts{state="up"} 1',
    'duely_runs_due 0',
    'duely_workers{state="alive"} 1',
    '# TYPE duely_emails_total counter',
  ])
    expect(before.split('\n')).toContain(line)
  expect(before).not.toMatch(/@|kaveri|Client/)
  expect(before).not.toContain(owner.id)

  // Its retry and the next run are due and not begun; the mail server has gone.
  app.clock.advance({ hours: 24 })
  await app.db.execute(sql`UPDATE deliveries SET state = 'held', reason = 'plan' WHERE state = 'retrying'`)
  for (let n = 0; n < 3; n += 1) {
    const entry = await app.deps.hosts.enter('smtp.example.com:587')
    if ('pass' in entry) entry.pass.failed('ECONNREFUSED')
  }
  const after = await measured()
  expect(after).toContain('duely_emails_waiting{state="held",reason="plan"} 1\n')
  expect(after).toContain('duely_runs_due 1\n')
  expect(after).toMatch(/duely_run_oldest_wait_seconds [1-9]\d+/)
  expect(after).toContain('duely_mail_host_down{host="smtp.example.com:587"} 1\n')
})
