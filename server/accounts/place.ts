import { BlockList, isIP } from 'node:net'

const local = new BlockList()
local.addSubnet('10.0.0.0', 8)
local.addSubnet('172.16.0.0', 12)
local.addSubnet('192.168.0.0', 16)
local.addSubnet('169.254.0.0', 16)
local.addSubnet('fc00::', 7, 'ipv6')
local.addSubnet('fe80::', 10, 'ipv6')
const own = new BlockList()
own.addSubnet('127.0.0.0', 8)
own.addAddress('::1', 'ipv6')

/**
 * Where a browser is, as far as its IP address shows. Geolocation would disclose to a company who signs in here, so it is not used. '' where
 * nothing is known.
 */
export function placeOf(address: string): string {
  const bare = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  const family = isIP(bare)
  if (family === 0) return ''
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  if (own.check(bare, kind)) return 'Same computer as Duely'
  if (local.check(bare, kind)) return `The same network as Duely (${bare})`
  return `Internet address ${bare}`
}
