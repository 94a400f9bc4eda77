import { freePort } from '#test/program.ts'
import { type Machine, untilGreeted } from './machine.ts'
import type { RealServer, RealServerOptions } from './postfix.ts'

const pass = 'app-password'

/** Exim for submission. `settings`: lines of its main section. */
export async function openExim(
  machine: Machine,
  { user, world, settings = {} }: Omit<RealServerOptions, 'mechanisms'>,
): Promise<Pick<RealServer, 'host' | 'port' | 'tls' | 'login' | 'log'>> {
  const port = await freePort()
  const own = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`)
  const config = machine.write(
    'exim.conf',
    `primary_hostname = mail.example.com
spool_directory = ${machine.folderOf('exim', 'Debian-exim')}
log_file_path = ${machine.folderOf('exim-log', 'Debian-exim')}/%slog
pid_file_path = ${machine.folder}/exim/pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
host_lookup =
rfc1413_query_timeout = 0s
tls_advertise_hosts = *
tls_certificate = ${machine.certificate}
auth_advertise_hosts = \${if def:tls_cipher{*}}
smtputf8_advertise_hosts = *
acl_smtp_rcpt = relay
smtp_accept_queue_per_connection = 0
${own.join('')}
begin acl
relay:
  accept authenticated = *
  deny message = relay not permitted

begin routers
world:
  driver = manualroute
  transport = world
  route_list = * 127.0.0.1 byname
  self = send

begin transports
world:
  driver = smtp
  port = ${world.port}
  hosts_avoid_tls = *
  allow_localhost

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and {{eq{$auth2}{${user}}}{eq{$auth3}{${pass}}}}}
  server_set_id = $auth2
`,
  )
  const log = () => ['main', 'panic', 'reject'].map((name) => machine.log(`exim-log/${name}log`)).join('')
  const service = machine.start('/usr/sbin/exim4', ['-C', config, '-bdf', '-q1m'])
  await untilGreeted(port, service, log)
  return { host: '127.0.0.1', port, tls: 'starttls', login: { user, pass }, log }
}
