import type { IncomingMessage } from 'node:http'
import { expect, test } from '@jest/globals'
import { createClientAddressReader } from './client-address.js'

const request = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

test('without trusted proxies the client address is that of the socket, whatever the header contains', () => {
  const read = createClientAddressReader([])
  expect(read(request('203.0.113.9', '1.1.1.1'))).toBe('203.0.113.9')
  expect(read(request('::ffff:203.0.113.9'))).toBe('203.0.113.9')
})

test('behind trusted proxies the client address is the last one that is not a trusted proxy', () => {
  const read = createClientAddressReader(['10.0.0.0/8', 'fd00::/8'])
  expect(read(request('10.0.0.1', '6.6.6.6, 203.0.113.9'))).toBe('203.0.113.9')
  expect(read(request('::ffff:10.0.0.1', '6.6.6.6, 203.0.113.9, 10.2.3.4'))).toBe('203.0.113.9')
  expect(read(request('fd00::1', '2001:db8::1'))).toBe('2001:db8::1')
  expect(read(request('10.0.0.1', 'nonsense'))).toBe('10.0.0.1')
  expect(read(request('10.0.0.1'))).toBe('10.0.0.1')
})

test('X-Forwarded-For is ignored from an address outside the trusted networks', () => {
  const read = createClientAddressReader(['10.0.0.0/8'])
  expect(read(request('203.0.113.9', '1.1.1.1'))).toBe('203.0.113.9')
})

test('a port, brackets, a zone and the spelling of an address do not change the client', () => {
  const read = createClientAddressReader(['10.0.0.0/8', 'fd00::/8'])
  for (const written of [
    '203.0.113.9:51234',
    '::ffff:203.0.113.9',
    '::FFFF:CB00:7109',
    '[::ffff:cb00:7109]:443',
  ]) {
    expect(read(request('10.0.0.1', written))).toBe('203.0.113.9')
  }
  for (const written of ['2001:DB8:0::1', '[2001:db8::1]', '[2001:db8::1]:8443', ' 2001:db8::1%eth0 ']) {
    expect(read(request('fd00::1', `6.6.6.6,${written}, [fd00::2]:80`))).toBe('2001:db8::1')
  }
})

test.each([
  '203.0.113.9:',
  '[203.0.113.9',
  '2001:db8::1]:80',
  'unknown',
  '_hidden',
  '203.0.113.9:123456',
  '1.2.3',
])('%s in X-Forwarded-For is not an address, so the proxy is the client', (written) => {
  const read = createClientAddressReader(['10.0.0.0/8'])
  expect(read(request('10.0.0.1', `203.0.113.8, ${written}`))).toBe('10.0.0.1')
})

test('a Forwarded header is ignored, and a closed socket has no address', () => {
  const read = createClientAddressReader(['10.0.0.0/8'])
  const gone = { socket: {}, headers: {} } as unknown as IncomingMessage
  const forwarded = { socket: { remoteAddress: '10.0.0.1' }, headers: { forwarded: 'for=203.0.113.9' } }
  expect(read(forwarded as unknown as IncomingMessage)).toBe('10.0.0.1')
  expect(read(gone)).toBe('')
})
