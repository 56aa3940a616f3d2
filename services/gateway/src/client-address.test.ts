import type { IncomingMessage } from 'node:http'
import { expect, test } from '@jest/globals'
import { clientAddressReader } from './client-address.js'

const request = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

test('without trusted proxies the socket says who calls, whatever the header claims', () => {
  const read = clientAddressReader([])
  expect(read(request('203.0.113.9', '1.1.1.1'))).toBe('203.0.113.9')
  expect(read(request('::ffff:203.0.113.9'))).toBe('203.0.113.9')
})

test('behind trusted proxies the last address that is none of them counts', () => {
  const read = clientAddressReader(['10.0.0.0/8', 'fd00::/8'])
  expect(read(request('10.0.0.1', '6.6.6.6, 203.0.113.9'))).toBe('203.0.113.9')
  expect(read(request('::ffff:10.0.0.1', '6.6.6.6, 203.0.113.9, 10.2.3.4'))).toBe('203.0.113.9')
  expect(read(request('fd00::1', '2001:db8::1'))).toBe('2001:db8::1')
  expect(read(request('10.0.0.1', 'nonsense'))).toBe('10.0.0.1')
  expect(read(request('10.0.0.1'))).toBe('10.0.0.1')
})

test('an address outside the trusted networks cannot forward for others', () => {
  const read = clientAddressReader(['10.0.0.0/8'])
  expect(read(request('203.0.113.9', '1.1.1.1'))).toBe('203.0.113.9')
})
