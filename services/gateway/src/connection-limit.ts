import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@opsplane/contracts'
import { beginExchange, sendError } from '@opsplane/http'
import { createConcurrencyLimiter, type Logger, parseNetwork } from '@opsplane/runtime'

export interface ConnectionLimitOptions {
  /** Connections of one network that may be open at once; 0 for any. */
  maxConnections: number
  /** Whether an address is a proxy of the operator, which brings the connections of many. */
  isProxy(address: string): boolean
  log: Logger
}

/** How long a connection that is one too many has for the request it is refused by. */
const refusalMs = 1_000

/**
 * No network has more connections open than its share: before a request nothing else is known of who is there. One too many
 * has its first request answered with 429, and is closed after a second in any case.
 */
export function createConnectionLimit({ maxConnections, isProxy, log }: ConnectionLimitOptions) {
  const limiter = createConcurrencyLimiter({ perKey: maxConnections, refusal: tooMany })
  const refused = new WeakSet<Socket>()

  return {
    /** For each connection a server accepts. */
    accept(socket: Socket): void {
      const { remoteAddress = '' } = socket
      if (maxConnections === 0 || remoteAddress === '' || isProxy(remoteAddress)) return
      const release = limiter.tryAcquire(parseNetwork(remoteAddress))
      if (release) return void socket.once('close', release)
      refused.add(socket)
      const cut = setTimeout(() => socket.destroy(), refusalMs)
      socket.once('close', () => clearTimeout(cut))
    },
    /** Lets the requests of all other connections through. */
    guard(app: RequestListener): RequestListener {
      return (req, res) => {
        if (!refused.has(req.socket)) return app(req, res)
        res.shouldKeepAlive = false
        sendError(beginExchange(req, res, 'gateway', log), tooMany(maxConnections))
      }
    },
  }
}

function tooMany(max: number): ApiError {
  const message = `may be at most ${max} at a time`
  return new ApiError('rate_limited', 'Too many connections are open from this address. Reuse them.', {
    details: [
      {
        in: 'header',
        path: '/connection',
        code: 'limit_reached',
        message,
        params: { limit: 'connectionsPerAddress', max },
      },
    ],
    headers: { 'Retry-After': '1' },
  })
}
