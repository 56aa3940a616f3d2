import { expect, test } from '@jest/globals'
import { networkOf } from './network.js'

test('an IPv4 address counts by itself, also in IPv6', () => {
  for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '::FFFF:cb00:7107']) {
    expect(networkOf(address)).toBe('203.0.113.7')
  }
  expect(networkOf('203.0.113.8')).not.toBe(networkOf('203.0.113.7'))
})

test('an IPv6 address counts with its /64, however it is written', () => {
  const spellings = ['2001:db8:1:2::1', '2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::1%eth0']
  expect(new Set(spellings.map(networkOf)).size).toBe(1)
  expect(networkOf('2001:db8:1:3::1')).not.toBe(networkOf('2001:db8:1:2::1'))
  expect(networkOf('::1')).not.toBe(networkOf('2001::1'))
})

test('what is no address counts as it is', () => {
  expect(networkOf('')).toBe('')
  expect(networkOf('unknown')).toBe('unknown')
  expect(networkOf('x'.repeat(200))).toHaveLength(100)
})
