import { expect, test } from '@jest/globals'
import { parseNetwork } from './network.js'

test('an IPv4 address is a network of its own, also when it is mapped to IPv6', () => {
  for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '::FFFF:cb00:7107']) {
    expect(parseNetwork(address)).toBe('203.0.113.7')
  }
  expect(parseNetwork('203.0.113.8')).not.toBe(parseNetwork('203.0.113.7'))
})

test('an IPv6 address belongs to its /64 network, however it is written', () => {
  const spellings = ['2001:db8:1:2::1', '2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::1%eth0']
  expect(new Set(spellings.map(parseNetwork)).size).toBe(1)
  expect(parseNetwork('2001:db8:1:3::1')).not.toBe(parseNetwork('2001:db8:1:2::1'))
  expect(parseNetwork('::1')).not.toBe(parseNetwork('2001::1'))
})

test('a text that is not an address is kept unchanged', () => {
  expect(parseNetwork('')).toBe('')
  expect(parseNetwork('unknown')).toBe('unknown')
  expect(parseNetwork('x'.repeat(200))).toHaveLength(100)
})
