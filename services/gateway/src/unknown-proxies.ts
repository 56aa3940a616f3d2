import type { IncomingMessage } from 'node:http'
import type { Logger } from '@opsplane/runtime'
import { isAddressWithin } from './client-address.js'

/** Detects proxies that the operator has not configured: all of their clients count as one address. */
export interface UnknownProxies {
  notice(request: IncomingMessage): void
  /** Instructions for the proxies seen in the last hour. */
  warnings(): string[]
}

/** Private networks, in which proxies are located; from outside, any client may send the header. */
const privateNetworks = [
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  ...['::1/128', 'fc00::/7', 'fe80::/10'],
]
const hourMs = 3_600_000

const advice =
  'Requests come through a proxy that TRUST_PROXY_CIDRS does not name: its X-Forwarded-For is not believed, and all of its clients ' +
  'share the limits of one address, so that one who guesses passwords has the others refused. Set TRUST_PROXY_CIDRS of the gateway ' +
  'to the network of the proxy.'

/** Logs at most once an hour. */
export function createUnknownProxies(options: {
  trustedCidrs: readonly string[]
  monotonicMs: () => number
  log: Logger
}): UnknownProxies {
  const { trustedCidrs, monotonicMs, log } = options
  const isTrusted = isAddressWithin(trustedCidrs)
  const isPrivate = isAddressWithin(privateNetworks)
  let seenAt = Number.NEGATIVE_INFINITY
  let loggedAt = Number.NEGATIVE_INFINITY

  return {
    notice({ headers, socket: { remoteAddress = '' } }) {
      if (headers['x-forwarded-for'] === undefined) return
      if (isTrusted(remoteAddress) || !isPrivate(remoteAddress)) return
      seenAt = monotonicMs()
      if (seenAt - loggedAt < hourMs) return
      loggedAt = seenAt
      log.warn({ peer: remoteAddress }, advice)
    },
    warnings: () => (monotonicMs() - seenAt < hourMs ? [advice] : []),
  }
}
