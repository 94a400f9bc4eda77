import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { silence } from '#test/fakes/smtp-server.ts'
import { type Account, type Environment, embedded, errorsLogged, onAnyDatabase, openMailServer, send } from '#test/faults/environment.ts'
import { row, seconds, type Trial } from '#test/faults/row.ts'
import { type Program, residentMb } from '#test/program.ts'

/** An attacker and an ordinary account with 200 invoices of one client each, and another account with one invoice. */
async function attackerAndNeighbour(
  trial: Trial,
  environment: Environment,
): Promise<Record<'attacker' | 'ordinary' | 'neighbour', Account>> {
  const smtp = await openMailServer(trial)
  const [attacker] = await environment.createAccounts({ invoices: 200, smtp, name: 'attacker' })
  const [ordinary] = await environment.createAccounts({ invoices: 200, smtp, name: 'ordinary' })
  await environment.prepare(async (db) => {
    await db.execute(sql`UPDATE invoices SET client_email = 'victim@example.com'`)
    await db.execute(sql`UPDATE accounts SET group_by_client = true`)
  })
  const [neighbour] = await environment.createAccounts({ invoices: 1, smtp, name: 'neighbour' })
  return { attacker, ordinary, neighbour }
}

/** The slowest health check, and the memory added, in MB, while `work` runs. */
async function watch({ url, pid }: Program, work: () => Promise<void>): Promise<{ slowest: number; added: number }> {
  const rss = () => residentMb(pid)
  const before = rss()
  let [slowest, most, working] = [0, before, true]
  const watching = async () => {
    while (working) {
      const began = performance.now()
      await fetch(`${url}/health`)
      slowest = Math.max(slowest, performance.now() - began)
      most = Math.max(most, rss())
      await pause(10)
    }
  }
  const watched = watching()
  await work()
  working = false
  await watched
  return { slowest, added: most - before }
}

row('83', 'a grouped email whose wording lists 200 invoices 1,333 times', async (trial) => {
  trial.mustHold(
    'refused where it is saved; stored by an earlier version: health at most 500 ms, or twice the slowest beside the same email in an ordinary wording; at most 100 MB more, the neighbour’s email sent',
  )
  const environment = await embedded(trial)
  const { attacker, ordinary, neighbour } = await attackerAndNeighbour(trial, environment)
  const wording = '{{invoiceList}}'.repeat(1_333)
  await environment.prepare(async (db) => {
    await db.execute(sql`
      INSERT INTO templates (owner_id, kind, use_custom, custom_subject, custom_content, updated_at)
      VALUES (${attacker.id}::uuid, 'group', true, 'Owed', ${wording}, now())`)
  })
  const program = await environment.start()
  const saved = await send(program, attacker, 'PUT /mail-config/template/group', {
    body: { useCustomTemplate: true, customSubject: 'Owed', customContent: wording },
  })
  const plain = await watch(program, async () => {
    await send(program, ordinary, 'POST /reminder/send-immediate')
  })
  let failed = ''
  const { slowest, added } = await watch(program, async () => {
    const [attacked] = await Promise.all([
      send(program, attacker, 'POST /reminder/send-immediate'),
      send(program, neighbour, 'POST /reminder/send-immediate'),
    ])
    failed = (attacked.body as { message?: string }).message ?? ''
    await trial.until('the neighbour’s email is sent', async () => {
      const [run] = (await send(program, neighbour, 'GET /reminder/runs')).body as { sent: number }[]
      return run?.sent === 1
    })
  })
  return {
    figure: `saving answers ${saved.status}; the email fails: "${failed}"; slowest health check ${slowest.toFixed(0)} ms, beside an ordinary one ${plain.slowest.toFixed(0)} ms, ${added.toFixed(0)} MB more`,
    holds: saved.status === 400 && failed.includes('1 MB') && slowest <= Math.max(500, plain.slowest * 2) && added <= 100,
  }
})

row('83 crash', 'an email that the process dies of each time it is sent', async (trial) => {
  trial.mustHold('set aside at the third death, the error names it; the neighbour’s email is sent')
  const environment = await embedded(trial)
  const smtp = await openMailServer(trial)
  const [attacker] = await environment.createAccounts({ invoices: 1, smtp, name: 'attacker', due: true })
  const began = performance.now()
  for (let death = 1; death <= 3; death += 1) {
    const doomed = await environment.start({ FAILPOINT: 'before-mail' }).catch(() => null)
    await doomed?.ended
  }
  const died = performance.now() - began
  const [neighbour] = await environment.createAccounts({ invoices: 1, smtp, name: 'neighbour', due: true })
  const program = await environment.start()
  const [run] = await trial.until('both runs are finished', async () => {
    const both = await Promise.all([attacker, neighbour].map((one) => send(program, one, 'GET /reminder/runs')))
    const runs = both.map(({ body }) => (body as { failed: number; sent: number; finishedAt: string | null }[])[0])
    return runs.every((one) => one?.finishedAt) ? runs : null
  })
  const errors = errorsLogged(program).filter((line) => line.includes('is set aside') && line.includes(attacker.id)).length
  return {
    figure: `3 deaths in ${seconds(died)}; attacker: ${run?.failed} failed; neighbour: ${smtp.mails.length} sent; ${errors} error naming it`,
    holds: run?.failed === 1 && smtp.mails.length === 1 && errors === 1,
  }
})

row('84', 'mail servers of 60 accounts that never answer the greeting or the final dot', { short: true }, async (trial) => {
  trial.mustHold('the neighbour’s email is sent within 2 s; in the short selection, beside other tests, it is sent')
  const environment = await onAnyDatabase(trial)
  const silent = await openMailServer(trial)
  silent.answer({ greeting: (connection) => (connection % 2 ? silence : undefined), dot: () => silence })
  const healthy = await openMailServer(trial)
  await environment.createAccounts({ count: 60, invoices: 2, smtp: silent, name: 'attacker', due: true })
  const [neighbour] = await environment.createAccounts({ invoices: 1, smtp: healthy, name: 'neighbour' })
  const program = await environment.start()
  await trial.until('the silent server is called', () => silent.mails.length > 0)
  await pause(2_000)
  const began = Date.now()
  const pressed = send(program, neighbour, 'POST /reminder/send-immediate')
  await healthy.received(1)
  await pressed
  const delay = (healthy.mails[0]?.at ?? 0) - began
  return {
    figure: `sent after ${seconds(delay)} during ${silent.connections.open} silent connections`,
    holds: trial.short || delay <= 2_000,
  }
})
