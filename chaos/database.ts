import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findProgram } from '#test/machine.ts'
import { ordinaryUser } from '#test/postgres.ts'
import { freePort } from '#test/program.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { finished } from './crashes.ts'
import { allClosed, aMailServer, anywhere, clientsOf, inFlight, onFolder, onServer, people, secretKey, send, states } from './place.ts'
import { type Chaos, type Finding, keptItsWord, percentile, type Scenario, seconds, tally, until, wordsOf } from './scenario.ts'
import { openWire } from './wire.ts'

const needsServer: Finding = { skipped: 'there is no PostgreSQL on this machine' }

/** Rows 7 to 12, and a pooler in between: databases that crash, go away, fall silent or are full. */
export const databases: Scenario[] = [
  {
    row: '7',
    name: 'PostgreSQL crashes every 1.5 s under 6,000 mails, a process is killed now and then',
    criterion: 'lost 0; repeated at most 8 a crash, the same bytes; sending again within 5 s of the database’s return',
    seconds: 400,
    async run(chaos) {
      const cluster = await ownCluster(chaos)
      if (!cluster) return needsServer
      const place = await onServer(chaos, cluster)
      const smtp = await aMailServer(chaos, { delayMs: 10 })
      const those = await place.prepare((db) => people(db, { count: 30, invoices: 200, smtp, nextRunAt: Temporal.Now.instant() }))
      const running = [await place.start(), await place.start()]
      let [crashes, kills] = [0, 0]
      const pauses: number[] = []
      while (crashes < 14 && smtp.mails.length < 5_900) {
        await pause(1_500)
        await cluster.crash()
        await cluster.start()
        crashes += 1
        const back = performance.now()
        const before = smtp.mails.length
        // Some mails leave on what was claimed before: the fourth needs a claim of its own.
        const seen = await until(
          'mails leave again',
          { seconds: 40, over: chaos.over, everyMs: 20 },
          () => smtp.mails.length > before + 16 || smtp.mails.length > 5_950,
        )
        if (seen) pauses.push(performance.now() - back)
        if (crashes % 5 === 0) {
          kills += 1
          const slot = kills % 2
          await running[slot]?.end('SIGKILL')
          running[slot] = await place.start()
        }
      }
      await until('every mail is closed', { seconds: 120, over: chaos.over, everyMs: 250 }, () => allClosed(place, 6_000))
      const counted = tally(smtp.mails, clientsOf(those))
      const most = Math.max(...pauses)
      return {
        figure: `${crashes} crashes, ${kills} kills; ${wordsOf(counted)}; sending again after ${seconds(percentile(pauses, 0.5))}, at most ${seconds(most)}`,
        holds: keptItsWord(counted, (crashes * 2 + kills) * inFlight.process) && most <= 5_000,
      }
    },
  },
  {
    row: '8',
    name: '60 s without a database',
    criterion: 'each call answered 503 within 2 s, no process ends, the backlog is done afterwards',
    atOnce: 6,
    async run(chaos) {
      const cluster = await ownCluster(chaos)
      if (!cluster) return needsServer
      const place = await onServer(chaos, cluster)
      const smtp = await aMailServer(chaos, { delayMs: 10 })
      const those = await place.prepare((db) => people(db, { count: 4, invoices: 200, smtp, nextRunAt: Temporal.Now.instant() }))
      const program = await place.start()
      await until('mails leave', { seconds: 90, over: chaos.over }, () => smtp.mails.length > 50)
      await cluster.stop()
      const answers: { status: number; ms: number }[] = []
      const began = performance.now()
      while (performance.now() - began < 60_000) {
        for (const call of ['GET /invoice', 'GET /health', 'POST /reminder/stop'])
          answers.push(await send(program, those[0] ?? null, call, { withinMs: 20_000 }))
        await pause(2_000)
      }
      const alive = await Promise.race([program.ended.then(() => false), pause(10, true)])
      await cluster.start()
      const back = performance.now()
      await until('every mail is closed', { seconds: 100, over: chaos.over, everyMs: 250 }, () => allClosed(place, 800))
      const slowest = Math.max(...answers.map(({ ms }) => ms))
      const others = answers.filter(({ status }) => status !== 503).length
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${answers.length} calls, ${others} not answered by 503, the slowest after ${seconds(slowest)}; ${alive ? 'the process went on' : 'THE PROCESS ENDED'}; backlog done ${seconds(performance.now() - back)} after; ${wordsOf(counted)}`,
        holds: others === 0 && slowest <= 2_000 && alive && keptItsWord(counted, inFlight.process),
      }
    },
  },
  {
    row: '9',
    name: 'the connections to the database swallow everything (half-open)',
    criterion: 'noticed within 15 s: calls and mails go on; lost 0',
    atOnce: 6,
    async run(chaos) {
      if (!chaos.cluster) return needsServer
      const place = await onServer(chaos, chaos.cluster)
      const smtp = await aMailServer(chaos, { delayMs: 10 })
      const those = await place.prepare((db) => people(db, { count: 6, invoices: 150, smtp, nextRunAt: Temporal.Now.instant() }))
      const wire = await openWire(chaos, { host: '127.0.0.1', port: chaos.cluster.port })
      const through = new URL(place.url ?? '')
      through.port = String(wire.port)
      const program = await place.start({ DATABASE_URL: through.toString() })
      await until('mails leave', { seconds: 90, over: chaos.over }, () => smtp.mails.length > 100)
      const cut = wire.cutQuietly()
      const began = performance.now()
      await pause(200)
      const before = smtp.mails.length
      const calls = until('a call is answered', { seconds: 60, over: chaos.over, everyMs: 200 }, () =>
        send(program, those[0] ?? null, 'GET /invoice', { withinMs: 30_000 }).then(
          ({ status }) => status === 200,
          () => false,
        ),
      ).then(() => performance.now() - began)
      await until('mails leave again', { seconds: 90, over: chaos.over }, () => smtp.mails.length > before + inFlight.process)
      const mails = performance.now() - began
      const called = await calls
      await until('every mail is closed', { seconds: 100, over: chaos.over, everyMs: 250 }, () => allClosed(place, 900))
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${cut} connections cut; calls again after ${seconds(called)}, mails after ${seconds(mails)}; ${wordsOf(counted)}; everything after ${seconds(performance.now() - began)}`,
        holds: keptItsWord(counted, inFlight.process) && called <= 15_000 && mails <= 15_000,
      }
    },
  },
  {
    row: '10',
    name: '200 calls at once on a pool of 10',
    criterion: 'none takes 10 s, health answers within 500 ms',
    async run(chaos) {
      const place = await anywhere(chaos)
      const smtp = await aMailServer(chaos)
      const those = await place.prepare((db) => people(db, { count: 4, invoices: 500, smtp }))
      const program = await place.start()
      await send(program, null, 'GET /health')
      const calls = Array.from({ length: 200 }, (_none, nth) =>
        send(program, those[nth % 4] ?? null, nth % 2 === 0 ? 'GET /invoice' : 'GET /reminder/preview'),
      )
      const health: number[] = []
      let going = true
      const watch = (async () => {
        while (going) {
          const { status, ms } = await send(program, null, 'GET /health')
          health.push(status === 200 ? ms : 60_000)
          await pause(20)
        }
      })()
      const answers = await Promise.all(calls)
      going = false
      await watch
      const slowest = Math.max(...answers.map(({ ms }) => ms))
      const failed = answers.filter(({ status }) => status !== 200).length
      return {
        figure: `${failed} of 200 failed, the slowest after ${seconds(slowest)}; health at most ${Math.round(Math.max(...health))} ms (${health.length} times asked)`,
        holds: failed === 0 && slowest < 10_000 && Math.max(...health) <= 500,
      }
    },
  },
  {
    row: '11',
    name: 'the disk of the log is full',
    criterion: 'sending goes on, and the process ends with 0 when it is told to',
    async run(chaos) {
      const disk = smallDisk(chaos, 4)
      if (!disk) return { skipped: 'no disk of 4 MB to be had here, which takes root on Linux' }
      const log = openSync(path.join(disk, 'duely.log'), 'a')
      chaos.stack.defer(() => closeSync(log))
      const filled = fill(disk)
      const place = await anywhere(chaos)
      const smtp = await aMailServer(chaos, { delayMs: 5 })
      const those = await place.prepare((db) => people(db, { count: 2, invoices: 100, smtp, nextRunAt: Temporal.Now.instant() }))
      const program = await place.start({ LOG_LEVEL: 'trace' }, { outputFile: log })
      for (let nth = 0; nth < 50; nth += 1) await send(program, those[0] ?? null, 'GET /invoice')
      await finished(chaos, program, those)
      const code = await program.end('SIGTERM')
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `disk of 4 MB filled with ${filled} bytes, the log has ${statSync(path.join(disk, 'duely.log')).size}; ${wordsOf(counted)}; exit ${code}`,
        holds: keptItsWord(counted, 0) && code === 0,
      }
    },
  },
  {
    row: '12',
    name: 'the disk of PostgreSQL is full in the middle of a run',
    criterion: 'every mail recorded as sent did leave; lost 0 once there is room; repeated at most 8 a crash',
    async run(chaos) {
      const disk = smallDisk(chaos, 160)
      if (!disk) return { skipped: 'no small disk to be had here, which takes root on Linux' }
      const cluster = await ownCluster(chaos, { within: disk, settings: ['max_wal_size=48MB', 'min_wal_size=32MB'] })
      if (!cluster) return needsServer
      const place = await onServer(chaos, cluster)
      const smtp = await aMailServer(chaos, { delayMs: 10 })
      const those = await place.prepare((db) => people(db, { count: 4, invoices: 500, smtp, nextRunAt: Temporal.Now.instant() }))
      const program = await place.start()
      await until('mails leave', { seconds: 90, over: chaos.over }, () => smtp.mails.length > 100)
      fill(disk)
      let crashes = 0
      const full = performance.now()
      let last = { count: smtp.mails.length, at: performance.now() }
      // Until nothing has moved for five seconds: then it is full for good.
      await until('nothing moves any more', { seconds: 45, over: chaos.over, everyMs: 200 }, () => {
        if (smtp.mails.length > last.count) last = { count: smtp.mails.length, at: performance.now() }
        return cluster.hasEnded() || performance.now() - last.at > 5_000
      }).catch(() => false)
      const stuckAt = smtp.mails.length
      await pause(3_000)
      rmSync(path.join(disk, 'filling'))
      if (cluster.hasEnded()) {
        crashes += 1
        await cluster.start()
      }
      const room = performance.now()
      await until('every mail is closed', { seconds: 100, over: chaos.over, everyMs: 250 }, () =>
        allClosed(place, 2_000).catch(() => false),
      )
      const sent = (await states(place)).sent ?? 0
      const alive = await Promise.race([program.ended.then(() => false), pause(10, true)])
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${stuckAt} mails had left when it stood still; the server ${crashes > 0 ? 'went down' : 'stayed up'}, the program ${alive ? 'stayed up' : 'ENDED'}; full for ${seconds(room - full)}, done ${seconds(performance.now() - room)} after; ${wordsOf(counted)}; recorded as sent ${sent}`,
        holds: keptItsWord(counted, 4 * inFlight.process) && sent === 2_000 && alive && stuckAt < 2_000,
      }
    },
  },
  {
    row: '12 embedded',
    name: 'the disk of the embedded database is full in the middle of a run',
    criterion: 'lost 0 once there is room and it was started again; repeated at most 2 a crash, the same bytes',
    async run(chaos) {
      const disk = smallDisk(chaos, 160)
      if (!disk) return { skipped: 'no small disk to be had here, which takes root on Linux' }
      const place = await onFolder(chaos, disk)
      const smtp = await aMailServer(chaos, { delayMs: 10 })
      const those = await place.prepare((db) => people(db, { count: 1, invoices: 1_500, smtp, nextRunAt: Temporal.Now.instant() }))
      const program = await place.start()
      await until('mails leave', { seconds: 90, over: chaos.over }, () => smtp.mails.length > 100)
      fill(disk)
      await pause(15_000)
      const stuckAt = smtp.mails.length
      const alive = await Promise.race([program.ended.then(() => false), pause(10, true)])
      await pause(3_000)
      const still = smtp.mails.length === stuckAt
      rmSync(path.join(disk, 'filling'))
      // It may come round by itself; if it does not, somebody starts it again.
      await pause(12_000)
      const recovered = alive && smtp.mails.length > stuckAt
      const code = recovered ? null : await program.end('SIGTERM')
      const again = recovered ? program : await place.start()
      await finished(chaos, again, those)
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${stuckAt} mails had left${still ? ' when it stood still' : ', it had not stood still'}; the program ${alive ? 'stayed up' : 'ended'}, ${recovered ? 'went on by itself' : `was started again (exit ${code})`}; ${wordsOf(counted)}`,
        holds: keptItsWord(counted, 2 * inFlight.mailbox),
      }
    },
  },
  {
    row: '12 pooler',
    name: 'PgBouncer in transaction mode between two processes and PostgreSQL',
    criterion: '2,000 mails: lost 0, repeated 0',
    async run(chaos) {
      const { cluster } = chaos
      if (!cluster) return needsServer
      const port = await openPooler(chaos, cluster)
      if (port === null) return { skipped: 'there is no PgBouncer on this machine' }
      const place = await onServer(chaos, cluster)
      const smtp = await aMailServer(chaos, { delayMs: 2 })
      const those = await place.prepare((db) =>
        people(db, { count: 10, invoices: 200, smtp, nextRunAt: Temporal.Now.instant().add({ seconds: 5 }) }),
      )
      const through = new URL(place.url ?? '')
      through.port = String(port)
      const env = { DATABASE_URL: through.toString(), SECRET_KEY: secretKey }
      const one = await place.start(env)
      const two = await place.start(env)
      await until('every mail is closed', { seconds: 120, over: chaos.over, everyMs: 250 }, () => allClosed(place, 2_000))
      const person = those[0]
      if (!person) throw new Error('Nobody was made.')
      const began = performance.now()
      await place.rows(`UPDATE invoices SET last_reminder_at = NULL WHERE owner_id = $1`, [person.id])
      const pressed = await send(one, person, 'POST /reminder/send-immediate')
      const answered = performance.now() - began
      const errors = [one, two].flatMap((program) =>
        program
          .output()
          .split('\n')
          .filter((line) => line.includes('"level":50')),
      )
      const first = smtp.mails.slice(0, 2_000)
      const counted = tally(first, clientsOf(those))
      return {
        figure: `${wordsOf(counted)}; a Send Now of 200 answered ${pressed.status} after ${seconds(answered)}; errors logged ${errors.length}${errors[0] ? ` (${errors[0].slice(0, 300)})` : ''}`,
        holds: keptItsWord(counted, 0) && smtp.mails.length === 2_200 && pressed.status === 200 && errors.length === 0,
      }
    },
  },
]

async function ownCluster(chaos: Chaos, about: Parameters<typeof openCluster>[0] = {}): Promise<Cluster | null> {
  const cluster = await openCluster(about)
  return cluster && chaos.stack.use(cluster)
}

/** A disk of so many MB in memory; null where none may be mounted. */
function smallDisk({ stack }: Chaos, megabytes: number): string | null {
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-disk-'))
  const mounted =
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=777`, 'tmpfs', folder], { stdio: 'ignore' }).status === 0
  stack.defer(async () => {
    for (let tries = 0; mounted && tries < 50 && spawnSync('umount', [folder], { stdio: 'ignore' }).status !== 0; tries += 1)
      await pause(100)
    rmSync(folder, { recursive: true, force: true })
  })
  return mounted ? folder : null
}

/** Fills a disk to its last byte, and answers how many these were. */
function fill(disk: string): number {
  const file = path.join(disk, 'filling')
  const to = openSync(file, 'a')
  try {
    for (const size of [1 << 20, 1 << 12, 1])
      try {
        for (;;) writeFileSync(to, Buffer.alloc(size, 1))
      } catch {
        // No room for so many at once: fewer.
      }
  } finally {
    closeSync(to)
  }
  return statSync(file).size
}

/** Starts PgBouncer before this server and answers its port. */
async function openPooler({ stack }: Chaos, cluster: Cluster): Promise<number | null> {
  const program = findPooler()
  if (!program) return null
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-pooler-'))
  const user = ordinaryUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const port = await freePort()
  const file = path.join(folder, 'pgbouncer.ini')
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: '20',
    max_client_conn: '200',
    ignore_startup_parameters: 'extra_float_digits,options',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(file, `[databases]\n* = host=127.0.0.1 port=${cluster.port} user=duely\n[pgbouncer]\n${lines.join('\n')}\n`, {
    mode: 0o644,
  })
  execFileSync('chmod', ['755', folder])
  const child = spawn(program, [file], { ...user, stdio: 'ignore' })
  stack.defer(async () => {
    const ended = child.exitCode !== null || child.signalCode !== null ? null : once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  return port
}

export function findPooler(): string | null {
  return findProgram(['pgbouncer'], ['/usr/sbin', '/usr/local/sbin'])
}
