import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/**
 * Normalizes an address for comparison: IPv4 also if mapped to IPv6, without port, brackets (which some proxies write)
 * and zone. Empty if it is not an address.
 */
function addressIn(text: string): string {
  const trimmed = text.trim().toLowerCase()
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(trimmed)?.[1]
  const withoutPort = bracketed ?? trimmed.replace(/^([\d.]+):\d{1,5}$/, '$1')
  const [address = ''] = withoutPort.split('%', 1)
  const plain = isIP(address) === 6 ? canonical(address) : address
  return isIP(plain) === 0 ? '' : plain
}

/** A unique spelling of each IPv6 address, so that it has one rate limit. */
function canonical(address: string): string {
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(text)
  if (!mapped) return text
  const [high, low] = [mapped[1], mapped[2]].map((group) => Number.parseInt(group ?? '', 16))
  return [high, low].flatMap((group = 0) => [group >> 8, group & 0xff]).join('.')
}

/** Whether an address, as reported by a socket, is in one of the networks. */
export function isAddressWithin(cidrs: readonly string[]): (address: string) => boolean {
  const networks = new BlockList()
  for (const cidr of cidrs) {
    const [network = '', prefix] = cidr.split('/')
    networks.addSubnet(network, Number(prefix), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  }
  return (written) => {
    const address = cidrs.length === 0 ? '' : addressIn(written)
    return address !== '' && networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
}

/**
 * Returns a function that determines a request's client address: the socket's, unless it is a trusted proxy; then the
 * last address in X-Forwarded-For that is not a trusted proxy. An invalid entry ends the search at the proxy that wrote
 * it. `Forwarded` is ignored: a proxy that does not set it would pass on a value made up by the client.
 */
export function createClientAddressReader(
  trustedCidrs: readonly string[],
): (request: IncomingMessage) => string {
  const trusted = isAddressWithin(trustedCidrs)

  return (request) => {
    let address = addressIn(request.socket.remoteAddress ?? '')
    if (trustedCidrs.length === 0) return address
    const forwardedAddresses = String(request.headers['x-forwarded-for'] ?? '').split(',')
    while (trusted(address)) {
      const previous = addressIn(forwardedAddresses.pop() ?? '')
      if (previous === '') break
      address = previous
    }
    return address
  }
}
