import { setTimeout as pause } from 'node:timers/promises'
import { failPointNames } from '#server/platform/fail-point.ts'
import { later } from '#test/fakes/smtp-server.ts'
import { ProgramExited } from '#test/program.ts'
import { type Environment, embedded, inFlight, onPostgres, openMailServer, untilRunsFinish } from './environment.ts'
import { row } from './row.ts'
import { isDelivered, summarize, tally } from './tally.ts'

/** Starts a process that is killed at a fail point, perhaps before it is healthy; answers false where it survives. */
async function dies(environment: Environment, failPoint: string): Promise<boolean> {
  const doomed = await environment.start({ FAILPOINT: failPoint }).catch((error: unknown) => {
    if (error instanceof ProgramExited) return null
    throw error
  })
  return !doomed || Promise.race([doomed.ended.then((code) => code === null), pause(300_000, false)])
}

for (const point of failPointNames) {
  const repeats = point !== 'claim' && point !== 'before-mail'
  row(`2 ${point}`, `killed at the fail point "${point}", 20 times`, { concurrent: 2 }, async (trial) => {
    trial.mustHold(repeats ? 'lost 0; repeated at most once per kill, the same bytes' : 'lost 0, repeated 0')
    const environment = await onPostgres(trial)
    const smtp = await openMailServer(trial)
    // The process must die before this answer arrives.
    smtp.answer({ dot: () => (point === 'after-dot' ? later(150) : undefined) })
    const accounts = await environment.createAccounts({ count: 20, invoices: 1, smtp })
    let survived = 0
    for (const [nth, { id }] of accounts.entries()) {
      // One email in flight at a time, so that only the fail point decides what happens to it.
      await environment.rows(`UPDATE accounts SET reminders_active = true, next_run_at = now() WHERE id = $1`, [id])
      const began = performance.now()
      if (!(await dies(environment, point))) return { figure: `run ${nth + 1}: the process did not die at ${point}`, holds: false }
      // On a busy machine a process may live long enough to reclaim an earlier email, and then dies with two.
      if (performance.now() - began > 15_000) survived += 1
    }
    const before = smtp.mails.length
    await environment.start()
    await environment.untilClosed(20)
    const counted = tally(smtp.mails, accounts)
    return {
      figure: `20 kills, ${before} emails had left before; ${summarize(counted)}`,
      holds: isDelivered(counted, repeats ? 20 + survived : 0),
    }
  })
}

row('2 embedded', 'killed at each of the five fail points, twice, on the embedded database', { concurrent: 2 }, async (trial) => {
  trial.mustHold('lost 0; repeated at most once per kill after the dot, the same bytes')
  const environment = await embedded(trial)
  const smtp = await openMailServer(trial, { delayMs: 30 })
  const accounts = await environment.createAccounts({ invoices: 300, smtp, due: true })
  const points = [...failPointNames, ...failPointNames]
  // Rarely at the same email twice: one that a process died with three times is set aside.
  for (const point of points)
    if (!(await dies(environment, `${point}:0.1`))) return { figure: `the process did not die at ${point}`, holds: false }
  await untilRunsFinish(trial, await environment.start(), accounts)
  const counted = tally(smtp.mails, accounts)
  return { figure: `${points.length} kills; ${summarize(counted)}`, holds: isDelivered(counted, points.length * inFlight.mailbox) }
})
