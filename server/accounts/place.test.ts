import { expect, test } from 'vitest'
import { placeOf } from './place.ts'

test.each([
  ['127.0.0.1', 'Same computer as Duely'],
  ['::1', 'Same computer as Duely'],
  ['::ffff:127.0.0.1', 'Same computer as Duely'],
  ['192.168.1.20', 'The same network as Duely (192.168.1.20)'],
  ['172.31.255.1', 'The same network as Duely (172.31.255.1)'],
  ['fe80::1%eth0', 'The same network as Duely (fe80::1)'],
  ['172.32.0.1', 'Internet address 172.32.0.1'],
  ['::ffff:49.36.12.7', 'Internet address 49.36.12.7'],
  ['2406:7400::7', 'Internet address 2406:7400::7'],
  ['', ''],
  ['nonsense', ''],
])('%s is, in words, "%s"', (address, words) => {
  expect(placeOf(address)).toBe(words)
})
