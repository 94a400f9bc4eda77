import { inject } from 'vitest'
import { row } from '#test/faults/row.ts'
import { chromiumPackets, strayPackets } from './egress.ts'

// The last of the attacks: the files run in the order that run/reliability.ts gives them.
row('82', 'everything that left the machine during the other attacks', { short: true }, async (trial) => {
  trial.mustHold('packets to any other machine 0')
  if (!inject('publicAddress')) return trial.skip('there is no network namespace of our own in which packets can be counted')
  const packets = strayPackets() - chromiumPackets.count
  return { figure: `${packets} packets`, holds: packets === 0 }
})
