import { resolveHost, type VettedHost } from '#server/platform/host.ts'
import type { Resolve } from '#server/platform/resolve.ts'
import { MailError } from './smtp-errors.ts'

const smtpPorts = new Set([25, 465, 587, 2525])

/** A mail server that may be connected to. Throws MailError `unknown_host`, `host_refused` or `port_refused`. */
export async function vetHost(
  target: { host: string; port: number },
  options: { resolve: Resolve; allowPrivateHosts: boolean },
): Promise<VettedHost> {
  if (!options.allowPrivateHosts && !smtpPorts.has(target.port)) throw new MailError('port_refused')
  const host = await resolveHost(target.host, options)
  if (host === 'unknown') throw new MailError('unknown_host')
  if (host === 'special') throw new MailError('host_refused')
  return host
}
