import { lookup } from 'node:dns/promises'
import { access, constants, stat, statfs } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Config, ConfigError } from '#server/config.ts'
import { systemClock } from '#server/platform/clock.ts'
import { type Database, migrationLevels, openConnection, openEmbedded, placeOf, rows } from '#server/platform/database.ts'
import { type CommandResult, runInServer } from '#server/platform/operator-socket.ts'
import { loadSecretKey } from '#server/platform/secret-key.ts'
import { sealMark } from '#server/platform/secrets.ts'
import { StartError } from '#server/platform/start-error.ts'
import { findLateSteps } from '#server/platform/steps.ts'
import { findMailTrouble, sendsSystemMail } from '#server/platform/system-mail.ts'
import { version } from '#server/platform/version.ts'
import { findTrouble } from '#server/reminders/processes.ts'
import type { Command, Operating } from './command.ts'
import { sealedColumns } from './keys.ts'

/** `bad` keeps Duely from working, `warn` may. Each says what is wrong, then what to do. */
interface Finding {
  about: string
  level: 'ok' | 'warn' | 'bad'
  text: string
}

const good = (about: string, text: string): Finding => ({ about, level: 'ok', text })
const warn = (about: string, text: string): Finding => ({ about, level: 'warn', text })
const bad = (about: string, text: string): Finding => ({ about, level: 'bad', text })

export const doctor: Command = {
  parameters: [],
  summary: 'checks configuration, database, clock, disk, DNS, mail and keys: what is wrong, and what to do',
  help: ['Changes nothing and sends nothing. Exit code 1: something keeps Duely from working.'],
  run: async (deps) => report([...(await checkMachine(deps.config)), ...(await checkDatabase(deps, true))]),
  async alone(readConfig) {
    let config: Config
    try {
      config = readConfig()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return report(error.message.split('\n').map((line) => bad('configuration', `${line}. Correct it in the environment.`)))
    }
    // The process that runs knows the environment that counts.
    const said = config.databaseUrl ? null : await runInServer(config.dataDir, ['doctor'])
    if (said) return said
    return report([...(await checkMachine(config)), ...(await openAndCheck(config))])
  },
}

function report(findings: Finding[]): CommandResult {
  const marks = { ok: 'ok   ', warn: 'WARN ', bad: 'WRONG' }
  const worst = (level: Finding['level']) => findings.filter((one) => one.level === level).length
  const [wrong, warned] = [worst('bad'), worst('warn')]
  return {
    lines: [
      `Duely ${version}`,
      ...findings.map(({ about, level, text }) => `${marks[level]}  ${about}: ${text}`),
      wrong + warned === 0 ? 'Everything is in order.' : `${wrong} wrong, ${warned} to look at.`,
    ],
    code: wrong > 0 ? 1 : 0,
  }
}

/** Without changing the database: it is neither created nor migrated. */
async function openAndCheck(config: Config): Promise<Finding[]> {
  const { databaseUrl, dataDir } = config
  try {
    if (!databaseUrl && !(await exists(path.join(dataDir, 'postgres'))))
      return [
        warn(
          'database',
          `there is none in ${path.resolve(dataDir)} yet. The first start creates it; if there should be one, correct DATA_DIR.`,
        ),
      ]
    const { db, close } = databaseUrl ? await openConnection(databaseUrl, 'duely-doctor') : await openUnmigrated(dataDir)
    try {
      return await checkDatabase({ db, clock: systemClock, config }, false)
    } finally {
      await close()
    }
  } catch (error) {
    if (error instanceof StartError) return [bad('database', error.message)]
    throw error
  }
}

async function openUnmigrated(dataDir: string): Promise<{ db: Database; close(): Promise<void> }> {
  const { pulse, close } = await openEmbedded(dataDir, undefined, 0)
  return { db: pulse, close }
}

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )

/** What does not need the database. */
async function checkMachine(config: Config): Promise<Finding[]> {
  return [...checkAddresses(config), ...(await checkDisk(config)), ...(await checkNames(config)), await checkMail(config)]
}

function checkAddresses(config: Config): Finding[] {
  const { publicUrl, trustProxy, host } = config
  const { protocol, hostname } = new URL(publicUrl)
  const here = hostname === 'localhost' || net.isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
  const found: Finding[] = []
  if (protocol === 'http:' && !here)
    found.push(
      warn('configuration', `PUBLIC_URL is ${publicUrl}, so passwords travel unencrypted. Put a proxy with TLS in front and use https.`),
    )
  if (protocol === 'https:' && trustProxy === false)
    found.push(
      warn(
        'configuration',
        'PUBLIC_URL is https, so there is a proxy, but TRUST_PROXY is not set: all visitors share one rate limit. Set it to the proxy’s address, such as loopback.',
      ),
    )
  if (protocol === 'https:' && (host === '0.0.0.0' || host === '::'))
    found.push(
      warn(
        'configuration',
        `HOST is ${host}, so Duely answers without TLS beside the proxy. Use localhost if the proxy is on this machine.`,
      ),
    )
  if (config.allowPrivateSmtpHosts === true)
    found.push(
      warn(
        'configuration',
        'SMTP_ALLOW_PRIVATE_HOSTS is true, so passwords of mailboxes go to private mail servers without a checked certificate. Set it to strict, and NODE_EXTRA_CA_CERTS to the file of your own authority.',
      ),
    )
  return found.length > 0 ? found : [good('configuration', `valid, people use ${publicUrl}`)]
}

const gigabyte = 1e9
/** Below this much free space, and this share of the disk, a night's emails may not fit. */
const [littleSpace, noSpace] = [2 * gigabyte, 0.2 * gigabyte]

async function checkDisk({ dataDir, databaseUrl }: Config): Promise<Finding[]> {
  if (databaseUrl) return [good('disk', 'not used, because the data is on the server. Watch the free space there.')]
  const place = (await exists(dataDir)) ? dataDir : path.dirname(path.resolve(dataDir))
  const writable = await access(place, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!writable) return [bad('disk', `${path.resolve(place)} cannot be written to. Give it to the user that runs Duely, or set DATA_DIR.`)]
  const { bavail, bsize, blocks } = await statfs(place)
  const [free, all] = [bavail * bsize, blocks * bsize]
  const text = `${(free / gigabyte).toFixed(1)} GB of ${(all / gigabyte).toFixed(0)} GB are free for ${path.resolve(dataDir)}`
  if (free < noSpace) return [bad('disk', `${text}. Make room: without it nothing can be saved.`)]
  const found = await findOpen(dataDir)
  if (free < littleSpace) found.push(warn('disk', `${text}. Make room, or move DATA_DIR to a larger disk.`))
  return found.length > 0 ? found : [good('disk', text)]
}

/** What other users of the machine can open although Duely has closed what it can. */
async function findOpen(dataDir: string): Promise<Finding[]> {
  const modeOf = async (place: string) => (await stat(place).catch(() => null))?.mode ?? 0
  const [folder, database] = [path.resolve(dataDir), path.resolve(dataDir, 'postgres')]
  const found: Finding[] = []
  if ((await modeOf(database)) & 0o077)
    found.push(warn('disk', `other users of this machine can open ${database}. Move DATA_DIR to a disk that keeps modes, and start again.`))
  // With the sticky bit they could only add files.
  if (((await modeOf(folder)) & 0o1002) === 0o002)
    found.push(warn('disk', `other users of this machine can replace the files in ${folder}. Run: chmod o-w ${folder}`))
  return found
}

/** For one name, in ms. */
const nameDeadline = 5_000

/** Every server that Duely calls. */
async function checkNames(config: Config): Promise<Finding[]> {
  const named: [variable: string, url: string | null][] = [
    ['PUBLIC_URL', config.publicUrl],
    ['SYSTEM_SMTP_URL', config.systemSmtpUrl],
    ['HEARTBEAT_URL', config.heartbeatUrl],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', config.telemetry?.endpoint ?? null],
    ['GOOGLE_ISSUER', config.google?.issuer ?? null],
    ['GMAIL_API_URL', config.google?.gmailApiUrl ?? null],
    ['MICROSOFT_LOGIN_URL', config.microsoft?.loginUrl ?? null],
    ['GRAPH_API_URL', config.microsoft?.graphApiUrl ?? null],
    ['RAZORPAY_API_URL', config.razorpay?.apiUrl ?? null],
  ]
  const hosts = named.flatMap(([variable, url]) =>
    url === null ? [] : [{ variable, host: new URL(url).hostname.replace(/^\[|\]$/g, '') }],
  )
  const lost = await Promise.all(hosts.map(async (one) => ((await resolves(one.host)) ? [] : [one])))
  const missing = lost
    .flat()
    .map(({ variable, host }) => warn('DNS', `${host} (${variable}) has no address. Correct the name, or the DNS of this machine.`))
  return missing.length > 0 ? missing : [good('DNS', `all ${hosts.length} names resolve`)]
}

async function resolves(host: string): Promise<boolean> {
  if (net.isIP(host) !== 0) return true
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), nameDeadline)
  })
  const asked = lookup(host).then(
    () => true,
    () => false,
  )
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

async function checkMail(config: Config): Promise<Finding> {
  if (!sendsSystemMail(config))
    return warn('mail', 'Duely sends no email of its own, such as password links and notices. Set SYSTEM_SMTP_URL and SYSTEM_MAIL_FROM.')
  const trouble = await findMailTrouble(config)
  const { host } = new URL(config.systemSmtpUrl)
  return trouble === null
    ? good('mail', `${host} accepts the login`)
    : bad('mail', `${host} does not accept Duely’s login: ${trouble}. Correct SYSTEM_SMTP_URL; waiting emails are retried.`)
}

/** `running`: the process that answers is the one that works, so its background work is judged too. */
async function checkDatabase(deps: Operating, running: boolean): Promise<Finding[]> {
  const { db, clock, config } = deps
  const where = config.databaseUrl ? placeOf(config.databaseUrl) : 'embedded'
  const [known] = await rows(
    db,
    z.object({ made: z.boolean(), version: z.string(), size: z.string(), letters: z.boolean(), now: z.string() }),
    sql`SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS made, current_setting('server_version') AS version,
          pg_size_pretty(pg_database_size(current_database())) AS size, lower('É') = 'é' AS letters, (extract(epoch FROM now()) * 1000)::text AS now`,
  )
  if (!known) return [bad('database', 'it answers no query. The log of PostgreSQL has the reason.')]
  if (!known.made) return [warn('database', `${where} is empty. The first start, or npm run duely -- migrate, creates the tables.`)]
  const missing = await findMissingMigrations(db)
  const found: Finding[] = [
    missing === 0
      ? good('database', `${where}, PostgreSQL ${known.version}, ${known.size}, tables of this version`)
      : warn('database', `${missing} migrations are missing. The next start applies them, or npm run duely -- migrate.`),
  ]
  if (!known.letters)
    found.push(
      bad(
        'database',
        'its locale knows only A to Z, so searches miss accented letters. Restore a backup into a database made with the locale C.UTF-8.',
      ),
    )
  found.push(await checkClock(deps, Number(known.now), missing === 0))
  if (missing === 0) found.push(...(await checkKeys(deps)), ...(running || config.databaseUrl ? await checkWork(db, clock.now()) : []))
  return found
}

async function findMissingMigrations(db: Database): Promise<number> {
  const applied = await rows(
    db,
    z.object({ level: z.coerce.number() }),
    sql`SELECT created_at::text AS level FROM drizzle.__drizzle_migrations`,
  )
  const known = new Set(applied.map(({ level }) => level))
  return migrationLevels().filter((level) => !known.has(level)).length
}

/** Seconds that clocks may differ. */
const mostApart = 5

/** The embedded database has the clock of this machine: only the past shows whether that was set back. */
async function checkClock({ db, clock }: Operating, databaseMs: number, isCurrent: boolean): Promise<Finding> {
  const apart = Math.round((databaseMs - clock.now().epochMilliseconds) / 1000)
  if (Math.abs(apart) > mostApart)
    return bad(
      'clock',
      `the database is ${Math.abs(apart)} s ${apart > 0 ? 'ahead of' : 'behind'} this machine. Set both by NTP: leases and heartbeats need one time.`,
    )
  // Tables of 0.1.0 have no steps.
  const [newest] = isCurrent
    ? await rows(
        db,
        z.object({ ahead: z.number() }),
        sql`SELECT coalesce(extract(epoch FROM max(succeeded_at) - now()), 0)::float8 AS ahead FROM steps`,
      )
    : []
  if (newest && newest.ahead > 60)
    return bad(
      'clock',
      `Duely ran ${Math.round(newest.ahead / 60)} minutes in the future before. Set the clock by NTP before reminders are due.`,
    )
  return good('clock', `${clock.now().toString({ smallestUnit: 'second' })}, as the database has it`)
}

async function checkKeys({ db, config }: Operating): Promise<Finding[]> {
  let secretKey: string
  try {
    // A key that would be made now means that nothing is encrypted yet.
    const [known] = await rows(
      db,
      z.object({ known: z.boolean() }),
      sql`SELECT EXISTS (SELECT FROM server_checks WHERE subject = 'secret-key') AS known`,
    )
    if (!known?.known) return [warn('keys', 'there is no secret key yet. The first start makes one.')]
    secretKey = await loadSecretKey(db, { given: config.secretKey, dataDir: config.dataDir })
  } catch (error) {
    if (error instanceof StartError) return [bad('keys', error.message)]
    throw error
  }
  const found: Finding[] = []
  const file = path.join(config.dataDir, 'secret-key')
  const mode = config.secretKeyGiven ? null : ((await stat(file).catch(() => null))?.mode ?? 0) & 0o077
  if (mode) found.push(warn('keys', `others can read ${path.resolve(file)}. Run: chmod 600 ${path.resolve(file)}`))
  if (secretKey.includes('\n')) found.push(warn('keys', 'a rotation is unfinished. Restart every process, then run rotate-keys again.'))
  const closed = await countClosed(db, secretKey)
  if (closed > 0)
    found.push(
      warn(
        'keys',
        `${closed} stored secrets open with another key only. Their owners have to connect their mailbox or payment keys again.`,
      ),
    )
  return found.length > 0 ? found : [good('keys', 'the secret key is the one of this database, and opens what is stored')]
}

/** Secrets that none of the present keys sealed. */
async function countClosed(db: Database, secretKey: string): Promise<number> {
  let closed = 0
  for (const { table, column, purpose } of sealedColumns) {
    const marks = secretKey.split('\n').map((key) => sql`NOT starts_with(${sql.identifier(column)}, ${sealMark(key, purpose)})`)
    const [found] = await rows(
      db,
      z.object({ count: z.number() }),
      sql`SELECT count(*)::int AS count FROM ${sql.identifier(table)} WHERE ${sql.identifier(column)} IS NOT NULL AND ${sql.join(marks, sql` AND `)}`,
    )
    closed += found?.count ?? 0
  }
  return closed
}

async function checkWork(db: Database, now: Temporal.Instant): Promise<Finding[]> {
  const trouble = (await findTrouble(db, now)) ?? (await findLateSteps(db))
  return [trouble === null ? good('work', 'due reminders are checked, and no background work is late') : bad('work', trouble)]
}
