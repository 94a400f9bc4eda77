import net, { BlockList, isIP, isIPv4 } from 'node:net'
import { domainToASCII } from 'node:url'
import type { Resolve } from './resolve.ts'

/** A host with vetted addresses; it must not be resolved a second time (DNS rebinding). */
export interface VettedHost {
  /** What a certificate must be made out to. */
  name: string
  addresses: string[]
  /** Every address is private or special: only where the operator allows that. */
  isPrivate: boolean
}

/** RFC 6890 and IANA's special-purpose registry: nothing of this is a server on the public internet. */
const specialV4 = listOf('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
])
/** Only global unicast is public: loopback, mapped, NAT64, unique local, link-local and multicast all lie outside of it. */
const globalV6 = listOf('ipv6', [['2000::', 3]])
/** Inside of it: protocol assignments with Teredo, documentation, 6to4. */
const specialV6 = listOf('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
])

/** Whether an address (not a name) lies outside the public internet, however it is written. */
export function isSpecialAddress(address: string): boolean {
  if (isIPv4(address)) return specialV4.check(address)
  // A zone (fe80::1%eth0) makes sense on one link only.
  if (isIP(address) !== 6 || address.includes('%')) return true
  return !globalV6.check(address, 'ipv6') || specialV6.check(address, 'ipv6')
}

/** RFC 6761: these names always mean this machine, so saying that reveals nothing. */
export function isOwnName(name: string): boolean {
  return /(?:^|\.)localhost$/i.test(name)
}

/**
 * Resolves a host once and checks the addresses, not the spelling: `127.1`, `0x7f000001` and a name that leads there are one.
 * `special`: an address outside the public internet. `unknown`: a name that has no address, or one, which is enough, outside the public internet:
 * the two are never told apart, or names could be tried until one exists in the network of the server.
 */
export async function resolveHost(
  host: string,
  options: { resolve: Resolve; allowPrivateHosts: boolean },
): Promise<VettedHost | 'unknown' | 'special'> {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  const name = isIP(bare) ? bare : domainToASCII(bare) || bare
  if (isOwnName(name) && !options.allowPrivateHosts) return 'special'
  const addresses = isIP(name) ? [name] : await options.resolve(name, options.allowPrivateHosts).catch(() => [])
  if (addresses.length === 0) return 'unknown'
  const special = addresses.filter(isSpecialAddress)
  if (special.length > 0 && !options.allowPrivateHosts) return isIP(name) ? 'special' : 'unknown'
  return { name, addresses, isPrivate: special.length === addresses.length }
}

/** Opens TCP to one of the vetted addresses without resolving the name again (DNS rebinding). */
export function connectToAddresses(addresses: string[], port: number): net.Socket {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return net.connect({
    host: 'vetted.invalid',
    port,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
    lookup: (_name, options, callback) => {
      if (options.all) callback(null, all)
      else callback(null, all[0]?.address ?? '', all[0]?.family)
    },
  })
}

/** Classifies a certificate error by the codes of Node and OpenSSL; null for any other error. */
export function certificateError(code: string): 'name' | 'expired' | 'untrusted' | null {
  switch (code) {
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return 'name'
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'expired'
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_UNTRUSTED':
    case 'CERT_REVOKED':
    case 'INVALID_CA':
    case 'CERT_SIGNATURE_FAILURE':
      return 'untrusted'
    default:
      return null
  }
}

function listOf(family: 'ipv4' | 'ipv6', subnets: [string, number][]): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family)
  return list
}
