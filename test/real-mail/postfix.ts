import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { freePort } from '#test/program.ts'
import { type Machine, type Service, untilGreeted } from './machine.ts'

/** A mail server that a mailbox sends through. */
export interface RealServer {
  host: string
  port: number
  tls: 'starttls'
  login: { user: string; pass: string }
  log(): string
  /** Settings that replace those of before, from the next connection on. */
  configure(settings: Record<string, string>): Promise<void>
  /** Ends it with everything it is doing. */
  abort(): Promise<void>
  stop(): Promise<void>
  start(): Promise<void>
}

export interface RealServerOptions {
  /** The login that it accepts. */
  user: string
  /** Where it relays everything to: the world's mail servers. */
  world: Pick<FakeSmtp, 'port'>
  /** Of Dovecot's SASL. */
  mechanisms?: string
  settings?: Record<string, string>
}

const pass = 'app-password'
const services = [
  'cleanup unix n - n - 0 cleanup',
  'qmgr unix n - n 300 1 qmgr',
  'tlsmgr unix - - n 1000? 1 tlsmgr',
  'rewrite unix - - n - - trivial-rewrite',
  ...['bounce', 'defer', 'trace'].map((name) => `${name} unix - - n - 0 bounce`),
  'proxymap unix - - n - - proxymap',
  ...['smtp', 'relay'].map((name) => `${name} unix - - n - - smtp`),
  'error unix - - n - - error',
  'retry unix - - n - - error',
  'anvil unix - - n - 1 anvil',
  'postlog unix-dgram n - n - 1 postlogd',
]

/** Postfix for submission, with Dovecot's SASL. */
export async function openPostfix(
  machine: Machine,
  { user, world, mechanisms = 'plain login', settings = {} }: RealServerOptions,
): Promise<RealServer> {
  await openSasl(machine, user, mechanisms)
  const port = await freePort()
  const folder = machine.folderOf('postfix')
  const base: Record<string, string> = {
    compatibility_level: '3.6',
    queue_directory: queueOf(machine),
    data_directory: machine.folderOf('postfix-data', 'postfix'),
    maillog_file: `${machine.folder}/postfix.log`,
    maillog_file_prefixes: machine.folder,
    myhostname: 'mail.example.com',
    mydestination: '',
    alias_maps: '',
    alias_database: '',
    mynetworks: '',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    smtpd_peername_lookup: 'no',
    smtpd_tls_security_level: 'encrypt',
    smtpd_tls_chain_files: machine.certificate,
    smtpd_sasl_auth_enable: 'yes',
    smtpd_sasl_type: 'dovecot',
    smtpd_sasl_path: `${machine.folder}/sasl`,
    smtpd_relay_restrictions: 'permit_sasl_authenticated, reject',
    relayhost: `[127.0.0.1]:${world.port}`,
    smtp_dns_support_level: 'disabled',
    smtp_tls_security_level: 'none',
    minimal_backoff_time: '1s',
    queue_run_delay: '1s',
  }
  const configure = (more: Record<string, string>) => {
    const lines = Object.entries({ ...base, ...more }).map(([name, value]) => `${name} = ${value}\n`)
    machine.write('postfix/main.cf', lines.join(''))
  }
  configure(settings)
  machine.write('postfix/master.cf', `127.0.0.1:${port} inet n - n - - smtpd\n${services.join('\n')}\n`)
  let service: Service
  const start = async () => {
    service = machine.start('/usr/lib/postfix/sbin/master', ['-c', folder, '-d'], { MAIL_CONFIG: folder })
    await untilGreeted(port, service, () => machine.log('postfix.log'))
  }
  await start()
  return {
    host: '127.0.0.1',
    port,
    tls: 'starttls',
    login: { user, pass },
    log: () => machine.log('postfix.log'),
    async configure(more) {
      configure(more)
      service.reload()
      await untilGreeted(port, service, () => machine.log('postfix.log'))
    },
    abort: () => service.end('SIGKILL'),
    stop: () => service.end('SIGTERM'),
    start,
  }
}

/** As `postfix set-permissions` would make it. */
function queueOf(machine: Machine): string {
  for (const name of [
    'active',
    'bounce',
    'corrupt',
    'defer',
    'deferred',
    'flush',
    'hold',
    'incoming',
    'private',
    'saved',
    'trace',
    'maildrop',
    'public',
  ])
    machine.folderOf(`postfix-queue/${name}`, 'postfix')
  machine.folderOf('postfix-queue/pid')
  return path.join(machine.folder, 'postfix-queue')
}

/** Dovecot's authentication alone, on a socket of the folder. */
async function openSasl(machine: Machine, user: string, mechanisms: string): Promise<void> {
  const passwords = machine.write('passwords', `${user}:{PLAIN}${pass}\n`)
  const config = machine.write(
    'dovecot.conf',
    `base_dir = ${machine.folderOf('dovecot')}
state_dir = ${machine.folderOf('dovecot-state')}
log_path = ${machine.folder}/dovecot.log
protocols =
ssl = no
auth_mechanisms = ${mechanisms}
disable_plaintext_auth = no
passdb {
  driver = passwd-file
  args = ${passwords}
}
service auth {
  unix_listener ${machine.folder}/sasl {
    mode = 0666
  }
}
`,
  )
  const service = machine.start('/usr/sbin/dovecot', ['-F', '-c', config])
  while (!existsSync(path.join(machine.folder, 'sasl'))) {
    if (service.hasEnded()) throw new Error(`Dovecot did not start:\n${machine.log('dovecot.log')}`)
    await pause(20)
  }
}
