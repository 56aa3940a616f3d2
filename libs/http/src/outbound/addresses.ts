import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

/** IPv4 blocks that outbound requests must not reach: special registries, multicast, and cloud metadata. */
const refusedIpv4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; contains Alibaba's metadata address
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's wire server: a public address that is answered from inside the network
  '169.254.0.0/16', // link-local; contains the usual metadata address
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; contains Oracle's metadata address
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112: anycast, its nearest node may be inside the network
  '192.52.193.0/24', // multicast tunnelling
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
].map((cidr) => parseCidr(cidr))

/** The only IPv6 block with public hosts. NAT64, ULA, link- and site-local and multicast addresses are outside it. */
const globalUnicast = parseCidr('2000::/3')

/** Special blocks within the public IPv6 block. */
const refusedIpv6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarking
  '2001:db8::/32', // documentation
  '2620:4f:8000::/48', // AS112
  '2002::/16', // 6to4: contains an IPv4 address of the caller's choice
  '3fff::/20', // documentation
].map((cidr) => parseCidr(cidr))

/** Which IP addresses may be called. */
export interface AddressPolicy {
  /** `address` in any spelling sockets accept; any other text is rejected. */
  allows(address: string): boolean
}

/** Allows public addresses and those in `allowedCidrs`, except those in `deniedCidrs`. Throws if a CIDR is invalid. */
export function createAddressPolicy(
  allowedCidrs: readonly string[],
  deniedCidrs: readonly string[] = [],
): AddressPolicy {
  const allowed = allowedCidrs.map((cidr) => parseCidr(cidr))
  const denied = deniedCidrs.map((cidr) => parseCidr(cidr))
  return {
    allows(text) {
      const address = parseAddress(text)
      if (address === undefined || denied.some((range) => within(address, range))) return false
      return allowed.some((range) => within(address, range)) || isPublic(address)
    },
  }
}

function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') return !refusedIpv4.some((range) => within(address, range))
  return within(address, globalUnicast) && !refusedIpv6.some((range) => within(address, range))
}

function within(address: Address, [base, bits]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, bits)
}

/** Converts IPv4-mapped IPv6 to the IPv4 address it reaches. Ambiguous spellings are rejected. */
function parseAddress(text: string): Address | undefined {
  return isIP(text) !== 0 && ipaddr.isValid(text) ? ipaddr.process(text) : undefined
}

function parseCidr(cidr: string): Range {
  try {
    return ipaddr.parseCIDR(cidr)
  } catch (error) {
    throw new Error(`${cidr} is not an address block such as 10.0.0.0/8`, { cause: error })
  }
}
