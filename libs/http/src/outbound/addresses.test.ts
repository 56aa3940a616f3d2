import { describe, expect, it } from '@jest/globals'
import ipaddr from 'ipaddr.js'
import { createAddressPolicy } from './addresses.js'

/** Every block of IANA's special-purpose registries, and of those for multicast and reserved addresses. */
const specialIpv4: [string, string][] = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', '6to4 relays'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'AS112'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['255.255.255.255/32', 'broadcast'],
]
const specialIpv6: [string, string][] = [
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'IPv4-compatible'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'local NAT64'],
  ['100::/64', 'discard'],
  ['100:0:0:1::/64', 'dummy'],
  ['2001::/23', 'protocol assignments'],
  ['2001::/32', 'Teredo'],
  ['2001:1::1/128', 'port control'],
  ['2001:2::/48', 'benchmarking'],
  ['2001:3::/32', 'AMT'],
  ['2001:4:112::/48', 'AS112'],
  ['2001:10::/28', 'ORCHID'],
  ['2001:20::/28', 'ORCHIDv2'],
  ['2001:30::/28', 'drone identifiers'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment routing'],
  ['fc00::/7', 'unique local'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
]

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
  'not an address': ['', 'example.com', '1.2.3.4.5', '8.8.8.8 '],
  ambiguous: ['8.8.2056', '010.8.8.8', '0x8.8.8.8', '134744072', '[2606:4700::1111]'],
}

const ends = (block: typeof ipaddr.IPv4 | typeof ipaddr.IPv6, cidr: string) => [
  block.networkAddressFromCIDR(cidr).toString(),
  block.broadcastAddressFromCIDR(cidr).toString(),
]

const public_ = [
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::',
  '2001:db7:ffff::',
  '2003::',
  '3ffe::1',
  '1.1.1.1',
  '172.32.0.1',
  '100.128.0.1',
  '192.0.1.1',
  '2606:4700::1111',
  '2a00::1',
]

describe('address policy', () => {
  const policy = createAddressPolicy([])

  it.each(Object.entries(refused).flatMap(([why, list]) => list.map((address) => [why, address])))(
    'refuses %s: %s',
    (_why, address) => {
      expect(policy.allows(address ?? '')).toBe(false)
    },
  )

  it.each(specialIpv4)('refuses all of %s (%s), also as IPv4-mapped and NAT64 addresses', (cidr) => {
    for (const address of ends(ipaddr.IPv4, cidr)) {
      expect(policy.allows(address)).toBe(false)
      expect(policy.allows(`::ffff:${address}`)).toBe(false)
      expect(policy.allows(`64:ff9b::${address}`)).toBe(false)
    }
  })

  it.each(specialIpv6)('refuses all of %s (%s)', (cidr) => {
    for (const address of ends(ipaddr.IPv6, cidr)) expect(policy.allows(address)).toBe(false)
  })

  it.each(public_)('allows %s', (address) => {
    expect(policy.allows(address)).toBe(true)
  })

  it('exempts only allowed blocks, in every spelling of their addresses', () => {
    const local = createAddressPolicy(['127.0.0.0/8', 'fd00::/8'])
    expect(local.allows('127.0.0.1')).toBe(true)
    expect(local.allows('::ffff:127.0.0.1')).toBe(true)
    expect(local.allows('fd12::1')).toBe(true)
    expect(local.allows('10.0.0.1')).toBe(false)
    expect(local.allows('::1')).toBe(false)
  })

  it('rejects a malformed address block at creation', () => {
    expect(() => createAddressPolicy(['10.0.0.0/40'])).toThrow('not an address block')
  })
})
