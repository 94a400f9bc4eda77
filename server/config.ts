import { closeSync, openSync, readSync } from 'node:fs'
import net from 'node:net'
import { z } from 'zod'
import { ownClientId } from '#contract/integrations.ts'
import { type ArmedFailPoint, failPointNames } from '#server/platform/fail-point.ts'
import { isSpecialAddress } from '#server/platform/host.ts'
import { wrongRedirectUri } from '#server/platform/redirect-uri.ts'
import { isZone } from '#server/platform/zones.ts'

const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false', '1', '0', 'on', 'off'], 'must be true or false')
    .optional()
    .transform((text) => (text === undefined ? fallback : ['true', '1', 'on'].includes(text)))
const number = (low: number, high: number, fallback: number, example: string) =>
  z
    .string()
    .optional()
    .transform((text) => (text === undefined ? fallback : /^\d+$/.test(text) ? Number(text) : Number.NaN))
    .refine(
      (value) => Number.isInteger(value) && value >= low && value <= high,
      `must be a whole number from ${low} to ${high}, for example ${example}`,
    )
const url = (protocols: string[], example: string) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), `must be an address such as ${example}`)
const webUrl = (example: string) => url(['http:', 'https:'], example)

const shareOfTraces = 'must be a share from 0 to 1, for example 0.1'

/** One row per variable: its rule and default. Each message has an example. */
const environment = z.object({
  PORT: number(0, 65_535, 3000, '3000'),
  HOST: z
    .string()
    .regex(/^[\w.:-]+$/, 'must be a host name or address of this machine, for example localhost or 0.0.0.0')
    .default('localhost'),
  DATA_DIR: z.string().default('./data'),
  DATABASE_URL: url(['postgres:', 'postgresql:'], 'postgres://duely:secret@localhost:5432/duely').optional(),
  ROLE: z.enum(['all', 'web', 'worker'], 'must be all, web or worker').default('all'),
  PUBLIC_URL: webUrl('https://duely.example.com').optional(),
  SECRET_KEY: z.string().min(32, 'must be at least 32 characters, for example the output of: openssl rand -base64 32').optional(),
  SECRET_KEY_BEFORE: z.string().min(32, 'must be the previous SECRET_KEY').optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'must be a level such as info').default('info'),
  DEFAULT_TIMEZONE: z
    .string()
    .refine((zone) => isZone(zone), 'must be a time zone such as Asia/Kolkata')
    .default('Asia/Kolkata'),
  DEMO_MAIL_URL: webUrl('http://127.0.0.1:8026').optional(),
  SUPPORT_URL: url(['http:', 'https:', 'mailto:'], 'https://example.com/help or mailto:help@example.com').optional(),
  TERMS_URL: webUrl('https://example.com/terms').optional(),
  SECURITY_CONTACT: url(['mailto:', 'https:', 'tel:'], 'mailto:security@example.com').optional(),
  RATE_LIMIT: flag(true),
  TRUST_PROXY: z
    .string()
    .refine(
      (text) => text !== 'true',
      'must not be true, because then anyone could claim any address: set the number of proxies or their addresses, for example 1 or 127.0.0.1,10.0.0.0/8',
    )
    .refine(
      (text) => text === 'true' || text === 'false' || hops.test(text) || listed(text).every(isProxy),
      'must be false, the number of proxies or their addresses, for example 1 or 127.0.0.1,10.0.0.0/8',
    )
    .optional(),
  SMTP_ALLOW_PRIVATE_HOSTS: z
    .enum(['true', 'false', '1', '0', 'on', 'off', 'strict'], 'must be true, strict or false')
    .optional()
    .transform((text) => (text === 'strict' ? text : ['true', '1', 'on'].includes(text ?? ''))),
  DNS_SERVERS: z
    .string()
    .refine(
      (text) => listed(text).every((one) => nameServer.test(one)),
      'must be addresses of name servers, for example 9.9.9.9,127.0.0.1:5353',
    )
    .optional(),
  PAY_LINKS: z.enum(['auto', 'on', 'off'], 'must be auto, on or off').default('auto'),
  HOOK_ALLOW_PRIVATE_HOSTS: flag(false),
  PDF_FONTS: z
    .string()
    .refine(
      (text) => listed(text).every(isFontFile),
      'must be font files of this machine (TrueType or OpenType) with commas between them, for example /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc',
    )
    .optional(),
  SYSTEM_SMTP_URL: url(['smtp:', 'smtps:'], 'smtps://user:password@smtp.example.com:465').optional(),
  SYSTEM_MAIL_FROM: z.string().min(3, 'must be an address such as Duely <hello@example.com>').optional(),
  HEARTBEAT_URL: webUrl('https://hc-ping.com/0f6e9f3c').optional(),
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, 'must be at least 16 characters without spaces, for example the output of: openssl rand -hex 32')
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl('http://localhost:4318').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .refine((text) => readHeaders(text) !== null, 'must be names and values such as authorization=Bearer%20secret,x-team=duely')
    .optional(),
  OTEL_SERVICE_NAME: z.string().max(200).default('duely'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number(shareOfTraces).min(0, shareOfTraces).max(1, shareOfTraces).default(1),
  PASSWORD_MIN_LENGTH: number(1, 128, 6, '6'),
  HISTORY_BYTES_DAYS: number(1, 1_095, 90, '90'),
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  GOOGLE_ISSUER: webUrl('https://accounts.google.com').default('https://accounts.google.com'),
  GMAIL_API_URL: webUrl('https://gmail.googleapis.com').default('https://gmail.googleapis.com'),
  MICROSOFT_CLIENT_ID: z.string().optional(),
  MICROSOFT_CLIENT_SECRET: z.string().optional(),
  MICROSOFT_LOGIN_URL: webUrl('https://login.microsoftonline.com/common').default('https://login.microsoftonline.com/common'),
  GRAPH_API_URL: webUrl('https://graph.microsoft.com/v1.0').default('https://graph.microsoft.com/v1.0'),
  RAZORPAY_KEY_ID: z.string().optional(),
  RAZORPAY_KEY_SECRET: z.string().optional(),
  RAZORPAY_WEBHOOK_SECRET: z.string().optional(),
  RAZORPAY_API_URL: webUrl('https://api.razorpay.com/v1').default('https://api.razorpay.com/v1'),
  RAZORPAY_CHECKOUT_URL: webUrl('https://checkout.razorpay.com/v1/checkout.js').default('https://checkout.razorpay.com/v1/checkout.js'),
  ZAPIER_CLIENT_ID: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'must be letters and digits without spaces, for example duely-for-zapier')
    .refine((id) => id !== ownClientId, 'must not be duely, which is what Duely calls itself')
    .optional(),
  ZAPIER_CLIENT_SECRET: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be characters without spaces, for example the output of: openssl rand -hex 32')
    .optional(),
  ZAPIER_REDIRECT_URIS: z
    .string()
    .superRefine((text, issue) => {
      for (const uri of listed(text)) {
        const wrong = wrongRedirectUri(uri)
        const example = 'https://zapier.com/dashboard/auth/oauth/return/App123456CLIAPI/'
        if (wrong !== null) issue.addIssue(`has the address ${uri}, which ${wrong}; for example ${example}`)
      }
    })
    .optional(),
  /** For fault injection: where this process kills itself, and the probability. */
  FAILPOINT: z
    .string()
    .refine(
      (text) => readFailPoint(text) !== null,
      `must be one of ${failPointNames.join(', ')}, optionally with a probability, for example after-250:0.1`,
    )
    .optional(),
})

/** Every variable that is read. */
export const variables = Object.keys(environment.shape)

function readFailPoint(text: string): ArmedFailPoint | null {
  const [name = '', chance = '1', ...more] = text.split(':')
  const known = failPointNames.find((one) => one === name)
  return known && more.length === 0 && Number(chance) > 0 && Number(chance) <= 1 ? { name: known, chance: Number(chance) } : null
}

/** Names with values as in a URL, separated by commas; null where one has no value, or cannot be sent. */
function readHeaders(text: string): Record<string, string> | null {
  try {
    const pairs = listed(text).map((part) => {
      const at = part.indexOf('=')
      return [part.slice(0, Math.max(0, at)).trim(), decodeURIComponent(part.slice(at + 1))]
    })
    return Object.fromEntries(new Headers(pairs as [string, string][]))
  } catch {
    return null
  }
}

/** What the program runs with: every value checked, none read anywhere else. */
export interface Config {
  port: number
  /** A worker listens only where PORT was given. */
  portGiven: boolean
  host: string
  dataDir: string
  databaseUrl: string | null
  role: 'all' | 'web' | 'worker'
  publicUrl: string
  /** The secret key; during a rotation followed by the previous one on a second line. */
  secretKey: string
  /** False where the embedded database keeps its own. */
  secretKeyGiven: boolean
  logLevel: string
  defaultTimezone: string
  /** Where people are helped: a page, or the mailbox that Duely sends its own email from; null where there is neither. */
  supportUrl: string | null
  termsUrl: string | null
  /** Where to report a vulnerability; null: `/.well-known/security.txt` does not exist. */
  securityContact: string | null
  /** Whether emails lead clients to pay pages of this server. */
  payLinks: boolean
  rateLimit: boolean
  /** How many proxies are in front, or their addresses. */
  trustProxy: false | number | string[]
  /** `strict`: with TLS, a trusted certificate and a login, as of public ones. */
  allowPrivateSmtpHosts: boolean | 'strict'
  /** Name servers for the check of a mailbox's domain; null: those of this machine. */
  dnsServers: string[] | null
  allowPrivateWebhookHosts: boolean
  /** Font files for PDFs, before those of the system. */
  pdfFonts: string[]
  systemSmtpUrl: string | null
  systemMailFrom: string | null
  /** Asked after checks for due runs, so that something outside notices when they end. */
  heartbeatUrl: string | null
  /** Opens `GET /metrics`; null: there is none. */
  metricsToken: string | null
  /** Where traces and metrics are sent to, by OTLP over HTTP; null: nowhere. `share`: of calls and jobs, so many of 1 are traced. */
  telemetry: { endpoint: string; headers: Record<string, string>; serviceName: string; share: number } | null
  /** Set by npm run demo: every screen shows what it is, and leads to the page with its emails. */
  demoMailUrl: string | null
  passwordMinLength: number
  /** How many days the text of an email is kept after its invoices were paid or deleted. */
  historyBytesDays: number
  google: { clientId: string; clientSecret: string; issuer: string; gmailApiUrl: string } | null
  /** `loginUrl` ends with the tenant, such as `common`. */
  microsoft: { clientId: string; clientSecret: string; loginUrl: string; graphApiUrl: string } | null
  razorpay: { keyId: string; keySecret: string; webhookSecret: string | null; apiUrl: string; checkoutUrl: string } | null
  /** Where Razorpay is called, by the keys of this server and by those of its accounts. */
  razorpayApiUrl: string
  zapier: { clientId: string; clientSecret: string; redirectUris: string[] } | null
  failPoint: ArmedFailPoint | null
}

/** One line per invalid variable. */
export class ConfigError extends Error {}

/**
 * Reads and checks the environment; reports all mistakes together, each with an example.
 * `secretKey` stays empty where none was given: the embedded database brings its own.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const filled = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(filled)
  const wrong = [
    ...(parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)),
    ...missingPartners(filled),
  ]
  if (!parsed.success || wrong.length > 0) throw new ConfigError(wrong.join('\n'))
  const given = parsed.data
  const publicUrl = given.PUBLIC_URL?.replace(/\/+$/, '') ?? ownUrl(given.HOST, given.PORT)
  return {
    port: given.PORT,
    portGiven: filled.PORT !== undefined,
    host: given.HOST,
    dataDir: given.DATA_DIR,
    databaseUrl: given.DATABASE_URL ?? null,
    role: given.ROLE,
    publicUrl,
    secretKeyGiven: given.SECRET_KEY !== undefined,
    secretKey: [given.SECRET_KEY, given.SECRET_KEY_BEFORE].filter((key) => key !== undefined).join('\n'),
    logLevel: given.LOG_LEVEL,
    defaultTimezone: given.DEFAULT_TIMEZONE,
    demoMailUrl: given.DEMO_MAIL_URL ?? null,
    supportUrl: given.SUPPORT_URL ?? mailtoOf(given.SYSTEM_MAIL_FROM),
    termsUrl: given.TERMS_URL ?? null,
    securityContact: given.SECURITY_CONTACT ?? null,
    payLinks: given.PAY_LINKS === 'auto' ? isPublic(publicUrl) : given.PAY_LINKS === 'on',
    rateLimit: given.RATE_LIMIT,
    trustProxy: proxies(given.TRUST_PROXY),
    allowPrivateSmtpHosts: given.SMTP_ALLOW_PRIVATE_HOSTS,
    dnsServers: given.DNS_SERVERS === undefined ? null : listed(given.DNS_SERVERS),
    allowPrivateWebhookHosts: given.HOOK_ALLOW_PRIVATE_HOSTS,
    pdfFonts: given.PDF_FONTS === undefined ? [] : listed(given.PDF_FONTS),
    systemSmtpUrl: given.SYSTEM_SMTP_URL ?? null,
    systemMailFrom: given.SYSTEM_MAIL_FROM ?? null,
    heartbeatUrl: given.HEARTBEAT_URL ?? null,
    metricsToken: given.METRICS_TOKEN ?? null,
    telemetry: given.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: given.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, ''),
          headers: readHeaders(given.OTEL_EXPORTER_OTLP_HEADERS ?? '') ?? {},
          serviceName: given.OTEL_SERVICE_NAME,
          share: given.OTEL_TRACES_SAMPLER_ARG,
        }
      : null,
    passwordMinLength: given.PASSWORD_MIN_LENGTH,
    historyBytesDays: given.HISTORY_BYTES_DAYS,
    google:
      given.GOOGLE_CLIENT_ID && given.GOOGLE_CLIENT_SECRET
        ? {
            clientId: given.GOOGLE_CLIENT_ID,
            clientSecret: given.GOOGLE_CLIENT_SECRET,
            issuer: given.GOOGLE_ISSUER,
            gmailApiUrl: given.GMAIL_API_URL,
          }
        : null,
    microsoft:
      given.MICROSOFT_CLIENT_ID && given.MICROSOFT_CLIENT_SECRET
        ? {
            clientId: given.MICROSOFT_CLIENT_ID,
            clientSecret: given.MICROSOFT_CLIENT_SECRET,
            loginUrl: given.MICROSOFT_LOGIN_URL.replace(/\/+$/, ''),
            graphApiUrl: given.GRAPH_API_URL.replace(/\/+$/, ''),
          }
        : null,
    razorpay:
      given.RAZORPAY_KEY_ID && given.RAZORPAY_KEY_SECRET
        ? {
            keyId: given.RAZORPAY_KEY_ID,
            keySecret: given.RAZORPAY_KEY_SECRET,
            webhookSecret: given.RAZORPAY_WEBHOOK_SECRET ?? null,
            apiUrl: given.RAZORPAY_API_URL,
            checkoutUrl: given.RAZORPAY_CHECKOUT_URL,
          }
        : null,
    razorpayApiUrl: given.RAZORPAY_API_URL,
    zapier:
      given.ZAPIER_CLIENT_ID && given.ZAPIER_CLIENT_SECRET && given.ZAPIER_REDIRECT_URIS
        ? {
            clientId: given.ZAPIER_CLIENT_ID,
            clientSecret: given.ZAPIER_CLIENT_SECRET,
            redirectUris: listed(given.ZAPIER_REDIRECT_URIS),
          }
        : null,
    failPoint: given.FAILPOINT === undefined ? null : readFailPoint(given.FAILPOINT),
  }
}

/** Variables that only make sense together. */
function missingPartners(env: Record<string, string | undefined>): string[] {
  const wrong: string[] = []
  if (env.FAILPOINT && env.NODE_ENV === 'production') wrong.push('FAILPOINT kills the process and must not be set in production')
  if (env.DATABASE_URL && !env.SECRET_KEY)
    wrong.push(
      'SECRET_KEY is required with DATABASE_URL and must be the same in every process, for example the output of: openssl rand -base64 32',
    )
  if ((env.ROLE === 'web' || env.ROLE === 'worker') && !env.DATABASE_URL)
    wrong.push('ROLE web or worker requires DATABASE_URL: the embedded database belongs to one process, for example ROLE=all')
  for (const together of [
    ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
    ['MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET'],
    ['RAZORPAY_KEY_ID', 'RAZORPAY_KEY_SECRET'],
    ['ZAPIER_CLIENT_ID', 'ZAPIER_CLIENT_SECRET', 'ZAPIER_REDIRECT_URIS'],
    ['SYSTEM_SMTP_URL', 'SYSTEM_MAIL_FROM'],
  ]) {
    const given = together.find((name) => env[name])
    if (given) wrong.push(...together.filter((name) => !env[name]).map((name) => `${name} is required when ${given} is set`))
  }
  return wrong
}

/** `Duely <hello@example.com>` as `mailto:hello@example.com`; null where it has no address. */
function mailtoOf(sender: string | undefined): string | null {
  const address = /[^\s<>@]+@[^\s<>@]+/.exec(sender ?? '')?.[0]
  return address === undefined ? null : `mailto:${address}`
}

/** How a browser on this machine reaches the program. */
function ownUrl(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  return new URL(`http://${everywhere ? 'localhost' : net.isIPv6(host) ? `[${host}]` : host}:${port}`).origin
}

/** Whether a client's browser can reach an address: no loopback or private one, and no bare name. */
function isPublic(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (net.isIP(host) !== 0) return !isSpecialAddress(host)
  return host.includes('.') && !/\.(?:localhost|local|internal|lan|home\.arpa)$/.test(host)
}

function isProxy(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const most = net.isIPv4(address) ? 32 : net.isIPv6(address) ? 128 : -1
  return more.length === 0 && most > 0 && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= most))
}

/** By its first bytes: a file for the web (WOFF2) cannot be used. */
function isFontFile(path: string): boolean {
  try {
    const begin = Buffer.alloc(4)
    const file = openSync(path, 'r')
    try {
      readSync(file, begin)
    } finally {
      closeSync(file)
    }
    return ['\x00\x01\x00\x00', 'OTTO', 'ttcf', 'true'].includes(begin.toString('latin1'))
  } catch {
    return false
  }
}

const hops = /^(?:[1-9]|10)$/

/** An address of IPv4 or IPv6, with a port or without. */
const nameServer = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:]+\])(:\d{1,5})?$|^[0-9a-f:]+$/i

function proxies(text: string | undefined): Config['trustProxy'] {
  if (text === undefined || text === 'false') return false
  return hops.test(text) ? Number(text) : listed(text)
}

function listed(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}
