import { readFileSync } from 'node:fs'

/** Packets without a route, of both families: in a network with nothing but loopback each one was meant for the outside. */
export function strayPackets(): number {
  const [names = [], values = []] = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Ip:'))
    .map((line) => line.split(' '))
  const v6 = /^Ip6OutNoRoutes\s+(\d+)/m.exec(readFileSync('/proc/net/snmp6', 'utf8'))?.[1]
  return Number(values[names.indexOf('OutNoRoutes')] ?? 0) + Number(v6 ?? 0)
}

/** Those of Chromium itself, which probes the network when it starts. */
export const chromiumPackets = { count: 0 }
