import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@opsplane/contracts'
import { beginExchange, sendError } from '@opsplane/http'
import { createConcurrencyLimiter, type Logger, parseNetwork } from '@opsplane/runtime'

export interface ConnectionLimitOptions {
  /** Maximum concurrent connections of one network; 0 for unlimited. */
  maxConnections: number
  /** Whether an address is a proxy of the operator, which carries connections of many clients. */
  isProxy(address: string): boolean
  log: Logger
}

/** Milliseconds in which a connection above the limit may send the request that is rejected. */
const refusalMs = 1_000

/**
 * Limits the open connections per network, because before a request only the address is known. On a connection above
 * the limit the first request is answered with 429, and the connection is closed after a second in any case.
 */
export function createConnectionLimit({ maxConnections, isProxy, log }: ConnectionLimitOptions) {
  const limiter = createConcurrencyLimiter({ perKey: maxConnections, refusal: tooMany })
  const rejectedSockets = new WeakSet<Socket>()

  return {
    /** Called for each connection that a server accepts. */
    accept(socket: Socket): void {
      const { remoteAddress = '' } = socket
      if (maxConnections === 0 || remoteAddress === '' || isProxy(remoteAddress)) return
      const release = limiter.tryAcquire(parseNetwork(remoteAddress))
      if (release) return void socket.once('close', release)
      rejectedSockets.add(socket)
      const cut = setTimeout(() => socket.destroy(), refusalMs)
      socket.once('close', () => clearTimeout(cut))
    },
    /** Passes on the requests of all other connections. */
    guard(app: RequestListener): RequestListener {
      return (req, res) => {
        if (!rejectedSockets.has(req.socket)) return app(req, res)
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
