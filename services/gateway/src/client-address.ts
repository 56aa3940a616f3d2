import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** IPv4 addresses come as such, also where the socket speaks IPv6. */
const plain = (address: string) => (address.startsWith('::ffff:') ? address.slice(7) : address)

/**
 * Returns how to tell a request's client address: the socket's, unless that is one of the trusted proxies;
 * then the last address in X-Forwarded-For that is not itself a trusted proxy.
 */
export function clientAddressReader(trustedCidrs: readonly string[]): (request: IncomingMessage) => string {
  const proxies = new BlockList()
  for (const cidr of trustedCidrs) {
    const [network = '', prefix] = cidr.split('/')
    proxies.addSubnet(network, Number(prefix), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  }
  const trusted = (address: string) => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

  return (request) => {
    let address = plain(request.socket.remoteAddress ?? '')
    if (trustedCidrs.length === 0) return address
    const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',')
    while (trusted(address)) {
      const previous = plain((forwarded.pop() ?? '').trim())
      if (isIP(previous) === 0) break
      address = previous
    }
    return address
  }
}
