import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { serverAbilities } from '#server/accounts/accounts.ts'
import { settleLink } from '#server/accounts/links.ts'
import { checkoutPage } from '#server/billing/billing.ts'
import { operate } from '#server/commands/commands.ts'
import { limitsOf } from '#server/mail/mail.ts'
import { openMailer } from '#server/mail/transports.ts'
import { type App, openApp } from '#server/platform/answer.ts'
import { systemClock } from '#server/platform/clock.ts'
import { writeForOwnerOnly } from '#server/platform/data-folder.ts'
import { answers, type Database, type OpenDatabase, openEmbedded, openServer } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { armFailPoint } from '#server/platform/fail-point.ts'
import { answerHealth } from '#server/platform/health.ts'
import { openQueue, type Queue } from '#server/platform/job.ts'
import { type Listener, openListener } from '#server/platform/listener.ts'
import { type Log, openLog } from '#server/platform/log.ts'
import { answerMetrics, countCalls, type Metric, measureProcess, rememberMetrics } from '#server/platform/metrics.ts'
import { type OperatorSocket, openOperatorSocket } from '#server/platform/operator-socket.ts'
import { recordOrigin, wasRestored } from '#server/platform/origin.ts'
import { type Exporter, openExporter } from '#server/platform/otlp.ts'
import { openPages } from '#server/platform/pages.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { type Repeating, repeat } from '#server/platform/repeat.ts'
import { loadSecretKey } from '#server/platform/secret-key.ts'
import { StartError } from '#server/platform/start-error.ts'
import { findLateSteps } from '#server/platform/steps.ts'
import { openSystemMailer } from '#server/platform/system-mail.ts'
import { texts } from '#server/platform/texts.ts'
import { startTracing } from '#server/platform/traces.ts'
import { version } from '#server/platform/version.ts'
import { isZone, learnZones } from '#server/platform/zones.ts'
import { holdRestored } from '#server/reminders/holds.ts'
import { measureDatabase, measureSending } from '#server/reminders/metrics.ts'
import { findTrouble } from '#server/reminders/processes.ts'
import { openSending } from '#server/reminders/sending.ts'
import { openWatch } from '#server/reminders/watch.ts'
import { openCalls } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { startWorker } from './worker.ts'

const build = path.join(import.meta.dirname, '../build')
/** Shutdown is cut off after this many milliseconds; work in progress is repeated at the next start. */
const longestStop = 9_500
/** Milliseconds after the start from which late runs are reported. */
const watchAfter = 30_000
/** So long a request may still take once stopping has begun. */
const requestPatience = 5_000

/** While developing, the pages come from elsewhere. */
const callsOnly = process.argv.includes('--calls-only')

/** What has been opened so far, the last one first to be closed. */
interface Opened {
  listener: Listener | null
  database: OpenDatabase | null
  queue: Queue | null
  app: App | null
  worker: { stop(): Promise<void>; measure(): Metric[] } | null
  operator: OperatorSocket | null
  /** Reports runs that have not begun. */
  watch: Repeating | null
  exporter: Exporter | null
}

const opened: Opened = { exporter: null, listener: null, database: null, queue: null, app: null, worker: null, operator: null, watch: null }
let log: Log | null = null
let stopping = false

writeForOwnerOnly()
try {
  const config = readConfig()
  armFailPoint(config.failPoint)
  log = openLog({ level: config.logLevel, terminal: process.stdout.isTTY })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
  // The launcher has died, so nothing else would stop this process.
  process.once('disconnect', () => void stop('the end of the launcher'))
  process.on('unhandledRejection', (error) => fail(error))
  process.on('uncaughtException', (error) => fail(error))
  await start(config, log)
} catch (error) {
  if (!stopping) fail(error)
}

async function start(given: Config, log: Log): Promise<void> {
  const began = performance.now()
  // A worker serves only its health, and only if PORT was given.
  if (given.role !== 'worker' || given.portGiven) opened.listener = await openListener(given)
  const port = opened.listener?.port ?? given.port
  const database = given.databaseUrl ? await openServer(given.databaseUrl, (what) => log.warn(what)) : await openEmbedded(given.dataDir)
  opened.database = database
  const secretKey = await loadSecretKey(database.db, { given: given.secretKey, dataDir: given.dataDir })
  // The embedded one comes with its zones, and reading them all takes time.
  if (!database.embedded) await learnZones(database.db)
  if (!isZone(given.defaultTimezone))
    throw new StartError(`The database does not know DEFAULT_TIMEZONE=${given.defaultTimezone}. Set another one, or update its time zones.`)
  const config = { ...given, port, publicUrl: given.port === 0 ? withPort(given.publicUrl, port) : given.publicUrl, secretKey }
  if (!database.embedded) await holdIfRestored(database.db, log)
  opened.exporter = exportTelemetry(config, log)
  const queue = await openQueue({ db: database.background, log, soleProcess: database.embedded !== null, timers: systemClock })
  opened.queue = queue
  const deps: Deps = { db: database.db, clock: systemClock, queue, config, log }
  if (config.role !== 'web') opened.worker = await openWorker({ ...deps, db: database.background }, database)
  if (database.embedded)
    opened.operator = await openOperatorSocket(config.dataDir, log, (args) => operate({ ...deps, snapshot: database.snapshot }, args))
  if (opened.listener) await serve(opened.listener, deps, database.pulse)
  else opened.exporter?.measure(measuring(deps, database.pulse, null))
  log.info(
    {
      role: config.role,
      ...(opened.listener ? { port } : {}),
      database: database.embedded ? 'embedded' : 'server',
      ms: Math.round(performance.now() - began),
    },
    opened.listener
      ? `Duely is ready: ${config.role === 'worker' ? `${config.publicUrl}/health` : config.publicUrl}`
      : 'Duely is processing background jobs.',
  )
}

/** A restored dump does not know what was sent since. Not detectable for the embedded database, whose copy looks the same. */
async function holdIfRestored(db: Database, log: Log): Promise<void> {
  if (await wasRestored(db)) {
    const held = await holdRestored(db, systemClock.now())
    log.warn({ held }, 'This database was restored from a backup. Waiting reminders are on hold until their owners approve them.')
  }
  await recordOrigin(db)
}

async function serve(listener: Listener, deps: Deps, pulse: Database): Promise<void> {
  const app = deps.config.role === 'worker' ? await healthOnly(deps) : await openCalls(deps)
  opened.app = app
  answerHealth(app, {
    answers: () => answers(pulse),
    trouble: async () => (await findTrouble(pulse, deps.clock.now())) ?? findLateSteps(pulse),
  })
  if (deps.config.metricsToken || opened.exporter) {
    const measure = measuring(deps, pulse, app)
    opened.exporter?.measure(measure)
    if (deps.config.metricsToken) answerMetrics(app, deps.config.metricsToken, measure)
  }
  if (
    deps.config.role !== 'worker' &&
    !callsOnly &&
    !(await openPages(app, build, {
      ...serverAbilities(deps.config),
      publicUrl: deps.config.publicUrl,
      termsUrl: deps.config.termsUrl,
      checkout: checkoutPage(deps.config),
    }))
  )
    deps.log.warn('The web client is not built, so only the API is served. Build it: npm run build')
  if (deps.config.role !== 'worker') {
    const send = openSystemMailer(deps, settleLink)
    const watch = openWatch(deps, send)
    const began = performance.now()
    opened.watch = repeat('watch', { everySeconds: 60, log: deps.log, timers: deps.clock }, async () => {
      // A worker that starts with this process makes its late runs first.
      if (performance.now() - began > watchAfter) await watch()
    })
  }
  await app.ready()
  listener.serve((request, response) => app.routing(request, response))
}

/** Traces of this process, and later its metrics, go where the configuration says. */
function exportTelemetry({ telemetry, role }: Config, log: Log): Exporter | null {
  if (!telemetry) return null
  const exporter = openExporter({ ...telemetry, version, role, instance: randomUUID(), log, timers: systemClock })
  startTracing({ add: exporter.add, share: telemetry.share })
  return exporter
}

/** All that this process can measure, each time it is asked. */
function measuring({ config, clock }: Deps, pulse: Database, app: App | null): () => Promise<Metric[]> {
  const calls = app ? countCalls(app) : () => []
  const inDatabase = rememberMetrics(() => measureDatabase(pulse, clock.now()))
  return async () => [
    ...measureProcess({ version, role: config.role }),
    ...(await inDatabase()),
    ...(opened.worker?.measure() ?? []),
    ...calls(),
  ]
}

/** A server without calls. */
async function healthOnly({ log, config }: Deps): Promise<App> {
  return openApp({
    log,
    trustProxy: config.trustProxy,
    authenticate: async () => {
      throw new ProblemError('not_signed_in', texts.signIn)
    },
  })
}

async function openWorker(deps: Deps, database: OpenDatabase): Promise<NonNullable<Opened['worker']>> {
  const mailer = openMailer(deps)
  const processId = randomUUID()
  const soleProcess = database.embedded !== null
  const sending = openSending(deps, { processId, embedded: soleProcess })
  const worker = await startWorker({
    ...deps,
    ...sending,
    mailer,
    processId,
    random: Math.random,
    limitsOf,
    soleProcess,
    pulse: database.pulse,
  })
  return { ...worker, measure: () => measureSending(sending) }
}

/** Takes nothing new, finishes and records what is in flight, ends with 0 within 10 s. */
async function stop(reason: string): Promise<void> {
  if (stopping) return
  stopping = true
  log?.info({ reason }, 'Duely is stopping.')
  setTimeout(() => {
    log?.warn('Shutdown timed out. Work in progress is repeated at the next start.')
    process.exit(0)
  }, longestStop).unref()
  await Promise.all([
    orderly(() => opened.operator?.close()),
    orderly(() => opened.watch?.stop()),
    orderly(() => opened.listener?.drain(requestPatience)),
    orderly(() => opened.worker?.stop() ?? opened.queue?.stop()),
  ])
  await orderly(() => opened.app?.close())
  await orderly(() => opened.exporter?.close())
  await orderly(() => opened.database?.close())
  await orderly(() => opened.listener?.close())
  log?.info('Duely has stopped.')
  process.exit(0)
}

/** A component that fails to stop must not prevent the others from stopping. */
async function orderly(end: () => Promise<void> | undefined): Promise<void> {
  try {
    await end()
  } catch (error) {
    log?.warn({ err: error }, 'A component failed to stop cleanly.')
  }
}

/** One line for what the operator can fix, the full error otherwise; exits with 1. */
function fail(error: unknown): never {
  if (error instanceof ConfigError) for (const line of error.message.split('\n')) say(line)
  else if (error instanceof StartError) {
    say(error.message)
    log?.debug({ err: error }, 'Duely could not start.')
  } else if (log) log.fatal({ err: error }, 'Duely crashed.')
  else throw error
  process.exit(1)
}

function say(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
}

function withPort(url: string, port: number): string {
  const whole = new URL(url)
  whole.port = String(port)
  return whole.origin
}
