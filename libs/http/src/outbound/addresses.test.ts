import { describe, expect, it } from '@jest/globals'
import { createAddressPolicy } from './addresses.js'

const refused = {
  'this network': ['0.0.0.0', '0.1.2.3'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  'link-local and metadata': ['169.254.169.254', '169.254.0.1', 'fe80::1', 'fd00:ec2::254', '168.63.129.16'],
  'carrier-grade NAT': ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
  'protocol assignments': ['192.0.0.192', '192.88.99.1'],
  documentation: ['192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  'reserved and broadcast': ['240.0.0.1', '255.255.255.255', '4000::1', 'e000::1'],
  unspecified: ['::'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1'],
  'IPv4-translated': ['::ffff:0:127.0.0.1'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1'],
  '6to4': ['2002:7f00:1::', '2002:a9fe:a9fe::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'unique local': ['fc00::1', 'fdff::1'],
  'site-local': ['fec0::1'],
  'discard and segment routing': ['100::1', '5f00::1'],
  'with a zone': ['fe80::1%eth0'],
  'not an address': ['', 'example.com', '1.2.3.4.5'],
}

const public_ = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '192.0.1.1', '2606:4700::1111', '2a00::1']

describe('address policy', () => {
  const policy = createAddressPolicy([])

  it.each(Object.entries(refused).flatMap(([why, list]) => list.map((address) => [why, address])))(
    'refuses %s: %s',
    (_why, address) => {
      expect(policy.allows(address ?? '')).toBe(false)
    },
  )

  it.each(public_)('allows %s', (address) => {
    expect(policy.allows(address)).toBe(true)
  })

  it('exempts allowed blocks, in every spelling of their addresses, and nothing else', () => {
    const local = createAddressPolicy(['127.0.0.0/8', 'fd00::/8'])
    expect(local.allows('127.0.0.1')).toBe(true)
    expect(local.allows('::ffff:127.0.0.1')).toBe(true)
    expect(local.allows('fd12::1')).toBe(true)
    expect(local.allows('10.0.0.1')).toBe(false)
    expect(local.allows('::1')).toBe(false)
  })

  it('does not start with a block that makes no sense', () => {
    expect(() => createAddressPolicy(['10.0.0.0/40'])).toThrow('not an address block')
  })
})
